"""Kernel logistic regression against a general optimizer, and its leave-one-out scores against refitting."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from spectralcls.kernels import kernel_matrix
from spectralcls.linalg import LowRankFactor
from spectralcls.regression import KernelLogisticClassifier
from spectralcls.regression._logistic import class_curvatures, held_out, solve
from spectralcls.regression._penalized_operators import DenseKernel, LowRankKernel


def problem(n=90, n_classes=3, seed=0):
    options = {"n_informative": 3, "n_classes": n_classes, "n_clusters_per_class": 1, "random_state": seed}
    return make_classification(n, 5, **options)


def dense(X, kernel="laplace", bandwidth=1.5):
    K = kernel_matrix(X, kernel=kernel, bandwidth=bandwidth)
    return DenseKernel(K, np.empty_like(K), len(X) // 3)


def losses(scores, codes):
    return -log_softmax(scores, axis=1)[np.arange(len(codes)), codes]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_solution_is_that_of_a_general_optimizer(n_classes, kernel):
    X, y = problem(45, n_classes)
    weights = np.random.default_rng(0).uniform(0.5, 3, 45)
    operator, Y = dense(X, kernel), np.eye(n_classes)[y]
    offsets, ridge = np.log(Y.mean(axis=0)), 0.2

    def objective(a):
        A = a.reshape(Y.shape)
        F = operator.K @ A
        P = softmax(F + offsets, axis=1)
        value = weights @ losses(F + offsets, y) + ridge / 2 * np.vdot(A, F)
        return value, (operator.K @ (ridge * A + weights[:, None] * (P - Y))).ravel()

    found = solve(operator, Y, offsets, ridge, weights, tol=1e-10)
    best = minimize(objective, np.zeros(Y.size), jac=True, options={"gtol": 1e-7, "maxiter": 5000})
    assert objective(found.coefficients.ravel())[0] <= best.fun + 1e-9
    assert_allclose(found.scores, operator.K @ best.x.reshape(Y.shape) + offsets, atol=1e-4)
    assert_allclose(found.scores, operator.K @ found.coefficients + offsets, atol=1e-9)
    assert_allclose(found.coefficients.sum(axis=1), 0, atol=1e-9)
    assert_allclose(ridge * found.coefficients, weights[:, None] * (Y - softmax(found.scores, axis=1)), atol=1e-7)
    assert found.n_iter < 30


def test_coordinates_of_the_eigenbasis_give_the_linear_logistic_regression():
    X, y = problem(80)
    K = dense(X).K
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(values)
    offsets = np.zeros(3)
    found = solve(dense(X), np.eye(3)[y], offsets, 0.5, np.ones(80), tol=1e-10)
    linear = LogisticRegression(C=1 / 0.5, fit_intercept=False, tol=1e-10, max_iter=5000).fit(Z, y)
    assert_allclose(softmax(found.scores, axis=1), linear.predict_proba(Z), atol=1e-6)


def refitted(operator, Y, offsets, ridge, weights, start):
    """Exact scores of each point by all others."""
    scores = np.empty_like(Y)
    for i in range(len(Y)):
        kept = np.arange(len(Y)) != i
        K = np.ascontiguousarray(operator.K[np.ix_(kept, kept)])
        part = DenseKernel(K, np.empty_like(K), operator.rank)
        A = solve(part, Y[kept], offsets, ridge, weights[kept], tol=1e-9, start=start[kept]).coefficients
        scores[i] = operator.K[i, kept] @ A + offsets
    return scores


@pytest.mark.parametrize("n_classes, share", [(2, 0.15), (3, 0.2), (5, 0.45)])
@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_leave_one_out_is_close_to_refitting(n_classes, share, kernel):
    """Compared with how much the losses of the training points themselves are too small, and in what it chooses."""
    X, y = problem(90, n_classes)
    operator, Y, weights = dense(X, kernel, 2.0), np.eye(n_classes)[y], np.ones(90)
    offsets, found, exact = np.log(Y.mean(axis=0)), [], []
    for ridge in (10.0, 1.0, 0.1, 0.01):
        solution = solve(operator, Y, offsets, ridge, weights, tol=1e-9)
        each = losses(held_out(operator, solution, Y, ridge, weights), y)
        refits = losses(refitted(operator, Y, offsets, ridge, weights, solution.coefficients), y)
        optimism = refits.mean() - losses(solution.scores, y).mean()
        assert abs(each.mean() - refits.mean()) < share * optimism
        assert np.corrcoef(each, refits)[0, 1] > 0.9
        found.append(each.mean())
        exact.append(refits.mean())
    assert exact[np.argmin(found)] < 1.02 * min(exact)


def test_leave_one_out_of_two_classes_is_a_newton_step_of_the_whole_hessian():
    X, y = problem(40, 2)
    weights = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    operator, Y, ridge = dense(X), np.eye(2)[y], 0.1
    solution = solve(operator, Y, np.zeros(2), ridge, weights, tol=1e-11)
    P = softmax(solution.scores, axis=1)
    found = held_out(operator, solution, Y, ridge, weights)
    for i in range(40):
        left = weights.copy()
        left[i] = 0
        hessian = ridge * np.linalg.inv(operator.K) + np.diag(2 * left * P[:, 0] * P[:, 1])
        step = np.linalg.solve(hessian, np.eye(40)[i])[i]
        assert_allclose(found[i], solution.scores[i] - step * weights[i] * (Y[i] - P[i]), rtol=1e-6, atol=1e-8)


def test_weighted_leave_one_out_leaves_out_the_point():
    X, y = problem(40, 2)
    weights = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    operator, Y = dense(X), np.eye(2)[y]
    solution = solve(operator, Y, np.zeros(2), 0.5, weights, tol=1e-10)
    found = held_out(operator, solution, Y, 0.5, weights)
    expected = refitted(operator, Y, np.zeros(2), 0.5, weights, solution.coefficients)
    assert_allclose(found, expected, atol=0.25)
    assert np.abs(found - solution.scores).max() > 0.5  # what is left out counts


def test_warm_start_changes_the_way_and_not_the_end():
    X, y = problem(100)
    operator, Y, weights = dense(X), np.eye(3)[y], np.ones(100)
    near = solve(operator, Y, np.zeros(3), 0.02, weights, tol=1e-9)
    cold, warm = (solve(operator, Y, np.zeros(3), 0.01, weights, tol=1e-9, start=A) for A in (None, near.coefficients))
    assert_allclose(warm.scores, cold.scores, atol=1e-6)
    assert warm.n_iter < cold.n_iter


def test_the_preconditioner_is_renewed_once_when_the_gradient_has_decreased():
    X, y = problem(300, 4)
    operator, made, gradients = dense(X), [], []

    class Counted:
        product = accurate_product = operator.product

        def preconditioner(self, ridge, weights):
            made.append(gradients[-1])
            return operator.preconditioner(ridge, weights)

    def note(what):
        gradients.append(float(what.removeprefix("gradient ")))

    arguments = np.eye(4)[y], np.zeros(4), 0.03, np.ones(300)
    found, alone = solve(Counted(), *arguments, tol=1e-9, step_done=note), solve(operator, *arguments, tol=1e-12)
    assert made[0] == gradients[0] and len(made) == 2
    assert 0.005 < made[1] / made[0] < 0.05
    assert_allclose(found.scores, alone.scores, atol=1e-6)


@pytest.mark.parametrize("ridge", [1.0, 0.03, 0.001])
def test_coefficients_outside_the_range_of_the_kernel_do_not_grow(ridge):
    """A linear kernel of four features has rank four; longer steps multiply the rest of the gradient."""
    X, y = load_iris(return_X_y=True)
    K, Y = X @ X.T, np.eye(3)[y]
    found = solve(DenseKernel(K, np.empty_like(K), 15), Y, np.zeros(3), ridge, np.ones(150), tol=1e-5)
    assert found.residuals.max() <= 1e-5 and found.n_iter < 60
    P = softmax(found.scores, axis=1)
    assert_allclose(ridge * found.coefficients, Y - P, atol=1e-4)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("ridge", [1e-2, 10.0])
def test_the_preconditioner_inverts_a_low_rank_matrix_plus_a_diagonal(ridge, columns):
    rng = np.random.default_rng(0)
    factor, weights = rng.normal(size=(200, 30)) / 10, rng.uniform(0.0, 0.25, (200, columns))
    remainder, V = rng.uniform(0, 0.5, 200), rng.normal(size=(200, 2))
    low_rank = LowRankFactor(factor.astype(np.float32), np.arange(30), 1.0, 1.0, None)
    K = factor @ factor.T + np.diag(remainder)
    solved = LowRankKernel.of(low_rank, K.diagonal()).preconditioner(ridge, weights)(V)
    assert_allclose(ridge * solved + weights * (K @ solved), V, atol=1e-3)


@pytest.mark.parametrize("p", [(0.3, 0.7), (0.5, 0.5), (1 / 3,) * 3, (0.2,) * 5])
def test_class_curvatures_are_the_hessian_of_two_classes_and_of_equal_probabilities(p):
    C = len(p)
    found = np.broadcast_to(class_curvatures(np.array([p]), np.array([3.0])), (1, C))[0]
    centered = np.eye(C) - 1 / C
    assert_allclose(centered @ np.diag(found) @ centered, 3.0 * (np.diag(p) - np.outer(p, p)), atol=1e-12)


def test_a_curvature_for_each_class_saves_steps():
    X, y = problem(400, 5)
    operator = dense(X)

    class Isotropic:
        product = accurate_product = operator.product

        def preconditioner(self, ridge, weights):
            return operator.preconditioner(ridge, weights.mean(axis=1))

    arguments = np.eye(5)[y], np.zeros(5), 0.01, np.ones(400)
    own, shared = (solve(kernel, *arguments, tol=1e-6).n_iter for kernel in (operator, Isotropic()))
    assert own < 0.75 * shared


@pytest.mark.parametrize("most_exact", [0, 400])
def test_all_points_start_from_the_subsample(most_exact):
    X, y = problem(400, 3)
    options = {"bandwidth": 2.0, "alpha": 0.02, "max_exact_samples": most_exact}
    alone, helped = (KernelLogisticClassifier(**options, max_tuning_samples=limit).fit(X, y) for limit in (10, 200))
    assert helped.n_iter_ < alone.n_iter_
    assert_allclose(helped.predict_proba(X), alone.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize(
    ("n", "n_classes", "rank"), [(500, 2, 100), (1500, 2, 150), (500, 80, 25), (20_000, 2, 1000), (2, 9, 1)]
)
def test_rank_is_a_tenth_of_the_points_and_less_for_many_classes(n, n_classes, rank):
    assert KernelLogisticClassifier()._rank_for(SimpleNamespace(Y=np.zeros((n, n_classes)))) == rank


def test_an_indefinite_kernel_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        KernelLogisticClassifier(kernel="precomputed").fit(1.0 - 2.0 * np.eye(30), np.arange(30) % 2)


@pytest.mark.parametrize("ridge", [1e-8, 1e-3, 1e4])
def test_separated_classes_and_extreme_ridges_are_finite(ridge):
    X = np.concatenate([np.random.default_rng(c).normal(100 * c, 1, size=(30, 2)) for c in range(3)])
    y = np.repeat(np.arange(3), 30)
    model = KernelLogisticClassifier(3.0, alpha=ridge, kernel="laplace", scale=None).fit(X, y)
    log_p = model.predict_log_proba(X)
    assert np.isfinite(log_p).all() and np.isfinite(model.dual_coef_).all() and np.isfinite(model.loss_)
    assert_array_equal(model.predict(X), y)
    assert_allclose(np.exp(log_p).sum(axis=1), 1)


def test_far_away_the_shares_of_the_classes_remain():
    X, y = load_iris(return_X_y=True)
    model = KernelLogisticClassifier().fit(X[:120], y[:120])  # 50, 50, 20
    assert_allclose(model.predict_proba(np.full((1, 4), 1e9))[0], np.array([50, 50, 20]) / 120)


def test_points_in_one_place_leave_the_shares():
    X, y = np.full((12, 1), 3.0), np.array([0] + [1] * 11)
    model = KernelLogisticClassifier(bandwidth=1.0, alpha=0.1, scale=None).fit(X, y)
    assert_allclose(model.predict_proba(X), np.tile([1 / 12, 11 / 12], (12, 1)), atol=1e-5)


def test_labels_at_random_come_out_at_the_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), (rng.uniform(size=300) < 0.3).astype(int)
    with pytest.warns(UserWarning, match="predicts the same class for every held-out sample"):
        model = KernelLogisticClassifier(alpha_grid=[0.01, 0.1, 1, 10, 100]).fit(X, y)
    entropy = losses(np.log(np.tile(model.class_prior_, (300, 1))), y).mean()
    assert model.loss_ < entropy + 0.02


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("most_exact", [0, 250])  # a preconditioner of low rank, a factor
@pytest.mark.parametrize("n_classes, weighted", [(2, False), (3, True)])
def test_kernel_sums_agree_with_the_matrix(kernel, n_classes, weighted, most_exact):
    X, y = problem(400, n_classes)
    weights = np.random.default_rng(1).integers(1, 4, 400) if weighted else None
    options = {"bandwidth": 2.0, "alpha": 0.05, "kernel": kernel, "tol": 1e-5}
    exact = KernelLogisticClassifier(**options).fit(X, y, weights)
    iterative = KernelLogisticClassifier(**options, max_exact_samples=most_exact, rank=50).fit(X, y, weights)
    assert iterative.residuals_.max() <= 1e-5
    assert_allclose(iterative.predict_proba(X), exact.predict_proba(X), atol=1e-3)
    assert not hasattr(exact, "residuals_")


def test_thinned_tuning_and_exact_fit_of_all_points():
    X, y = problem(300)
    options = {"bandwidth": 2.0, "alpha": 0.1, "kernel": "gaussian", "tol": 1e-8}
    whole, thinned = (KernelLogisticClassifier(**options, max_tuning_samples=limit).fit(X, y) for limit in (None, 100))
    assert_allclose(thinned.decision_function(X), whole.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"max_tuning_samples": 100}, {"max_exact_samples": 0}])
def test_too_few_iterations_are_a_warning_with_the_residual(options):
    X, y = problem(300)
    with pytest.warns(ConvergenceWarning, match="L-BFGS stopped after 1 iterations at a residual of"):
        KernelLogisticClassifier(2.0, alpha=1e-4, rank=5, max_iter=1, **options).fit(X, y)


def test_class_weights_are_sample_weights_where_nothing_is_tuned():
    X, y = problem(80)  # tuning leaves out a sample with all the weight of its class, of sample weights one copy
    given = {"bandwidth": 1.5, "alpha": 0.1, "scale": None}
    balanced = KernelLogisticClassifier(class_weight={0: 2.0, 1: 1.0, 2: 0.5}, **given).fit(X, y)
    weighted = KernelLogisticClassifier(**given).fit(X, y, np.array([2.0, 1.0, 0.5])[y])
    assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), rtol=1e-9)


def test_the_chosen_kernel_is_the_best_of_those_tried():
    X, y = problem(100)
    model = KernelLogisticClassifier(kernel="cv").fit(X, y)
    alone = {kernel: KernelLogisticClassifier(kernel=kernel).fit(X, y) for kernel in ("laplace", "gaussian")}
    best = min(alone, key=lambda kernel: alone[kernel].loss_)
    assert model.kernel_ == best
    assert_array_equal(model.predict_proba(X), alone[best].predict_proba(X))
    tried = [
        params
        for params, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True)
        if np.isfinite(score)
    ]
    assert len(tried) == sum(len(each.cv_results_["params"]) for each in alone.values())
    assert {"kernel", "bandwidth", "alpha"} == set(tried[0])


def test_three_ridges_are_tried_unless_others_are_given():
    X, y = problem(80)
    default, given = (KernelLogisticClassifier(alpha_grid=grid).fit(X, y) for grid in (None, [0.001, 0.03, 1.0]))
    assert default.cv_results_["params"] == given.cv_results_["params"]


@pytest.mark.parametrize("n", [2, 7, 20, 61])
def test_points_in_one_place_have_the_shares_of_the_classes(n):
    X, y = np.full((n, 1), 3.0), np.arange(n) < 1
    model = KernelLogisticClassifier(1.0, alpha=0.1, scale=None).fit(X, y)
    assert_allclose(model.predict_proba([[3.0]]), [[1 - 1 / n, 1 / n]], atol=1e-6)
