"""PerTurbo with the Laplace kernel, and with a bandwidth for each class: against the formula, and against refits."""

import numpy as np
import pytest
from perturbo_cases import data, fixed
from reference import perturbo as reference
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from spectralcls.kernels import kernel_matrix
from spectralcls.perturbo import ActivePool, PerTurboClassifier


def test_tau_is_that_of_the_formula():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(30, 3)) * 2
    tau = fixed(kernel="laplace").fit(X, y).perturbation(Q)
    for c in range(3):
        expected = 1 - reference.explained(Q, X[y == c], 1.0, 1e-2, "laplace").astype(float)
        np.testing.assert_allclose(tau[:, c], expected, atol=1e-12)


def test_far_queries_keep_the_order_of_the_classes():
    X, y = data()
    Q = np.array([[2000.0, 10.0, -20.0], [-5000.0, 20.0, 0.0]])
    clf = fixed(kernel="laplace").fit(X, y)
    expected = np.stack([np.log(reference.explained(Q, X[y == c], 1.0, 1e-2, "laplace")) for c in range(3)], axis=1)
    np.testing.assert_allclose(clf.decision_function(Q), expected.astype(float), rtol=1e-10)


def test_a_bandwidth_beyond_all_distances_takes_the_class_at_the_least_mean_distance():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(100, 3)) * 3
    clf = fixed(h=1e20, alpha=1.0, kernel="laplace").fit(X, y)
    rho = 20 / 21
    between = np.stack([np.linalg.norm(Q[:, None] - X[y == c], axis=2).mean(axis=1) for c in range(3)], axis=1)
    within = [np.linalg.norm(X[y == c][:, None] - X[y == c], axis=2).mean() for c in range(3)]
    expected = (2 * rho * between - rho**2 * np.array(within)).argmin(axis=1)
    np.testing.assert_array_equal(clf.predict(Q), expected)


def proportions(X, y, **options):
    """Silverman's bandwidths of the classes over that of all samples."""
    by_class, overall = (
        PerTurboClassifier(rule, **options).fit(X, y).bandwidth_ for rule in ("silverman_per_class", "silverman")
    )
    return by_class / overall


@pytest.mark.parametrize("bandwidth", ["cv", "cv_per_class"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_scores_of_tuning_are_those_of_refits(kernel, bandwidth):
    X, y = load_iris(return_X_y=True)
    X, y, grid = X[::3], y[::3], [0.3, 0.6, 1.2]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    options = {"kernel": kernel, "scale": None, "alpha": 0.01}
    model = PerTurboClassifier(bandwidth, bandwidth_grid=grid, cv=folds, **options).fit(X, y)
    ratios = 1.0 if bandwidth == "cv" else proportions(X, y, **options)
    assert np.ptp(model.bandwidth_ / ratios) < 1e-12 and np.isclose(np.max(model.bandwidth_ / ratios), grid).any()
    scores = []
    for h in grid:
        clf = PerTurboClassifier(dict(enumerate(h * ratios)) if np.ndim(ratios) else h, **options)
        hits = [np.sum(clf.fit(X[rows], y[rows]).predict(X[test]) == y[test]) for rows, test in folds]
        scores.append(sum(hits) / len(X))
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], scores, atol=1e-12)


def test_leaving_one_out_is_refitting():
    X, y = data(30)
    options = {"kernel": "laplace", "alpha": 0.1, "scale": None}
    model = PerTurboClassifier("cv_per_class", bandwidth_grid=[0.5, 1.0], **options).fit(X, y)
    ratios = proportions(X, y, **options)
    for h, score in zip([0.5, 1.0], model.cv_results_["mean_test_score"], strict=True):
        clf, right = PerTurboClassifier(dict(enumerate(h * ratios)), **options), []
        for i in range(30):
            others = np.arange(30) != i
            right.append(clf.fit(X[others], y[others]).predict(X[[i]])[0] == y[i])
        assert np.mean(right) == pytest.approx(score)


def test_a_batch_of_queries_is_spread_by_the_kernel_of_the_model():
    X, y = data()
    pool = ActivePool(fixed(kernel="laplace").fit(X[:20], y[:20]), X[20:])
    chosen = pool.query(2, random_state=0)
    pool.label(chosen, y[20:][chosen])
    whole = fixed(kernel="laplace").fit(
        np.concatenate([X[:20], X[20:][chosen]]), np.concatenate([y[:20], y[20:][chosen]])
    )
    np.testing.assert_allclose(pool.perturbation, whole.perturbation(X[20:][pool.remaining]), atol=1e-10)


def test_the_kernel_is_that_of_the_name():
    with pytest.raises(ValueError, match="kernel"):
        fixed(kernel="epanechnikov").fit(*data())
    X = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(
        kernel_matrix(X, kernel="laplace", bandwidth=2.0), reference.kernel(X, X, 2.0, "laplace").astype(float)
    )
