"""Sums on a grid in the place of exact ones: as accurate, and the same whatever else is asked for with them."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from tolerance_cases import DATA, clusters, dense_beside_empty

from spectralcls import kernel_sums
from spectralcls.kernels import PackedPoints, checked_sums

M = 1100
PROMISE = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.fixture(autouse=True)
def always(pruning):
    """The grid is used wherever it is possible."""
    pruning("always")


def all_pairs(Q, X, **options):
    return checked_sums(Q, X, all_pairs=True, **options)


def assert_as_promised(logs, Q, X, dtype, **options):
    """Relative errors within the guide's: those of kernel values, whose exponents a sum's logarithm bounds."""
    truth = reference.kernel_sums(Q, X, log=True, dtype=np.longdouble, **options).astype(float)
    exponents = np.where(np.isfinite(truth), np.abs(truth) + np.log(len(X)), 0.0)
    allowed = PROMISE[dtype] + 40 * np.finfo(dtype).eps * exponents + np.finfo(dtype).eps * np.abs(exponents)
    with np.errstate(invalid="ignore"):
        errors = np.where(truth == logs, 0.0, np.abs(logs - truth))
    assert np.all(errors <= allowed), np.max(errors / allowed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_sums_are_as_exact_as_those_of_all_pairs(data, d, dtype):
    rng = np.random.default_rng(d)
    X, Q = data(rng, 400, d), data(rng, M, d)
    Q[:100] = X[:100] + rng.normal(size=(100, d)) * 10.0 ** rng.uniform(-2, 3, size=(100, 1))
    X, Q, labels = X.astype(dtype), Q.astype(dtype), rng.integers(-1, 3, 400)
    weights = rng.uniform(0.5, 2, 400).astype(dtype)
    options = {"labels": labels, "n_labels": 3, "weights": weights, "bandwidth": 0.7}
    assert_as_promised(kernel_sums(Q, X, log=True, **options), Q, X, dtype, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_query_that_leaves_itself_out(d, dtype):
    X = dense_beside_empty(np.random.default_rng(d), M, d).astype(dtype)
    options = {"bandwidth": 0.3, "exclude_self": True}
    assert_as_promised(kernel_sums(X, X, log=True, **options), X, X, dtype, **options)


def test_forms_of_the_answer_agree():
    rng = np.random.default_rng(0)
    X, Q = clusters(rng, 500, 2), clusters(rng, M, 2)
    labels, W = rng.integers(0, 3, 500), rng.uniform(size=(500, 2))
    for bandwidth in (0.5, [0.5, 2.0], [[0.5, 1.0, 2.0]]):
        options = {"labels": labels, "weights": W, "bandwidth": bandwidth, "normalize": True}
        logs = kernel_sums(Q, X, log=True, **options)
        scale, sums = kernel_sums(Q, X, log="pair", **options)
        points = PackedPoints(X, labels=labels, weights=W)
        with np.errstate(divide="ignore"):
            assert_allclose(np.log(sums) + scale[..., None], logs, rtol=1e-11, atol=1e-11)
        assert_allclose(kernel_sums(Q, X, **options), np.exp(logs), rtol=1e-9, atol=1e-300)
        packed = kernel_sums(Q, points, log=True, bandwidth=bandwidth, normalize=True)
        assert_allclose(packed, logs, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_neither_other_queries_nor_threads_change_a_bit(d):
    rng = np.random.default_rng(d)
    X, Q, labels = rng.normal(size=(3000, d)), rng.normal(size=(M + 200, d)), rng.integers(0, 3, 3000)
    options = {"labels": labels, "n_labels": 3, "bandwidth": 0.5}
    sums, exact = kernel_sums(Q, X, n_jobs=1, **options), all_pairs(Q, X, **options)
    settled = sums != exact
    assert 0.05 < settled.mean()
    far = np.concatenate([Q[:M], [np.full(d, 1e12), np.full(d, 50.0)]])
    for queries, threads in ((Q, 3), (Q[:M], 1), (far, 2)):
        other = kernel_sums(queries, X, n_jobs=threads, **options)[:M]
        assert_array_equal(other[settled[:M]], sums[:M][settled[:M]])
        assert_allclose(other, exact[:M], rtol=1e-12)


def test_offsets_cost_no_accuracy():
    """Positions on the grid come from differences of coordinates, however far the data are from zero."""
    rng = np.random.default_rng(0)
    X, Q = (np.round(rng.normal(size=(n, 2)) * 2**20) / 2**20 for n in (2000, M))
    plain = kernel_sums(Q, X, bandwidth=0.3)
    assert_allclose(kernel_sums(Q + 2.0**25, X + 2.0**25, bandwidth=0.3), plain, rtol=2e-13)
    assert np.mean(plain != all_pairs(Q, X, bandwidth=0.3)) > 0.5


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_bandwidth_for_each_label_one_of_which_has_no_point(d):
    rng = np.random.default_rng(d)
    X, Q, labels = rng.normal(size=(2000, d)), rng.normal(size=(M, d)), rng.integers(1, 3, 2000)
    options = {"labels": labels, "n_labels": 4, "bandwidth": [[0.3, 0.5, 0.7, 0.9], [0.6, 1.0, 1.4, 1.8]]}
    sums = kernel_sums(Q, X, **options)
    assert_allclose(sums, all_pairs(Q, X, **options), rtol=1e-12)
    assert (sums[..., [0, 3]] == 0).all()
    logs = kernel_sums(Q, X, log=True, **options)
    assert np.isneginf(logs[..., [0, 3]]).all()
    assert_allclose(logs[..., 1:3], np.log(sums[..., 1:3]), rtol=1e-10)
    assert (kernel_sums(Q, X, log="pair", **options)[1][..., [0, 3]] == 0).all()


def test_weights_of_either_sign_are_summed_over_all_pairs():
    X = clusters(np.random.default_rng(0), 2000, 2)
    W = np.random.default_rng(1).normal(size=(2000, 1))
    for form in (False, "pair"):
        options = {"weights": W, "bandwidth": 0.5, "log": form}
        for one, other in zip(kernel_sums(X, X, **options), all_pairs(X, X, **options), strict=True):
            assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_bandwidths_for_which_the_grid_pays_among_others(pruning):
    """Of a wide grid of bandwidths, some are summed on the grid and the others together over all pairs."""
    pruning("sampled")
    X = np.random.default_rng(0).normal(size=(6000, 1))
    h = np.geomspace(1e-9, 1.0, 5)
    sums, exact = kernel_sums(X, X, bandwidth=h), all_pairs(X, X, bandwidth=h)
    assert_allclose(sums, exact, rtol=1e-12)
    differs = np.any(sums != exact, axis=0)
    assert differs.any() and not differs.all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_grid_takes_less_than_half_of_what_is_promised(dtype):
    X = np.random.default_rng(0).normal(size=(M, 2)).astype(dtype)
    sums = kernel_sums(X, X, bandwidth=0.5)
    truth = reference.kernel_sums(X, X, bandwidth=0.5, dtype=np.longdouble).reshape(M)
    settled = sums != all_pairs(X, X, bandwidth=0.5)
    errors = np.abs(sums / truth - 1)[settled].astype(float)
    assert 0.005 * PROMISE[dtype] < errors.max() <= 0.45 * PROMISE[dtype]
