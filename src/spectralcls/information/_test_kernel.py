"""Kernels of the tests: scaled points, the bandwidths to try, and their matrices."""

from typing import NamedTuple

import numpy as np

from .._tuning import centered_and_scaled, has_spread
from ..kernels import log_normalizer
from ._bandwidth_words import chosen_bandwidth
from ._gram import Gram, canonical_order
from ._samples import Sample, pair_of

# Bandwidths of the grid, in multiples of the median rule. For ten alternatives (nine are in bench_information.py), the
# power of tests at level .05 changes by at most .05 if the grid starts at 1/8 or 1/64, or has twice as many steps; for
# one of them it increases by .09 if the grid ends at 4. A grid that starts at 1/4 misses differences within groups
# (power .09 instead of .40); one that ends at 1 loses a tenth of the power if means differ.
GRID = 2.0 ** np.arange(-4, 2)


class KernelOfTest(NamedTuple):
    """Kernels of the same points at several bandwidths.

    Attributes
    ----------
    points : (n, d), centered and scaled
    kernel : str
    widths : (b,) bandwidths of the potentials, in units of the scaled points
    bandwidths : b floats, bandwidths of the densities, in units of the features
    log_constants : (b,) logarithms of the densities' normalizing constants
    varies : whether there are more than two points, not all equal
    """

    points: np.ndarray
    kernel: str
    widths: np.ndarray
    bandwidths: list
    log_constants: np.ndarray
    varies: bool
    n_jobs: int | None

    def grams(self):
        """The centered matrices, one at a time."""
        return (Gram.of_kernel(self.points, self.kernel, float(h), self.n_jobs) for h in self.widths)


def kernel_of_test(samples, bandwidth, kernel, potential, n_jobs):
    """Kernels of all samples together; `bandwidth` is a number or a rule."""
    points, exponent = centered_and_scaled(np.concatenate([sample.points for sample in samples]))
    alike = Sample(points[canonical_order(points)], np.ones(len(points)))
    if not isinstance(bandwidth, str):
        h = np.array([np.clip(np.ldexp(float(bandwidth), -exponent), 1e-300, 1e300)])
    elif not has_spread(points):
        h = np.ones(len(GRID) if bandwidth == "grid" else 1)  # all statistics are zero
    elif bandwidth == "grid":
        h = GRID * chosen_bandwidth("median", [alike], kernel, n_jobs)
    else:
        h = np.array([chosen_bandwidth(bandwidth, [alike], kernel, n_jobs)])
    widths = np.sqrt(2) * h if kernel == "gaussian" and potential == "convolved" else h
    log_constants = -log_normalizer(kernel, points.shape[1], widths) - points.shape[1] * exponent * np.log(2)
    with np.errstate(over="ignore"):
        bandwidths = np.ldexp(h, exponent).tolist() if isinstance(bandwidth, str) else [float(bandwidth)]
    varies = len(points) > 2 and has_spread(points)
    return KernelOfTest(points, kernel, widths, bandwidths, log_constants, varies, n_jobs)


def kernels_of_tests(samples, bandwidth, kernel, potential, n_jobs):
    """Kernels of each sample; `bandwidth` is a number, a rule, or a number for each sample."""
    each = [bandwidth] * 2 if isinstance(bandwidth, str) else pair_of(bandwidth)
    return [kernel_of_test([p], h, kernel, potential, n_jobs) for p, h in zip(samples, each, strict=True)]
