"""Kernel regression on Dask collections beside that in memory."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask.array")

import dask.array as da
import dask.dataframe as dd
from dask_cases import rows
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls import KernelRegressor


def problem(n=300, k=1):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1]])[:, :k] + 0.1 * rng.normal(size=(n, k))
    return X, Y[:, 0] if k == 1 else Y, rng.uniform(-3, 3, size=(70, 3)), rng.integers(0, 4, n).astype(float)


def both(X, y, weights=None, **parameters):
    local = KernelRegressor(**parameters).fit(X, y, sample_weight=weights)
    distributed = KernelRegressor(**parameters)
    return local, distributed.fit(rows(X), rows(y), sample_weight=None if weights is None else rows(weights))


def assert_same(local, distributed, X, y, Q, weights=None):
    expected = local.predict(Q)
    found = distributed.predict(rows(Q, 40))
    assert found.chunks[0] == (40, 30) and found.shape == expected.shape
    # Slopes far from the data divide by little: there sums in another order show.
    assert_allclose(found.compute(), expected, rtol=1e-4, atol=1e-5)
    assert_allclose(distributed.bandwidth_, local.bandwidth_, rtol=1e-12)
    assert distributed.degree_ == local.degree_
    score = distributed.score(rows(X), rows(y), sample_weight=None if weights is None else rows(weights))
    assert_allclose(score, local.score(X, y, sample_weight=weights), rtol=1e-7)
    alone = distributed.to_local()
    assert type(alone) is KernelRegressor
    assert_allclose(alone.predict(Q), expected, rtol=1e-4, atol=1e-5)
    assert_allclose(alone.predict_interval(X[:9]), local.predict_interval(X[:9]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("degree", [0, 1])
def test_out_of_reach_it_is_the_prediction_at_the_nearest_point(degree):
    X, y, Q, _ = problem()
    Q[:5] = 50.0
    local, distributed = both(X, y, bandwidth=1.0, degree=degree, kernel="epanechnikov")
    assert_same(local, distributed, X, y, Q)
    nearest = X[[np.argmin(np.sum((X - Q[0]) ** 2, axis=1))]]
    assert_allclose(distributed.predict(rows(Q)).compute()[:5], np.repeat(local.predict(nearest), 5), rtol=1e-6)


def test_of_more_points_than_are_gathered_the_bandwidth_is_scaled():
    X, y, Q, _ = problem(900)
    distributed = KernelRegressor(degree=0, max_tuning_samples=300).fit(rows(X), rows(y))
    assert distributed.n_tuning_samples_ == 300
    whole = KernelRegressor(degree=0).fit(X, y)
    assert 0.5 < distributed.bandwidth_ / whole.bandwidth_ < 2
    given = KernelRegressor(distributed.bandwidth_, degree=0).fit(X, y)
    assert_allclose(distributed.predict(rows(Q)).compute(), given.predict(Q), rtol=1e-9)


def test_chunks_without_rows_change_nothing():
    X, y, Q, _ = problem()
    filtered = (0, 110, 0, 0, 110, 80, 0)
    XE, yE = (da.concatenate([rows(A[:0]), rows(A)]).rechunk({0: filtered}) for A in (X, y))
    assert XE.chunks[0] == filtered
    whole = KernelRegressor(0.8).fit(rows(X), rows(y))
    for fitted in (
        KernelRegressor(0.8).fit(XE, yE),
        KernelRegressor(0.8).fit(XE, y),
        KernelRegressor(0.8).fit(rows(X), yE),
    ):
        assert_allclose(fitted.predict(rows(Q)).compute(), whole.predict(rows(Q)).compute(), rtol=1e-12)
    assert_allclose(whole.predict(XE).compute(), whole.predict(rows(X)).compute(), rtol=1e-12)
    assert whole.score(XE, yE) == pytest.approx(whole.score(rows(X), rows(y)), rel=1e-12)


def test_weights_that_leave_no_row_of_a_chunk():
    X, y, Q, weights = problem(k=2)
    weights[110:220] = 0
    assert_same(*both(X, y, weights, bandwidth=0.8), X, y, Q, weights)


def test_data_frames_and_float32():
    X, y, Q, _ = problem()
    frame = dd.from_pandas(pd.DataFrame(X.astype(np.float32), columns=list("abc")), npartitions=3)
    target = dd.from_pandas(pd.Series(y), npartitions=3)
    distributed = KernelRegressor(0.8, degree=0).fit(frame, target)
    local = KernelRegressor(0.8, degree=0).fit(X.astype(np.float32), y)
    assert_array_equal(distributed.feature_names_in_, ["a", "b", "c"])
    queries = dd.from_pandas(pd.DataFrame(Q.astype(np.float32), columns=list("abc")), npartitions=2)
    assert_allclose(distributed.predict(queries).compute(), local.predict(Q.astype(np.float32)), rtol=1e-5, atol=1e-5)


def test_what_is_refused():
    X, y, Q, _ = problem(60)
    model = KernelRegressor(1.0, degree=0)
    with pytest.raises(ValueError, match="real numbers"):
        model.fit(rows(X), rows(y.astype(str)))
    with pytest.raises(ValueError, match="row 7"):
        model.fit(rows(X), rows(np.where(np.arange(60) == 7, np.nan, y)))
    with pytest.raises(ValueError, match='cv must be an int or "loo"'):
        KernelRegressor(cv=[(0, 1)]).fit(rows(X), rows(y))
    assert not hasattr(model, "bandwidth_")
    model.fit(rows(X), rows(y))
    with pytest.raises(AttributeError, match="to_local"):
        model.predict_interval(rows(Q))
    assert not hasattr(model, "predict_interval")


def test_groups_need_memory():
    X, y, _, _ = problem()
    with pytest.raises(ValueError, match="groups need all samples in memory"):
        KernelRegressor().fit(rows(X), rows(y), groups=np.arange(len(X)) // 3)
