"""Ridge regression in a kernel of the user's: a matrix, or a function of two sets of points."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

from spectralcls import KernelRidgeClassifier, KernelRidgeRegressor
from spectralcls.kernels import kernel_matrix

X, Y = load_iris(return_X_y=True)
Q, X, Y = X[::3], X[np.arange(150) % 3 > 0], Y[np.arange(150) % 3 > 0]
TARGETS = np.sin(X[:, 0]) + X[:, 3]
CLASSES = [KernelRidgeClassifier, KernelRidgeRegressor]
every_class = pytest.mark.parametrize("kind", CLASSES)


def gaussian(A, B):
    return kernel_matrix(A, B, bandwidth=1.5)


def answers_of(kind):
    return TARGETS if kind is KernelRidgeRegressor else Y


def said(model, queries):
    return model.predict_proba(queries) if hasattr(model, "predict_proba") else model.predict(queries)


@every_class
@pytest.mark.parametrize("sample_weight", [None, np.arange(100) % 4])
def test_the_gaussian_kernel_given_is_the_built_in_one(kind, sample_weight):
    y = answers_of(kind)
    options = {"alpha": 0.1, "tol": 1e-10}
    own = kind(kernel="gaussian", bandwidth=1.5, scale=None, **options).fit(X, y, sample_weight)
    matrix = kind(kernel="precomputed", **options).fit(gaussian(X, X), y, sample_weight)
    function = kind(kernel=gaussian, **options).fit(X, y, sample_weight)
    np.testing.assert_allclose(said(matrix, gaussian(Q, X)), said(own, Q), atol=1e-8)
    np.testing.assert_allclose(said(function, Q), said(own, Q), atol=1e-8)
    assert abs(function.loss_ - own.loss_) < 1e-8
    if kind is KernelRidgeRegressor:
        np.testing.assert_allclose(function.predict_interval(Q), matrix.predict_interval(gaussian(Q, X)), atol=1e-8)
    else:
        np.testing.assert_array_equal(function.predict_set(Q, coverage=0.9), own.predict_set(Q, coverage=0.9))


@every_class
def test_the_ridge_is_tuned_in_a_kernel_that_the_package_does_not_have(kind):
    y = answers_of(kind)
    function = kind(kernel=polynomial_kernel).fit(X, y)
    matrix = kind(kernel="precomputed").fit(polynomial_kernel(X), y)
    assert function.alpha_ == matrix.alpha_ and hasattr(function, "best_score_")
    np.testing.assert_allclose(said(function, Q), said(matrix, polynomial_kernel(Q, X)), atol=1e-6)
    again = pickle.loads(pickle.dumps(function))
    np.testing.assert_array_equal(said(again, Q), said(function, Q))


@every_class
def test_a_matrix_is_split_by_rows_and_columns(kind):
    y = answers_of(kind)
    scores = cross_val_score(kind(kernel="precomputed", alpha=0.1), gaussian(X, X), y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(kind(kernel=gaussian, alpha=0.1), X, y, cv=3), atol=1e-9)
    search = GridSearchCV(kind(alpha=0.1), {"kernel": [linear_kernel, gaussian]}, cv=3).fit(X, y)
    assert search.best_params_["kernel"] in (linear_kernel, gaussian)


def test_bad_kernels_are_said():
    bad = {
        "square matrix": (KernelRidgeClassifier(kernel="precomputed"), X),
        "not symmetric": (KernelRidgeClassifier(kernel="precomputed"), np.triu(gaussian(X, X))),
        "for 100 queries": (KernelRidgeClassifier(kernel=lambda A, B: np.ones(3)), X),
        "not finite": (KernelRidgeClassifier(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)), X),
        "with a given kernel it must be None": (KernelRidgeClassifier(kernel=gaussian, metric="full"), X),
        "max_exact_samples=50": (KernelRidgeClassifier(kernel=gaussian, max_exact_samples=50), X),
    }
    for message, (model, points) in bad.items():
        with pytest.raises(ValueError, match=message):
            model.fit(points, Y)
    fitted = KernelRidgeClassifier(kernel="precomputed").fit(gaussian(X, X), Y)
    with pytest.raises(ValueError, match="100 features"):
        fitted.predict(Q)
