"""The checked arguments of a call of :func:`spectralcls.kernels.kernel_sums`, and the form of its result."""

from typing import Any, NamedTuple

import numpy as np

from .._utils.typing import Array
from ._normalizer import log_normalizer
from ._packed_points import PackedPoints


class SumsRequest(NamedTuple):
    """Checked arguments in the dtype of the computation, and the form of the result.

    Computed sums have all axes, (m, b, l, c). They are an array for the outputs "plain" and "log", and a pair
    (log_scale (m, b, l), sums) for "scaled". `answer` brings them into the form of the result.
    """

    Q: Array
    X: Array
    bandwidths: Array  # (b,) or (b, l)
    points: PackedPoints | None = None  # X, packed; None if this request cannot use them
    weights: Array | None = None  # (n, c) or (n, b, c); None if all are 1
    own_weights: bool = False  # whether the weights are those of the packed points
    labels: Array | None = None
    n_labels: int = 1
    kernel: str = "gaussian"
    output: str = "plain"
    excluded: Array | None = None  # row of X that each query leaves out, -1 for none
    groups: tuple[Array | None, Array | None, int] = (None, None, 0)
    rtol: float = 0.0
    atol: float = 0.0
    n_threads: int = 1
    in_order: bool = False  # whether successive queries lie close together, so that the core need not sort them
    dtype: Any = None  # dtype of the result
    log_shift: float = 0.0  # added to logarithms, because the weights were divided by exp(log_shift)
    axes: tuple[bool, bool, bool] = (True, True, True)  # whether the result keeps the axes b, l and c
    normalize: bool = False
    is_pair: bool = False

    def of_label(self, label: int) -> "SumsRequest":
        """The request for the points of a single label."""
        own = np.flatnonzero(self.labels == label)
        excluded = self.excluded
        if excluded is not None:
            place = np.full(len(self.X), -1, dtype=np.int64)
            place[own] = np.arange(len(own))
            excluded = np.where(excluded >= 0, place[excluded], -1)
        bandwidths = self.bandwidths if self.bandwidths.ndim == 1 else np.ascontiguousarray(self.bandwidths[:, label])
        return self._replace(
            X=self.X[own],
            points=None if self.points is None else self.points.of_label(label),
            weights=None if self.weights is None else self.weights[own],
            bandwidths=bandwidths,
            labels=None,
            n_labels=1,
            excluded=excluded,
        )

    def answer(self, sums: Any) -> Any:
        """Bring sums with all axes into the form requested by the user."""
        log_factor: Any = self.log_shift
        if self.normalize:
            constants = log_normalizer(self.kernel, self.X.shape[1], self.bandwidths)
            log_factor = log_factor - constants.reshape(len(self.bandwidths), -1, 1)  # (b, l, 1) or (b, 1, 1)
        index = (slice(None), *(slice(None) if kept else 0 for kept in self.axes))
        if self.output == "scaled":
            scale, sums = sums
            if self.normalize or log_factor:
                scale += log_factor[..., 0] if self.normalize else log_factor
            if self.is_pair:
                return scale[index[:3]].astype(self.dtype, copy=False), sums[index].astype(self.dtype, copy=False)
            with np.errstate(divide="ignore", over="ignore"):
                sums = np.sign(sums) * np.exp(scale[..., None] + np.log(np.abs(sums)))
        elif self.output == "plain" and self.normalize:
            sums *= np.exp(log_factor).astype(sums.dtype)
        elif self.normalize or log_factor:
            sums += log_factor
        return sums[index].astype(self.dtype, copy=False)
