"""Kernel sums within a tolerance: when to leave brute force, and the conversion to what the core takes."""

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from ._checks import check_tolerances
from ._outputs import in_output

_BRUTE_FORCE = 1.0  # times what the core's table of costs says of all pairs: tests that want no brute force raise it
_UNDERFLOW = 1e-290  # of the largest weight of each point: what was flushed to zero is 1e-18 of a larger total


def approximate_sums(
    Q,
    X,
    *,
    weights=None,
    labels=None,
    n_labels=1,
    kernel="gaussian",
    bandwidth,
    rtol=0.0,
    atol=0.0,
    exclude_self=None,
    strategy="automatic",
    n_jobs=None,
):
    """Plain kernel sums with a guaranteed error, or None where all pairs are predicted to be faster.

    The errors of a query's sums over all labels add up to at most ``atol + rtol * s``, where s is the sum of
    ``abs(weights[j, c]) * k_b(q_i, x_j)`` over the points of *all* labels: for one label and weights >= 0
    it is the sum itself, for labels the error is relative to the total, as posteriors need it, and for
    signed weights relative to what cancels. Compact kernels are always exact, whatever the tolerance.

    Parameters
    ----------
    Q, X : ndarray of shape (m, d) and (n, d), float32 or float64, C-contiguous
    weights : ndarray of shape (n, c) or None
    labels : int64 ndarray of shape (n,) or None
    n_labels : int
    kernel : str
    bandwidth : float or array of shape (b,) or (b, n_labels)
    rtol, atol : float, at least 0
    exclude_self : int64 ndarray of shape (m,) or None
        Row of X that each query leaves out, -1 for none.
    strategy : {"automatic", "pairs", "lattice"}
        What to use where both are possible; only ``"automatic"`` gives way to brute force.
    n_jobs : int or None

    Returns
    -------
    sums : float64 ndarray of shape (m, b, n_labels, c), or None

    Notes
    -----
    One pass per bandwidth. About O((m + n) w^d) operations where the lattice is used, w = 8 to 24 by
    tolerance (Gaussian, d <= 3); O(pairs within the radius) elsewhere. float64 inside; memory
    O((m + n) (d + c)).
    """
    check_tolerances(rtol, atol)
    bandwidths = np.atleast_1d(np.asarray(bandwidth, dtype=np.float64))
    if bandwidths.ndim == 2:
        options = dict(kernel=kernel, rtol=rtol, exclude_self=exclude_self, strategy=strategy, n_jobs=n_jobs)
        return _label_by_label(Q, X, weights, labels, bandwidths, atol, options)
    doubles = [None if a is None else np.ascontiguousarray(a, dtype=np.float64) for a in (Q, X, weights)]
    # The fused sums of all bandwidths share their distances, so that one more costs a fraction of a pass.
    n_passes = (1 + 0.3 * (len(bandwidths) - 1)) / len(bandwidths)
    share = 1.0 if labels is None else np.mean(labels >= 0)
    brute_passes = max(n_passes * share, 1e-9) * _BRUTE_FORCE
    sums = []
    for h in bandwidths:
        part = compiled.tolerance_sums(
            *doubles,
            labels,
            n_labels,
            kernel,
            float(h),
            exclude_self,
            float(rtol),
            float(atol),
            X.dtype == np.float32,
            brute_passes,
            strategy,
            effective_n_threads(n_jobs),
        )
        if part is None:
            return None
        sums.append(part)
    return np.stack(sums, axis=1)


def _label_by_label(Q, X, weights, labels, bandwidths, atol, options):
    """Bandwidths (b, l): the points of a label at a time, with its share of the error."""
    sums = []
    for label, own in enumerate(bandwidths.T):
        part = approximate_sums(
            Q,
            X,
            weights=weights,
            labels=np.where(labels == label, 0, -1),
            n_labels=1,
            bandwidth=own,
            atol=atol / bandwidths.shape[1],
            **options,
        )
        if part is None:
            return None
        sums.append(part)
    return np.concatenate(sums, axis=2)


def approximate_log_sums(Q, X, *, weights, rtol, exact, **options):
    """As `approximate_sums`, for weights >= 0, as pairs with ``sum = exp(log_scale) * sums``.

    A query whose total is so small that parts of it may have underflowed gets the pairs that ``exact(rows)``
    gives for it: its sums stay relative to their own scale, however far it is from all points.

    Returns
    -------
    log_scale, sums : float64 ndarrays of shape (m, b, n_labels) and (m, b, n_labels, c), or None
    """
    sums = approximate_sums(Q, X, weights=weights, rtol=rtol, **options)
    if sums is None:
        return None
    log_scale = np.zeros(sums.shape[:3])
    np.maximum(sums, 0.0, out=sums)  # a point taken out of a lattice sum leaves rounding of either sign
    heaviest = np.ones(1) if weights is None else weights.max(axis=0).astype(np.float64)
    least = _UNDERFLOW * len(X) * heaviest if options["kernel"] == "gaussian" else 0.0
    lost = np.flatnonzero((sums.sum(axis=2) < least).any(axis=(1, 2)))
    if len(lost):
        log_scale[lost], sums[lost] = exact(lost)
    return log_scale, sums


def sums_within_tolerance(Q, X, output, atol, exact, options):
    """What the core's sums over all pairs would give in the same output, or None where those are faster."""
    if output == "plain":
        sums = approximate_sums(Q, X, atol=atol, **options)
        return None if sums is None else sums.astype(X.dtype, copy=False)
    weights = options["weights"]
    if atol or (weights is not None and weights.min(initial=0) < 0):
        raise ValueError("Logarithms within a tolerance need weights that are not negative, and rtol alone.")
    pairs = approximate_log_sums(Q, X, exact=exact, **options)
    if pairs is None:
        return None
    scale, sums = pairs
    return in_output(sums, output, X.dtype, scale)
