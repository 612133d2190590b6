"""Distribution functions and quantiles of densities of one feature, against sums over all kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import PROFILES
from scipy.special import betainc, ndtr

from spectralcls import ParzenDensity
from spectralcls.density._univariate import CellMoments, DistributionTable, Kernels

OWN = {  # distribution functions of the kernels
    "gaussian": ndtr,
    "exponential": lambda u: np.where(u < 0, np.exp(-np.abs(u)) / 2, 1 - np.exp(-np.abs(u)) / 2),
    "cosine": lambda u: (1 + np.sin(np.pi / 2 * np.clip(u, -1, 1))) / 2,
    "linear": lambda u: (1 + np.sign(u) * (1 - (1 - np.minimum(np.abs(u), 1)) ** 2)) / 2,
    **{
        name: lambda u, power=power: (1 + np.sign(u) * betainc(0.5, power + 1, np.minimum(u**2, 1.0))) / 2
        for power, name in enumerate(["tophat", "epanechnikov", "quartic", "triweight"])
    },
}


def slow(density, q):
    form = density._form
    x, widths = form.space.leave(form.points.X)[:, 0], form.widths
    return OWN[density.kernel]((q[:, None] - x) / widths) @ form.weights


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("kernel", OWN)
def test_near_and_far_kernels_add_up_to_all(kernel, adaptive):
    rng = np.random.default_rng(0)
    X, w = np.r_[rng.normal(size=300), 40 + rng.normal(size=30)][:, None], rng.uniform(0.5, 2, 330)
    density = ParzenDensity(0.2, kernel=kernel, adaptive=adaptive).fit(X, sample_weight=w)
    q = np.r_[X[:, 0], np.linspace(-8, 50, 999)]
    assert_allclose(density.cdf(q[:, None]), slow(density, q), atol=2e-13)
    assert_allclose(density.cdf(q[-5:, None]), slow(density, q[-5:]), atol=2e-13)  # one at a time


def test_polynomials_replace_sums_where_places_are_many():
    X = np.random.default_rng(0).normal(size=(500, 1))
    kernels = Kernels(ParzenDensity(0.5).fit(X)._form)
    q = np.linspace(-3, 3, 2000)
    assert kernels.table(q[::100], 10) is None and isinstance(kernels.table(q, len(q)), DistributionTable)
    assert_allclose(kernels(q, kernels.table(q, len(q))), kernels(q), atol=1e-13)


@pytest.mark.parametrize("kernel", ["uniform", "epanechnikov", "quartic", "triweight", "cosine", "linear"])
def test_moments_replace_the_points_of_compact_kernels(kernel):
    """Also at the ends of kernels and of cells, and beyond all of them."""
    rng = np.random.default_rng(0)
    X, weights = np.r_[np.arange(20) / 4, rng.normal(size=200), 1e6][:, None], rng.uniform(0.5, 2, 221)
    density = ParzenDensity(0.5, kernel=kernel, scale=None).fit(X, sample_weight=weights)
    kernels = Kernels(density._form)
    q = np.r_[X[:, 0] + 0.5, X[:, 0] - 0.5, X[:, 0], np.linspace(-5, 9, 300), 1e6 + np.linspace(-1, 1, 9), -1e9, 1e9]
    assert isinstance(kernels.table(q, len(q)), CellMoments) and kernels.table(q, 3) is None
    expected = slow(density, q) if density.kernel in OWN else kernels(q)
    assert_allclose(kernels(q, kernels.table(q, len(q))), expected, atol=1e-13)
    density = density.set_params(bounds=[[-4, 2e6]]).fit(X, sample_weight=weights)
    one_by_one = [density.cdf([[each]])[0] for each in q[::9]]
    assert_allclose(density.cdf(q[:, None])[::9], one_by_one, atol=1e-12)
    assert_allclose(density.cdf(density.quantile(np.linspace(0.01, 0.99, 50))[:, None]), np.linspace(0.01, 0.99, 50))


def test_small_probabilities_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(2000, 1))
    density = ParzenDensity(0.3).fit(X)
    q = X.min() - np.linspace(0, 8, 1500)
    found = density.cdf(q[:, None])
    assert found[-1] < 1e-150
    assert_allclose(found, slow(density, q), rtol=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "tophat"])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_any_unit(kernel, scale):
    X = np.random.default_rng(0).normal(size=(100, 1))
    plain, other = (ParzenDensity(0.4 * s, kernel=kernel).fit(X * s) for s in (1.0, scale))
    assert_allclose(other.cdf(X * scale), plain.cdf(X), rtol=1e-9)
    assert_allclose(other.quantile([0.0, 0.1, 0.9]) / scale, plain.quantile([0.0, 0.1, 0.9]), rtol=1e-9)


@pytest.mark.parametrize("name", ["uniform", "epanechnikov", "quartic", "triweight"])
def test_the_distribution_function_of_a_kernel_is_its_integral(name):
    from spectralcls.kernels import PROFILES as OURS

    grid = np.linspace(-1.5, 1.5, 300_001)
    values = PROFILES[name](np.abs(grid)) * (np.abs(grid) < 1)
    expected = np.cumsum((values[1:] + values[:-1]) / 2) / (values.sum())
    assert_allclose(OURS[name].cumulative(grid[1:]), expected, atol=1e-5)
