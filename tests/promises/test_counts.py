"""Counts are copies, in any unit, also where classes overlap: what is left out is one animal, not all that died of a
dose."""

import numpy as np
import pytest
from every_estimator import assert_same, classifiers, make, responses, variants
from sklearn.model_selection import KFold
from sklearn.utils.validation import has_fit_parameter

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier
from spectralcls.inspection import influence, label_quality

pytestmark = pytest.mark.filterwarnings("ignore")  # of one class and the like: not the subject

OTHERS = (
    "ParzenOutlierDetector",  # all samples are of one class, whose copies it leaves out one by one
    "PerTurboClassifier(regularization=None",  # at samples of two classes all answers are zero up to rounding
)
COUNTED = [
    name
    for name in classifiers(variants())
    if has_fit_parameter(make(name), "sample_weight") and not name.startswith(OTHERS)
]


def doses():
    """Eight doses for 60 animals each; rows of the dead and of the alive, and their numbers."""
    X, dead = np.repeat(np.arange(8.0)[:, None], 2, axis=0), np.array([4, 8, 14, 25, 35, 45, 53, 57])
    return X, np.tile([1, 0], 8), np.stack([dead, 60 - dead], axis=1).ravel()


def cells():
    """Cells of two columns with three classes; some of a single class, some counts zero."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(12, 2)), 3, axis=0)
    expected = 4 * np.exp(-np.square(X - np.tile([[-1, 0], [1, 0], [0, 1]], (12, 1))).sum(axis=1) / 2)
    return X, np.tile([0, 1, 2], 12), rng.poisson(expected)


def said(model, X, table):
    answers = responses(model, X)
    one_by_one = type(model).__name__ == "PerTurboClassifier" and table is cells  # copies that no other class has
    if hasattr(model, "predict_set") and not one_by_one:
        answers["sets"] = np.stack([model.predict_set(X, coverage).astype(float) for coverage in (0.6, 0.8, 0.9)])
    return answers


@pytest.mark.parametrize("table", [doses, cells])
@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_copies_in_any_unit(name, table):
    if table is cells and name == "AutoClassifier":
        pytest.skip("random folds, and trees, do not treat a count that is left out whole as copies")
    X, y, counts = table()
    found = said(make(name).fit(X, y, sample_weight=counts), X, table)
    copies = make(name).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    rtol = 1e-4 if "max_exact_samples=0" in name else 1e-8  # the tolerance of conjugate gradients
    assert_same(found, said(copies, X, table), rtol=rtol)
    for unit in (0.1, 1000 / 7):
        assert_same(said(make(name).fit(X, y, sample_weight=unit * counts), X, table), found, rtol=rtol)


@pytest.mark.parametrize("name", ["AutoClassifier", "KernelRidgeClassifier", "ParzenClassifier", "PerTurboClassifier"])
def test_chances_are_those_of_the_animals(name):
    X, y, counts = doses()
    chances = make(name).fit(X, y, sample_weight=counts).predict_proba(X[::2])[:, 1]
    np.testing.assert_allclose(chances, counts[::2] / 60, atol=0.07)


def without_one(counts, row):
    return counts - (np.arange(len(counts)) == row)


@pytest.mark.parametrize("table", [doses, cells])
def test_parzen_without_one_animal_is_a_refit(table):
    X, y, counts = table()
    X, y, counts = X[counts > 0], y[counts > 0], counts[counts > 0]
    overlap = np.array([len(np.unique(y[(X == x).all(axis=1)])) > 1 for x in X])
    found = label_quality(ParzenClassifier(bandwidth=0.7, scale=None).fit(X, y, sample_weight=counts))
    for row in range(len(X)):
        less = without_one(counts, row) if overlap[row] else np.where(np.arange(len(X)) == row, 0, counts)
        K = np.exp(-np.square(X - X[row]).sum(axis=1) / (2 * 0.7**2)) * less
        assert found[row] == pytest.approx(K[y == y[row]].sum() / K.sum(), rel=1e-9)


def test_ridge_without_one_animal_is_a_refit():
    X, y, counts = doses()
    model = KernelRidgeClassifier(1.5, alpha=0.1, scale=None).fit(X, y, sample_weight=counts)
    K, Y = np.exp(-np.abs(X - X.T) / 1.5), np.eye(2)[y]
    shares = counts @ Y / counts.sum()
    for row in range(16):
        less = without_one(counts, row)
        score = K[row] @ np.linalg.solve(K + np.diag(0.1 / less), Y - shares) + shares
        p = np.exp(score / model.temperature_)
        assert label_quality(model)[row] == pytest.approx(p[y[row]] / p.sum(), rel=1e-8)


@pytest.mark.parametrize("kind", [ParzenClassifier, KernelRidgeClassifier, AutoClassifier])
def test_what_is_told_of_samples_is_told_of_the_rows(kind):
    X, y, counts = doses()
    counts = np.where(np.arange(16) == 5, 0, counts)
    model, rows = kind().fit(X, y, sample_weight=counts), counts > 0
    found = influence(model, X[:3], n_points=4)
    assert [len(np.unique(points)) for points in found.points] == [4, 4, 4] and found.points.max() < 15
    np.testing.assert_allclose(found.shares.sum(axis=1) + found.rest + found.baseline, found.margin, rtol=1e-9)
    quality = label_quality(model)
    assert quality.shape == (15,) and np.corrcoef(quality, np.where(rows, counts, 0)[rows])[0, 1] > 0.9


def test_later_samples_and_given_folds_keep_their_rows():
    X, y, counts = doses()
    model = ParzenClassifier(1.0).fit(X, y, sample_weight=counts)
    before = label_quality(model)
    after = label_quality(model.partial_fit(X[:3] + 50, y[:3]))
    assert len(before) == 16 and len(after) == 19
    np.testing.assert_allclose(after[:16], before, rtol=0.01)
    folds, of_copy = KFold(4, shuffle=True, random_state=0), np.repeat(np.arange(16), counts)
    splits = [tuple(np.flatnonzero(np.isin(of_copy, part)) for part in split) for split in folds.split(X)]
    copies = ParzenClassifier(cv=splits).fit(X[of_copy], y[of_copy])
    for cv in (folds, list(folds.split(X))):
        counted = ParzenClassifier(cv=cv).fit(X, y, sample_weight=counts)
        for k in range(4):
            scores = (model.cv_results_[f"split{k}_test_score"] for model in (counted, copies))
            np.testing.assert_allclose(*scores, rtol=1e-9)


def test_weights_that_are_no_counts_leave_as_they_come():
    X, y, counts = doses()
    rng = np.random.default_rng(0)
    for weights in (rng.uniform(1, 2, 16), np.where(y, 1.0, 0.731), None):
        model = ParzenClassifier(0.01, scale=None).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(label_quality(model), 0.0, atol=1e-12)
