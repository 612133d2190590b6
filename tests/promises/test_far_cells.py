"""Training numbers far from all others, such as those that stand for missing ones, change no other answer."""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

from spectralcls import KernelRegressor, ParzenClassifier
from spectralcls.regression import KernelRidgeClassifier, KernelRidgeRegressor
from tests.every_estimator import assert_same, make, names, responses

FAR = {np.float32: (1e30, -3.4028235e38), np.float64: (1e30, -1.7976931348623157e308)}
# With two components, a far sample is one of them.
SPECTRAL = {"LaplacianSpectralClassifier", "SpectralKernelClassifier", "SpectralLaplacianISEClassifier"}
PREDICTING = {name for name in names() if is_classifier(make(name)) or is_regressor(make(name))}


def problem(n, dtype=np.float64):
    """Samples of two classes, and queries with their classes."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n + 200, 3)).astype(dtype)
    y = (np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] > 0).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


def answers(name, X, y, Q):
    model = make(name, fixed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return responses(model.fit(X, y + 0.5 if is_regressor(model) else y), Q)


@pytest.mark.parametrize("dtype", FAR)
@pytest.mark.parametrize("name", sorted(PREDICTING - SPECTRAL))
def test_a_far_cell_changes_no_prediction(name, dtype):
    X, y, Q, _ = problem(300, dtype)
    expected = answers(name, X, y, Q)["predict"]
    for far in FAR[dtype]:
        X[5, 0] = far
        assert np.abs(answers(name, X, y, Q)["predict"] - expected).mean() < 0.03


@pytest.mark.parametrize("dtype", FAR)
@pytest.mark.parametrize("name", names())
def test_a_far_column_changes_no_answer(name, dtype):
    X, y, Q, _ = problem(300, dtype)
    X[:, 2] = Q[:, 2] = 0
    expected = answers(name, X, y, Q)
    for far in FAR[dtype]:
        X[:, 2] = Q[:, 2] = far
        assert_same(answers(name, X, y, Q), expected, rtol=0.02)


@pytest.mark.parametrize("n", [4000, 6500, 20_000])
@pytest.mark.parametrize("pattern", ["cell", "most rows", "column"])
def test_ridge_with_far_cells_at_every_size(n, pattern):
    """Above 3000 samples the penalty is tuned on a part of them; above 6000 the system is solved by iterations, and
    from 20 000 on in cells."""
    X, y, Q, right = problem(n)
    rows = slice(5, 6) if pattern == "cell" else np.random.default_rng(0).random(n) < 0.6
    if pattern == "column":
        X[:, 2] = Q[:, 2] = 1e30
    else:
        X[rows, :: 1 if pattern == "most rows" else 3] = 1e30
    tuned = {} if n == 4000 else {"alpha": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelRidgeClassifier(1.0, scale=None, max_iter=100, **tuned).fit(X, y)
    assert model.score(Q, right) > 0.93


@pytest.mark.parametrize("far", [1e30, -1.7976931348623157e308])
@pytest.mark.parametrize(
    "regressor", [KernelRegressor(0.3, degree=1, scale=None), KernelRidgeRegressor(1.0, scale=None)]
)
def test_regression_about_most_rows_far_away(regressor, far):
    rng = np.random.default_rng(0)
    X, Q = rng.uniform(size=(400, 2)), rng.uniform(size=(100, 2))
    y = X[:, 0] + np.sin(3 * X[:, 1])
    expected = regressor.fit(X, y).predict(Q)
    rows = rng.permutation(1000)
    X, y = np.concatenate([X, np.full((600, 2), far)])[rows], np.concatenate([y, np.full(600, y.mean())])[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(regressor.fit(X, y).predict(Q), expected, atol=0.03)


@pytest.mark.parametrize("exponent", [-990, 990])
@pytest.mark.parametrize(
    "classifier", [ParzenClassifier(metric="diagonal", scale=None), KernelRidgeClassifier(scale=None)]
)
def test_numbers_whose_squares_over_or_underflow(classifier, exponent):
    X, y, Q, _ = problem(200)
    expected = classifier.fit(X, y).predict(Q)
    found = classifier.fit(np.ldexp(X, exponent), y).predict(np.ldexp(Q, exponent))
    assert np.mean(found != expected) < 0.03
