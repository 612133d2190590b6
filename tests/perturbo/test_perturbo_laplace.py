"""PerTurbo with the Laplace kernel, and with a bandwidth for each class: against the formula, and against refits."""

import numpy as np
import pytest
from perturbo_cases import data, fixed
from reference import perturbo as reference

from spectralcls.kernels import kernel_matrix
from spectralcls.perturbo import ActivePool


def test_a_bandwidth_beyond_all_distances_takes_the_class_at_the_least_mean_distance():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(100, 3)) * 3
    clf = fixed(h=1e20, alpha=1.0, kernel="laplace").fit(X, y)
    rho = 20 / 21
    between = np.stack([np.linalg.norm(Q[:, None] - X[y == c], axis=2).mean(axis=1) for c in range(3)], axis=1)
    within = [np.linalg.norm(X[y == c][:, None] - X[y == c], axis=2).mean() for c in range(3)]
    expected = (2 * rho * between - rho**2 * np.array(within)).argmin(axis=1)
    np.testing.assert_array_equal(clf.predict(Q), expected)


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
