"""The bound holds on data made to break it; the exact reference decides."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tolerance_cases import DATA, clusters, dense_beside_empty, outliers

from spectralcls import kernel_sums
from spectralcls.kernels import checked_sums

COMPACT = ("epanechnikov", "uniform", "quartic", "triweight", "cosine", "linear")


@pytest.fixture(autouse=True)
def always(pruning):
    """The grid is used wherever it is possible."""
    pruning("always")


def tolerance_sums(Q, X, *, bandwidth, weights=None, labels=None, n_labels=1, excluded=False, **options):
    """With all axes, (m, b, l, c)."""
    return kernel_sums(
        Q,
        X,
        weights=np.ones((len(X), 1)) if weights is None else weights,
        labels=np.zeros(len(X), dtype=int) if labels is None else labels,
        n_labels=n_labels,
        bandwidth=np.atleast_1d(bandwidth),
        exclude_self=excluded,
        **options,
    )


def exact(Q, X, *, h, weights=None, labels=None, n_labels=1, kernel="gaussian", excluded=None):
    W = np.ones((len(X), 1)) if weights is None else weights
    labels = np.zeros(len(X), dtype=int) if labels is None else labels
    arguments = {
        "labels": labels,
        "n_labels": n_labels,
        "kernel": kernel,
        "bandwidth": h,
        "exclude_self": False if excluded is None else excluded,
    }
    sums = reference.kernel_sums(Q, X, weights=W, **arguments)
    scale = reference.kernel_sums(Q, X, weights=np.abs(W), **arguments).sum(axis=1, keepdims=True)
    return sums, scale


def assert_within(result, truth, scale, rtol, atol=0.0):
    excess = np.abs(result[:, 0] - truth) - (atol + rtol * scale) * (1 + 1e-9) - 1e-300
    assert excess.max() <= 0, excess.max()


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("h", [0.05, 0.6, 5.0])
def test_relative_bound(data, d, h):
    rng = np.random.default_rng(d)
    X, Q = data(rng, 1500, d), data(rng, 200, d)
    Q[:20] = X[:20] + rng.normal(size=(20, d)) * 20 * h  # isolated queries: tiny sums
    truth, scale = exact(Q, X, h=h)
    for rtol in (1e-1, 1e-3, 1e-8):
        assert_within(tolerance_sums(Q, X, bandwidth=h, rtol=rtol), truth, scale, rtol)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("data", [clusters, dense_beside_empty])
def test_signed_weights_labels_and_left_out_points(data, d):
    rng = np.random.default_rng(10 + d)
    X = data(rng, 1500, d)
    W = rng.normal(size=(len(X), 3)) * [1, 1e6, 1e-6]
    W[:, 1] = np.abs(W[:, 1])
    labels = rng.integers(-1, 4, size=len(X))
    excluded = np.arange(len(X))
    excluded[::3] = -1
    excluded[1::3] = rng.integers(len(X), size=len(excluded[1::3]))
    truth, scale = exact(X, X, h=0.5, weights=W, labels=labels, n_labels=5, excluded=excluded)
    options = {"weights": W, "labels": labels, "n_labels": 5, "bandwidth": 0.5, "excluded": excluded}
    result = tolerance_sums(X, X, rtol=1e-3, **options)
    assert_within(result, truth, scale, 1e-3)
    assert_array_equal(result[:, 0, 4], 0)  # a label that no point has


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_query_in_the_void_that_leaves_itself_out(d):
    # Its own term is 1 and the rest may be 1e-20: nothing of the 1 may be left behind.
    X = outliers(np.random.default_rng(d), 2000, d)
    truth, scale = exact(X, X, h=0.7, excluded=np.arange(len(X)))
    assert truth.min() < 1e-6
    options = {"bandwidth": 0.7, "excluded": np.arange(len(X))}
    for rtol in (1e-3, 1e-8, 1e-10):
        assert_within(tolerance_sums(X, X, rtol=rtol, **options), truth, scale, rtol)


def test_many_labels_and_columns_stay_within_memory():
    rng = np.random.default_rng(0)
    X, W, labels = rng.normal(size=(500, 3)), rng.normal(size=(500, 40)), rng.integers(400, size=500)
    truth, scale = exact(X[:20], X, h=1.0, weights=W, labels=labels, n_labels=400)
    result = tolerance_sums(X[:20], X, weights=W, labels=labels, n_labels=400, bandwidth=1.0, rtol=1e-3)
    assert_within(result, truth, scale, 1e-3)


@pytest.mark.parametrize("atol", [1.0, 1e-4])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_absolute_bound(atol, d):
    rng = np.random.default_rng(d)
    X, Q = clusters(rng, 2000, d), clusters(rng, 300, d)
    truth, scale = exact(Q, X, h=0.7)
    options = {"bandwidth": 0.7, "atol": atol}
    assert_within(tolerance_sums(Q, X, **options), truth, scale, 0.0, atol)
    W = rng.normal(size=(len(X), 1))
    truth, scale = exact(Q, X, h=0.7, weights=W)
    assert_within(tolerance_sums(Q, X, weights=W, **options), truth, scale, 0.0, atol)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    n=st.integers(1, 400),
    m=st.integers(1, 60),
    log_h=st.floats(-3, 2),
    log_rtol=st.floats(-10, 0),
    data=st.sampled_from(DATA),
    signed=st.booleans(),
)
def test_bound_on_anything(seed, d, n, m, log_h, log_rtol, data, signed):
    rng = np.random.default_rng(seed)
    X, Q, h, rtol = data(rng, n, d), data(rng, m, d), 10**log_h, 10**log_rtol
    W = rng.normal(size=(n, 1)) if signed else None
    truth, scale = exact(Q, X, h=h, weights=W)
    result = tolerance_sums(Q, X, weights=W, bandwidth=h, rtol=rtol)
    assert_within(result, truth, scale, rtol)


@pytest.mark.parametrize("kernel", COMPACT)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_compact_kernels_are_exact(kernel, d):
    rng = np.random.default_rng(d)
    X, Q = dense_beside_empty(rng, 2000, d), dense_beside_empty(rng, 300, d)
    W = rng.normal(size=(len(X), 2))
    labels = rng.integers(3, size=len(X))
    truth, scale = exact(Q, X, h=0.8, weights=W, labels=labels, n_labels=3, kernel=kernel)
    result = tolerance_sums(Q, X, weights=W, labels=labels, n_labels=3, kernel=kernel, bandwidth=0.8)
    assert_allclose(result[:, 0], truth, rtol=0, atol=1e-12 * np.abs(W).max() * 50)
    assert np.abs(truth).max() > 1


def test_a_compact_kernel_has_an_open_support():
    X = np.arange(10.0)[:, None]
    result = tolerance_sums(X, X, kernel="uniform", bandwidth=2.0)[:, 0, 0, 0]
    assert_array_equal(result, [2, 3, 3, 3, 3, 3, 3, 3, 3, 2])


def test_several_bandwidths_are_several_passes():
    X = clusters(np.random.default_rng(0), 800, 2)
    options = {"rtol": 1e-4}
    both = tolerance_sums(X, X, bandwidth=[0.5, 2.0], **options)
    assert both.shape == (800, 2, 1, 1)
    for b, h in enumerate((0.5, 2.0)):
        assert_array_equal(both[:, b], tolerance_sums(X, X, bandwidth=h, **options)[:, 0])


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(0)
    X = np.concatenate([clusters(rng, 5000, 3), dense_beside_empty(rng, 5000, 3)])
    options = {"weights": rng.normal(size=(len(X), 2)), "bandwidth": 0.4, "rtol": 1e-3}
    one, three = (tolerance_sums(X, X, **options, n_jobs=j) for j in (1, 3))
    assert_array_equal(one, three)


def test_float32_points_are_summed_in_float64():
    X = clusters(np.random.default_rng(0), 2000, 2).astype(np.float32)
    truth, scale = exact(X, X, h=0.5)
    result = tolerance_sums(X, X, bandwidth=0.5, rtol=1e-3)
    assert_within(result, truth, scale, 1e-3)


def test_the_error_of_gridding_falls_with_the_tolerance():
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    truth, _ = exact(X[:300], X, h=0.3)
    options = {"bandwidth": 0.3}
    errors = [np.abs(tolerance_sums(X[:300], X, rtol=t, **options)[:, 0] / truth - 1).max() for t in (1e-1, 1e-4, 1e-8)]
    assert 1e-1 > errors[0] > 1e-4 > errors[1] > 1e-8 > errors[2] > 1e-13


class TestChoice:
    @pytest.fixture(autouse=True)
    def sampled(self, always, pruning):
        pruning("sampled")

    def is_on_grid(self, Q, X, **options):
        """Too few queries for tiles to be pruned in few features."""
        return not np.array_equal(kernel_sums(Q, X, **options), checked_sums(Q, X, all_pairs=True, **options))

    def test_the_grid_where_it_wins(self):
        X = np.random.default_rng(0).normal(size=(50_000, 2))
        assert self.is_on_grid(X[:5000], X, bandwidth=0.1, rtol=1e-3)
        assert self.is_on_grid(X[:5000], X, bandwidth=0.4)

    def test_exact_sums_where_they_win(self):
        rng = np.random.default_rng(0)
        few, space = rng.normal(size=(200, 2)), rng.normal(size=(30_000, 3))
        assert not self.is_on_grid(few, few, bandwidth=0.1, rtol=1e-3)
        assert not self.is_on_grid(space[:5000], space, bandwidth=0.01, rtol=1e-3)  # hardly a tile has ten queries
        assert not self.is_on_grid(space[:5000], space, bandwidth=0.1, rtol=1e-3, kernel="quartic")

    @pytest.mark.parametrize("tolerance", [{"rtol": -1e-3}, {"atol": -1.0}, {"rtol": np.nan}])
    def test_a_bad_tolerance_is_named(self, tolerance):
        with pytest.raises(ValueError, match="[ra]tol must be finite and at least 0"):
            kernel_sums(np.zeros((2, 1)), np.zeros((2, 1)), bandwidth=1.0, **tolerance)
