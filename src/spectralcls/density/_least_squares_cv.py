r"""The bandwidth of a density by least-squares cross-validation [1]_, [2]_.

Let U(s) be the mean of Gaussian kernels of width s over all pairs of samples that are not held out together. Then

    J(h) = U(sqrt(2) h) - 2 U(h) + k_{sqrt(2) h}(0) / n

estimates the integrated squared error up to a constant, because the integral of the squared density is a sum of kernels
sqrt(2) times as wide. On a grid of ratio sqrt(2), this width is the next candidate, so its sums cost nothing extra. For
a kernel other than the Gaussian, the bandwidth is scaled so that the variance is the same.

If several bandwidths are nearly equally good, noise in J decides between them. Therefore, among those within `ERRORS`
standard errors (of the difference) of the least J, the one nearest to a rule of thumb with a robust spread is chosen.

.. [1] M. Rudemo, "Empirical choice of histograms and kernel density estimators", Scandinavian Journal of Statistics 9
   (2), 1982, pp. 65-78.
.. [2] A. W. Bowman, "An alternative method of cross-validation for the smoothing of density estimates", Biometrika 71
   (2), 1984, pp. 353-360.
"""

from functools import partial

import numpy as np
from scipy.stats import chi2

from .._tuning import Scored, check_folds, check_grid, effective_number, spreads, tuning_sample
from .._tuning.spread import NORMAL_QUARTILES, centers_and_spreads, root_mean_square
from .._utils.quantile import weighted_quantile
from ..kernels import geometric_grid, kernel_variance, reference_rule
from ._others import Others
from ._places import Places, share_of_ties, steps_of, without_atoms

LEAST = 0.5  # smallest bandwidth, in lattice steps; sums over the lattice are then within 1.5 % of the integral
NOISE = 2.0**-26  # values that differ by less than about this fraction of the spread count as equal
# On 26 distributions of one feature, the error with the values 1, 1.25 and 1.5 exceeds that of the rule of thumb by at
# most 7, 4 and 3 %. On average it is .862, .869 and .877 times that of the rule with 100 samples, and .662, .668 and
# .675 times with 1000 samples.
ERRORS = 1.25
# With one feature, the rule for normal samples is multiplied by this, so that its factor is 0.9 instead of 1.06, as
# Silverman recommends for other distributions. With several features, where the tails contain more samples, the factor
# is 1: on 11 distributions, the error then exceeds that of Scott's rule by up to 5 %, compared with up to 20 % for .85.
SHARPER = 0.85
LARGEST = 200.0  # log densities relative to the samples' mean density are clipped to this


def choose(search, estimator, data, space, factors, bounds, kernel):
    """The best bandwidth in the coordinates of `space`; 1 if no column has a spread.

    Parameters
    ----------
    search : callable
        ``search(sample, candidates, score)``, which records the results on the estimator.
    estimator : Density
    data : TrainingData
        The samples, including copies.
    space, factors, bounds, kernel : as in `Others`
    """
    scales = spreads(data.X, data.weights)
    varies = np.flatnonzero(scales > 0)
    if not len(varies):
        return 1.0
    gauss = np.sqrt(kernel_variance(kernel, len(varies)))
    reference = rule_of_thumb(data.X[:, varies], data.weights, round_=np.ndim(space.root) == 2)
    data = data._replace(X=_without_noise(data.X[:, varies], scales[varies]))
    places, steps = Places.of(data), steps_of(data.X, data.weights)
    ties = share_of_ties(places, steps)
    least = LEAST * steps[steps > 0].min() if ties else 0.0
    reference = max(reference, least) / gauss
    if check_folds(estimator.cv, data) is None:
        places = without_atoms(places, ties)
        given = places.data._replace(targets=places.share[:, None])
    else:  # copies may be in several folds
        given, ties = data._replace(targets=np.ones((len(data.X), 1))), 0.0
    sample = tuning_sample(estimator, given, against_all=True)
    others = Others(
        sample,
        space.of_features(varies),
        factors,
        "gaussian",
        None if bounds is None else bounds[varies],
        estimator.n_jobs,
        partial(log_constants, steps=steps),
    )
    loss = _IntegratedError(others, ties, gauss, reference * sample.bandwidth_ratio)
    if estimator.bandwidth_grid is None:
        grid, loss.least = geometric_grid(reference), least
    else:
        grid = check_grid(estimator.bandwidth_grid)
    found = search(sample, {"bandwidth": _within(grid, others)}, loss)
    return float(found.params["bandwidth"])


def _without_noise(X, scales):
    """X rounded to multiples of a power of two, so that values which differ only by rounding become equal."""
    unit = NOISE * 2.0 ** np.floor(np.log2(scales))
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.rint(X / unit) * unit
    return np.where(np.isfinite(rounded), rounded, X).astype(X.dtype)


def rule_of_thumb(X, weights, round_=False):
    """A bandwidth rule for samples that may not be normal, from the smaller of two spreads.

    One is the standard deviation. The other comes from the quartiles of each column or, in coordinates that may be
    rotated (`round_`), from the median distance to the center.
    """
    n, d = effective_number(len(X), weights), X.shape[1]
    if round_:
        centers, deviations = centers_and_spreads(X.T, weights)
        by_median = weighted_quantile(np.linalg.norm(X - centers, axis=1), 0.5, weights) / np.sqrt(chi2.median(d))
        spread = min(root_mean_square(deviations), float(by_median))
    else:
        quartiles = [weighted_quantile(X, share, weights) for share in (0.25, 0.75)]
        by_quartiles = (quartiles[1] - quartiles[0]) / NORMAL_QUARTILES
        spread = spreads(X, weights)
        spread = root_mean_square(np.where(by_quartiles > 0, np.minimum(spread, by_quartiles), spread))
    return (SHARPER if d == 1 else 1.0) * reference_rule(spread, max(n, 1.0), d, "amise", "gaussian")


def log_constants(widths, steps):
    """log of the integral of the Gaussian over R^d, for each width. Along a column with values on a lattice, the step
    times the sum over the lattice replaces the integral, so that no width is too small for the values."""
    out = np.zeros(widths.shape)
    for step in steps:
        with np.errstate(over="ignore"):
            relative = np.square(step / widths) / 2
        fine = relative < 0.5
        lattice = 1 + 2 * np.exp(-np.multiply.outer(relative, np.arange(1, 9) ** 2)).sum(axis=-1)
        out += np.where(fine, np.log(np.sqrt(2 * np.pi) * widths), np.log(np.where(fine, 1.0, step * lattice)))
    return out


class _IntegratedError:
    """-J of candidates, relative to the mean density of the samples."""

    def __init__(self, others, ties, gauss, reference):
        self.others, self.gauss, self.reference = others, gauss, reference
        sample = others.sample
        rows = sample.rows
        total = sample.weights.sum()
        self.weights = sample.weights[rows] / sample.weights[rows].sum()
        share = sample.targets[rows, 0]
        self.one = sample.weights[rows] / total * share  # share of each sample in the total weight
        self.error = 2 * np.sqrt(self.weights @ (self.weights * share))  # standard error of a mean over all pairs
        with np.errstate(divide="ignore"):
            self.log_copies = np.log(ties * np.maximum(sample.weights[rows] - self.one * total, 0.0))
        self.counted = self.weights @ (others.weight + np.exp(self.log_copies))
        self.shift, self.least = None, 0.0

    def __call__(self, sample, bandwidth):
        h = bandwidth * self.gauss
        if len(self.others.factors) == 1:
            every = np.sort(np.concatenate([h, np.sqrt(2) * h]))
            every = every[np.append(True, every[1:] > every[:-1] * (1 + 1e-9))]
            at = [np.searchsorted(every, some * (1 - 5e-10)) for some in (h, np.sqrt(2) * h)]
            sums, own = self.others.log_sums(every), self.others.log_own(every)
            (held_out, own_once), (squared, own_squared) = ((sums[:, k], own[:, k]) for k in at)
        else:
            held_out, own_once = self.others.log_sums(h), self.others.log_own(h)
            squared, own_squared = self.others.log_sums(h, True), self.others.log_own(h, True)
        copies = self.log_copies[:, None]
        held_out = np.logaddexp(held_out, copies + own_once) - np.log(self.counted)
        squared = np.logaddexp(squared, copies + own_squared) - np.log(self.counted)
        with np.errstate(divide="ignore"):
            diagonal = np.log(self.one)[:, None] + own_squared
        if self.shift is None:
            self.shift = self._scale(held_out, np.logaddexp(squared, diagonal))
        held_out, squared, diagonal = (
            np.exp(np.minimum(part - self.shift, LARGEST)) for part in (held_out, squared, diagonal)
        )
        scores = 2 * held_out - squared - diagonal
        scores[:, h < self.least] = np.nan
        centered = scores - self.weights @ scores
        influence = ERRORS * self.error * np.sqrt(self.weights)[:, None] * centered
        nearness = -np.abs(np.log(bandwidth / self.reference))
        return Scored.of(sample, scores, tie_score=lambda index: nearness[index[-1]], influence=influence)

    def _scale(self, held_out, squared):
        """log of the largest mean held-out density among the candidates with J below 0."""
        log_weights = np.log(self.weights)[:, None]
        mean, squared = (np.logaddexp.reduce(part + log_weights, axis=0) for part in (held_out, squared))
        useful = np.log(2) + mean > squared
        return mean[useful].max() if useful.any() else squared.min()


def _within(grid, others):
    """The candidates that are narrow relative to the distance between the bounds; the smallest one if none is."""
    if others.bounds is None:
        return grid
    scales = others.space.scales(len(others.bounds))
    narrow = grid[grid <= ((others.bounds[:, 1] - others.bounds[:, 0]) / scales).min() / 4]
    return narrow if len(narrow) else grid[:1]
