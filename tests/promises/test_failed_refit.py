"""A fit that fails leaves a fitted estimator as it was: the same attributes, the same answers."""

import pickle
from functools import cache

import numpy as np
import pytest
from every_estimator import classifiers, make, names, problem, responses
from sklearn.base import is_classifier
from sklearn.utils import get_tags

X, y, Q = problem(d=2)
WIDER, _, _ = problem(d=3)

BAD = {
    "NaN": (np.where(WIDER > 2, np.nan, WIDER), y),
    "text": (np.full(WIDER.shape, "a"), y),
    "no samples": (WIDER[:0], y[:0]),
    "one dimension": (WIDER[:, 0], y),
    "short y": (WIDER, y[:-3]),
    "one class": (WIDER, np.zeros_like(y)),
    "continuous y": (WIDER, y + 0.5 * np.arange(len(y)) / len(y)),
    "None in y": (WIDER, np.array([None] * 5 + [1] * (len(y) - 5), dtype=object)),
    "NaN in y": (WIDER, np.where(y == 0, np.nan, y)),
    "one sample": (WIDER[:1], y[:1]),
    "infinity": (np.where(WIDER > 2, np.inf, WIDER), y),
    "constant": (np.ones_like(WIDER), y),
    "huge": (WIDER * 1e200, y),
}


@cache
def stored(name):
    return pickle.dumps(make(name, fixed=True).fit(X, y))


MUST_FAIL = {"NaN", "text", "no samples", "one dimension", "infinity"}
MUST_FAIL_CLASSIFIERS = {"short y", "continuous y", "None in y", "NaN in y"}  # some learn from a single class


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", names())
def test_it_is_as_before(name, bad):
    estimator = pickle.loads(stored(name))
    before, state = responses(estimator, Q), pickle.dumps(vars(estimator))
    with np.errstate(all="ignore"):
        data, target = BAD[bad]
        try:
            estimator.fit(data, target)
        except Exception as error:
            assert isinstance(error, (ValueError, TypeError)) and str(error), repr(error)
        else:
            certain = MUST_FAIL | (MUST_FAIL_CLASSIFIERS if is_classifier(estimator) else set())
            taken = bad == "NaN" and get_tags(estimator).input_tags.allow_nan
            taken |= bad in ("None in y", "NaN in y") and hasattr(estimator, "unlabeled")  # points without a label
            assert taken or bad not in certain, f"{bad} was accepted"
            return
    assert pickle.dumps(vars(estimator)) == state
    after = responses(estimator, Q)
    for method, value in before.items():
        np.testing.assert_array_equal(after[method], value)


@pytest.mark.parametrize("name", classifiers())
def test_a_bad_parameter_leaves_it_as_before(name):
    estimator = pickle.loads(stored(name))
    before = responses(estimator, Q)
    parameter = "n_jobs" if "n_jobs" in estimator.get_params() else next(iter(estimator.get_params()))
    good = getattr(estimator, parameter)
    setattr(estimator, parameter, "nonsense")
    with pytest.raises((ValueError, TypeError)):
        estimator.fit(WIDER, y)
    setattr(estimator, parameter, good)
    for method, value in responses(estimator, Q).items():
        np.testing.assert_array_equal(value, before[method])
