"""Distribution functions and quantiles of densities of one feature, against sums over all kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

from spectralcls import ParzenDensity
from spectralcls.density._univariate import Kernels


def slow(density, q):
    form = density._form
    x = form.space.leave(form.X)
    parts = zip(form.widths * np.exp(form.space.log_volume), form.weights.T, strict=True)
    return sum(ndtr((q[:, None] - x[:, 0]) / h) @ weights for h, weights in parts)


@pytest.mark.parametrize("bandwidth", [0.2, "cv"])
def test_near_and_far_kernels_add_up_to_all(bandwidth):
    rng = np.random.default_rng(0)
    X, w = np.r_[rng.normal(size=300), 40 + rng.normal(size=30)][:, None], rng.uniform(0.5, 2, 330)
    density = ParzenDensity(bandwidth).fit(X, sample_weight=w)
    q = np.r_[X[:, 0], np.linspace(-8, 50, 999)]
    assert_allclose(density.cdf(q[:, None]), slow(density, q), atol=2e-13)
    assert_allclose(density.cdf(q[-5:, None]), slow(density, q[-5:]), atol=2e-13)  # one at a time


def test_polynomials_replace_sums_where_places_are_many():
    X = np.random.default_rng(0).normal(size=(500, 1))
    x = np.sort(X[:, 0])
    q = np.linspace(-3, 3, 2000)
    few, many = (Kernels(x, np.full(500, 1 / 500), 0.5, None, n_asked, q) for n_asked in (10, len(q)))
    assert len(few.numbers) == 1 and len(many.numbers) > 10
    assert_allclose(many(q), few(q), atol=1e-13)


def test_small_probabilities_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(2000, 1))
    density = ParzenDensity(0.3).fit(X)
    q = X.min() - np.linspace(0, 8, 1500)
    found = density.cdf(q[:, None])
    assert found[-1] < 1e-150
    assert_allclose(found, slow(density, q), rtol=1e-11)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_any_unit(scale):
    X = np.random.default_rng(0).normal(size=(100, 1))
    plain, other = (ParzenDensity(0.4 * s).fit(X * s) for s in (1.0, scale))
    assert_allclose(other.cdf(X * scale), plain.cdf(X), rtol=1e-9)
    assert_allclose(other.quantile([0.0, 0.1, 0.9]) / scale, plain.quantile([0.0, 0.1, 0.9]), rtol=1e-9)
