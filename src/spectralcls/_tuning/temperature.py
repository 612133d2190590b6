"""Probabilities from scores, with one temperature fitted by maximum likelihood."""

import numpy as np

LOWEST = 1e-3  # probabilities are clipped to this in a log loss
_RANGE = 1e-2, 1e3  # range of 1 / T, for scores divided by their scale
_MOST_STEPS, _TOLERANCE = 60, 1e-3


def softmax(scores):
    """``exp(scores)`` divided by its row sums. For few rows, the overhead of SciPy's function would be too large."""
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def log_losses(probability, codes):
    """``-log p`` of the true class of each sample, with p clipped to at least `LOWEST`."""
    return -np.log(np.maximum(probability[np.arange(len(codes)), codes], LOWEST))


def log_loss(probability, codes, weights=None):
    """Mean of `log_losses`."""
    return float(np.average(log_losses(probability, codes), weights=weights))


def best_temperature(scores, codes, weights=None):
    """The T > 0 for which softmax(scores / T) has the least log loss on the given samples.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Scores of samples that the model has not seen.
    codes : ndarray of shape (n,)
    weights : ndarray of shape (n,), default=None

    Returns
    -------
    T : float
        Between 1e-3 and 1e2 times the scale of the scores.

    Notes
    -----
    A fraction `LOWEST` of each label is spread over all classes, after Platt [1]_, because even if all samples are
    classified correctly, the next one may not be. Platt's fraction depends on n, so that a sample of weight k would
    count differently from k copies. The loss is convex in 1 / T.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized likelihood
       methods", Advances in Large Margin Classifiers, 1999, pp. 61-74.
    """
    n, n_classes = scores.shape
    scale = np.sqrt(np.average(np.var(scores, axis=1), weights=weights)) or 1.0
    # -log p of a class is behind / T + log(sum(exp(-behind / T))); `behind` is the gap to the best score.
    behind = (scores.max(axis=1, keepdims=True) - scores) / scale
    expected = (1 - LOWEST) * behind[np.arange(n), codes] + LOWEST * behind.mean(axis=1)
    # For few samples, matrix-vector products compute means and sums faster than NumPy's reductions.
    shares = np.full(n, 1 / n) if weights is None else weights / np.sum(weights)
    lead, ones = expected @ shares, np.ones(n_classes)

    # The slope of the loss in b = 1 / T increases with b. Newton's method finds its zero; a step that leaves the
    # bracket is replaced by bisection.
    least, most = _RANGE
    b = 1.0
    for _ in range(_MOST_STEPS):
        p = np.exp(-b * behind)
        p /= (p @ ones)[:, None]
        p *= behind
        mean = p @ ones
        slope = lead - mean @ shares
        least, most = (least, b) if slope > 0 else (b, most)
        curvature = ((p * behind) @ ones - mean**2) @ shares
        last, b = b, b - slope / curvature if curvature > 0 else most
        if not least <= b <= most:
            b = np.sqrt(least * most)
        if abs(b - last) <= _TOLERANCE * last:
            break
    return float(scale / b)


def finite_scores(scores):
    """Replace -inf by a score below all finite scores of the row. The gap is the logarithm of float64's range, 708, or
    one ulp of the lowest finite score, if larger.
    """
    missing = np.isneginf(scores)
    if not missing.any():
        return scores
    lowest = np.where(missing, np.inf, scores).min(axis=1, keepdims=True)
    below = np.minimum(lowest + np.log(np.finfo(np.float64).tiny), np.nextafter(lowest, -np.inf))
    return np.where(missing, below, scores)
