"""Points packed once, and a bandwidth for each label: the same sums as arrays and loops give."""

import pickle
import threading

import numpy as np
import pytest
from reference import PROFILES

from spectralcls.kernels import PackedPoints, kernel_matrix, kernel_sums

DTYPES = [np.float32, np.float64]
RTOL = {np.float32: 1e-5, np.float64: 1e-12}


def sample(m, n, d, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = (np.round(rng.normal(size=(m + n, d)) * 256) / 256).astype(dtype)
    return X[:m], X[m:], rng.integers(-1, 3, n), rng.uniform(0.5, 2, size=(n, 3)).astype(dtype)


def assert_same(actual, expected, dtype):
    assert actual.dtype == expected.dtype == dtype and actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=4 * RTOL[dtype], atol=4 * RTOL[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 6, 20])
@pytest.mark.parametrize("m", [1, 5, 60, 1500])
@pytest.mark.parametrize("kernel", ["gaussian", "quartic", "laplace"])
def test_packed_points_give_what_arrays_give(kernel, m, d, dtype):
    Q, X, labels, weights = sample(m, 2000, d, dtype)
    left_out = np.random.default_rng(1).integers(-1, len(X), m)
    h = np.sqrt(d) * 1.3
    points = PackedPoints(X, labels=labels, n_labels=4, weights=weights)
    for options in (
        dict(bandwidth=h),
        dict(bandwidth=[h, h / 2, h / 3], weights=weights[:, 0]),
        dict(bandwidth=h, log=True, exclude_self=left_out),
        dict(bandwidth=h, exclude_groups=(np.arange(m) % 3, np.arange(len(X)) % 3)),
    ):
        expected = kernel_sums(Q, X, labels=labels, n_labels=4, kernel=kernel, **{"weights": weights, **options})
        for _ in range(2):
            assert_same(kernel_sums(Q, points, kernel=kernel, **options), expected, dtype)
    scale, sums = kernel_sums(Q, PackedPoints(X), kernel=kernel, bandwidth=h, log="pair")
    assert_same(np.log(sums) + scale, kernel_sums(Q, X, kernel=kernel, bandwidth=h, log=True), dtype)
    assert_same(kernel_matrix(Q, points, bandwidth=h), kernel_matrix(Q, X, bandwidth=h), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", PROFILES)
def test_a_query_alone_gives_what_it_gives_among_others(kernel, dtype):
    Q, X, labels, weights = sample(30, 700, 5, dtype)
    for columns in (None, weights[:, 0], weights, np.tile(weights, 6)):
        points = PackedPoints(X, labels=labels, weights=columns)
        together = kernel_sums(Q, points, kernel=kernel, bandwidth=[1.5, 3.0])
        alone = np.concatenate([kernel_sums(q[None], points, kernel=kernel, bandwidth=[1.5, 3.0]) for q in Q])
        assert_same(alone, together, dtype)


def test_packed_points_follow_one_bandwidth_after_the_other():
    """Narrow bandwidths need other coordinates than wide ones, which are added when the first of them asks."""
    Q, X, _, _ = sample(50, 500, 8, np.float32)
    X, Q = X + np.float32(100), Q + np.float32(100)
    points = PackedPoints(X)
    for h in (50.0, 0.05, 5.0, 0.5):
        assert_same(kernel_sums(Q, points, bandwidth=h), kernel_sums(Q, X, bandwidth=h), np.float32)


def test_queries_decide_on_the_dtype_as_with_arrays():
    Q, X, labels, weights = sample(4, 50, 3, np.float32)
    points = PackedPoints(X, labels=labels, weights=weights)
    double = kernel_sums(Q.astype(np.float64), points, bandwidth=1.0)
    assert_same(double, kernel_sums(Q.astype(np.float64), X, labels=labels, weights=weights, bandwidth=1.0), np.float64)
    assert kernel_sums(Q, points, bandwidth=1.0).dtype == np.float32
    assert kernel_sums(Q, PackedPoints(X.astype(np.float64)), bandwidth=1.0).dtype == np.float64


def test_pickles_hold_the_points_and_not_their_packing():
    Q, X, labels, weights = sample(4, 3000, 6, np.float64)
    points = PackedPoints(X, labels=labels, weights=weights)
    fresh = len(pickle.dumps(points))
    expected = kernel_sums(Q, points, bandwidth=1.0)
    kernel_sums(Q.astype(np.float32), PackedPoints(X.astype(np.float32)), bandwidth=1.0)
    assert len(pickle.dumps(points)) == fresh < 1.1 * (X.nbytes + labels.nbytes + weights.nbytes)
    np.testing.assert_array_equal(kernel_sums(Q, pickle.loads(pickle.dumps(points)), bandwidth=1.0), expected)


def test_threads_share_packed_points():
    Q, X, _, _ = sample(300, 3000, 6, np.float64)
    expected = {h: kernel_sums(Q, X, bandwidth=h, exclude_self=np.arange(300)) for h in (1e-3, 1.0)}
    points, results = PackedPoints(X), []

    def call(h):
        results.append((h, kernel_sums(Q, points, bandwidth=h, exclude_self=np.arange(300), n_jobs=2)))

    threads = [threading.Thread(target=call, args=(h,)) for h in (1e-3, 1.0) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for h, result in results:
        np.testing.assert_allclose(result, expected[h], rtol=1e-12, atol=1e-15)


def test_same_bits_for_any_number_of_threads():
    for m, d in ((1, 16), (200, 3), (1500, 3)):
        Q, X, labels, weights = sample(m, 9000, d, np.float64)
        points = PackedPoints(X, labels=labels, weights=weights)
        one = kernel_sums(Q, points, bandwidth=[[0.5, 1.0, 2.0]], n_jobs=1)
        for n_jobs in (2, 5):
            np.testing.assert_array_equal(kernel_sums(Q, points, bandwidth=[[0.5, 1.0, 2.0]], n_jobs=n_jobs), one)


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_that_are_all_one_point(dtype):
    for bandwidth in (1.0, 1e-12):
        X = np.zeros((5, 2), dtype)
        np.testing.assert_array_equal(kernel_sums(X[:1], PackedPoints(X), bandwidth=bandwidth), [5])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: PackedPoints(np.full((3, 2), np.nan)), "NaN"),
        (lambda: PackedPoints(np.zeros((3, 2)), labels=[0, 1]), "labels must have 3 entries"),
        (lambda: PackedPoints(np.zeros((3, 2)), labels=[0, 1, 2], n_labels=2), "labels go up to 2"),
        (lambda: PackedPoints(np.zeros((3, 2)), weights=np.ones((3, 1, 1))), "weights must have shape"),
        (lambda: PackedPoints(np.zeros((3, 2)), weights=np.ones(4)), "weights must have shape"),
        (lambda: kernel_sums(np.zeros((1, 3)), PackedPoints(np.zeros((3, 2))), bandwidth=1.0), "features"),
        (lambda: kernel_sums([[0.0]], PackedPoints([[0.0]]), labels=[0], bandwidth=1.0), "have their own labels"),
    ],
)
def test_bad_points_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("m, d", [(40, 2), (40, 9), (1200, 3)])
def test_a_bandwidth_for_each_label_equals_the_loop(m, d, kernel, dtype):
    Q, X, labels, weights = sample(m, 1500, d, dtype)
    h = np.sqrt(d) * np.array([[0.3, 2.0, 1.0, 4.0], [0.6, 2.0, 0.1, 1.0]])
    left_out = np.random.default_rng(1).integers(-1, len(X), m)
    normalize = kernel != "laplace_derivative"
    for options in (
        dict(),
        dict(weights=weights),
        dict(log=True, exclude_self=left_out),
        dict(log=True, weights=weights, normalize=normalize),
        dict(normalize=normalize, weights=np.stack([weights, 2 * weights], axis=1)),
        dict(exclude_groups=(np.arange(m) % 3, np.arange(len(X)) % 3)),
    ):
        together = kernel_sums(Q, X, labels=labels, n_labels=4, kernel=kernel, bandwidth=h, **options)
        for label in range(4):
            alone = kernel_sums(Q, X, labels=labels, n_labels=4, kernel=kernel, bandwidth=h[:, label], **options)
            mass = np.abs(alone[:, :, label]).max(initial=1) if kernel == "laplace_derivative" else 1
            np.testing.assert_allclose(
                together[:, :, label], alone[:, :, label], rtol=20 * RTOL[dtype], atol=20 * RTOL[dtype] * mass
            )


@pytest.mark.parametrize("log", [False, True])
def test_a_bandwidth_for_each_label_within_a_tolerance(log):
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(size=(40_000, 2)), rng.integers(0, 3, 40_000)
    h = np.array([[0.002, 0.004, 0.001]])
    exact = kernel_sums(X[:300], X, labels=labels, bandwidth=h)
    for queries, rows in ((X[:300], slice(None)), (X[:20_000], slice(300))):
        sums = kernel_sums(queries, X, labels=labels, bandwidth=h, log=log, rtol=1e-3)[rows]
        error = np.abs((np.exp(sums) if log else sums) - exact).sum(axis=2)
        np.testing.assert_array_less(error, 1e-3 * exact.sum(axis=2) * (1 + 1e-9))


def test_a_bandwidth_for_each_label_needs_labels():
    X = np.zeros((6, 2))
    with pytest.raises(ValueError, match="it needs labels"):
        kernel_sums(X, X, bandwidth=[[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"it needs shape \(b, 3\)"):
        kernel_sums(X, X, labels=[0, 1, 2, 0, 1, 2], bandwidth=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        kernel_sums(X, X, labels=[0, 1, 1, 0, 1, 1], bandwidth=[[1.0, -2.0]])
