"""Kernel sums within a tolerance in few features: a fast Gauss transform, or the pairs within a radius."""

import numpy as np

from .._core import compiled
from ._exact import exact_sums
from ._request import SumsRequest

TREE_FEATURES = 3  # up to which a relative tolerance has methods of its own
_BRUTE_FORCE = 1.0  # times what the core's table of costs says of all pairs: tests that want no brute force raise it
_UNDERFLOW = 1e-290  # of the largest weight of each point: what was flushed to zero is 1e-18 of a larger total


def approximate_sums(request: SumsRequest):
    """The answer to a request with a tolerance, or None if exact sums are to give it.

    In logarithms, a query whose total is so small that parts of it may have underflowed gets exact sums: they stay
    relative to their own scale, however far it is from all points.
    """
    r = request
    if not (r.atol or (r.rtol and r.X.shape[1] <= TREE_FEATURES)):
        return None
    negative = r.weights is not None and r.weights.min(initial=0) < 0
    if r.output != "plain" and (r.atol or negative):
        asked_for_logarithms = r.output == "log" or r.is_pair
        what = "log" if asked_for_logarithms else f"normalize=True, with a constant that {r.dtype} cannot hold,"
        raise ValueError(f"{what} goes with rtol alone, not atol, and with weights that are not negative.")
    sums = tolerance_sums(r)
    if sums is None or r.output == "plain":
        return sums
    np.maximum(sums, 0.0, out=sums)  # a point taken out of a gridded sum leaves rounding of either sign
    heaviest = np.ones(1) if r.weights is None else r.weights.max(axis=0).astype(np.float64)
    least = _UNDERFLOW * len(r.X) * heaviest if r.kernel == "gaussian" else 0.0
    lost = np.flatnonzero((sums.sum(axis=2) < least).any(axis=(1, 2)))
    scale = np.zeros(sums.shape[:3])
    if len(lost):
        scale[lost], sums[lost] = exact_sums(r, lost, output="scaled", rtol=0.0)
    if r.output == "log":
        with np.errstate(divide="ignore"):
            return np.log(sums) + scale[..., None]
    # Each label at a scale of its own, as exact sums are: float32 must not underflow.
    top = np.abs(sums).max(axis=-1)
    top[top == 0] = 1.0
    return scale + np.log(top), sums / top[..., None]


def tolerance_sums(request: SumsRequest, strategy: str = "automatic"):
    """Plain kernel sums with a guaranteed error, or None where all pairs are predicted to be faster.

    The errors of a query's sums over all labels add up to at most ``atol + rtol * s``, where s is the sum of
    ``abs(weights[j, c]) * k_b(q_i, x_j)`` over the points of *all* labels: for one label and weights >= 0
    it is the sum itself, for labels the error is relative to the total, as posteriors need it, and for
    signed weights relative to what cancels. Compact kernels are always exact, whatever the tolerance.

    Parameters
    ----------
    request : SumsRequest
        Whatever its output.
    strategy : {"automatic", "pairs", "gridding"}
        What to use where both are possible; only ``"automatic"`` gives way to brute force.

    Returns
    -------
    sums : float64 ndarray of shape (m, b, n_labels, c), or None

    Notes
    -----
    One pass per bandwidth. About O((m + n) w^d) operations where gridding is used, w = 8 to 24 by
    tolerance (Gaussian, d <= 3); O(pairs within the radius) elsewhere. float64 inside; memory
    O((m + n) (d + c)).
    """
    r, bandwidths = request, request.bandwidths
    if bandwidths.ndim == 2:
        return _label_by_label(r, strategy)
    Q, X = (np.ascontiguousarray(points, dtype=np.float64) for points in (r.Q, r.X))
    weights = None if r.weights is None else np.ascontiguousarray(r.weights, dtype=np.float64)
    # The fused sums of all bandwidths share their distances, so that one more costs a fraction of a pass.
    n_passes = (1 + 0.3 * (len(bandwidths) - 1)) / len(bandwidths)
    share = 1.0 if r.labels is None else np.mean(r.labels >= 0)
    brute_passes = float(max(n_passes * share, 1e-9) * _BRUTE_FORCE)
    single = r.X.dtype == np.float32
    sums = []
    for h in bandwidths:
        part = compiled.approximate_sums(
            Q,
            X,
            weights,
            r.labels,
            r.n_labels,
            r.kernel,
            float(h),
            r.excluded,
            r.rtol,
            r.atol,
            single,
            brute_passes,
            strategy,
            r.n_threads,
        )
        if part is None:
            return None
        sums.append(part)
    return np.stack(sums, axis=1)


def _label_by_label(request, strategy):
    """Bandwidths (b, l): the points of a label at a time, with its share of the error."""
    sums, atol = [], request.atol / request.bandwidths.shape[1]
    for label, own in enumerate(request.bandwidths.T):
        labels = np.where(request.labels == label, 0, -1)
        part = tolerance_sums(request._replace(labels=labels, n_labels=1, bandwidths=own, atol=atol), strategy)
        if part is None:
            return None
        sums.append(part)
    return np.concatenate(sums, axis=2)
