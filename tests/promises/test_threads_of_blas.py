"""Fits to few points and votes on few queries leave BLAS one thread, and give it back what it had."""

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse
from sklearn.datasets import load_iris

from spectralcls import AutoClassifier
from spectralcls._estimator import Estimator, transactional
from spectralcls.ensemble import _auto as ensemble


def threads():
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    """Several, on a machine with one processor too."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        yield
        assert threads() == {2}


class Watched(Estimator):
    """Looks how many threads BLAS has while it learns."""

    @transactional
    def fit(self, X, y=None):
        self.threads_ = threads()
        return self


def frame():
    return pytest.importorskip("pandas").DataFrame({"a": [1, 2]})


def dask_frame():
    return pytest.importorskip("dask.dataframe").from_pandas(frame(), npartitions=2)


FEW = [
    lambda: [[1.0], [2.0]],
    lambda: np.zeros((1000, 1000), np.int8),
    lambda: sparse.csr_array((5, 6)),
    lambda: pytest.importorskip("dask.array").zeros((3, 4)),
    frame,
]
MANY = [
    lambda: [0.0] * 1001,
    lambda: np.zeros((1001, 1)),
    lambda: np.zeros((1, 1001)),
    lambda: sparse.csr_array((5, 1001)),
    lambda: None,
    lambda: np.ndarray,  # whose shape has no length
    dask_frame,  # of as many rows as it turns out to have
]


@pytest.mark.parametrize("few", FEW)
def test_a_fit_to_few_points_has_one(few):
    assert Watched().fit(few()).threads_ == Watched().fit(X=few()).threads_ == {1}


@pytest.mark.parametrize("many", MANY)
def test_any_other_fit_has_all(many):
    assert Watched().fit(many()).threads_ == {2}


def test_a_vote_on_few_queries_has_one(monkeypatch):
    X, y = load_iris(return_X_y=True)
    vote, seen, said_by_all = AutoClassifier().fit(X, y), [], ensemble.said_by_all

    def watched(*arguments):
        seen.append(threads())
        return said_by_all(*arguments)

    monkeypatch.setattr(ensemble, "said_by_all", watched)
    few, many = vote.predict_proba(X[:20]), vote.predict_proba(np.tile(X[:20], (51, 1)))
    assert seen == [{1}, {2}]
    np.testing.assert_allclose(np.tile(few, (51, 1)), many, rtol=1e-9)
