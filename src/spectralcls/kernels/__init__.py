"""Kernel sums and kernel matrices: the two primitives behind every method of this package.

A kernel is a profile of ``u = |x - y| / h``:

- everywhere positive: ``gaussian`` ``exp(-u**2 / 2)`` and ``laplace`` ``exp(-u)``;
- on the open ball ``u < 1``: ``epanechnikov`` ``1 - u**2``, ``uniform`` ``1``, ``quartic`` ``(1 - u**2)**2``,
  ``triweight`` ``(1 - u**2)**3``, ``cosine`` ``cos(pi u / 2)``, ``linear`` ``1 - u``;
- ``laplace_derivative`` ``exp(-u) / u``, for gradients of sums of ``laplace``: the gradient of ``exp(-|x - y| / h)`` in
  x is ``(y - x) / h**2`` times this profile. It is undefined at u = 0, so pairs of coincident points contribute 0. No
  estimator accepts it as its kernel.
"""

from ._bandwidth import bandwidth_grid, kernel_variance, silverman_bandwidth
from ._bandwidth import geometric_grid as geometric_grid
from ._bandwidth import reference_rule as reference_rule
from ._kernel_sums import KERNELS, PackedPoints, kernel_matrix, kernel_sums, log_normalizer
from ._kernel_sums import checked_sums as checked_sums
from ._labels import LabelRule as LabelRule
from ._labels import certain_labels as certain_labels
from ._profiles import PROFILES as PROFILES
from ._without_own import own_positions as own_positions
from ._without_own import without_own as without_own

__all__ = [
    "KERNELS",
    "PackedPoints",
    "bandwidth_grid",
    "kernel_matrix",
    "kernel_sums",
    "kernel_variance",
    "log_normalizer",
    "silverman_bandwidth",
]
