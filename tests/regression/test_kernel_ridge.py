"""Kernel ridge classification against dense algebra, and its leave-one-out scores against refitting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score

from bench.toy_data import two_gaussians
from spectralcls._tuning.temperature import best_temperature, log_loss
from spectralcls.linalg.ridge import solve
from spectralcls.regression import KernelRidgeClassifier


def profile(kernel, u):
    return np.exp(-u) if kernel == "laplace" else np.exp(-(u**2) / 2)


def problem(n=90, seed=0):
    return make_classification(n, 5, n_informative=3, n_classes=3, n_clusters_per_class=1, random_state=seed)


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_scores_are_those_of_dense_algebra(kernel):
    X, y = problem()
    model = KernelRidgeClassifier(1.5, alpha=0.3, kernel=kernel, scale=None).fit(X[:60], y[:60])
    Y = np.eye(3)[y[:60]]
    K = profile(kernel, cdist(X[:60], X[:60]) / 1.5)
    coefficients = np.linalg.solve(K + 0.3 * np.eye(60), Y - Y.mean(axis=0))
    expected = profile(kernel, cdist(X[60:], X[:60]) / 1.5) @ coefficients + Y.mean(axis=0)
    assert_allclose(model.decision_function(X[60:]), expected, rtol=1e-9, atol=1e-11)
    assert_allclose(model.predict_proba(X[60:]).sum(axis=1), 1)
    assert_array_equal(model.predict(X[60:]), expected.argmax(axis=1))


def test_leave_one_out_is_refitting_without_the_point():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 2)), rng.normal(size=(12, 3))
    weights = np.array([1, 1, 2, 1, 3, 1, 1, 0.5, 1, 2.5, 1, 1])
    K = np.exp(-cdist(X, X))
    held_out = solve(K.copy(), Y, 0.2, weights).held_out
    for i in range(12):
        kept = np.arange(12) != i
        A = np.linalg.solve(K[np.ix_(kept, kept)] + np.diag(0.2 / weights[kept]), Y[kept])
        assert_allclose(held_out[i], K[i, kept] @ A, rtol=1e-9)


def test_the_matrix_is_kept_where_other_memory_is_given():
    rng = np.random.default_rng(1)
    X, Y, weights = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 2)), rng.uniform(0.5, 3, size=1500)
    K = np.exp(-cdist(X, X))
    given, memory = K.copy(), np.full_like(K, np.nan)
    for ridge in (0.3, 0.01):
        found, expected = solve(given, Y, ridge, weights, memory=memory), solve(K.copy(), Y, ridge, weights)
        assert_array_equal(given, K)
        assert_array_equal(found.coefficients, expected.coefficients)
        assert_array_equal(found.held_out, expected.held_out)


def test_chosen_pair_has_the_least_loss_of_refits():
    X, y = problem(40)
    grid, alphas = [0.5, 2.0, 8.0], [0.01, 0.1]
    model = KernelRidgeClassifier(bandwidth_grid=grid, alpha_grid=alphas, scale=None).fit(X, y)
    losses = {}
    for h in grid:
        for alpha in alphas:
            scores = np.empty((40, 3))
            for i in range(40):
                rest = np.arange(40) != i
                Y = np.eye(3)[y[rest]]
                shares = np.bincount(y) / 40  # of all points, as the closed form has it
                K = np.exp(-cdist(X[rest], X[rest]) / h)
                A = np.linalg.solve(K + alpha * np.eye(39), Y - shares)
                scores[i] = np.exp(-cdist(X[i : i + 1], X[rest]) / h) @ A + shares
            p = softmax(scores / best_temperature(scores, y), axis=1)
            losses[h, alpha] = log_loss(p, y)
    best = min(losses, key=losses.get)
    assert (model.bandwidth_, model.alpha_) == best
    assert_allclose(model.loss_, losses[best], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:KernelRidgeClassifier predicts the same class")  # rightly
def test_labels_at_random_get_the_shares_of_their_classes():
    """Ridges of 0.01 and 0.1 alone fit noise: losses of 1.065 where the shares have 1.030, and 45 % instead of 50."""
    accuracies, losses, shares = [], [], np.array([0.5, 0.3, 0.2])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y, truth = (rng.permutation(np.repeat([0, 1, 2], np.rint(n * shares).astype(int))) for n in (300, 2000))
        model = KernelRidgeClassifier().fit(rng.normal(size=(300, 6)), y)
        p = model.predict_proba(rng.normal(size=(2000, 6)))
        accuracies.append(np.mean(p.argmax(axis=1) == truth))
        losses.append(log_loss(p, truth))
        by_alpha = model.cv_results_["mean_test_score"].reshape(3, -1)
        assert np.isfinite(by_alpha[:, :2]).all() and (np.isfinite(by_alpha[:, 2:]).sum(axis=0) == 1).all()
        assert model.best_score_ == np.nanmax(by_alpha)
    assert np.median(accuracies) > 0.49 and np.median(losses) < -shares @ np.log(shares) + 0.01


def test_larger_ridges_are_tried_while_the_largest_is_the_best():
    chosen = []
    for X, y in (problem(120), load_iris(return_X_y=True), load_wine(return_X_y=True)):
        model = KernelRidgeClassifier().fit(X, y)
        chosen.append(model.alpha_)
        tried = set(model.cv_results_["param_alpha"])
        assert tried == {0.01, 0.1} | {larger for larger in (1.0, 10.0) if model.alpha_ >= larger / 10}
    assert min(chosen) == 0.01 < max(chosen)


def test_temperature_has_the_least_loss():
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(3000, 4)), rng.integers(0, 4, 3000)
    scores[np.arange(3000), codes] += 1.3

    def loss(temperature):
        return log_loss(softmax(scores / temperature, axis=1), codes)

    T = best_temperature(scores, codes)
    assert loss(T) <= min(loss(T * 1.05), loss(T / 1.05))
    assert_allclose(best_temperature(1e-3 * scores, codes), 1e-3 * T, rtol=1e-6)
    p = softmax(np.eye(4)[codes] / best_temperature(np.eye(4)[codes], codes), axis=1)
    assert_allclose(1 - p.max(axis=1), 1e-3 * 3 / 4, rtol=0.05)  # all right: of a thousand one may not be
    assert np.isfinite(best_temperature(np.zeros((5, 2)), np.zeros(5, int)))


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("weighted", [False, True])
def test_conjugate_gradients_agree_with_the_factor(kernel, weighted):
    X, y = problem(400)
    weights = np.random.default_rng(1).integers(1, 4, 400) if weighted else None
    options = dict(bandwidth=2.0, alpha=0.05, kernel=kernel, tol=1e-6)
    exact = KernelRidgeClassifier(**options).fit(X, y, weights)
    iterative = KernelRidgeClassifier(**options, max_exact_samples=0, rank=50).fit(X, y, weights)
    assert iterative.n_iter_ > 1
    assert iterative.residuals_.max() <= 1e-6
    assert_allclose(iterative.decision_function(X), exact.decision_function(X), atol=1e-4)
    assert not hasattr(exact, "residuals_")


def test_preconditioner_saves_iterations():
    X, y = problem(600)
    counts = [
        KernelRidgeClassifier(4.0, alpha=0.01, kernel="gaussian", max_exact_samples=0, rank=rank).fit(X, y).n_iter_
        for rank in (1, 100)
    ]
    assert counts[1] < counts[0] / 2


def test_the_tolerance_moves_scores_less_than_float32_in_cells():
    X, y = problem(900)
    options = {"bandwidth": 4.0, "alpha": 0.01, "max_exact_samples": 0, "rank": 20}
    loose, tight = (KernelRidgeClassifier(**options, tol=tol).fit(X, y) for tol in (KernelRidgeClassifier().tol, 1e-7))
    error = loose.decision_function(X) - tight.decision_function(X)
    spread = np.eye(3)[y].std()
    assert np.sqrt(np.mean(error**2)) < KernelRidgeClassifier().tol * spread


def test_a_subsample_is_tuned_in_float32_and_solved_in_float64():
    X, y = problem(500)
    model = KernelRidgeClassifier(max_tuning_samples=300, scale=None).fit(X, y)
    exact = KernelRidgeClassifier(model.bandwidth_, alpha=model.alpha_, max_tuning_samples=None, scale=None).fit(X, y)
    assert_allclose(model.dual_coef_, exact.dual_coef_, rtol=1e-12, atol=1e-12)
    assert model.n_tuning_samples_ == 300


@pytest.mark.parametrize("n_exact", [0, 10_000])
def test_an_offset_of_all_columns_changes_nothing(n_exact):
    X, y = problem(700)
    options = {"scale": None, "max_tuning_samples": 300, "max_exact_samples": n_exact}
    plain, moved = (KernelRidgeClassifier(**options).fit(X + offset, y) for offset in (0.0, 2.0**24))
    assert (plain.bandwidth_, plain.alpha_) == pytest.approx((moved.bandwidth_, moved.alpha_), rel=1e-6)
    assert_allclose(moved.loss_, plain.loss_, rtol=1e-4)
    assert_allclose(moved.decision_function(X + 2.0**24), plain.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("d, factor", [(4, 1.0), (16, 2.0)])
def test_wide_kernels_whose_factor_is_rounding_in_float32(d, factor):
    X = np.random.default_rng(0).normal(size=(1500, d))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    h = factor * np.sqrt(2 * d)
    options = dict(bandwidth=h, alpha=0.1, kernel="gaussian", scale=None)
    model = KernelRidgeClassifier(**options, max_exact_samples=0).fit(X, y)
    assert model.residuals_.max() <= model.tol and model.n_iter_ < 20
    exact = KernelRidgeClassifier(**options).fit(X, y)
    assert_allclose(model.decision_function(X), exact.decision_function(X), atol=0.01)


def test_too_few_iterations_are_a_warning_with_the_residual():
    X, y = problem(300)
    with pytest.warns(ConvergenceWarning, match="residual of"):
        model = KernelRidgeClassifier(2.0, alpha=0.001, kernel="gaussian", max_exact_samples=0, rank=5, max_iter=2).fit(
            X, y
        )
    assert model.residuals_.max() > model.tol


def test_far_away_the_shares_of_the_classes_decide():
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]  # 50, 50, 20
    model = KernelRidgeClassifier().fit(X, y)
    far = np.full((1, 4), 1e9)
    assert_allclose(model._scores(far)[0], model.class_prior_)


def test_float32_stays_float32():
    X, y = load_iris(return_X_y=True)
    model = KernelRidgeClassifier().fit(X.astype(np.float32), y)
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert_allclose(model.predict_proba(X), KernelRidgeClassifier().fit(X, y).predict_proba(X), atol=1e-3)


def test_grids_that_are_wrong():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="alpha_grid"):
        KernelRidgeClassifier(alpha_grid=[]).fit(X, y)
    with pytest.raises(ValueError, match="bandwidth_grid must be positive"):
        KernelRidgeClassifier(bandwidth_grid=[0.0, 1.0]).fit(X, y)


def test_no_limit_of_the_tuning_samples_is_a_limit_that_none_exceeds():
    X, y = load_iris(return_X_y=True)
    fits = [KernelRidgeClassifier(max_tuning_samples=limit).fit(X, y) for limit in (None, len(X))]
    assert fits[0].n_tuning_samples_ == fits[1].n_tuning_samples_
    np.testing.assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))


def test_what_was_tried_is_laid_out_as_in_a_grid_search():
    X, y = load_iris(return_X_y=True)
    model = KernelRidgeClassifier(bandwidth_grid=[1.0, 2.0, 4.0], alpha_grid=[0.01, 0.1]).fit(X, y)
    results = model.cv_results_
    assert [tuple(params) for params in results["params"]] == [("bandwidth", "alpha")] * 6
    best = results["rank_test_score"].argmin()
    assert results["params"][best] == {"bandwidth": model.bandwidth_, "alpha": model.alpha_}
    assert_allclose(-results["mean_test_score"][best], model.loss_)
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        assert_allclose(KernelRidgeClassifier(**params).fit(X, y).loss_, -score)
    assert not hasattr(KernelRidgeClassifier(1.0, alpha=0.1).fit(X, y), "cv_results_")
    assert list(KernelRidgeClassifier(1.0).fit(X, y).cv_results_["params"][0]) == ["alpha"]


def test_packed_points_are_kept_until_the_next_fit():
    X, y = load_iris(return_X_y=True)
    model = KernelRidgeClassifier().fit(X[::2], y[::2])
    first = model.predict_proba(X)
    assert model._model is model._model
    assert "_kept_form" not in model.__getstate__()
    assert_array_equal(model.predict_proba(X), first)
    model.fit(X[1::2], y[1::2])
    assert_array_equal(model.predict_proba(X), KernelRidgeClassifier().fit(X[1::2], y[1::2]).predict_proba(X))


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_class_weights_leave_out_a_whole_sample(kernel):
    """Against refits without each sample; the offsets are the shares of all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], [30, 10])
    X[y == 1] += 0.8
    weight = {0: 0.5, 1: 12.0}
    w = np.where(y == 1, 12.0, 0.5)
    w /= w.mean()
    h, alpha = 1.3, 0.4
    K = np.exp(-cdist(X, X) / h) if kernel == "laplace" else np.exp(-cdist(X, X, "sqeuclidean") / (2 * h**2))
    shares = np.bincount(y, w) / w.sum()
    scores = np.empty((40, 2))
    for i in range(40):
        rest = np.arange(40) != i
        M = K[np.ix_(rest, rest)] + np.diag(alpha / w[rest])
        scores[i] = K[i, rest] @ np.linalg.solve(M, np.eye(2)[y[rest]] - shares) + shares
    options = {"kernel": kernel, "scale": None, "class_weight": weight, "max_tuning_samples": None}
    model = KernelRidgeClassifier(h, alpha=alpha, **options).fit(X, y)
    p = softmax(scores / best_temperature(scores, y, w), axis=1)
    assert_allclose(model.loss_, np.average(-np.log(p[np.arange(40), y]), weights=w), rtol=1e-4)


def test_balanced_weights_find_rare_cases():
    X, y = two_gaussians((950, 50), 0)
    Q, u = two_gaussians((1900, 100), 1)
    plain = balanced_accuracy_score(u, KernelRidgeClassifier().fit(X, y).predict(Q))
    balanced = balanced_accuracy_score(u, KernelRidgeClassifier(class_weight="balanced").fit(X, y).predict(Q))
    assert balanced > plain + 0.1
