"""The proof of the house: a new member of the grid is a few lines, and touches no other family."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import kernel_matrix
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralcls._expansion import Rule
from spectralcls.kernel_mean import KernelMeanClassifier
from spectralcls.plotting import BandwidthPathDisplay


class CosineClassifier(KernelMeanClassifier):
    """Smallest angle to a class mean, with the kernel's own norm and no weighting by the density."""

    def _rule(self):
        return Rule("angle", None, "same")


class SymmetricDistance(CosineClassifier):
    """Distance to the class means under the symmetric weighting, with the kernel's own norm."""

    def _rule(self):
        return Rule("distance", "symmetric", "same")


MEMBERS = [CosineClassifier, SymmetricDistance]


@parametrize_with_checks([CosineClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_a_member_is_a_few_lines():
    assert len(inspect.getsource(CosineClassifier).splitlines()) < 10


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scores_are_the_formula(weighted):
    X, y = load_iris(return_X_y=True)
    Q = X[::7] + 0.1
    w = np.random.default_rng(0).uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    h, K = 0.7, kernel_matrix(X, X, bandwidth=0.7)
    M = (y[:, None] == np.arange(3)) * w[:, None]
    M = M / M.sum(axis=0)
    norms = np.sqrt(np.einsum("ic,ij,jc->c", M, K, M))
    expected = kernel_matrix(Q, X, bandwidth=h) @ M / norms
    model = CosineClassifier(h, scale=None).fit(X, y, w if weighted else None)
    assert_allclose(np.exp(model.decision_function(Q)), expected, rtol=1e-10)
    f = K @ w / w.sum()
    root = M / np.sqrt(f)[:, None]
    g = 1 / np.sqrt(kernel_matrix(Q, X, bandwidth=h) @ w / w.sum())
    offsets = np.einsum("ic,ij,jc->c", root, K, root)
    expected = 2 * g[:, None] * (kernel_matrix(Q, X, bandwidth=h) @ root) - offsets
    found = SymmetricDistance(h, scale=None).fit(X, y, w if weighted else None).decision_function(Q)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", MEMBERS)
def test_everything_else_comes_for_nothing(make):
    """Tuning with any folds, growth, and the picture of its bandwidths."""
    X, y = load_iris(return_X_y=True)
    for cv in (3, "loo"):
        model = make(cv=cv, bandwidth_grid=[0.1, 0.3, 1.0]).fit(X, y)
        assert model.score(X, y) > 0.9 and len(model.cv_results_["params"]) == 3
    grown = make(bandwidth=0.5, scale=None).fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    whole = make(bandwidth=0.5, scale=None).fit(X, y)
    assert_array_equal(grown.predict(X), whole.predict(X))
    pytest.importorskip("matplotlib")
    BandwidthPathDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="The 'kernel' parameter of"):
        make(kernel="tophat").fit(X, y)
