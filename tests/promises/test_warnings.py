"""Warnings point to the line that called the package, each once; errors of floating point are the user's to set."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from every_estimator import make, names, problem, responses

from spectralcls import AutoClassifier

ANSWERS = "predict predict_proba decision_function transform score_samples predict_interval predict_set".split()


@cache
def tables():
    """Data of which estimators have to say something: (X, y) by what they are."""
    X, y, _ = problem(n=40)
    rng = np.random.default_rng(0)
    far, numbers = X.copy(), np.arange(len(X))
    far[3, 1] = -9999.0
    frame = pd.DataFrame({"a": X[:, 0], "id": [f"k{k}" for k in numbers], "c": pd.Categorical(list("xy") * 20)})
    return {
        "one far cell": (far, y),
        "two classes of noise": (X, numbers % 2),
        "few": (X[:5], numbers[:5] % 2),
        "copies of few": (np.repeat(X[:4], 10, axis=0), numbers % 2),
        "missing values": (np.where(rng.random(X.shape) < 0.2, np.nan, X), y),
        "more columns than rows": (rng.normal(size=(20, 60)), numbers[:20] % 2),
        "one of a class": (X, (numbers == 0).astype(int)),
        "many classes": (X, np.where(numbers < 24, numbers, numbers % 2)),
        "two heaps": (X + np.where(numbers < 20, 0, 1e4)[:, None], numbers % 2),
        "identifiers": (frame, y),
        "unlabeled": (X, np.where(numbers % 3, -1, y)),
    }


@pytest.mark.parametrize("name", names())
def test_warnings_point_to_the_line_that_calls(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for X, y in tables().values():
            for fixed in (False, True)[name.startswith("Auto") :]:  # a vote tunes its members either way
                model = make(name, fixed=fixed)
                try:
                    model.fit(X, y)
                    if hasattr(model, "partial_fit"):
                        model.partial_fit(X, y)
                except ValueError:
                    continue
                for ask in ANSWERS:
                    if hasattr(model, ask):
                        getattr(model, ask)(X)
    many = [str(each.message) for each in caught if " classes in " in str(each.message)]
    assert len(many) <= 4, many  # two tables of many classes, given and tuned: each fit says so once
    elsewhere = [f"{each.filename}:{each.lineno}: {each.message}" for each in caught if each.filename != __file__]
    assert not elsewhere


def test_very_many_classes_are_said_once():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = np.r_[np.arange(60), np.arange(40) % 2 + 100]
    with pytest.warns(UserWarning) as caught:
        AutoClassifier().fit(X, y)
    assert sum("62 classes in 100 samples" in str(each.message) for each in caught) == 1
    assert not any("number of unique classes" in str(each.message) for each in caught)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_underflow_is_no_error(name):
    """A kernel value of a far point is 0, whatever NumPy is told to do; the same answers, to the bit."""
    X, y, Q = problem()
    X = np.concatenate([X, X + 40, X * 300])
    y = np.tile(y, 3)
    model = make(name).fit(X, y)
    expected = responses(model, Q)
    with np.errstate(all="raise"):
        found = responses(make(name).fit(X, y), Q)
        if hasattr(model, "predict_interval"):
            model.predict_interval(Q)
        if hasattr(model, "predict_set"):
            model.predict_set(Q)
    for ask, answer in expected.items():
        np.testing.assert_array_equal(found[ask], answer)
