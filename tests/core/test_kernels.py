"""kernel_sums and kernel_matrix against the slow float64 truth, and what must not matter."""

import itertools
import threading

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from spectralcls.kernels import KERNELS, PackedPoints, kernel_matrix, kernel_sums, log_normalizer

DTYPES = [np.float32, np.float64]
ALL_KERNELS = tuple(reference.PROFILES)
RTOL = {np.float32: 1e-5, np.float64: 1e-12}


def sample(m, n, d, dtype, seed=0, offset=0.0, scale=1.0):
    """Queries and points whose float32 rounding is part of the data, so that the reference sees the same points."""
    rng = np.random.default_rng(seed)
    draw = lambda rows: (np.round(rng.normal(size=(rows, d)) * 256) / 256 * scale + offset).astype(dtype)  # noqa: E731
    return draw(m), draw(n)


def assert_sums_close(actual, expected, dtype, mass=None):
    """Relative to the sum, or for compact kernels to the mass within reach, of which a sum may be a small rest."""
    assert actual.shape == expected.shape
    scale = np.abs(expected) if mass is None else np.maximum(np.abs(expected), mass)
    np.testing.assert_array_less(np.abs(actual - expected), RTOL[dtype] * scale + 1e-30)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("d", [1, 5, 40, 200, 784])
def test_tails_are_right_to_the_rounding_of_their_exponents(kernel, d, dtype):
    least = {np.float32: 1e-30, np.float64: 1e-290}[dtype]
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = (10.0 ** rng.uniform(-6, 0) * rng.normal(size=(60, d)) + seed % 2).astype(dtype)
        Q = (rng.normal(size=(12, d)) + seed % 2).astype(dtype)
        distance, a = reference.distances(Q, X).min(axis=1).mean(), -np.log(least) * rng.uniform(0.1, 0.9)
        h = distance / (np.sqrt(2 * a) if kernel == "gaussian" else a)
        found, truth = (sums(Q, X, kernel=kernel, bandwidth=h) for sums in (kernel_sums, reference.kernel_sums))
        seen = truth > least
        allowed = np.maximum(RTOL[dtype], reference.rounding_of_sums(truth, dtype)) * truth
        assert seen.any() and np.all(np.abs(found - truth)[seen] <= allowed[seen])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ALL_KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 16, 40])
def test_sums_equal_reference(kernel, d, dtype):
    Q, X = sample(37, 411, d, dtype)
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 4, len(X))
    weights = rng.uniform(0.5, 2, size=(len(X), 5)).astype(dtype)
    h = np.sqrt(d) * 1.313
    for options in (
        dict(bandwidth=h),
        dict(bandwidth=h, weights=weights[:, 0]),
        dict(bandwidth=h, weights=weights),
        dict(bandwidth=h, labels=labels, n_labels=6),
        dict(bandwidth=[h, h / 2, h / np.sqrt(2), 2.3], labels=labels, weights=weights),
        dict(bandwidth=h, exclude_self=rng.integers(-1, len(X), len(Q))),
        dict(bandwidth=[h, 3 * h], normalize=kernel in KERNELS, labels=labels),
    ):
        actual = kernel_sums(Q, X, kernel=kernel, **options)
        assert actual.dtype == dtype
        expected = reference.kernel_sums(Q, X, kernel=kernel, **options)
        mass = reference.kernel_sums(Q, X, kernel="uniform" if kernel in reference.COMPACT else kernel, **options)
        assert_sums_close(actual, expected, dtype, mass=mass)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ALL_KERNELS)
def test_logs_equal_reference(kernel, dtype):
    Q, X = sample(60, 300, 6, dtype)
    labels = np.arange(len(X)) % 3
    for h in (0.3, 2.7, np.array([40.0, 2.7, 0.2])):
        actual = kernel_sums(Q, X, kernel=kernel, bandwidth=h, labels=labels, log=True)
        expected = reference.kernel_sums(Q, X, kernel=kernel, bandwidth=h, labels=labels, log=True)
        np.testing.assert_array_equal(np.isneginf(actual), np.isneginf(expected))
        finite = np.isfinite(expected)
        np.testing.assert_allclose(actual[finite], expected[finite], rtol=RTOL[dtype], atol=20 * RTOL[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_shapes_around_the_block_boundaries(dtype):
    """Every d, and every m and n, from 1 to 70, and the tile widths of all variants."""
    sizes = range(1, 71)
    for d in sizes:
        Q, X = sample(9, 50, d, dtype, seed=d)
        assert_sums_close(
            kernel_sums(Q, X, bandwidth=np.sqrt(d)), reference.kernel_sums(Q, X, bandwidth=np.sqrt(d)), dtype
        )
    few_queries = ((3, n) for n in (*sizes, 191, 192, 193, 769))
    for m, n in itertools.chain(zip(sizes, reversed(sizes), strict=True), few_queries):
        Q, X = sample(m, n, 5, dtype, seed=m)
        weights = np.linspace(1, 2, 3 * n, dtype=dtype).reshape(n, 3)
        for options in (dict(), dict(weights=weights), dict(labels=np.arange(n) % 4, n_labels=4)):
            actual = kernel_sums(Q, X, bandwidth=2.0, **options)
            assert_sums_close(actual, reference.kernel_sums(Q, X, bandwidth=2.0, **options), dtype)
        np.testing.assert_allclose(
            kernel_matrix(X, bandwidth=2.0), reference.kernel_matrix(X, X, bandwidth=2.0), rtol=RTOL[dtype]
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 5, 16])
@pytest.mark.parametrize("offset", [0, 1e6])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("kernel", reference.POSITIVE)
def test_offset_and_scale_cost_no_accuracy(kernel, offset, scale, d, dtype):
    Q, X = sample(40, 300, d, dtype)
    X += dtype(offset)
    Q += dtype(offset)
    X *= dtype(2.0 ** np.round(np.log2(scale)))
    Q *= dtype(2.0 ** np.round(np.log2(scale)))
    h = 1.1 * np.sqrt(d) * 2.0 ** np.round(np.log2(scale))
    options = dict(kernel=kernel, bandwidth=h)
    assert_sums_close(kernel_sums(Q, X, **options), reference.kernel_sums(Q, X, **options), dtype)


@pytest.mark.parametrize("kernel", reference.POSITIVE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tight_clusters_far_apart(dtype, kernel):
    """The product form |q|^2 + |x|^2 - 2 q.x would lose the distances within a cluster."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(8, 10)) * 1000
    X = (centers[rng.integers(0, 8, 500)] + np.round(rng.normal(size=(500, 10)) * 64) / 64).astype(dtype)
    options = dict(kernel=kernel, bandwidth=3.0)
    assert_sums_close(kernel_sums(X, X, **options), reference.kernel_sums(X, X, **options), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("n_near", [1, 3, 5, 8])
@pytest.mark.parametrize("n", [5, 40, 200])
def test_near_queries_among_far_ones(n, n_near, kernel, dtype):
    """Distances that would cancel are those of some queries of a block and some points of a tile, and only for them
    are differences taken; so are points that queries leave out."""
    rng = np.random.default_rng(n + n_near)
    X = rng.normal(size=(n, 6)).astype(dtype)
    Q = rng.normal(size=(64, 6)).astype(dtype)
    near = np.flatnonzero(np.arange(64) % 8 < n_near)
    beside = rng.integers(n, size=len(near))
    Q[near] = X[beside] + dtype(1e-4) * rng.normal(size=(len(near), 6)).astype(dtype)
    options = dict(kernel=kernel, bandwidth=1e-4, log=True)
    allowed = 2 * RTOL[dtype]
    np.testing.assert_allclose(
        kernel_sums(Q, X, **options), reference.kernel_sums(Q, X, **options), rtol=allowed, atol=allowed
    )
    left_out = np.full(64, -1)
    left_out[near] = beside
    expected = [
        reference.kernel_sums(Q[[i]], np.delete(X, j, axis=0) if j >= 0 else X, **options)[0]
        for i, j in enumerate(left_out)
    ]
    actual = kernel_sums(Q, X, exclude_self=left_out, **options)
    np.testing.assert_allclose(actual, expected, rtol=allowed, atol=allowed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", reference.POSITIVE)
@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
def test_far_queries_have_finite_logs_of_the_right_order(distance, kernel, dtype):
    _, X = sample(1, 200, 3, dtype)
    labels = (X[:, 0] > 0).astype(int)
    Q = np.array([[distance, 0, 0], [-distance, 0, 0]], dtype=dtype)
    options = dict(labels=labels, kernel=kernel, bandwidth=1.0, log=True)
    logs = kernel_sums(Q, X, **options)
    assert np.isfinite(logs).all()
    if distance < 1e6:
        np.testing.assert_array_equal(logs.argmax(axis=1), [1, 0])
    np.testing.assert_allclose(logs, reference.kernel_sums(Q, X, **options), rtol=1e-6)


def test_one_far_query_changes_no_more_than_roundings_of_the_others():
    Q, X = sample(20, 100, 4, np.float32)
    far = Q.copy()
    far[7] = 3e38
    near = np.arange(20) != 7
    for log in (False, True):
        whole = kernel_sums(far, X, bandwidth=1.0, log=log)
        assert not np.isnan(whole).any()
        others = kernel_sums(Q, X, bandwidth=1.0, log=log)[near]
        # The queries of a block have one form of their distances: the far one may change the rounding.
        np.testing.assert_allclose(whole[near], others, rtol=reference.rounding(0, np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bandwidths_that_underflow_everything(dtype):
    Q, X = sample(30, 100, 3, dtype)
    tiny = 1e-15 if dtype == np.float32 else 1e-120
    assert (kernel_sums(Q[:, :] + dtype(0.001), X, bandwidth=tiny) == 0).all()
    logs = kernel_sums(Q + dtype(0.001), X, bandwidth=[1.0, 1e-6, tiny], log=True)
    assert not np.isnan(logs).any()
    assert np.isfinite(logs[:, :2]).all()
    np.testing.assert_array_equal(kernel_sums(X, X, bandwidth=tiny), np.ones(len(X), dtype))
    np.testing.assert_allclose(kernel_sums(Q, X, bandwidth=1e30), np.full(len(Q), len(X)), rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 16])
def test_duplicates_and_near_duplicates_cost_the_laplace_kernels_no_accuracy(d, dtype):
    """exp(-u) has a kink at zero and exp(-u) / u a pole: an error of the squared distance would show there most."""
    rng = np.random.default_rng(0)
    base = np.round(rng.normal(size=(100, d)) * 256) / 256 + 1e3
    X = np.concatenate([base, base[:50], base[:50] + 2.0**-12]).astype(dtype)
    for kernel in ("laplace", "laplace_derivative"):
        for options, atol in (
            (dict(bandwidth=1.0), 0),
            (dict(bandwidth=1.0, exclude_self=True), 0),
            (dict(bandwidth=[20.0, 1e-2], log=True), 20 * RTOL[dtype]),
        ):
            actual = kernel_sums(X, X, kernel=kernel, **options)
            expected = reference.kernel_sums(X, X, kernel=kernel, **options)
            np.testing.assert_allclose(actual, expected, rtol=RTOL[dtype], atol=atol)


def test_a_point_that_coincides_hides_none_of_the_others():
    """The nearest point contributes nothing to the derivative, so the logarithm is relative to the next one."""
    X = np.array([[0.0, 0.0], [1e4, 0.0], [0.0, 0.0]])
    logs = kernel_sums(X[:1], X, kernel="laplace_derivative", bandwidth=1.0, log=True)
    np.testing.assert_allclose(logs, -1e4 - np.log(1e4), rtol=1e-15)
    alone = kernel_sums(X[:1], X[[0, 2]], kernel="laplace_derivative", bandwidth=1.0, log=True)
    np.testing.assert_array_equal(alone, -np.inf)


@pytest.mark.parametrize("d", [2, 9])
def test_laplace_derivative_gives_the_gradient_of_laplace_sums(d):
    """Against differences of the sums, and with the features as columns of weights, as a learned metric takes it."""
    Q, X = sample(12, 300, d, np.float64)
    h, weights = 1.7, np.random.default_rng(1).normal(size=300)
    columns = np.column_stack([weights, weights[:, None] * X])
    derivative = kernel_sums(Q, X, weights=columns, kernel="laplace_derivative", bandwidth=h)
    gradient = (derivative[:, 1:] - Q * derivative[:, :1]) / h**2
    for feature in range(d):
        step = np.zeros(d)
        step[feature] = 1e-5
        ends = [kernel_sums(Q + s, X, weights=weights, kernel="laplace", bandwidth=h) for s in (step, -step)]
        np.testing.assert_allclose(gradient[:, feature], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-6)


def test_subnormal_numbers_are_points_like_any_other():
    for dtype in DTYPES:
        tiny = np.finfo(dtype).smallest_subnormal
        X = np.arange(8, dtype=dtype)[:, None] * tiny
        np.testing.assert_allclose(kernel_sums(X, X, bandwidth=1.0), np.full(8, 8.0), rtol=RTOL[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_pair_carries_signed_sums_without_underflow(dtype):
    Q, X = sample(25, 150, 4, dtype)
    weights = np.random.default_rng(0).normal(size=(150, 3)).astype(dtype)
    for h in (3.0, 0.05):
        scale, sums = kernel_sums(Q, X, weights=weights, bandwidth=h, log="pair")
        assert scale.shape == (25,) and sums.shape == (25, 3)
        D2 = reference.distances(Q, X) ** 2 / (2 * h * h)
        relative = np.exp(-(D2 - D2.min(axis=1, keepdims=True)))
        expected = relative @ weights
        actual = sums * np.exp(scale + D2.min(axis=1))[:, None]
        mass = relative @ np.abs(weights)
        # The exponent itself carries a rounding of its own size.
        error = RTOL[dtype] * (10 + D2.min(axis=1) / 10)[:, None]
        np.testing.assert_array_less(np.abs(actual - expected), error * mass)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("packed", [False, True])
def test_sums_with_a_scale_are_relative_to_points_that_weigh_something(packed, dtype):
    Q, X = np.zeros((1, 1), dtype), np.array([[0], [1], [100], [101]], dtype)
    W = np.array([[0, 0], [0, 0], [1, 2], [3, 0]], dtype)
    truth = np.array([[-5000 + np.log1p(3 * np.exp(-100.5)), -5000 + np.log(2)]])
    points, weights = (PackedPoints(X, weights=W), None) if packed else (X, W)
    np.testing.assert_allclose(kernel_sums(Q, points, weights=weights, bandwidth=1.0, log=True), truth, rtol=1e-6)
    scale, sums = kernel_sums(Q, points, weights=weights, bandwidth=[1.0, 10.0], log="pair", exclude_self=[0])
    np.testing.assert_allclose((scale[..., None] + np.log(sums))[:, 0], truth, rtol=1e-6)
    nothing = kernel_sums(Q, points, weights=np.zeros(4), labels=None, bandwidth=1.0, log=True)
    np.testing.assert_array_equal(nothing, [-np.inf])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", [-320, -308, -100, -60, -38, 37, 60, 100, 306])
def test_weights_of_sums_with_a_scale_may_have_any_size(exponent, dtype):
    Q, X = sample(9, 1000, 3, dtype)
    W = 10.0**exponent * np.random.default_rng(1).uniform(0.5, 1, size=1000)
    D2 = reference.distances(Q, X) ** 2 / 2
    digits = RTOL[dtype] if exponent > -307 else 2e-3  # subnormal weights
    truth = np.log(np.exp(-D2) @ (W * 10.0**-exponent if exponent > -307 else W * 1e300 * 10.0 ** (-300 - exponent)))
    log_sums = kernel_sums(Q, X, weights=W, bandwidth=1.0, log=True)
    assert log_sums.dtype == dtype
    np.testing.assert_allclose(log_sums - exponent * np.log(10), truth, atol=digits * 1000, rtol=digits)
    scale, sums = kernel_sums(Q, X, weights=-W, bandwidth=1.0, log="pair")
    np.testing.assert_allclose(np.log(-sums) + scale, log_sums, rtol=4 * RTOL[dtype])


@pytest.mark.parametrize("dtype, nearest, far", [(np.float32, 1e-25, 1e25), (np.float64, 1e-120, 1e120)])
def test_a_far_point_that_outweighs_the_nearest_is_seen(dtype, nearest, far):
    distance = 14.2 if dtype == np.float32 else 30.0
    X = np.array([[0], [distance]], dtype)
    truth = np.logaddexp(np.log(nearest), np.log(far) - float(X[1, 0]) ** 2 / 2)
    for weights in ([nearest, far], np.array([nearest, far], dtype)):
        log_sum = kernel_sums(np.zeros((1, 1), dtype), X, weights=weights, bandwidth=1.0, log=True)
        np.testing.assert_allclose(log_sum, [truth], rtol=RTOL[dtype])


def test_entries_near_zero_of_columns_of_either_sign_need_no_other_precision():
    """Those of eigenvectors: a point counts as light only if it is so in all columns."""
    W = np.array([[1.0, 1e-30], [0.0, -1.0]], np.float32)
    assert PackedPoints(np.eye(2, dtype=np.float32), weights=W).weights_fit_dtype()
    assert not PackedPoints(np.eye(2, dtype=np.float32), weights=W[:, 1]).weights_fit_dtype()


@pytest.mark.parametrize("kernel", reference.POSITIVE)
def test_ladders_agree_with_single_bandwidths(kernel):
    Q, X = sample(50, 500, 4, np.float64)
    grid = 3.0 * 2.0 ** (-np.arange(50) / 6)
    together = kernel_sums(Q, X, kernel=kernel, bandwidth=grid, log=True)
    alone = np.stack([kernel_sums(Q, X, kernel=kernel, bandwidth=h, log=True) for h in grid], axis=1)
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 6])
def test_many_queries_in_order_of_locality(d, dtype):
    """From 1024 queries on points are sorted and whole tiles skipped; nothing but rounding may change."""
    Q, X = sample(1500, 3000, d, dtype)
    X[1500:] += 30
    labels = np.arange(len(X)) % 2
    for kernel, h in (("gaussian", 0.3), ("epanechnikov", 0.9), ("cosine", 2.0), ("laplace", 0.1)):
        whole = kernel_sums(Q, X, kernel=kernel, bandwidth=h, labels=labels)
        parts = np.concatenate([kernel_sums(q, X, kernel=kernel, bandwidth=h, labels=labels) for q in np.split(Q, 3)])
        np.testing.assert_allclose(whole, parts, rtol=20 * RTOL[dtype], atol=1e-5 if dtype == np.float32 else 1e-12)
    for kernel in reference.POSITIVE:
        options = dict(kernel=kernel, bandwidth=0.1, labels=labels, log=True)
        whole = kernel_sums(Q, X, **options)
        parts = np.concatenate([kernel_sums(q, X, **options) for q in np.split(Q, 3)])
        np.testing.assert_allclose(whole, parts, rtol=20 * RTOL[dtype], atol=20 * RTOL[dtype])


@pytest.mark.parametrize("kernel", ["gaussian", "quartic", "laplace", "laplace_derivative"])
@pytest.mark.parametrize("columns", [1, 3])
def test_weights_of_each_bandwidth(columns, kernel):
    Q, X = sample(30, 400, 4, np.float64)
    rng = np.random.default_rng(0)
    grid = [4.0, 2.0, 2.0 * np.sqrt(2), 1.1, 1.0]
    weights = rng.uniform(size=(len(X), len(grid), columns))
    labels = rng.integers(0, 3, len(X))
    for log in (False, True):
        together = kernel_sums(Q, X, weights=weights, labels=labels, kernel=kernel, bandwidth=grid, log=log)
        for b, h in enumerate(grid):
            alone = kernel_sums(Q, X, weights=weights[:, b], labels=labels, kernel=kernel, bandwidth=h, log=log)
            np.testing.assert_allclose(together[:, b], alone, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="weights must have shape"):
        kernel_sums(Q, X, weights=weights, bandwidth=grid[:2])


@pytest.mark.parametrize("m", [40, 1400])
@pytest.mark.parametrize("log", [False, True])
def test_groups_leave_out_their_own(log, m):
    Q, X = sample(m, 900, 4, np.float64)
    rng = np.random.default_rng(0)
    mine, theirs, labels = rng.integers(0, 7, m), rng.integers(0, 5, len(X)), rng.integers(-1, 3, len(X))
    options = dict(bandwidth=[2.0, 0.7], log=log, n_labels=3)
    actual = kernel_sums(Q, X, labels=labels, exclude_groups=(mine, theirs), **options)
    for group in range(7):
        left = np.where(theirs == group, -1, labels)
        expected = kernel_sums(Q[mine == group], X, labels=left, **options)
        np.testing.assert_allclose(actual[mine == group], expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="exclude_groups"):
        kernel_sums(Q, X, bandwidth=1.0, exclude_groups=(theirs, theirs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_for_any_number_of_threads(dtype):
    for m, n, d in ((1300, 2500, 4), (20, 9000, 4), (700, 700, 20)):
        Q, X = sample(m, n, d, dtype)
        weights = np.ones((n, 3), dtype)
        results = [
            (
                kernel_sums(Q, X, bandwidth=[1.0, 0.5], labels=np.arange(n) % 5, log=True, n_jobs=threads),
                kernel_sums(Q, X, bandwidth=1.0, weights=weights, n_jobs=threads),
                kernel_sums(Q, X, kernel="laplace", bandwidth=1.0, weights=weights, n_jobs=threads),
                kernel_matrix(Q, X[:500], bandwidth=1.0, n_jobs=threads),
            )
            for threads in (1, 2, 3, 7)
        ]
        for result in results[1:]:
            for a, b in zip(results[0], result, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kernel", ALL_KERNELS)
@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_normalizer_is_the_integral(kernel, d):
    if (kernel, d) == ("laplace_derivative", 1):
        with pytest.raises(ValueError, match="no finite integral in one dimension"):
            log_normalizer(kernel, d, 1.0)
        return
    expected = [reference.log_normalizer(kernel, d, h) for h in (0.3, 2.0)]
    np.testing.assert_allclose(log_normalizer(kernel, d, [0.3, 2.0]), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ALL_KERNELS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_equals_reference(kernel, dtype):
    Q, X = sample(70, 230, 5, dtype)
    expected = reference.kernel_matrix(Q, X, kernel, 3.0, normalize=True)
    actual = kernel_matrix(Q, X, kernel=kernel, bandwidth=3.0, normalize=True)
    np.testing.assert_allclose(actual, expected, rtol=RTOL[dtype], atol=RTOL[dtype] * expected.max())
    symmetric = kernel_matrix(X, kernel=kernel, bandwidth=3.0)
    np.testing.assert_array_equal(symmetric, symmetric.T)
    np.testing.assert_array_equal(np.diag(symmetric), kernel != "laplace_derivative")
    full = kernel_matrix(X, X.copy(), kernel=kernel, bandwidth=3.0)
    np.testing.assert_allclose(symmetric, full, atol=3 * RTOL[dtype])
    if kernel in ("gaussian", "laplace"):
        assert np.linalg.eigvalsh(symmetric.astype(np.float64)).min() > -1e-4


def test_matrix_fills_a_file_or_the_callers_buffer(tmp_path):
    Q, X = sample(5, 7, 2, np.float64)
    for out in (np.memmap(tmp_path / "K", dtype=np.float64, mode="w+", shape=(5, 7)), np.full((5, 7), np.nan)):
        assert kernel_matrix(Q, X, bandwidth=1.0, out=out) is out
        np.testing.assert_array_equal(out, kernel_matrix(Q, X, bandwidth=1.0))
    for wrong in (np.empty((7, 5)), np.empty((5, 7), np.float32), np.empty((5, 14))[:, ::2], np.asfortranarray(out)):
        with pytest.raises(ValueError, match="out must be"):
            kernel_matrix(Q, X, bandwidth=1.0, out=wrong)


@pytest.mark.parametrize("bandwidth", [10.0, 1.0, 100.0])
@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(rtol=-1), "rtol must be"),
        (dict(rtol="a"), "rtol must be"),
        (dict(rtol=np.nan), "rtol must be"),
        (dict(atol=-1), "atol must be"),
        (dict(rtol=0.1, exclude_groups=([0] * 50, [0] * 50)), "cannot be combined with groups"),
        (dict(n_jobs="many"), "n_jobs"),
    ],
)
def test_a_constant_that_overflows_excuses_no_argument(wrong, message, bandwidth):
    """In 100 features of float32 the constant of `normalize` overflows at two of these bandwidths."""
    X = np.random.default_rng(0).normal(size=(50, 100)).astype(np.float32)
    with pytest.raises((ValueError, TypeError), match=message):
        kernel_sums(X, X, bandwidth=bandwidth, normalize=True, **wrong)


def test_out_may_not_overlap_what_is_read():
    rng = np.random.default_rng(0)
    square, buffer = rng.normal(size=(60, 60)), rng.normal(size=3600)
    few = buffer[:180].reshape(60, 3)
    for Q, X, out in (
        (square, None, square),
        (square, square.copy(), square),
        (square.copy(), square, square),
        (few, few.copy(), buffer.reshape(60, 60)),
        (few.copy(), few, buffer.reshape(60, 60)),
        (few.copy(), PackedPoints(few), buffer.reshape(60, 60)),
    ):
        before = buffer.copy(), square.copy()
        with pytest.raises(ValueError, match="share memory"):
            kernel_matrix(Q, X, bandwidth=1.0, out=out)
        np.testing.assert_array_equal(buffer, before[0])
        np.testing.assert_array_equal(square, before[1])
    # What was copied for its dtype or order, and a neighbor in the same buffer, do not.
    truth = kernel_matrix(few, bandwidth=1.0)
    memory = np.concatenate([few.ravel(), np.empty(3600)])
    found = kernel_matrix(memory[:180].reshape(60, 3), bandwidth=1.0, out=memory[180:].reshape(60, 60))
    np.testing.assert_array_equal(found, truth)
    columns = kernel_matrix(square.T.copy(), bandwidth=8.0)
    np.testing.assert_array_equal(kernel_matrix(square.T, bandwidth=8.0, out=square), columns)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 60),
    m=st.integers(1, 30),
    d=st.integers(1, 9),
    h=st.floats(0.05, 50),
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(ALL_KERNELS),
)
def test_sums_are_linear_symmetric_and_monotone(n, m, d, h, seed, kernel):
    Q, X = sample(m, n, d, np.float64, seed)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, 2))
    both = kernel_sums(Q, X, weights=weights, kernel=kernel, bandwidth=h)
    sum_of_both = kernel_sums(Q, X, weights=weights.sum(axis=1), kernel=kernel, bandwidth=h)
    np.testing.assert_allclose(both.sum(axis=1), sum_of_both, atol=1e-12 * n)
    K = kernel_matrix(Q, X, kernel=kernel, bandwidth=h)
    np.testing.assert_allclose(K @ weights, both, atol=1e-11 * n)
    np.testing.assert_allclose(K.T, kernel_matrix(X, Q, kernel=kernel, bandwidth=h), atol=1e-12)
    assert (kernel_matrix(Q, X, kernel=kernel, bandwidth=2 * h) >= K - 1e-12).all()
    permutation = rng.permutation(n)
    np.testing.assert_allclose(
        kernel_sums(Q, X[permutation], weights=weights[permutation], kernel=kernel, bandwidth=h), both, atol=1e-11 * n
    )


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(bandwidth=0.0), "bandwidth must be positive"),
        (dict(bandwidth=-1.0), "bandwidth must be positive"),
        (dict(bandwidth=np.nan), "bandwidth must be positive"),
        (dict(bandwidth=[]), "bandwidth must be a number"),
        (dict(kernel="box"), "kernel must be one of"),
        (dict(weights=np.ones(3)), "weights must have shape"),
        (dict(weights=-np.ones(6), log=True), "Negative weights"),
        (dict(weights=-np.ones(6), log=np.True_), "Negative weights"),
        (dict(labels=np.zeros(6)), "labels must be integers"),
        (dict(labels=np.arange(6), n_labels=3), "labels go up to 5"),
        (dict(exclude_self=True), "as many queries as points"),
        (dict(exclude_self=np.array([9, 0, 0, 0])), "exclude_self must be at most 5, got 9"),
        (dict(log="yes"), "log must be"),
        (dict(log=[]), "log must be"),
        (dict(kernel=["gaussian"]), "kernel must be a string"),
        (dict(bandwidth="1.5"), "bandwidth must be numeric"),
        (dict(bandwidth=True), "bandwidth must be numeric"),
        (dict(bandwidth=None), "bandwidth must be numeric"),
        (dict(n_labels=3), "n_labels needs labels"),
        (dict(labels=np.arange(6), n_labels=2.7), "n_labels must be an integer"),
        (dict(rtol="a"), "rtol must be a number"),
        (dict(rtol=np.inf), "rtol must be finite"),
        (dict(atol=True), "atol must be a number"),
        (dict(exclude_groups=([1] * 4,)), "exclude_groups must be a pair"),
        (dict(n_jobs=0), "n_jobs must be"),
    ],
)
def test_bad_arguments_are_named(change, message):
    Q, X = np.zeros((4, 2)), np.zeros((6, 2))
    with pytest.raises((ValueError, TypeError), match=message):
        kernel_sums(Q, X, **{"bandwidth": 1.0, **change})


def test_bad_arrays_are_named():
    X = np.zeros((6, 2))
    with pytest.raises(ValueError, match="NaN"):
        kernel_sums(np.full((4, 2), np.nan), X, bandwidth=1.0)
    with pytest.raises(ValueError, match="infinity"):
        kernel_sums(X, np.full((4, 2), np.inf), bandwidth=1.0)
    with pytest.raises(ValueError, match="features"):
        kernel_sums(np.zeros((4, 3)), X, bandwidth=1.0)
    with pytest.raises(ValueError, match="0 sample"):
        kernel_sums(X, np.zeros((0, 2)), bandwidth=1.0)
    with pytest.raises(ValueError, match="Complex"):
        kernel_sums(X + 1j, X, bandwidth=1.0)


def test_concurrent_calls_release_the_gil():
    Q, X = sample(2000, 4000, 8, np.float64)
    expected = kernel_sums(Q, X, bandwidth=1.0, n_jobs=1)
    results = [None] * 4

    def call(i):
        results[i] = kernel_sums(Q, X, bandwidth=1.0, n_jobs=2)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_points_that_are_their_own_queries_are_converted_once():
    """Rows of another array are neither contiguous nor, as integers, of a kind that the core knows."""
    for rows in (np.random.default_rng(0).normal(size=(60, 3))[::3], np.arange(60).reshape(20, 3), [[0.0, 1.0]] * 4):
        expected = kernel_matrix(np.array(rows, dtype=float), bandwidth=3.0).sum(axis=1)
        np.testing.assert_allclose(kernel_sums(rows, rows, bandwidth=3.0), expected, rtol=1e-12)
