"""Data that leave nothing, or everything, to be learned: finite answers, probabilities that add up, known labels."""

import numpy as np
import pytest
from every_estimator import classifiers, make, names, responses, variants
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_iris

rng = np.random.default_rng(0)
IRIS, SPECIES = (part[::3] for part in load_iris(return_X_y=True))
HALVES = np.arange(30) % 2
CASES = {
    "a class of one sample": (np.r_[IRIS, [[9.0, 1.0, 9.0, 1.0]]], np.r_[SPECIES, 7]),
    "every class of one sample": (rng.normal(size=(6, 3)), np.arange(6)),
    "two samples": (np.array([[0.0, 0.0], [1.0, 1.0]]), np.arange(2)),
    "more features than samples": (rng.normal(size=(30, 90)) + 6 * HALVES[:, None] * (np.arange(90) == 0), HALVES),
    "constant and repeated columns": (np.c_[IRIS, np.zeros(50), np.full(50, 1e6), IRIS[:, 2]], SPECIES),
    "separated classes": (np.c_[20.0 * HALVES, rng.uniform(size=30)], HALVES),
    "the same samples in both classes": (np.repeat(rng.normal(size=(15, 2)), 2, axis=0), HALVES),
    "all samples equal": (np.full((20, 3), 7.0), np.repeat([0, 1], [15, 5])),
    "samples given eight times": (np.repeat(rng.normal(size=(12, 2)), 8, axis=0), np.repeat(np.arange(12) % 3, 8)),
}
LEARNED = {"a class of one sample", "constant and repeated columns", "more features than samples", "separated classes"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "fixed"), [(n, False) for n in variants()] + [(n, True) for n in names()])
def test_answers_are_finite_and_of_the_classes(name, case, fixed):
    X, y = CASES[case]
    if case == "two samples" and "CCDR" in name and (fixed or "Classifier" not in name):
        pytest.skip("it asks for more neighbors")
    model = make(name, fixed).fit(X, y)
    for Q in (X, X + 0.01, 1e3 * np.roll(X, 1, axis=1) + 1.0):
        for method, values in responses(model, Q).items():
            if method in ("transform", "predict_proba", "decision_function") or is_regressor(model):
                assert np.isfinite(values).all(), method
            if method == "predict_proba":
                np.testing.assert_allclose(values.sum(axis=1), 1)
        if is_classifier(model):
            assert np.isin(model.predict(Q), y).all()
    if is_classifier(model) and case in LEARNED and not fixed:
        assert np.mean(model.predict(X) == y) > 0.85


@pytest.mark.parametrize("name", sorted({*classifiers(), "GradientMetric", "KernelMetric"} - {"CCDRClassifier"}))
def test_one_class_is_an_error(name):
    with pytest.raises(ValueError, match="classes has to be greater than one; got 1|more than one class"):
        make(name).fit(IRIS, np.ones(50))
