"""Labels of float32 data are those of the same numbers in float64, on real data; near ties are left out by what
docs/guide/numerics.md allows a kernel value to be off."""

import numpy as np
import pytest
import reference
from every_estimator import assert_same, responses
from fuzz.checks import allowed_error
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from spectralcls import (
    AutoClassifier,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
    PerTurboClassifier,
)

SUMMING = [
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
]
pytestmark = pytest.mark.parametrize("load", [load_breast_cancer, load_digits, load_iris, load_wine])


def halves(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    return X[::2], y[::2], X[1::2]


def error_of_scores(model, Q):
    """How far each score (m, C) may be off in float32."""
    X, kernel, h = model.points.X, allowed_error(model.kernel, np.float32), model.bandwidth
    if not model.by_class:
        return reference.kernel_sums(Q, X, weights=np.abs(model.columns), kernel=kernel, bandwidth=h)
    codes = model.points.codes

    def log_sums(Q, X, codes, h):
        return (
            reference.kernel_sums(Q, X, labels=codes, kernel=k, bandwidth=h, log=True) for k in (kernel, model.kernel)
        )

    allowed, sums = log_sums(Q, X, codes, h)
    relative = np.exp(allowed - sums)
    for c in range(relative.shape[1]):  # and that of the squared norm of the class mean
        own = X[codes == c]
        relative[:, c] += np.divide(*(np.exp(part).sum() for part in log_sums(own, own, None, h * np.sqrt(2))))
    if model.rule.decision != "distance":  # scores are logarithms
        return relative
    return (np.exp(model.log_scale + sums) + model.offsets) * relative


@pytest.mark.parametrize("kind", SUMMING)
def test_labels_from_sums_are_those_of_double_precision(kind, load):
    X, y, Q = halves(load)
    tuned = kind(scale=None).fit(X, y)
    chosen = {name: getattr(tuned, f"{name}_") for name in ("bandwidth", "alpha") if hasattr(tuned, f"{name}_")}
    single, double = (kind(scale=None, **chosen).fit(X.astype(dtype), y) for dtype in (np.float32, np.float64))
    scores, error = double._model.scores(Q.astype(np.float64)), error_of_scores(double._model, Q)
    best = np.arange(len(Q)), scores.argmax(axis=1)
    least, most = (scores - error)[best], scores + error
    most[best] = -np.inf
    certain = least > most.max(axis=1)
    assert np.mean(certain) > 0.95
    np.testing.assert_array_equal(single.predict(Q)[certain], double.predict(Q.astype(np.float64))[certain])


@pytest.mark.parametrize("kind", [AutoClassifier, PerTurboClassifier])
def test_what_computes_in_double_precision_has_the_same_bits(kind, load):
    X, y, Q = halves(load)
    X, y, Q = X[:150], y[:150], Q[:50]
    single, double = (responses(kind().fit(X.astype(t), y), Q.astype(t)) for t in (np.float32, np.float64))
    assert_same(single, double)
