"""Weights rescaled for sums with a scale, so that neither they nor their products with kernel values underflow."""

import numpy as np
from numpy.typing import DTypeLike

from .._utils.typing import Array


def weights_fit_dtype(W: Array, dtype: DTypeLike) -> bool:
    """Whether sums that are relative to the nearest point's kernel value can use the weights unchanged.

    Parameters
    ----------
    W : ndarray of shape (n, ...)
    dtype : dtype
        Type in which the sums are computed.

    Returns
    -------
    unchanged : bool
        False if the nearest point's weight may be zero, or so small that heavier points matter although their kernel
        values underflow, or if sums may overflow.
    """
    sizes = _sizes(W)
    return bool(sizes.all()) and _is_moderate(sizes, dtype)


def rescale_weights(W: Array, labels: Array | None, dtype: DTypeLike) -> tuple[Array, Array, float]:
    """Weights and labels for accurate sums with a scale, and the logarithm of the factor to apply to the sums.

    Parameters
    ----------
    W : ndarray of shape (n, ...)
    labels : int64 ndarray of shape (n,) or None
    dtype : dtype
        Type of the sums if the range of the weights allows it; otherwise float64 is used.

    Returns
    -------
    W : ndarray of shape (n, ...)
        Weights in the dtype required by the sums, divided by a power of two if the range of `dtype` is too narrow.
    labels : int64 ndarray of shape (n,)
        Negative for the points of weight zero, which are left out.
    log_scale_shift : float
        Logarithm of this power of two.
    """
    sizes = _sizes(W)
    labels = np.where(sizes > 0, np.zeros(len(W), dtype=np.int64) if labels is None else labels, -1)
    if _is_moderate(sizes, dtype):
        return W.astype(dtype, copy=False), labels, 0.0
    exponent = int(np.frexp(sizes.max())[1])
    return np.ldexp(W.astype(np.float64), -exponent), labels, exponent * np.log(2.0)


def _sizes(W: Array) -> Array:
    """The largest absolute weight of each point over all columns, which share a scale."""
    return np.abs(W.reshape(len(W), -1).T, order="C").max(axis=0)  # column by column, because there are few columns


def _is_moderate(sizes: Array, dtype: DTypeLike) -> bool:
    """Whether the sizes and their ratios are within the range of `dtype`."""
    seen = sizes[sizes > 0]
    if not len(seen):
        return True
    (least, largest), limit = np.frexp([seen.min(), seen.max()])[1], np.finfo(dtype).maxexp
    return bool(abs(largest) <= limit // 4 and largest - least <= limit // 2)
