"""Tests of two samples and of independence, by permutations that share one pass over the pairs."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from .._expansion.points import blocks
from .._utils.from_sklearn import StrOptions, validated
from .._utils.typing import Array, ArrayLike, RandomState
from ..kernels import kernel_sums, log_normalizer
from ..linalg import rpcholesky
from ._parzen import CONSTRAINTS, PAIR, read_bandwidths, read_sample, read_samples

_KERNEL = {"kernel": [StrOptions({"gaussian", "laplace"})]}
_TOL = 1e-8  # of the trace of a kernel matrix that its factor may miss
_TIED = 1e-9  # statistics this close are equal: sums in another order differ in their last bits


class PermutationTest(NamedTuple):
    """Result of a permutation test.

    Attributes
    ----------
    statistic : float
        Of the samples as they are.
    p_value : float
        Share of the statistics of all permutations, the given order among them, that are as large.
    null_distribution : ndarray of shape (n_permutations,)
        The statistics of the permutations.
    """

    statistic: float
    p_value: float
    null_distribution: Array


@validated(CONSTRAINTS | _KERNEL)
def two_sample_test(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: float,
    statistic: str = "ise",
    n_permutations: int = 999,
    kernel: str = "gaussian",
    potential: str = "convolved",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Whether two samples come from the same distribution.

    The statistic is a divergence of the samples' Parzen densities; if they come from the same distribution, all ways
    to divide the samples between the two are equally likely.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : float
        Bandwidth h > 0 in the units of the features, of both samples.
    statistic : {"ise", "cauchy_schwarz"}, default="ise"
        :func:`integrated_squared_error`, which is the squared maximum mean discrepancy of [1]_ with the convolved
        kernel, or :func:`cauchy_schwarz_divergence`.
    n_permutations : int, default=999
        Number of random permutations, at most a million.
    kernel : {"gaussian", "laplace"}, default="gaussian"
        Kernel of the Parzen densities.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    random_state : int, RandomState instance or None, default=0
        Draws the permutations.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    test : PermutationTest
        A tuple (statistic, p_value, null_distribution).

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, samples of different numbers of features, or a bandwidth that is not
        positive and finite.

    Notes
    -----
    With n samples in all and P permutations, one pass over the n^2 pairs for all of them: each is a column of
    indicators e, and the statistics are made of ``e^T K e`` and ``1^T K e``. O(n^2 (d + P)) time, O(n P) memory.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf, A. Smola, "A kernel two-sample test", Journal of
       Machine Learning Research 13, 2012, pp. 723-773.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.information import two_sample_test
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> two_sample_test(X, Y, bandwidth=0.5).p_value > 0.05
    True
    >>> two_sample_test(X, Y + 0.5, bandwidth=0.5).p_value
    0.001
    """
    p, q = read_samples(X, Y, None, None)
    n, m = len(p.points), len(q.points)
    points, rng = np.concatenate([p.points, q.points]), check_random_state(random_state)
    inside = np.zeros((n + m, 1 + n_permutations))
    inside[:n, 0] = 1
    for column in inside.T[1:]:
        column[rng.permutation(n + m)[:n]] = 1
    h = _potential_bandwidth(kernel, bandwidth, potential)
    own, across, others = _quadratic_forms(points, inside, kernel, h, n_jobs)
    pp, pq, qq = own / n**2, across / (n * m), others / m**2
    if statistic == "ise":
        values = (pp - 2 * pq + qq) * np.exp(-log_normalizer(kernel, points.shape[1], h))
    else:
        with np.errstate(divide="ignore"):
            values = (np.log(pp) + np.log(qq)) / 2 - np.log(pq)
    return _result(np.maximum(values, 0.0))


@validated(PAIR | _KERNEL)
def independence_test(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: float | ArrayLike,
    n_permutations: int = 999,
    kernel: str = "gaussian",
    potential: str = "convolved",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Whether X and Y, measured on the same objects, are independent.

    The statistic is the integrated squared error between the joint Parzen density and the product of the marginal ones,
    which is the Hilbert-Schmidt independence criterion of [1]_ up to the kernels' constants; if X and Y are
    independent, all assignments of the rows of Y to those of X are equally likely.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples, n_features_X) and (n_samples, n_features_Y)
        What was measured; everything is computed in float64.
    bandwidth : float or pair of floats
        Bandwidth h > 0 in the units of the features; of a pair the first is that of X, the second that of Y.
    n_permutations : int, default=999
        Number of random permutations, at most a million.
    kernel : {"gaussian", "laplace"}, default="gaussian"
        Kernel of the Parzen densities.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    random_state : int, RandomState instance or None, default=0
        Draws the permutations.
    n_jobs : int or None, default=None
        Not used by the matrix products, which follow the limits of BLAS.

    Returns
    -------
    test : PermutationTest
        A tuple (statistic, p_value, null_distribution).

    Raises
    ------
    ValueError
        For NaN or infinity, samples of different lengths, or a bandwidth that is not positive and finite.

    Notes
    -----
    Both kernel matrices are factored once, G G^T and F F^T, to 1e-8 of their traces, with r and s columns, which takes
    n (r + s) pairs. All permutations are then columns of one product: each is ``G^T F`` for permuted rows of F, in
    O(n r s) time, and none visits a pair again. Smooth kernels in few dimensions have few columns, narrow ones up to
    n. Memory is O(n (r + s)).

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schoelkopf, A. Smola, "A kernel statistical test of
       independence", Advances in Neural Information Processing Systems 20, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.information import independence_test
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(200, 1))
    >>> independence_test(np.cos(angle), np.sin(angle), bandwidth=0.3).p_value  # uncorrelated, but dependent
    0.001
    """
    p, q = read_sample(X, None), read_sample(Y, None, "Y")
    check_consistent_length(p.points, q.points)
    n, rng, log_constant, factors = len(p.points), check_random_state(random_state), 0.0, []
    for sample, width in zip((p, q), read_bandwidths(bandwidth), strict=True):
        h = _potential_bandwidth(kernel, width, potential)
        low = rpcholesky(sample.points, n, kernel=kernel, bandwidth=h, tol=_TOL, random_state=0)
        factors.append(low.factor - low.factor.mean(axis=0))
        log_constant -= log_normalizer(kernel, sample.points.shape[1], h)
    orders = np.stack([np.arange(n), *(rng.permutation(n) for _ in range(n_permutations))])
    values = _cross_covariances(factors[0], factors[1], orders) / n**2
    return _result(values * np.exp(log_constant))


def _potential_bandwidth(kernel, bandwidth, potential):
    return float(np.sqrt(2) * bandwidth) if kernel == "gaussian" and potential == "convolved" else float(bandwidth)


def _quadratic_forms(points, columns, kernel, h, n_jobs):
    """``e^T K e``, ``f^T K e`` and ``f^T K f`` (c,) of the columns e of zeros and ones, f = 1 - e.

    f^T K e is no difference of others: far apart, it may be smaller than their rounding.
    """
    weights = np.column_stack([columns, np.ones(len(points))])
    own, across, others = np.zeros((3, columns.shape[1]))
    for rows in blocks(len(points), 24 * weights.shape[1]):
        sums = kernel_sums(points[rows], points, weights=weights, kernel=kernel, bandwidth=h, n_jobs=n_jobs)
        of_inside, of_all, inside, outside = sums[:, :-1], sums[:, -1], columns[rows], 1 - columns[rows]
        own += np.einsum("ic,ic->c", inside, of_inside)
        across += np.einsum("ic,ic->c", outside, of_inside)
        others += of_all @ outside
    return own, across, others - across


def _cross_covariances(G, F, orders):
    """``|G^T F[order]|^2`` for each of the orders (p, n), of which as many as fit are columns of one product."""
    G, s = np.ascontiguousarray(G.T), F.shape[1]
    out = np.empty(len(orders))
    for own in blocks(len(orders), 8 * s * (len(F) + len(G))):
        columns = F[orders[own].T].reshape(len(F), -1)  # (n, p s)
        out[own] = ((G @ columns) ** 2).reshape(len(G), -1, s).sum(axis=(0, 2))
    return out


def _result(values):
    observed, null = float(values[0]), values[1:]
    tied = _TIED * observed if np.isfinite(observed) else 0.0  # samples that no kernel joins are infinitely far apart
    as_large = np.count_nonzero(null >= observed - tied)
    return PermutationTest(observed, float((1 + as_large) / (1 + len(null))), null)
