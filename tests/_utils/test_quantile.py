"""Weighted quantiles are those of repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spectralcls._utils.quantile import weighted_quantile


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
def test_a_weight_is_a_number_of_rows(share):
    rng = np.random.default_rng(0)
    for n in (1, 2, 4, 5, 8, 40):
        Z, counts = rng.standard_normal((n, 3)), rng.integers(1, 5, n)
        expected = np.quantile(np.repeat(Z, counts, axis=0), share, axis=0, method="averaged_inverted_cdf")
        assert_allclose(weighted_quantile(Z, share, counts.astype(float)), expected)
        assert_allclose(weighted_quantile(Z[:, 0], share, counts / 7.0), expected[0])
        plain = np.quantile(Z, share, axis=0, method="averaged_inverted_cdf")
        assert_allclose(weighted_quantile(Z, share), plain)


def test_the_half_is_the_median():
    Z = np.random.default_rng(1).standard_normal((6, 2))
    assert_allclose(weighted_quantile(Z, 0.5), np.median(Z, axis=0))


@pytest.mark.parametrize("more, median", [(3.2e-12, 0.5), (4.8e-12, 1.0)])
def test_sums_of_weights_that_differ_by_rounding_are_equal(more, median):
    """Half of the weight to 1e-12 of all is half: the median lies between two values."""
    assert weighted_quantile(np.array([0.0, 1.0]), 0.5, np.array([1.0, 1 + more])) == median
