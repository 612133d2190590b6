"""Usual local size of residuals: the kernel mean of nearby residuals, shrunk toward a typical residual."""

from typing import NamedTuple

import numpy as np

from .._inputs.encoder import ColumnEncoder
from .._utils.quantile import weighted_quantile
from ..kernels import kernel_sums

# number of pseudo-samples with the typical residual; 5 to 100 give equal coverage, and 10 to 20 the narrowest intervals
POOLED = 20.0
WIDTHS = (0.2, 0.5, 1.0)  # candidate bandwidths of the Gaussian kernel, on columns mapped to normal quantiles
SHARE = 0.9  # coverage at which mean widths of intervals are compared
# Smallest relative gain in width that justifies local sizes; a smaller one may be chance. Of 100 draws of 800 normal
# residuals of one size, local sizes gain more than .5 % in 27 draws, more than 1 % in 13 and more than 2 % in 2; if the
# size grows with a normal coordinate z as exp(.2 z), they gain as much in 87, 82 and 60 draws.
GAIN = 0.01


def unit_of(weights):
    """Weight of one pseudo-sample, so that k equal weights count as k samples."""
    return weights @ weights / weights.sum()


class LocalSizes(NamedTuple):
    """Usual residuals, computed as kernel means over samples at coordinates X.

    Attributes
    ----------
    errors : (n, k) absolute leave-one-out residuals
    typical : (k,) usual residual far from all samples
    """

    X: np.ndarray
    errors: np.ndarray
    weights: np.ndarray
    typical: np.ndarray
    kernel: str
    bandwidth: float
    n_jobs: int | None = None

    def __call__(self, Q, **left_out):
        """Usual residuals (m, k) at the coordinates Q."""
        weights = self.weights / unit_of(self.weights)
        columns = np.column_stack([np.ones(len(self.errors)), self.errors]) * weights[:, None]
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs} | left_out
        sums = kernel_sums(Q, self.X, weights=columns, **options).astype(np.float64)
        return (sums[:, 1:] + POOLED * self.typical) / (sums[:, :1] + POOLED)


def typical_of(errors, weights):
    """Typical residual of each output, (k,): the median, or the mean if most residuals are zero."""
    typical = weighted_quantile(errors, 0.5, weights)
    return np.where(typical > 0, typical, np.average(errors, axis=0, weights=weights))


class SizesByPrediction(NamedTuple):
    """Usual residuals as a function of the prediction and other known coordinates of a query; constant if `local` is
    None."""

    encoder: ColumnEncoder
    local: LocalSizes | None
    n_outputs: int

    @classmethod
    def of(cls, known, residuals, weights, n_jobs=None):
        """Learn from samples with known coordinates (n, c); also return their residuals divided by the leave-one-out
        sizes.

        Of the kernel widths, the one with the narrowest intervals that contain `SHARE` of the residuals is chosen; if
        these are not narrower than intervals of constant width, sizes are constant.
        """
        encoder = ColumnEncoder("rank", indicators=False).fit(known, sample_weight=weights)
        X, errors, k = encoder.transform(known), np.abs(residuals), residuals.shape[1]
        best, ratios = None, residuals
        least = (1 - GAIN) * _width(errors, np.ones(errors.shape), weights)
        for width in WIDTHS if len(errors) > 2 * POOLED else ():
            local = LocalSizes(X, errors, weights, typical_of(errors, weights), "gaussian", width, n_jobs)
            sizes = local(X, exclude_self=True)
            own = residuals / np.where(sizes > 0, sizes, 1.0)
            width_of_own = _width(np.abs(own), sizes, weights)
            if width_of_own < least:
                best, ratios, least = local, own, width_of_own
        return cls(encoder, best, k), ratios

    def __call__(self, known):
        """Usual residuals (m, k) at queries with known coordinates (m, c)."""
        if self.local is None:
            return np.ones((len(known), self.n_outputs))
        return self.local(self.encoder.transform(known))


def _width(ratios, sizes, weights):
    """Mean width of intervals relative to each output's typical residual, averaged over the outputs."""
    reach = weighted_quantile(ratios, SHARE, weights) * np.average(sizes, axis=0, weights=weights)
    return float(np.mean(reach / np.maximum(np.average(ratios * sizes, axis=0, weights=weights), 1e-300)))
