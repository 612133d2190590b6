"""Fits and votes leave BLAS one thread, and give it back what it had: its threads would wait busily for each other."""

import numpy as np
import pytest
import threadpoolctl
from every_estimator import assert_same, make, problem, responses
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


@pytest.mark.parametrize("n", [2, 3000])
def test_a_fit_has_one(n):
    assert Watched().fit(np.zeros((n, 2))).threads_ == Watched().fit(X=np.zeros((n, 2))).threads_ == {1}


def test_a_vote_has_one(monkeypatch):
    X, y = load_iris(return_X_y=True)
    vote, seen, said_by_all = AutoClassifier().fit(X, y), [], ensemble.said_by_all

    def watched(*arguments):
        seen.append(threads())
        return said_by_all(*arguments)

    monkeypatch.setattr(ensemble, "said_by_all", watched)
    vote.predict_proba(X)
    assert seen == [{1}]


@pytest.mark.parametrize(
    "name", ["KernelMetric", "KernelRidgeClassifier", "PerTurboClassifier", "SpectralISEClassifier"]
)
def test_the_number_of_threads_changes_no_bit(name):
    X, y, Q = problem(n=1200, d=12)
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        expected = responses(make(name).fit(X, y), Q)
    assert_same(responses(make(name).fit(X, y), Q), expected)
