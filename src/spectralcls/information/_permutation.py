"""Tests of two samples and of independence, by random permutations or by moments over all permutations."""

from typing import Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from .._expansion.points import blocks
from .._utils.advice import advise
from .._utils.typing import (
    Array,
    ArrayLike,
    PairBandwidth,
    PositiveKernel,
    Potential,
    RandomState,
    SampleBandwidth,
)
from ..kernels import kernel_sums
from ._gram import Gram, correlations, inner
from ._permutation_moments import log_choices, permutation_moments, tail
from ._samples import checked_pair_test, checked_test, read_sample, read_samples
from ._test_kernel import kernel_of_test, kernels_of_tests

TIED = 1e-9  # closer statistics count as equal: the order of summation changes the last bits
STEADY = 1e-6  # smaller variations of a statistic, relative to its size, are rounding errors


class PermutationTest(NamedTuple):
    """Result of a permutation test.

    Attributes
    ----------
    statistic : float
        Statistic of the given samples; with a grid of bandwidths, the largest standardized statistic. A divergence
        outside the range of floats is 0 or infinite; the p-value is still correct.
    p_value : float
        Fraction of the permutations, the given order included, whose statistic is at least as large.
    null_distribution : ndarray of shape (n_permutations,) or None
        The statistics of the permutations; None if the p-value comes from their moments.
    bandwidth : float or tuple of two floats
        Bandwidth of the statistic; for the test of independence, those of X and Y.
    """

    statistic: float
    p_value: float
    null_distribution: Array | None
    bandwidth: float | tuple[float, float]

    def __repr__(self):
        n = "all" if self.null_distribution is None else len(self.null_distribution)
        return f"PermutationTest(statistic={self.statistic:.4g}, p_value={self.p_value:.4g}, n_permutations={n})"


@checked_test
def two_sample_test(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: Literal["grid", "median"] | SampleBandwidth = "grid",
    statistic: Literal["ise", "cauchy_schwarz"] = "ise",
    n_permutations: int | None = 999,
    kernel: PositiveKernel = "gaussian",
    potential: Potential = "convolved",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Test whether two samples come from the same distribution.

    The statistic is a divergence of the samples' Parzen densities. If they come from the same distribution, all
    divisions of the points into two samples are equally likely.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : {"grid", "median", "cv", "silverman", "scott"} or float, default="grid"
        Bandwidth h > 0 of both samples, in the units of the features, or a rule for all points together. "median" is
        half the median distance between two points, "cv" the choice of a `ParzenDensity`. "grid" takes the largest
        standardized statistic of six bandwidths, from a sixteenth of the median rule to twice it. The permutations are
        treated in the same way, so that the level holds.
    statistic : {"ise", "cauchy_schwarz"}, default="ise"
        :func:`integrated_squared_error`, which is the squared maximum mean discrepancy of [1]_ for the convolved
        kernel, or :func:`cauchy_schwarz_divergence`.
    n_permutations : int or None, default=999
        Number of random permutations, at most a million. With None, no permutations are drawn, and the p-value is the
        tail of a Pearson III distribution with the first three moments of the statistics of all permutations
        (``statistic="ise"`` only).
    kernel : {"gaussian", "laplace"}, default="gaussian"
        Kernel of the Parzen densities.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    test : PermutationTest
        A tuple (statistic, p_value, null_distribution, bandwidth).

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, samples with different numbers of features, or a bandwidth that is not
        positive and finite.

    Notes
    -----
    The kernel matrix is factored to 1e-8 of its trace, with r columns; up to 2048 points it is formed instead if r
    exceeds n / 8. With more points the factor ends after 256 columns (67 for a million points). It then belongs to a
    kernel that resolves less detail, and the level still holds. With n samples in all and P permutations each bandwidth
    takes O(n r (r + P)) time and O(n (r + P)) memory; with ``n_permutations=None`` O(n r^2) and O(n r).
    "cauchy_schwarz" takes one pass over the n^2 pairs for each bandwidth, O(n^2 (d + P)) time.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schoelkopf, A. Smola, "A kernel two-sample test", Journal of
       Machine Learning Research 13, 2012, pp. 723-773.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.information import two_sample_test
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200, 2))
    >>> two_sample_test(X, Y).p_value > 0.05
    True
    >>> two_sample_test(X, Y + 0.5).p_value
    0.001
    """
    if n_permutations is None and statistic != "ise":
        raise ValueError(
            f"n_permutations=None needs statistic='ise': the moments of {statistic!r} have no closed form."
        )
    p, q = read_samples(X, Y, None, None)
    n, m = len(p.points), len(q.points)
    tested = kernel_of_test([p, q], bandwidth, kernel, potential, n_jobs)
    if n_permutations is None:
        signs = Gram(np.repeat([1 / n, -1 / m], [n, m])[:, None])
        return _by_moments([(gram, signs) for gram in tested.grams()], tested, log_choices(n, m))
    rng, inside = check_random_state(random_state), np.zeros((n + m, 1 + n_permutations), dtype=bool)
    inside[:n, 0] = True
    for column in inside.T[1:]:
        column[rng.permutation(n + m)[:n]] = True
    if statistic == "ise":
        values = [_squared_errors(gram, inside) for gram in tested.grams()]
        return _by_draws(np.array(values), tested, tested.log_constants)
    values = [_cauchy_schwarz(tested.points, inside, kernel, h, n_jobs) for h in tested.widths]
    return _by_draws(np.array(values), tested)


@checked_pair_test
def independence_test(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: Literal["grid", "median"] | PairBandwidth = "grid",
    n_permutations: int | None = 999,
    kernel: PositiveKernel = "gaussian",
    potential: Potential = "convolved",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Test whether X and Y, measured on the same objects, are independent.

    The statistic is the integrated squared error between the joint Parzen density and the product of the marginals,
    which is the Hilbert-Schmidt independence criterion of [1]_ up to the kernels' constants. If X and Y are
    independent, all assignments of the rows of Y to those of X are equally likely.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples, n_features_X) and (n_samples, n_features_Y)
        The measurements; everything is computed in float64.
    bandwidth : {"grid", "median", "cv", "silverman", "scott"}, float or tuple of two floats, default="grid"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule for each of them, as in
        `two_sample_test`. With "grid" both use the same step of the grid.
    n_permutations : int or None, default=999
        Number of random permutations, at most a million; None as in `two_sample_test`.
    kernel : {"gaussian", "laplace"}, default="gaussian"
        Kernel of the Parzen densities.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Threads of the kernel evaluations.

    Returns
    -------
    test : PermutationTest
        A tuple (statistic, p_value, null_distribution, bandwidth).

    Raises
    ------
    ValueError
        For NaN or infinity, samples of different lengths, or a bandwidth that is not positive and finite.

    Notes
    -----
    Kernel matrices are factored as in `two_sample_test`, with r and s columns. The permutations are drawn from random
    orders of the rows and all n cyclic shifts of each. Fourier transforms give the statistics of all shifts of an order
    at once: a permutation takes O(n log n) time with the matrices or O(r s log n) with the factors, whichever is less.
    Memory is O(n (r + s)), or n^2 numbers up to 2048 points.

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schoelkopf, A. Smola, "A kernel statistical test of
       independence", Advances in Neural Information Processing Systems 20, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.information import independence_test
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(200, 1))
    >>> independence_test(np.cos(angle), np.sin(angle)).p_value  # uncorrelated, but dependent
    0.001
    """
    p, q = read_sample(X, None), read_sample(Y, None, "Y")
    check_consistent_length(p.points, q.points)
    n = len(p.points)
    of_x, of_y = kernels_of_tests([p, q], bandwidth, kernel, potential, n_jobs)
    tested = of_x._replace(
        bandwidths=list(zip(of_x.bandwidths, of_y.bandwidths, strict=True)),
        log_constants=of_x.log_constants + of_y.log_constants - 2 * np.log(n),
        varies=of_x.varies and of_y.varies,
    )
    pairs = zip(of_x.grams(), of_y.grams(), strict=True)
    if n_permutations is None:
        return _by_moments(pairs, tested, log_choices(*[1] * n))
    rng = check_random_state(random_state)
    orders = np.array([rng.permutation(n) for _ in range(-(-(1 + n_permutations) // n))])
    drawn = np.append(0, 1 + rng.choice(orders.size - 1, n_permutations, replace=False))
    values = [np.maximum(correlations(A, B, orders)[drawn], 0.0) for A, B in pairs]
    return _by_draws(np.array(values), tested, tested.log_constants)


def _squared_errors(gram, inside):
    """``|p - q|^2`` for each column of ``inside`` (n, c), a mask of the points of p."""
    n, out = inside[:, 0].sum(), np.empty(inside.shape[1])
    for own in blocks(len(out), 8 * len(inside)):
        out[own] = gram.forms(np.where(inside[:, own], 1 / n, -1 / (len(inside) - n)))
    return np.maximum(out, 0.0)


def _cauchy_schwarz(points, inside, kernel, h, n_jobs):
    """The divergence for each column of ``inside`` (n, c).

    For a column e and f = 1 - e, f^T K e is computed directly, because for distant samples it may be smaller than the
    rounding error of a difference.
    """
    columns = inside.astype(np.float64)
    weights = np.column_stack([columns, np.ones(len(points))])
    own, across, others = np.zeros((3, columns.shape[1]))
    for rows in blocks(len(points), 24 * weights.shape[1]):
        sums = kernel_sums(points[rows], points, weights=weights, kernel=kernel, bandwidth=h, n_jobs=n_jobs)
        of_inside, of_all, here, there = sums[:, :-1], sums[:, -1], columns[rows], 1 - columns[rows]
        own += np.einsum("ic,ic->c", here, of_inside)
        across += np.einsum("ic,ic->c", there, of_inside)
        others += of_all @ there
    with np.errstate(divide="ignore"):
        return np.maximum((np.log(own) + np.log(others - across)) / 2 - np.log(across), 0.0)


def _by_draws(values, tested, log_constants=None):
    """Test result from statistics (b, 1 + n_permutations) per bandwidth, the first for the given samples."""
    if len(values) == 1:
        best, statistics = 0, values[0]
        _advise(tested, np.isfinite(statistics).all() and np.ptp(statistics) <= TIED * np.abs(statistics).max())
    else:
        bounded = values if log_constants is not None else -np.exp(-values)  # a divergence may be infinite
        mean, deviation = bounded.mean(axis=1), bounded.std(axis=1)
        says = deviation > STEADY * np.abs(bounded).max(axis=1)
        z = (bounded.T - mean) / np.where(says, deviation, 1.0)
        standardized = np.where(says | ~says.any(), z, -np.inf).T
        best, statistics = int(standardized[:, 0].argmax()), standardized.max(axis=0)
    observed, null = statistics[0], statistics[1:]
    tied = (
        TIED * abs(observed) if np.isfinite(observed) else 0.0
    )  # samples out of reach of each other's kernels are infinitely far apart
    p_value = float((1 + np.count_nonzero(null >= observed - tied)) / (1 + len(null)))
    if len(values) == 1 and log_constants is not None:
        statistics = _times(statistics, log_constants[0])
    return PermutationTest(float(statistics[0]), p_value, statistics[1:], tested.bandwidths[best])


def _by_moments(pairs, tested, log_orders):
    """Test result from ``sum_ij A_ij B_ij`` for pairs of matrices, one per bandwidth."""
    found = []
    for A, B in pairs:
        value, (mean, deviation, skewness) = inner(A, B), permutation_moments(A, B)
        steady = deviation <= STEADY * max(abs(value), abs(mean))
        z = 0.0 if steady else (value - mean) / deviation
        found.append((1.0 if steady else tail(z, skewness, log_orders), -z, value))
    _advise(tested, len(found) == 1 and steady)
    best = min(range(len(found)), key=lambda b: found[b][:2])
    p_value, minus_z, value = found[best]
    statistic = _times(max(value, 0.0), tested.log_constants[0]) if len(found) == 1 else -minus_z
    # Bonferroni's correction multiplies the smallest p-value by the number of bandwidths.
    return PermutationTest(float(statistic), min(p_value * len(found), 1.0), None, tested.bandwidths[best])


def _advise(tested, steady):
    """Warn of a bandwidth at which the statistic is constant although the points differ."""
    if steady and tested.varies:
        advise(
            f"All permutations have the same statistic: bandwidth={tested.bandwidths[0]} is too narrow or too wide to "
            'detect a difference, and the p-value is 1 for any samples. bandwidth="grid" finds one that is not.'
        )


def _times(values, log_constant):
    """Values times exp(log_constant), 0 or infinite only if the product is out of range."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        return np.exp(np.log(values) + log_constant)
