"""Sums on a grid in the place of exact ones: as accurate, and the same whatever else is asked for with them."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from tolerance_cases import DATA, clusters, dense_beside_empty

from spectralcls import kernel_sums
from spectralcls.kernels import GRID_QUERIES, PackedPoints, _approximate
from spectralcls.kernels._exact import exact_sums
from spectralcls.kernels._request import SumsRequest

M = GRID_QUERIES + 76
PROMISE = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.fixture(autouse=True)
def always(pruning):
    """The grid is used wherever it is possible."""
    pruning("always")


def on_grid(Q, X, bandwidth, **options):
    request = SumsRequest(Q, X, np.atleast_1d(bandwidth), groups=(None, None, 1), **options)
    found = _approximate.grid_sums(request)
    return None if found is None else found[:2]


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
    sums, settled = on_grid(Q, X, **options, n_threads=1)
    far = np.concatenate([Q[:M], [np.full(d, 1e12), np.full(d, 50.0)]])
    for queries, threads in ((Q, 3), (Q[:M], 1), (far, 2)):
        other, of_other = on_grid(queries, X, **options, n_threads=threads)
        assert_array_equal(of_other[:M], settled[:M])
        assert_array_equal(other[:M][settled[:M]], sums[:M][settled[:M]])
    assert 0.05 < settled.mean() <= 1


def test_offsets_cost_no_accuracy():
    """Positions on the grid come from differences of coordinates, however far the data are from zero."""
    rng = np.random.default_rng(0)
    X, Q = (np.round(rng.normal(size=(n, 2)) * 2**20) / 2**20 for n in (2000, M))
    plain, _ = on_grid(Q, X, 0.3)
    moved, settled = on_grid(Q + 2.0**25, X + 2.0**25, 0.3)
    assert_allclose(moved[settled], plain[settled], rtol=2e-13)


def test_few_queries_are_summed_over_all_pairs():
    """Near ties between labels are settled by all pairs, in parts of fewer queries than the grid takes."""
    X = clusters(np.random.default_rng(0), 3000, 2)
    assert on_grid(X[: GRID_QUERIES - 1], X, 0.5) is None
    assert on_grid(X[:GRID_QUERIES], X, 0.5) is not None


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_pairs_are_all_summed(pruning, monkeypatch, d):
    """A look at the grid costs as much as it could gain."""
    pruning("sampled")
    looked = []
    monkeypatch.setattr(_approximate.compiled, "approximate_sums", lambda *arguments: looked.append(arguments))
    pairs = {1: 2**23, 2: 2**24, 3: 2**27}[d]
    X = np.random.default_rng(0).uniform(size=(pairs // 2**12, d))
    assert on_grid(X[:1].repeat(2**12 - 1, axis=0), X, 0.5) is None and not looked
    assert on_grid(X[:1].repeat(2**12, axis=0), X, 0.5) is None and looked


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_grid_orders_queries_by_place(d):
    """Sums that the grid leaves open are computed for queries in this order, which the core does not sort again."""
    rng = np.random.default_rng(d)
    X, Q, labels = clusters(rng, 3000, d), clusters(rng, M, d), rng.integers(0, 3, 3000)
    request = SumsRequest(Q, X, np.array([0.2]), labels=labels, n_labels=3, groups=(None, None, 1))
    order = _approximate.grid_sums(request)[2]
    assert_array_equal(np.sort(order), np.arange(M))
    gaps, random = (np.linalg.norm(np.diff(points, axis=0), axis=1) for points in (Q[order], Q))
    assert np.median(gaps) < np.median(random) / 4
    exact = exact_sums(request, order)
    assert_allclose(exact_sums(request, order, in_order=True), exact, rtol=1e-12)


def test_weights_of_either_sign_are_summed_over_all_pairs():
    X = clusters(np.random.default_rng(0), 2000, 2)
    W = np.random.default_rng(1).normal(size=(2000, 1))
    request = SumsRequest(X, X, np.array([0.5]), weights=W, groups=(None, None, 1))
    assert _approximate.approximate_sums(request) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_grid_takes_less_than_half_of_what_is_promised(dtype):
    assert_allclose(_approximate.AS_EXACT[np.dtype(dtype)], 0.4 * PROMISE[dtype])
    X = np.random.default_rng(0).normal(size=(M, 2)).astype(dtype)
    sums, settled = on_grid(X, X, 0.5)
    truth = reference.kernel_sums(X, X, bandwidth=0.5, dtype=np.longdouble).reshape(settled.shape)
    errors = np.abs(sums[..., 0] / truth - 1)[settled].astype(float)
    assert 0.02 * PROMISE[dtype] < errors.max() <= 0.45 * PROMISE[dtype]
