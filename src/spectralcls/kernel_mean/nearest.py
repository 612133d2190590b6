"""The class of the nearest training point: the limit of every density rule where no kernel reaches."""

import numpy as np

from ..kernels import kernel_sums

_NARROW = 2.0**-40  # of the data's extent: far below differences of distances that can be told apart


def nearest_codes(Q, X, codes, n_jobs=None, **left_out):
    """Code of the training point nearest to each query.

    As the bandwidth of a Gaussian vanishes, the logarithm of a sum becomes that of its largest term; points
    that are equally near to rounding are settled by their number. `left_out` are `exclude_self` or
    `exclude_groups` of `kernel_sums`. O(m n d) time in float64, where (distance / bandwidth)^2 cannot
    overflow; O(m + n) memory.
    """
    Q, X = np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64)
    bandwidth = np.ptp(X, axis=0).max() * _NARROW or 1.0
    sums = kernel_sums(Q, X, labels=codes, bandwidth=bandwidth, log=True, n_jobs=n_jobs, **left_out)
    return sums.argmax(axis=1)
