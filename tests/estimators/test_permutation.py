"""Permutation tests against statistics computed one permutation at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import kernel_matrix

from spectralcls import information


def samples(n=30, m=20, d=2, shift=0.0):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift


@pytest.mark.parametrize("kernel, potential", [("gaussian", "convolved"), ("gaussian", "same"), ("laplace", "same")])
@pytest.mark.parametrize("statistic", ["ise", "cauchy_schwarz"])
def test_every_permutation_is_the_divergence_of_its_two_parts(statistic, kernel, potential):
    X, Y = samples()
    divergence = {
        "ise": information.integrated_squared_error,
        "cauchy_schwarz": information.cauchy_schwarz_divergence,
    }[statistic]
    options = dict(bandwidth=0.7, kernel=kernel, potential=potential)
    found = information.two_sample_test(X, Y, statistic=statistic, n_permutations=5, random_state=3, **options)
    assert_allclose(found.statistic, divergence(X, Y, **options), rtol=1e-10)
    rng, both = np.random.RandomState(3), np.concatenate([X, Y])
    for value in found.null_distribution:
        order = rng.permutation(50)
        assert_allclose(value, divergence(both[order[:30]], both[order[30:]], **options), rtol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.8, (0.5, 1.1)])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_independence_is_the_error_of_the_product_of_the_marginal_densities(kernel, bandwidth):
    X, Y = samples(40, 40)
    Y[:, 0] += X[:, 0]
    h_x, h_y = np.broadcast_to(bandwidth, 2) * (np.sqrt(2) if kernel == "gaussian" else 1)
    K, L = (kernel_matrix(A, A, kernel, h, normalize=True) for A, h in ((X, h_x), (Y, h_y)))

    def slow(order):
        L_of = L[np.ix_(order, order)]
        joint, product = np.mean(K * L_of), K.mean() * L_of.mean()
        return joint - 2 * np.mean(K.mean(axis=1) * L_of.mean(axis=1)) + product

    found = information.independence_test(X, Y, bandwidth=bandwidth, kernel=kernel, n_permutations=25, random_state=2)
    assert_allclose(found.statistic, slow(np.arange(40)), rtol=1e-6)
    rng = np.random.RandomState(2)
    assert_allclose(found.null_distribution, [slow(rng.permutation(40)) for _ in range(25)], rtol=1e-5)


def test_p_values_count_what_is_as_large():
    X, Y = samples(shift=1.5)
    assert information.two_sample_test(X, Y, bandwidth=0.5, n_permutations=199).p_value == 1 / 200
    same = information.two_sample_test(X, X, bandwidth=0.5, n_permutations=49)
    assert same.statistic == pytest.approx(0, abs=1e-12) and same.p_value == 1.0
    test = information.two_sample_test(X, Y - 1.5, bandwidth=0.5, n_permutations=99)
    assert test.p_value == (1 + (test.null_distribution >= test.statistic).sum()) / 100


def test_samples_far_apart():
    X, Y = samples(shift=12.0)
    found = information.two_sample_test(X, Y, statistic="cauchy_schwarz", bandwidth=0.7, n_permutations=9)
    assert_allclose(found.statistic, information.cauchy_schwarz_divergence(X, Y, bandwidth=0.7), rtol=1e-12)
    # Out of each other's reach: the divergence is infinite, and a third of the permutations exchange no pair.
    pairs = np.array([[0.0], [0.1]])
    found = information.two_sample_test(pairs, pairs + 100, statistic="cauchy_schwarz", bandwidth=0.1)
    assert found.statistic == np.inf
    assert found.p_value == (1 + np.isinf(found.null_distribution).sum()) / 1000
    assert 0.25 < found.p_value < 0.42


def test_p_values_are_uniform_if_nothing_differs():
    rng = np.random.default_rng(0)
    p = []
    for seed in range(60):
        X, Y = rng.normal(size=(2, 15, 1))
        p.append(information.two_sample_test(X, Y, bandwidth=0.5, n_permutations=39, random_state=seed).p_value)
        p.append(information.independence_test(X, Y, bandwidth=0.5, n_permutations=39, random_state=seed).p_value)
    assert 0.35 < np.mean(p) < 0.65 and np.mean(np.array(p) <= 0.1) < 0.2


def test_dependence_without_correlation_is_seen():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(150, 1))
    assert information.independence_test(np.cos(angle), np.sin(angle), bandwidth=0.3, n_permutations=99).p_value == 0.01


def test_bad_input():
    X, Y = samples()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        information.independence_test(X, Y, bandwidth=1.0)
    with pytest.raises(ValueError, match="one positive number or a pair"):
        information.independence_test(X, X, bandwidth=[1.0, -1.0])
    with pytest.raises(ValueError, match="features"):
        information.two_sample_test(X, Y[:, :1], bandwidth=1.0)
    with pytest.raises(ValueError, match="'n_permutations' parameter"):
        information.two_sample_test(X, Y, bandwidth=1.0, n_permutations=0)
    with pytest.raises(ValueError, match="'n_permutations' parameter"):
        information.independence_test(X, X, bandwidth=1.0, n_permutations=2**31)  # hours, in all the memory there is
