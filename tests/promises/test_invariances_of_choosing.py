"""What no choice of an estimator depends on: units of columns and weights, copies of rows, one far cell, orders and
names, columns that never change, ties, offsets. Each estimator with its defaults, on random data, with random changes.

`EXCEPTIONS` of `invariances` names the estimators that break one of these promises, with the reason; a test fails if
an exception no longer is one."""

import re

import numpy as np
import pytest
from every_estimator import assert_same, classifiers, make, names, problem, responses, variants
from hypothesis import example, given, settings
from hypothesis import strategies as st
from invariances import EXCEPTIONS, PROMISES
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import make_blobs
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import has_fit_parameter

pytestmark = pytest.mark.filterwarnings("ignore")  # of far cells and the like: not the subject

FEW = settings(max_examples=max(1, settings.default.max_examples // 20), database=None)
SEEDS = st.integers(0, 9)
COLUMNS = st.integers(0, 3)
WEIGHTED = [name for name in names() if has_fit_parameter(make(name), "sample_weight")]
LIKELIHOODS = {"ParzenDensity", "ParzenOutlierDetector", "ParzenClassifier"}  # they answer densities of the data's unit


def promised(invariance, candidates):
    """The test runs for all candidates; exceptions are expected to fail."""
    assert invariance in PROMISES
    reasons = EXCEPTIONS.get(invariance, {})
    return pytest.mark.parametrize(
        "name",
        [pytest.param(n, marks=pytest.mark.xfail(reason=reasons[n]) if n in reasons else ()) for n in candidates],
    )


def drawn(seed):
    X, y, Q = problem(90, 4, seed)
    grid = 2.0**-20  # an offset of 1e6 is added to such numbers without rounding
    return np.round(X / grid) * grid, y, np.round(Q / grid) * grid


def once(function):
    """The function of a name and arrays, computed once for equal ones: many tests begin with the same fit."""
    known = {}

    def found(name, *arrays):
        key = name, *((A.shape, A.dtype, A.tobytes()) for A in arrays)
        if key not in known:
            known[key] = function(name, *arrays)
        return known[key]

    return found


@once
def answers(name, X, y, Q):
    return responses(make(name).fit(X, y), Q)


def unchanged(name, before, after, rtol=1e-6, volume=1.0):
    """Both (X, y, Q) lead to the same answers, but for densities where the unit of volume has become so much larger."""
    changed_X, changed_y, changed_Q = after
    expected = dict(answers(name, *before))
    if name.partition("(")[0] in LIKELIHOODS:
        expected["score_samples"] = expected["score_samples"] - np.log(volume)
    assert_same(responses(make(name).fit(changed_X, changed_y), changed_Q), expected, rtol)


@promised("unit of the data", [name for name in variants() if not re.search(r"bandwidth=\d|metric", name)])
@given(SEEDS, st.sampled_from([1000.0, 2.0**-20, 1e6]))
@FEW
def test_unit_of_the_data(name, seed, unit):
    X, y, Q = drawn(seed)
    unchanged(name, (X, y, Q), (X * unit, y, Q * unit), volume=unit**4)


@promised("offset", names())
@given(SEEDS, COLUMNS)
@FEW
def test_offset_of_a_column(name, seed, column):
    X, y, Q = drawn(seed)
    offset = np.where(np.arange(4) == column, 1e6, 0)
    unchanged(name, (X, y, Q), (X + offset, y, Q + offset))


@promised("unit of weights", WEIGHTED)
@given(SEEDS, st.sampled_from([1.5, 0.9, 1e-6]), st.booleans())
@FEW
def test_unit_of_the_weights(name, seed, unit, equal):
    X, y, Q = drawn(seed)
    weights = np.ones(len(X)) if equal else np.random.default_rng(seed).uniform(0.5, 2, len(X))
    expected = responses(make(name).fit(X, y, sample_weight=weights), Q)
    assert_same(responses(make(name).fit(X, y, sample_weight=unit * weights), Q), expected, rtol=1e-6)


@promised("order", names())
@given(SEEDS, st.permutations(range(4)))
@FEW
def test_order_of_rows_and_columns(name, seed, columns):
    X, y, Q = drawn(seed)
    rows = np.random.default_rng(seed).permutation(len(X))
    unchanged(name, (X, y, Q), (X[rows][:, columns], y[rows], Q[:, columns]))


@promised("names", classifiers())
@given(SEEDS, st.permutations(range(3)), st.booleans())
@FEW
def test_names_of_the_classes(name, seed, order, text):
    X, y, Q = drawn(seed)
    labels = np.array(["b", "d", "e"] if text else [-7, 2, 30])[np.array(order)]
    expected = labels[make(name).fit(X, y).predict(Q)]
    np.testing.assert_array_equal(make(name).fit(X, labels[y]).predict(Q), expected)


@once
def quality(name, X, y, Q, truth):
    """What held-out points say of a fit, 1 at best: accuracy of labels, R^2, AUC of points among those of a wide cube,
    accuracy of the nearest neighbors in a map."""
    estimator = make(name).fit(X, y)
    if is_classifier(estimator):
        assert not hasattr(estimator, "predict_proba") or np.isfinite(estimator.predict_proba(Q)).all()
        return np.mean(estimator.predict(Q) == truth)
    if is_regressor(estimator):
        return r2_score(truth, estimator.predict(Q))
    if hasattr(estimator, "score_samples"):
        cube = np.random.default_rng(0).uniform(Q.min(axis=0), Q.max(axis=0), Q.shape)
        scores = estimator.score_samples(np.vstack([Q, cube]))
        return roc_auc_score(np.repeat([1, 0], len(Q)), np.clip(scores, -1e300, 1e300))
    neighbors = KNeighborsClassifier().fit(dense(estimator.transform(X)), y)
    return np.mean(neighbors.predict(dense(estimator.transform(Q))) == truth)


def dense(A):
    return A.toarray() if hasattr(A, "toarray") else np.asarray(A)


def held_out(seed):
    """90 samples of three classes that hardly overlap, so that little depends on luck, and 400 held-out ones."""
    centers = 1.5 * np.array([[1, 1, 1, 1], [-1, -1, 1, 1], [-1, 1, -1, 1]])
    X, y = make_blobs(490, centers=centers, random_state=seed)
    return X[:90], y[:90], X[90:], y[90:]


def still(name, before, after, loss):
    """Held-out points are answered as well as before, but for `loss`; both are (X, y, Q, truth)."""
    expected = quality(name, *before)
    assert quality(name, *after) > expected - loss


@promised("unit of a column", names())
@given(SEEDS, COLUMNS, st.sampled_from([1000.0, 2.0**-20, 1e6]))
@FEW
def test_unit_of_a_column(name, seed, column, unit):
    """Answers may change: units as given compete with those of the spreads, and win if held-out points say so."""
    X, y, Q, truth = held_out(seed)
    units = np.where(np.arange(4) == column, unit, 1)
    still(name, (X, y, Q, truth), (X * units, y, Q * units, truth), loss=0.06)


@promised("constant column", names())
@given(SEEDS, st.integers(0, 4), st.sampled_from([0.0, 0.100865, -1e6 / 3]), st.booleans())
@example(seed=0, place=0, value=0.0, noise=True)
@FEW
def test_a_column_that_never_changes_says_nothing(name, seed, place, value, noise):
    """Nor does one that differs by a last rounding. Only the folds of the tuning depend on it."""
    X, y, Q, truth = held_out(seed)
    column = np.full(len(X), value)
    if noise:
        column[np.random.default_rng(seed).random(len(X)) < 0.5] = np.nextafter(value, np.inf)
    wider_X, wider_Q = (np.insert(A, place, c, axis=1) for A, c in ((X, column), (Q, value)))
    still(name, (X, y, Q, truth), (wider_X, y, wider_Q, truth), loss=0.06)


@promised("copies", names())
@given(SEEDS, st.sampled_from([1.0, 0.2]))
@example(seed=0, share=0.2)
@FEW
def test_copies_of_rows_hardly_matter(name, seed, share):
    X, y, Q, truth = held_out(seed)
    rows = np.append(np.arange(len(X)), np.arange(int(share * len(X))))
    still(name, (X, y, Q, truth), (X[rows], y[rows], Q, truth), loss=0.06)


@promised("far cell", names())
@given(SEEDS, st.one_of(COLUMNS, st.just(slice(None))), st.integers(0, 89), st.sampled_from([-9999.0, 1e6, 1e30]))
@example(seed=2, column=2, row=14, value=1e30)
@example(seed=0, column=slice(None), row=7, value=-9999.0)
@FEW
def test_one_far_cell_hardly_matters(name, seed, column, row, value):
    """As well as without the row; nor does a row of which all cells are far."""
    X, y, Q, truth = held_out(seed)
    far, others = X.copy(), np.arange(len(X)) != row
    far[row, column] = value
    still(name, (X[others], y[others], Q, truth), (far, y, Q, truth), loss=0.06)


@promised("ties", names())
@given(SEEDS, st.sampled_from([1.0, 10.0]))
@FEW
def test_ties_after_rounding_hardly_matter(name, seed, per_unit):
    X, y, Q, truth = held_out(seed)
    rounded, queries = (np.round(per_unit * A) / per_unit for A in (X, Q))
    still(name, (X, y, Q, truth), (rounded, y, queries, truth), loss=0.08)


@promised("3000 features", names())
@given(SEEDS)
@settings(FEW, max_examples=1)
def test_3000_features(name, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(140) % 2
    X = rng.normal(size=(140, 3000))
    X[:, :150] += y[:, None]
    assert quality(name, X[:40], y[:40], X[40:], y[40:]) > (0.1 if is_regressor(make(name)) else 0.65)
