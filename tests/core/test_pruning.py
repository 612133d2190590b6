"""Sums that leave out unseen what they cannot see, against slow float64 sums over all pairs."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spectralcls.kernels import PackedPoints, kernel_sums


@pytest.fixture(autouse=True)
def always(pruning):
    pruning("always")


def clusters(rng, n, d, spread=0.05):
    """Points about a few centers: most pairs are out of reach."""
    centers = rng.uniform(-1, 1, size=(8, d))
    return centers[rng.integers(8, size=n)] + spread * rng.normal(size=(n, d))


def reference(Q, X, h, weights=None, labels=None, left_out=None):
    """Sums and sums of absolute terms, float64 (m, l, c), as (log scale (m, l), sums, absolute sums)."""
    Q, X = Q.astype(np.float64), X.astype(np.float64)
    W = np.ones((len(X), 1)) if weights is None else np.asarray(weights, dtype=np.float64).reshape(len(X), -1)
    labels = np.zeros(len(X), dtype=int) if labels is None else labels
    exponent = -(cdist(Q, X) ** 2) / (2 * h**2)
    if left_out is not None:
        exponent[left_out] = -np.inf
    scales, sums, absolute = [], [], []
    for label in range(labels.max() + 1):
        part, w = exponent[:, labels == label], W[labels == label]
        scale = part.max(axis=1)
        k = np.exp(part - scale[:, None])
        scales.append(scale)
        sums.append(k @ w)
        absolute.append(k @ np.abs(w))
    return np.stack(scales, axis=1), np.stack(sums, axis=1), np.stack(absolute, axis=1)


def assert_right(pair, truth, dtype):
    scale, sums = pair
    true_scale, true_sums, absolute = truth
    shift = np.exp(scale.astype(np.float64) - true_scale)[..., None]
    # What the package promises, and the rounding of the logarithm in the result.
    relative = {np.float32: 1e-5, np.float64: 1e-12}[dtype] + 2 * np.finfo(dtype).eps * np.abs(true_scale[..., None])
    allowed = relative * absolute
    assert np.all(np.abs(sums * shift - true_sums) <= allowed)


def assert_log(log_sums, scale, sums, dtype):
    """An absolute error of a logarithm is a relative one of the sum."""
    allowed = 2e-5 if dtype == np.float32 else 2e-12
    np.testing.assert_allclose(log_sums, (np.log(sums[..., 0]) + scale)[:, 0], rtol=allowed, atol=allowed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2, 3, 5, 17, 40])
def test_signed_columns_and_labels(dtype, seed, d):
    rng = np.random.default_rng(seed)
    X, Q = clusters(rng, 1500, d).astype(dtype), clusters(np.random.default_rng(seed), 200, d).astype(dtype)
    labels = rng.integers(3, size=len(X))
    weights = rng.normal(size=(len(X), 1 + 2 * seed)).astype(dtype)
    pair = kernel_sums(Q, X, weights=weights, labels=labels, bandwidth=0.05, log="pair")
    assert_right(pair, reference(Q, X, 0.05, weights, labels), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("log", [False, True])
def test_agrees_with_all_pairs(pruning, dtype, log):
    rng = np.random.default_rng(0)
    X = clusters(rng, 3000, 12).astype(dtype)
    Q = np.vstack([X[:300], clusters(rng, 100, 12), rng.normal(size=(20, 12)) * 30]).astype(dtype)
    options = dict(labels=rng.integers(4, size=len(X)), n_labels=5, bandwidth=[0.03, 0.06, 0.2], log=log)
    skipped = kernel_sums(Q, X, **options)
    pruning("never")
    allowed = 2e-5 if dtype == np.float32 else 2e-12
    # An absolute error of a logarithm is a relative one of the sum.
    np.testing.assert_allclose(skipped, kernel_sums(Q, X, **options), rtol=allowed, atol=allowed if log else 1e-30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_heavy_points(dtype):
    """What is left out is bounded by its weights: a heavy point far away outweighs all near ones."""
    rng = np.random.default_rng(1)
    X = clusters(rng, 2000, 6, spread=0.01).astype(dtype)
    Q = X[:64] + dtype(0.001)
    weights = np.full(len(X), 1e-6, dtype=dtype)
    heavy = rng.choice(np.arange(64, len(X)), 5, replace=False)
    weights[heavy] = [1e6, -1e6, 1e5, 1e4, -1e6]
    pair = kernel_sums(Q, X, weights=weights, bandwidth=0.25, log="pair")
    assert_right((pair[0][:, None], pair[1][:, None, None]), reference(Q, X, 0.25, weights), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rtol", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("case", ["clusters", "duplicates", "constants", "one tile", "d > n", "far from the origin"])
def test_weights_of_every_size_and_sign(dtype, rtol, case):
    """How far a query sees follows from what it has summed: weights of twelve orders of magnitude, sums that cancel."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, d = {"one tile": (40, 6), "d > n": (60, 130)}.get(case, (1200, 9))
        X = clusters(rng, n, d)
        if case == "duplicates":
            X = np.repeat(X[: n // 60], 60, axis=0)
        if case == "constants":
            X[:, ::2] = 3.0
        Q = np.vstack([X[: n // 10], X[:20] + 0.1 * rng.normal(size=(20, d))])
        if case == "far from the origin":
            X, Q = 64 * np.round(X, 3) + 1e6, 64 * np.round(Q, 3) + 1e6
        X, Q = X.astype(dtype), Q.astype(dtype)
        labels = rng.integers(5, size=n)
        labels[:5] = range(5)
        weights = (rng.choice([-1, 1], size=n) * 10 ** rng.uniform(-6, 6, size=n)).astype(dtype)
        weights[1::2] = -weights[: 2 * (n // 2) : 2]  # pairs that cancel where they are near each other
        h = 0.02 * np.sqrt(d) * 2.0**seed * (64 if case == "far from the origin" else 1)
        scale, sums = kernel_sums(Q, X, weights=weights, labels=labels, bandwidth=h, log="pair", rtol=rtol)
        true_scale, true_sums, absolute = (part.reshape(len(Q), 5) for part in reference(Q, X, h, weights, labels))
        # Distances in so many features are rounded more, and by their size.
        rounding = {np.float32: 6e-5, np.float64: 6e-12}[dtype] + 8 * np.finfo(dtype).eps * np.abs(true_scale)
        if rtol == 0:
            error = np.abs(sums * np.exp(scale - true_scale) - true_sums)
            assert np.all(error <= rounding * absolute)
            continue
        common = true_scale.max(axis=1, keepdims=True)
        error = np.abs(sums * np.exp(scale - common) - true_sums * np.exp(true_scale - common)).sum(axis=1)
        total = (absolute * np.exp(true_scale - common)).sum(axis=1)
        assert np.all(error <= (rtol + rounding.max(axis=1)) * total)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", ["plain", "constants", "duplicates", "far from the origin", "subnormal"])
@pytest.mark.parametrize("d", [67, 261])
def test_many_features_of_few_dimensions(pruning, d, case, dtype):
    """Points near a plane of five dimensions, as most images are, whether or not the filter is chosen for them."""
    rng = np.random.default_rng(d)
    X = clusters(rng, 1203, 5) @ rng.normal(size=(5, d)) + 0.01 * rng.normal(size=(1203, d))
    h = 0.02 * np.sqrt(d)
    if case == "constants":
        X[:, ::3] = -7.0
    if case == "duplicates":
        X = np.repeat(X[:401], 3, axis=0)
    Q = np.vstack([X[:102], X[:33] + 0.1 * rng.normal(size=(33, d))])
    if case == "far from the origin":
        X, Q, h = 64 * np.round(X, 2) + 1e6, 64 * np.round(Q, 2) + 1e6, 64 * h
    if case == "subnormal":
        tiny = 8 * float(np.finfo(dtype).tiny)
        X, Q, h = tiny * X, tiny * Q, tiny * h
    X, Q = X.astype(dtype), Q.astype(dtype)
    labels = rng.integers(3, size=len(X))
    unit = tiny if case == "subnormal" else 1.0  # cdist would square its way to zero
    scale, sums, _ = reference(Q.astype(np.float64) / unit, X.astype(np.float64) / unit, h / unit, labels=labels)
    truth, allowed = scale + np.log(sums[..., 0]), {np.float32: 5e-5, np.float64: 5e-12}[dtype]
    for mode in ("always", "sampled", "never"):
        pruning(mode)
        log_sums = kernel_sums(Q, X, labels=labels, bandwidth=h, log=True)
        np.testing.assert_allclose(log_sums, truth, rtol=allowed, atol=allowed)
        total = np.logaddexp.reduce(truth, axis=1, keepdims=True)
        near = kernel_sums(Q, X, labels=labels, bandwidth=h, log=True, rtol=1e-3)
        assert np.all(np.abs(np.exp(near - total) - np.exp(truth - total)).sum(axis=1) <= 1e-3 + 2 * allowed)


@pytest.mark.parametrize("rtol", [0.0, 0.1])
def test_pairs_of_several_labels_in_one_pass(rtol):
    """Points of many labels, few of each in a tile, whose pairs are taken one by one."""
    rng = np.random.default_rng(14)
    X = rng.normal(size=(3000, 12))
    labels, Q = rng.integers(40, size=3000), X[:200] + 0.01
    log_sums = kernel_sums(Q, X, labels=labels, bandwidth=0.3, log=True, rtol=rtol)
    scale, sums, _ = reference(Q, X, 0.3, labels=labels)
    truth = scale + np.log(sums[..., 0])
    if rtol == 0:
        np.testing.assert_allclose(log_sums, truth, rtol=1e-11, atol=1e-11)
    total = np.logaddexp.reduce(truth, axis=1, keepdims=True)
    assert np.all(np.abs(np.exp(log_sums - total) - np.exp(truth - total)).sum(axis=1) <= rtol + 1e-12)


def test_nearest_points_weigh_nothing():
    rng = np.random.default_rng(2)
    X = clusters(rng, 2000, 8)
    weights = rng.normal(size=len(X))
    weights[np.linalg.norm(X - X[0], axis=1) < 0.5] = 0
    pair = kernel_sums(X[:1], X, weights=weights, bandwidth=0.2, log="pair")
    scale, sums, absolute = reference(X[:1], X, 0.2, weights)
    np.testing.assert_allclose(pair[1] * np.exp(pair[0] - scale[0]), sums[0, 0], atol=1e-12 * absolute.max(), rtol=0)
    assert absolute.max() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_constants_and_offsets(dtype):
    """Thousands of equal points, features that never change, everything a million away from the origin."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.integers(0, 3, size=(4, 7)), 700, axis=0).astype(dtype) + dtype(1e6)
    X[:, 2] = 5
    Q = np.vstack([X[::500], X[:20] + dtype(1)])
    log_sums = kernel_sums(Q, X, bandwidth=0.5, log=True)
    scale, sums, _ = reference(Q, X, 0.5)
    assert_log(log_sums, scale, sums, dtype)


@pytest.mark.parametrize("n, d", [(1, 3), (5, 70), (30, 200), (49, 4)])
def test_few_points(n, d):
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(33, d))
    scale, sums, _ = reference(Q, X, 0.7)
    assert_log(kernel_sums(Q, X, bandwidth=0.7, log=True), scale, sums, np.float64)


def test_denormals_and_tiny_scales():
    rng = np.random.default_rng(5)
    X = clusters(rng, 1000, 6)
    truth = kernel_sums(X[:100], X, bandwidth=0.05, log=True)
    for factor in (2.0**-1000, 2.0**-120, 2.0**300):
        scaled = kernel_sums(X[:100] * factor, X * factor, bandwidth=0.05 * factor, log=True)
        np.testing.assert_allclose(scaled, truth, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "laplace_derivative", "epanechnikov", "uniform", "cosine"])
def test_every_decay(pruning, kernel):
    rng = np.random.default_rng(6)
    X = clusters(rng, 2000, 10)
    labels = rng.integers(2, size=len(X))
    options = dict(kernel=kernel, bandwidth=[0.02, 0.11], labels=labels, log="pair", exclude_self=True)
    scale, sums = kernel_sums(X, X, **options)
    pruning("never")
    true_scale, true_sums = kernel_sums(X, X, **options)
    np.testing.assert_allclose(sums * np.exp(scale - true_scale), true_sums, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_left_out_groups_and_selves(dtype):
    rng = np.random.default_rng(7)
    X = clusters(rng, 1200, 9).astype(dtype)
    folds = rng.integers(5, size=len(X))
    own = folds[:, None] == folds
    log_sums = kernel_sums(X, X, bandwidth=0.06, log=True, exclude_groups=(folds, folds))
    scale, sums, _ = reference(X, X, 0.06, left_out=own)
    assert_log(log_sums, scale, sums, dtype)
    log_sums = kernel_sums(X, X, bandwidth=0.06, log=True, exclude_self=True)
    scale, sums, _ = reference(X, X, 0.06, left_out=np.eye(len(X), dtype=bool))
    assert_log(log_sums, scale, sums, dtype)


def test_bandwidth_of_each_label_and_weights_of_each_bandwidth(pruning):
    rng = np.random.default_rng(8)
    X, labels = clusters(rng, 1500, 11), rng.integers(3, size=1500)
    options = dict(
        labels=labels,
        bandwidth=[[0.02, 0.05, 0.1], [0.03, 0.03, 0.3]],
        log="pair",
        weights=rng.normal(size=(1500, 2, 4)),
    )
    scale, sums = kernel_sums(X[:300], X, **options)
    pruning("never")
    true_scale, true_sums = kernel_sums(X[:300], X, **options)
    absolute = kernel_sums(X[:300], X, **{**options, "weights": np.abs(options["weights"])})[1]
    assert np.all(np.abs(sums * np.exp(scale - true_scale)[..., None] - true_sums) <= 1e-12 * absolute)


def test_points_packed_once(pruning):
    rng = np.random.default_rng(9)
    X, weights = clusters(rng, 2000, 14).astype(np.float32), rng.uniform(1, 2, size=2000).astype(np.float32)
    labels = rng.integers(3, size=2000)
    points = PackedPoints(X, labels=labels, weights=weights)
    options = dict(bandwidth=0.05, log=True)
    once = kernel_sums(X[:500], points, **options)
    np.testing.assert_array_equal(kernel_sums(X[:500], points, **options), once)
    unpacked = kernel_sums(X[:500], X, labels=labels, weights=weights, **options)
    np.testing.assert_allclose(unpacked, once, rtol=1e-5, atol=1e-5)
    pruning("never")
    np.testing.assert_allclose(kernel_sums(X[:500], points, **options), once, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rtol", [0.0, 0.1])
@pytest.mark.parametrize("choice", ["always", "sampled"])
def test_same_bits_for_any_number_of_threads(pruning, choice, rtol):
    pruning(choice)
    rng = np.random.default_rng(10)
    X = clusters(rng, 6000, 16).astype(np.float32)
    options = dict(labels=rng.integers(3, size=len(X)), bandwidth=0.05, log=True, rtol=rtol)
    np.testing.assert_array_equal(kernel_sums(X, X, n_jobs=1, **options), kernel_sums(X, X, n_jobs=5, **options))


@pytest.mark.parametrize("distance", [1e10, 1e18, 1e30])
def test_queries_whose_norm_no_float32_holds(distance):
    rng = np.random.default_rng(11)
    X = clusters(rng, 1000, 6)
    Q = X[:8] + distance
    scale, sums, _ = reference(Q, X, 0.3)
    assert_log(kernel_sums(Q, X, bandwidth=0.3, log=True), scale, sums, np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rtol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("d", [4, 9, 40])
def test_tolerance_in_any_dimension(dtype, seed, rtol, d):
    """Errors of all labels together, of signed weights, against the sum of absolute terms."""
    rng = np.random.default_rng(seed)
    X, Q = clusters(rng, 1500, d).astype(dtype), clusters(np.random.default_rng(seed), 200, d, spread=0.2).astype(dtype)
    labels = rng.integers(3, size=len(X))
    weights = rng.normal(size=(len(X), 2)).astype(dtype) * (10.0 ** rng.integers(-2, 3, size=(len(X), 1))).astype(dtype)
    h = 0.05 * np.sqrt(d)
    scale, sums = kernel_sums(Q, X, weights=weights, labels=labels, bandwidth=h, log="pair", rtol=rtol)
    true_scale, true_sums, absolute = reference(Q, X, h, weights, labels)
    common = true_scale.max(axis=1, keepdims=True)
    error = np.abs(sums * np.exp(scale - common)[..., None] - true_sums * np.exp(true_scale - common)[..., None])
    total = (absolute * np.exp(true_scale - common)[..., None]).sum(axis=1)
    rounding = 1e-5 if dtype == np.float32 else 1e-12
    assert np.all(error.sum(axis=1) <= (rtol + rounding) * total)


@pytest.mark.parametrize("rtol", [1e-1, 1e-3])
def test_tolerance_with_a_bandwidth_of_each_label(rtol):
    """Labels compare by exponents, not by distances: the nearest point need not bring the largest term."""
    rng = np.random.default_rng(12)
    X, labels = clusters(rng, 2000, 6, spread=0.2), rng.integers(3, size=2000)
    Q, widths = clusters(rng, 200, 6, spread=0.3), np.array([0.01, 0.1, 0.4])
    log_sums = kernel_sums(Q, X, labels=labels, bandwidth=widths[None], log=True, rtol=rtol)[:, 0]
    truth = np.stack(
        [np.logaddexp.reduce(-(cdist(Q, X[labels == c]) ** 2) / (2 * widths[c] ** 2), axis=1) for c in range(3)], axis=1
    )
    total = np.logaddexp.reduce(truth, axis=1, keepdims=True)
    assert np.all(np.abs(np.exp(log_sums - total) - np.exp(truth - total)).sum(axis=1) <= rtol + 1e-12)
    several = kernel_sums(Q, X, labels=labels, bandwidth=widths * [[1], [2]], log=True, rtol=rtol)[:, 0]
    np.testing.assert_allclose(several, truth, rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", ["plain", "one place", "duplicates", "huge", "tiny", "offset", "empty labels"])
def test_the_sample_that_decides_changes_nothing(pruning, case, dtype):
    """Points near a curved surface: what looks good by a sample is measured, whatever their size, copies and labels."""
    rng = np.random.default_rng(2)
    n, d = 4096, 12
    X = np.tanh(rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))) + 0.02 * rng.normal(size=(n, d))
    labels = rng.integers(3, size=n)
    h, unit = 0.08, {"huge": 1e17, "tiny": 1e-24}.get(case, 1.0)
    if case == "one place":
        X[:] = X[0]
    if case == "duplicates":
        X[: n // 2] = X[0]
    if case == "offset":
        X = 64 * np.round(X, 3) + 1e6
        h *= 64
    if case == "empty labels":
        labels = np.where(labels == 0, -1, 20)
    X = (X * unit).astype(dtype)
    options = dict(bandwidth=h * unit, labels=labels, n_labels=22, log=True)
    for choice in ("sampled", "never"):
        pruning(choice)
        found = kernel_sums(X[::2], X, **options), kernel_sums(X[::2], X, rtol=1e-3, **options)
        if choice == "sampled":
            exact, rough = found
    allowed = 2e-5 if dtype == np.float32 else 2e-12
    np.testing.assert_allclose(exact, found[0], rtol=allowed, atol=allowed)
    total = np.logaddexp.reduce(found[1], axis=1, keepdims=True)
    assert np.all(np.abs(np.exp(rough - total) - np.exp(found[1] - total)).sum(axis=1) <= 1e-3 + allowed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_adjacent_tiles_in_few_features(dtype, d, kernel, pruning):
    """Many tiles of a label are within reach, also of a far label, and a query leaves out its own point."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(4000, d))
    labels = rng.integers(3, size=len(X))
    X[labels == 2] += 30
    X = X.astype(dtype)
    options = dict(labels=labels, bandwidth=0.2, kernel=kernel, log=True, exclude_self=True)
    pruned = kernel_sums(X, X, **options)
    pruning("never")
    exact = kernel_sums(X.astype(np.float64), X.astype(np.float64), **options)
    unit = np.finfo(dtype).eps * np.abs(exact)
    allowed = {np.float32: 1e-5, np.float64: 1e-12}[dtype]
    assert np.all(np.abs(pruned - exact) <= allowed + 4 * unit * (1 if kernel == "gaussian" else 4))
