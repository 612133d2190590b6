import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import COMPACT, PROFILES
from scipy.integrate import trapezoid

from spectralcls.kernels import (
    KERNELS,
    bandwidth_grid,
    kernel_variance,
    silverman_bandwidth,
)


def sample(n=50, d=3):
    return np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1)


@pytest.mark.parametrize("rule, factor", [("silverman", 7), ("amise", 5)])
def test_silverman_is_the_printed_formula(rule, factor):
    X = sample()
    spread = np.sqrt(np.trace(np.cov(X.T)) / 3)
    assert_allclose(silverman_bandwidth(X, rule=rule), spread * (4 / (factor * 50)) ** (1 / 7))


def test_the_rules_agree_in_one_dimension():
    x = sample(d=1)
    for kernel in ("gaussian", "epanechnikov"):
        assert_allclose(silverman_bandwidth(x, kernel=kernel), silverman_bandwidth(x, rule="amise", kernel=kernel))
    assert_allclose(silverman_bandwidth(x), (4 / 3) ** 0.2 * x.std(ddof=1) * 50**-0.2)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_kernel_variance_is_the_second_moment(kernel, d):
    u = np.linspace(0, 1 if kernel in COMPACT else 60, 400_001)
    weight = PROFILES[kernel](u) * u ** (d - 1)
    expected = trapezoid(weight * u**2, u) / trapezoid(weight, u) / d
    assert_allclose(kernel_variance(kernel, d), expected, rtol=1e-4)


def test_weights_count_repetitions():
    X, w = sample(), np.random.default_rng(1).integers(0, 4, 50)
    repeated = np.repeat(X, w, axis=0)
    assert_allclose(silverman_bandwidth(X, w), silverman_bandwidth(repeated))
    assert_allclose(bandwidth_grid(X, sample_weight=w), bandwidth_grid(repeated))


def test_normalized_weights_count_no_repetitions():
    for n in range(2, 60):  # the sum is 1, or the number below or above it
        with pytest.raises(ValueError, match="greater than 1"):
            silverman_bandwidth(np.arange(n)[:, None], np.random.default_rng(n).dirichlet(np.ones(n)))


def test_a_sample_of_weight_zero_is_not_there():
    x = np.array([[0.0], [1.0], [4.0], [1e200]])
    assert silverman_bandwidth(x, [1, 2, 1, 0]) == silverman_bandwidth(x[:3], [1, 2, 1])
    with pytest.raises(ValueError, match="no spread"):
        silverman_bandwidth(x[[0, 0, 3]], [1, 1, 0])


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bandwidths_scale_with_the_data_and_ignore_offsets(scale, dtype):
    X = np.round(sample() * 1024) / 1024
    if dtype == np.float64:
        assert_allclose(silverman_bandwidth(scale * X), scale * silverman_bandwidth(X))
        assert_allclose(silverman_bandwidth(X + 1e6), silverman_bandwidth(X))
    elif 1e-30 < scale < 1e30:
        scaled = silverman_bandwidth((scale * X).astype(dtype))
        assert_allclose(scaled, scale * silverman_bandwidth(X), rtol=1e-6)
        X = np.round(X)
        assert_allclose(silverman_bandwidth((X + 1e6).astype(dtype)), silverman_bandwidth(X), rtol=1e-6)


def test_grid_is_geometric_around_the_rule():
    X = sample()
    grid = bandwidth_grid(X)
    assert grid.shape == (16,)
    assert_allclose(grid[1:] ** 2 / grid[:-1] ** 2, 2)
    assert np.any(np.isclose(grid, silverman_bandwidth(X)))
    assert_allclose(bandwidth_grid(X, 5, 1.5)[1:] / bandwidth_grid(X, 5, 1.5)[:-1], np.sqrt(1.5))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: silverman_bandwidth(np.ones((5, 2))), "All samples are equal"),
        (lambda: silverman_bandwidth(np.ones((1, 2))), "minimum of 2"),
        (lambda: silverman_bandwidth([[1.0, np.nan], [0.0, 1.0]]), "contains NaN"),
        (lambda: silverman_bandwidth([[1.0], [2.0]], [0.25, 0.25]), "greater than 1"),
        (lambda: silverman_bandwidth([[1.0], [2.0]], [-1, 3]), "Negative values"),
        (lambda: silverman_bandwidth([[1.0], [2.0]], rule="thumb"), "The 'rule' parameter"),
        (lambda: silverman_bandwidth([[1.0], [2.0]], kernel="tophat"), "The 'kernel' parameter"),
        (lambda: bandwidth_grid([[1.0], [2.0]], 0), "The 'n_bandwidths' parameter"),
        (lambda: bandwidth_grid([[1.0], [2.0]], 2**31), "The 'n_bandwidths' parameter"),
        (lambda: bandwidth_grid([[1.0], [2.0]], ratio=1.0), "The 'ratio' parameter"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
