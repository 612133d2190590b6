"""Mutual information of two measurements on the same objects."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._tuning import reference_bandwidth
from .._utils.typing import ArrayLike, PairBandwidth
from ._bandwidth_words import chosen_bandwidth
from ._divergence import power_mean_of_log_ratios
from ._samples import Sample, checked_pair, log_density_of_itself, pair_of, read_sample


@checked_pair
def mutual_information(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    alpha: float = 1,
    bandwidth: PairBandwidth = "cv",
    sample_weight: ArrayLike | None = None,
    leave_one_out: bool = True,
    n_jobs: int | None = None,
) -> float:
    """Mutual information of X and Y: the divergence of their joint density from the product of the marginals.

    Equation 4.18 of [1]_, by the plug-in estimate ``sum_i w_i log(f(x_i, y_i) / (f(x_i) f(y_i)))`` with Gaussian
    windows. Other orders use Renyi's divergence (eq. 4.20).

    Parameters
    ----------
    X, Y : array-like of shape (n_samples, n_features_X) and (n_samples, n_features_Y)
        The measurements; everything is computed in float64.
    alpha : float, default=1
        Order of the divergence; 1 is Shannon's.
    bandwidth : {"cv", "silverman", "scott"}, float or tuple of two floats, default="cv"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule for the joint sample, in which X
        and Y are each divided by their Silverman bandwidth.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative; only their ratios count.
    leave_one_out : bool, default=True
        Leave each point out of the densities at that point. With False the estimate is too large, especially for small
        bandwidths.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    information : float
        In nats. Near 0 for independent measurements, for which the estimate may be negative.

    Raises
    ------
    ValueError
        For NaN or infinity, samples of different lengths, a single sample, weights that are negative or all zero, and a
        bandwidth that is not positive and finite.

    See Also
    --------
    independence_test : Tests whether it is 0.

    Notes
    -----
    Takes three passes over the pairs: O(n^2 (d_X + d_Y)) time, O(n) memory. Sums are kept as logarithms, so nothing
    underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.information import mutual_information
    >>> X, Z = np.random.default_rng(0).normal(size=(2, 500, 1))
    >>> round(mutual_information(X, X + Z), 2)  # exactly log(2) / 2 for these densities
    0.35
    >>> abs(mutual_information(X, Z)) < 0.1
    True
    """
    p, q = read_sample(X, None), read_sample(Y, None, "Y")
    check_consistent_length(p.points, q.points)
    kept = read_sample(np.arange(len(p.points))[:, None], sample_weight)
    rows, weights = kept.points[:, 0].astype(int), kept.weights
    given = [p.points[rows], q.points[rows]]
    if isinstance(bandwidth, str):
        each = [reference_bandwidth("silverman", part, None, 1, weights) for part in given]
    else:
        each = pair_of(bandwidth)
    parts = [part / h for part, h in zip(given, each, strict=True)]
    joint = Sample(np.hstack(parts), weights)
    h = chosen_bandwidth(bandwidth, [joint], "gaussian", n_jobs) if isinstance(bandwidth, str) else 1.0

    def log_density(points):
        return log_density_of_itself(Sample(points, weights).normalized(), "gaussian", h, leave_one_out, n_jobs)

    log_ratios = log_density(joint.points) - log_density(parts[0]) - log_density(parts[1])
    return power_mean_of_log_ratios(log_ratios, Sample(np.hstack(given), weights).normalized(), alpha)
