"""The constants that make kernels densities."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._utils.typing import Bandwidth
from ._checks import check_dimension, check_widths
from ._profiles import PROFILES


def log_normalizer(kernel: str, d: int, bandwidth: Bandwidth) -> Any:
    """Logarithm of the integral of ``k(|x| / h)`` over R^d, for each bandwidth h.

    Parameters
    ----------
    kernel : str
        One of ``KERNELS``, or "laplace_derivative".
    d : int
        Dimension.
    bandwidth : float or array-like
        Bandwidth(s) h > 0.

    Returns
    -------
    log_normalizer : float64 scalar or array of the shape of ``bandwidth``
        The logarithm of the kernel's integral over R^d.

    Raises
    ------
    ValueError
        If the kernel is unknown, or "laplace_derivative" in one dimension; if the dimension is below 1; or if a
        bandwidth is not positive and finite.

    Notes
    -----
    The integral is ``(2 pi h^2)^(d/2)`` for the Gaussian. Otherwise it is ``h^d`` times the area of the unit sphere
    times the radial integral of k(u) u^(d-1): ``Gamma(d)`` for "laplace", ``Gamma(d - 1)`` for "laplace_derivative",
    computed by quadrature for "cosine", and a Beta function for the other compact kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.kernels import log_normalizer
    >>> print(round(np.exp(log_normalizer("gaussian", 1, 1.0)), 4))
    2.5066
    """
    if not isinstance(kernel, str) or kernel not in PROFILES:
        raise ValueError(f"kernel must be one of {', '.join(PROFILES)}, got {kernel!r}.")
    check_dimension(d, "d")
    widths = np.asarray(check_widths(bandwidth))
    if not (np.isfinite(widths) & (widths > 0)).all():
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}.")
    return PROFILES[kernel].log_integral(d) + d * np.log(widths)


def is_representable(log_normalizers: Any, dtype: DTypeLike) -> bool:
    """Whether the constants of `normalize` are normal floating-point numbers."""
    return bool(np.abs(log_normalizers).max() < -np.log(np.finfo(dtype).smallest_normal))
