"""`partial_fit` on parts is `fit` on all of them, and what is refused changes nothing."""

import copy
import pickle

import numpy as np
import pytest
from every_estimator import assert_same, classifiers, make, problem, responses, variants

WHOLE = {"n_components": "all", "scale": None}  # what grows to what a fit has
GROWING = [
    name
    for name in variants()
    if hasattr(make(name, fixed=True), "partial_fit")
    and not make(name).get_params().get("metric")  # which is learned from the first part, as
    and "silverman" not in name  # a rule of thumb is
]
PARTS = slice(0, 40), slice(40, 41), slice(41, 60), slice(60, 90)


def new(name):
    model = make(name, fixed=True)
    return model.set_params(**{key: value for key, value in WHOLE.items() if key in model.get_params()})


def samples(gaps=False):
    """Samples, of which those of the last class come last, their names, and queries."""
    X, y, Q = problem(90)
    if gaps:
        hidden = np.random.default_rng(0).random((105, 3)) < 0.15
        X, Q = np.where(hidden[:90], np.nan, X), np.where(hidden[90:], np.nan, Q)
    order = np.argsort(y == 2, kind="stable")
    return X[order], np.array(["ash", "beech", "cedar"])[y[order]], Q


def classes(name):
    return {"classes": ["ash", "beech", "cedar"]} if name in classifiers(GROWING) else {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GROWING)
def test_growing_is_fitting(name, weighted, gaps):
    if gaps and make(name).kernel not in ("gaussian", "laplace"):
        pytest.skip("its gaps are filled by the samples of the first call")
    X, y, Q = samples(gaps)
    weights = np.random.default_rng(1).integers(1, 4, 90).astype(float) if weighted else np.ones(90)
    for part in PARTS:
        weights[part] /= weights[part].mean()  # the unit of the first part is that of all
    grown = new(name)
    for part in PARTS:
        given = {"sample_weight": weights[part]} if weighted else {}
        assert grown.partial_fit(X[part], y[part], **classes(name), **given) is grown
        if part.stop < 60 and classes(name):
            assert set(grown.predict(np.r_[Q, 1e6 * X[:5]])) <= {"ash", "beech"}
    whole = new(name).fit(X, y, sample_weight=weights)
    assert_same(responses(grown, Q), responses(whole, Q), rtol=1e-5 if name.startswith("SpectralKernel") else 1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GROWING)
def test_copies_grow_on_their_own(name):
    X, y, Q = samples()
    one = new(name).fit(X[:70], y[:70])
    two, three = copy.copy(one), pickle.loads(pickle.dumps(one))
    one.partial_fit(X[70:], y[70:])
    before = responses(one, Q)
    two.partial_fit(X[:9] + 0.1, y[:9])
    assert_same(responses(one, Q), before)
    assert_same(responses(three.partial_fit(X[70:], y[70:]), Q), before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda X, y: {"X": X[:, :2], "y": y}, "features"),
        (lambda X, y: {"X": np.full((1, 3), np.inf), "y": y[:1]}, "infinity"),
        (lambda X, y: {"X": X, "y": y, "sample_weight": -np.ones(90)}, "Negative"),
        (lambda X, y: {"X": X[:2], "y": y[:1]}, "inconsistent"),
        (lambda X, y: {"X": X[:1], "y": ["oak"]}, "oak|not among the classes"),
        (lambda X, y: {"X": X, "y": y, "classes": ["ash", "oak"]}, "not the same as in the first call"),
        (lambda X, y: {"X": X[:2], "y": [1, 2]}, "labels of another type|not among the classes|1"),
    ],
    ids=["features", "infinity", "weights", "lengths", "unknown", "classes", "type"],
)
@pytest.mark.parametrize("name", GROWING)
def test_bad_growth_changes_nothing(name, wrong, message):
    X, y, Q = samples()
    if not classes(name) and message not in ("features", "infinity", "Negative"):
        pytest.skip("it takes no labels")
    model = new(name).partial_fit(X, y, **classes(name))
    before = responses(model, Q)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(**wrong(X, y))
    assert_same(responses(model, Q), before)


@pytest.mark.parametrize("name", classifiers(GROWING))
def test_the_first_call_names_the_classes(name):
    X, y, _ = samples()
    if not name.startswith("PerTurbo"):  # which takes further classes as they come
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            new(name).partial_fit(X, y)
        with pytest.raises(ValueError, match="greater than one; got 1 class"):
            new(name).partial_fit(X, y, classes=["ash"])
    with pytest.raises(ValueError, match="not among the classes|cedar"):
        new(name).partial_fit(X, y, classes=["ash", "beech"])
