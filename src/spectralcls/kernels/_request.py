"""A call of :func:`spectralcls.kernels.kernel_sums`, checked once, and the form of its answer."""

from typing import Any, NamedTuple

import numpy as np

from .._core.threads import effective_n_threads
from .._utils.typing import Array
from ._checks import (
    check_bandwidths,
    check_excluded,
    check_groups,
    check_kernel,
    check_labels,
    check_log,
    check_points,
    check_queries,
    check_tolerances,
    check_weights,
)
from ._normalizer import is_representable, log_normalizer
from ._points import PackedPoints
from ._weight_range import rescale_weights, weights_fit_dtype


class SumsRequest(NamedTuple):
    """What the ways to compute sums need, checked, in the dtype of the computation, and what their answer becomes.

    An answer has all axes, (m, b, l, c); it is one array for the outputs "plain" and "log", for "scaled" a pair
    (log_scale (m, b, l), sums).
    """

    Q: Array
    X: Array
    points: PackedPoints | None  # X, packed; None if they do not serve this request
    weights: Array | None  # (n, c) or (n, b, c); None if all are 1
    own_weights: bool  # whether they are those of the packed points
    labels: Array | None
    n_labels: int
    kernel: str
    bandwidths: Array  # (b,) or (b, l)
    output: str
    excluded: Array | None  # row of X that each query leaves out, -1 for none
    groups: tuple[Array | None, Array | None, int]
    rtol: float
    atol: float
    n_threads: int
    dtype: Any  # of the answer
    log_shift: float  # of the logarithms: weights were divided by its exponential
    axes: tuple[bool, bool, bool]  # whether the answer keeps the axes b, l and c
    normalize: bool
    is_pair: bool

    @classmethod
    def checked(
        cls,
        Q,
        X,
        *,
        weights,
        labels,
        n_labels,
        kernel,
        bandwidth,
        log,
        exclude_self,
        exclude_groups,
        normalize,
        rtol,
        atol,
        n_jobs,
    ):
        """The request of arguments as a user gives them; see :func:`spectralcls.kernels.kernel_sums`."""
        check_kernel(kernel)
        output = check_log(log)
        points = X if isinstance(X, PackedPoints) else None
        if points is None:
            Q, X = check_points(Q, X)
            labels, n_labels, has_labels = check_labels(labels, n_labels, len(X))
        elif labels is not None or n_labels is not None:
            raise ValueError("PackedPoints have their own labels: give labels and n_labels to PackedPoints instead.")
        else:
            Q, points = check_queries(Q, points, Q is points.X)
            X, labels, n_labels, has_labels = points.X, points.labels, points.n_labels, points.labels is not None
        bandwidths, has_bandwidths = check_bandwidths(bandwidth, n_labels if has_labels else None)
        dtype, log_shift = X.dtype, 0.0
        if output == "plain" and normalize and not is_representable(kernel, X, bandwidths):
            # The constant overflows or vanishes, the product need not: so with a scale, in float64.
            output, Q, X = "scaled", Q.astype(np.float64), X.astype(np.float64)
            points = points if points is None else points.astype(np.float64)
        own = points is not None and weights is None
        if own:
            weights = points.weights
            W = None if weights is None else weights.reshape(len(X), -1)
        else:  # with a scale, weights may be beyond what float32 holds
            others = () if output == "plain" else (np.float64,)
            W = check_weights(weights, len(X), len(bandwidths), X.dtype, *others)
        if output == "log" and W is not None and W.min(initial=0) < 0:
            raise ValueError('Negative weights have no logarithm of a sum: use log="pair".')
        if output == "plain" or W is None or (points.weights_fit_dtype() if own else weights_fit_dtype(W, X.dtype)):
            W = None if W is None else W.astype(X.dtype, copy=False)
        else:
            W, labels, log_shift = rescale_weights(W, labels, X.dtype)
            Q, X, points = Q.astype(W.dtype, copy=False), X.astype(W.dtype, copy=False), None
        excluded = check_excluded(exclude_self, Q, X)
        groups = check_groups(exclude_groups, len(Q), len(X))
        check_tolerances(rtol, atol)
        weight_axes = 0 if weights is None else np.ndim(weights)
        if (rtol or atol) and (exclude_groups is not None or weight_axes == 3):
            raise ValueError("rtol and atol go without groups, and with one set of weights, only.")
        return cls(
            Q=Q,
            X=X,
            points=points if exclude_groups is None else None,
            weights=W,
            own_weights=own,
            labels=labels,
            n_labels=n_labels,
            kernel=kernel,
            bandwidths=bandwidths,
            output=output,
            excluded=excluded,
            groups=groups,
            rtol=float(rtol),
            atol=float(atol),
            n_threads=effective_n_threads(n_jobs),
            dtype=dtype,
            log_shift=log_shift,
            axes=(has_bandwidths, has_labels, weight_axes > 1),
            normalize=normalize,
            is_pair=isinstance(log, str),
        )

    def answer(self, sums):
        """Sums of all axes as the user asked for them."""
        log_factor = self.log_shift
        if self.normalize:
            constants = log_normalizer(self.kernel, self.X.shape[1], self.bandwidths)
            log_factor = log_factor - constants.reshape(len(self.bandwidths), -1, 1)  # (b, l, c), all labels or one
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
