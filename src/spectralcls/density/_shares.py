r"""The bandwidth of a density by least-squares cross-validation [1]_, [2]_, and each kernel by likelihood.

**Bandwidth.** Let U(s) be the mean of Gaussian kernels of width s over all pairs of samples that are not held out
together. Then

    J(h) = U(sqrt(2) h) - 2 U(h) + k_{sqrt(2) h}(0) / n

estimates the integrated squared error up to a constant, because the integral of the squared density is a sum of kernels
sqrt(2) times as wide. On a grid of ratio sqrt(2), this width is the next candidate, so its sums cost nothing extra. For
a kernel other than the Gaussian, the bandwidth is scaled so that the variance is the same.

If several bandwidths are nearly equally good, noise in J decides between them. Therefore, among those within `ERRORS`
standard errors (of the difference) of the least J, the one nearest to a rule of thumb with a robust spread is chosen.
Bandwidths whose held-out likelihood is clearly below that of a narrower one are passed over: least squares cannot see
the edges of beta(1/2, 1/2), nor a narrow group of few samples.

**Shares.** The least squared error leaves samples in tails isolated, and the greatest likelihood smooths the middle as
widely as the tails need. So the kernel of a sample is a mixture of bandwidths h 2^k. Its shares are the probabilities
that the sample comes from the part of the density with each bandwidth, given the other samples. They start at h and
are updated `ROUNDS` times: a few steps of an EM algorithm [3]_ for the likelihood of samples that are left out. If h
explains a sample, its kernel stays as it is; an isolated sample gets a wide kernel. Kernels narrower than h have the
same share for all samples, and none unless this is clearly more than chance, because otherwise two samples that are
close by chance would keep each other narrow.

Unseen rows of 80 tables are at most .07 nats less likely than with the better of the two bandwidths that maximize the
held-out likelihood (by grid search) and minimize J; 4 of the tables chose `UNLIKELY`, and other ones `CERTAIN`. The
squared error of 29 distributions of one feature with 100 samples is at most 1.02 times that of the least J alone,
chosen without the likelihood.

Moving the samples by h^2 / 2 times the score of the density, which removes the bias of one bandwidth, did not help
further: unseen rows were less likely on 40 of 80 other tables, by .04 nats on average, and the squared error of
distributions that end at a limit grew by up to 58 %.

.. [1] M. Rudemo, "Empirical choice of histograms and kernel density estimators", Scandinavian Journal of Statistics 9
   (2), 1982, pp. 65-78.
.. [2] A. W. Bowman, "An alternative method of cross-validation for the smoothing of density estimates", Biometrika 71
   (2), 1984, pp. 353-360.
.. [3] A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm", Journal
   of the Royal Statistical Society B 39 (1), 1977, pp. 1-38.
"""

from numbers import Integral

import numpy as np
from scipy.special import softmax
from scipy.stats import chi2

from .._tuning import (
    Scored,
    check_folds,
    check_grid,
    effective_number,
    spreads,
    stratified_subsample,
    tuning_sample,
)
from .._tuning.grids import bandwidth_ratio
from .._tuning.spread import NORMAL_QUARTILES, centers_and_spreads, root_mean_square
from .._utils.copies import random_keys
from .._utils.quantile import weighted_quantile
from .._utils.validation import sum_of_others
from ..kernels import geometric_grid, kernel_sums, kernel_variance, reference_rule, without_own
from ._density_form import DensityForm
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
# Bandwidths whose held-out samples are less likely than with a narrower one, by so many nats and standard errors, are
# passed over. Of 80 tables, unseen rows of 4 are more than .05 nats less likely than by grid search without this, of 2
# with it. Without the first limit, the squared error of 1000 samples that end at a limit grows by up to 16 %.
LOSS, UNLIKELY = 0.05, 2.0
LARGEST = 200.0  # log densities relative to the samples' mean density are clipped to this

NARROWEST, WIDEST = -4, 14  # log2 of the narrowest and the widest bandwidth of a sample, relative to h
# Narrow kernels stay if their share exceeds the first one by so many standard errors. With 0, pairs that are close by
# chance may multiply the error of 100 samples by 50; with 3, one of 210 draws has twice the error; with 4, none has.
# Unseen rows of 40 tables are at most .03 nats less likely with 4 than with 0.
CERTAIN = 4.0
# From so many features on, these bandwidths are sqrt(2) apart instead of 2. On 15 tables with 10 to 30 features, unseen
# rows are then .05 nats more likely; with fewer features they are not.
FINE = 6
# First share of the bandwidths up to 4 h. With .05, the squared error of 29 distributions grows by up to 3 %,
# with .02 by 2 % at most.
NEAR = 0.02
# The same from `FINE` features on, where least squares sees only the closest pairs: with .02, unseen rows of two normal
# classes with 20 features are .18 nats less likely than by grid search, with .5 .03. 20 of 29 tables are better, too.
NEAR_OF_MANY = 0.5
ROUNDS = 4  # with 8, unseen rows of 80 tables are .02 nats more likely in the median, at twice the cost
RARE = 0.1  # a wide kernel that explains fewer samples than this is left out


def tuned(search, estimator, data, kernel, round_):
    """The best bandwidth, multiples of it (B,), and their shares (n, B) in the kernels of the samples.

    If no column has a spread, the bandwidth is 1.

    Parameters
    ----------
    search : callable
        ``search(sample, candidates, score)``, which records the results on the estimator.
    estimator : ParzenDensity
    data : TrainingData
        The samples, including copies, in coordinates that suit one bandwidth.
    kernel : str
    round_ : bool
        Whether the coordinates may be rotated.
    """
    scales, n = spreads(data.X, data.weights), len(data.X)
    varies = scales > 0
    d = np.count_nonzero(varies)
    if not d:
        return 1.0, np.ones(1), np.ones((n, 1))
    # The kernel of bandwidth h at X has the variance of a Gaussian of bandwidth h at these points.
    X = _without_noise(data.X[:, varies], scales[varies]) / float(np.sqrt(kernel_variance(kernel, d)))
    data = data._replace(X=X, weights=np.ones(n) if data.weights is None else data.weights)
    places, steps, folds = Places.of(data), steps_of(X, data.weights), check_folds(estimator.cv, data)
    ties = share_of_ties(places, steps)
    least = LEAST * steps[steps > 0].min() if ties else 0.0
    reference = max(rule_of_thumb(X, data.weights, round_), least)
    if isinstance(estimator.cv, Integral | str):
        places = without_atoms(places, ties)
    else:  # copies may be in several folds
        places = Places(data, np.arange(n), np.arange(n), np.ones(n))
    if folds is not None:  # whose copies are left out with them
        folds, ties = folds[places.first], 0.0
    sample = tuning_sample(estimator, places.data._replace(targets=places.share[:, None]), against_all=True)
    loss = _IntegratedError(sample, steps, ties, reference * sample.bandwidth_ratio, estimator.n_jobs)
    if estimator.bandwidth_grid is None:
        grid, loss.least = geometric_grid(reference), least
    else:
        grid = check_grid(estimator.bandwidth_grid)
    h = float(search(sample, {"bandwidth": grid}, loss).params["bandwidth"])
    powers = np.arange(NARROWEST, WIDEST, 1.0 if d < FINE else 0.5)
    powers = powers[h * 2.0**powers >= min(least, h)]
    powers, shares = shares_of(places, folds, powers, h, steps, ties, estimator)
    return h, 2.0**powers, shares[places.group]


def shares_of(places, folds, powers, h, steps, ties, estimator):
    """The powers (B,) of 2 in the bandwidths that explain samples, and their shares (p, B) in the kernel of each place.

    More than `max_tuning_samples` places are explained by a subsample of this size.
    """
    X, weights, n = places.data.X, places.data.weights, len(places.first)
    copies = weights * (1 - places.share) * (places.data.groups is None)
    most = estimator.max_tuning_samples or n
    own = np.arange(n) if n <= most else stratified_subsample(np.zeros(n, int), most, random_keys(X))
    h = h * bandwidth_ratio(len(own), n, X)
    near, wide, first = powers <= 2, powers > 0, NEAR if X.shape[1] < FINE else NEAR_OF_MANY
    shares = (1 - first) * (powers == 0) + first * near / near.sum()
    shares = (n * shares + wide / wide.sum()) / (n + 1)  # one sample may come from anywhere
    least = np.where(powers < 0, shares, RARE / n * wide)
    mass = weights[own, None] * shares
    for is_last, rows in [(False, own)] * (ROUNDS - 1) + [(True, np.arange(n))]:
        form = DensityForm(None, X[own], mass, h * 2.0**powers, "gaussian", None, estimator.n_jobs)
        logs = form.log_sums(X[rows], **without_own(rows, folds, own))
        # Copies that are no evidence of a narrower kernel are none of a wider one either.
        of_copies = ties * mass.sum(axis=0) / mass.sum() + (1 - ties) * (powers == 0)
        with np.errstate(divide="ignore"):
            logs = np.logaddexp(logs, np.log(copies[rows, None] * of_copies)) - log_constants(form.widths, steps)
        logs[np.isneginf(logs).all(axis=1), -1] = 0.0  # too far for every kernel
        shares, total = softmax(logs, axis=1), weights[rows] / weights[rows].sum()
        kept = total @ shares >= least
        if is_last:  # both samples of a close pair say the same, so the variance is doubled
            narrow = shares[:, powers < 0].sum(axis=1)
            error = np.sqrt(2) * np.linalg.norm(total * (narrow - total @ narrow))
            kept &= (powers >= 0) | (total @ narrow - CERTAIN * error >= least[powers < 0].sum())
        powers, least, shares = powers[kept], least[kept], softmax(logs[:, kept], axis=1)
        # Two samples that are close by chance would give each other narrow kernels, so all have their mean shares.
        narrow, mean = powers < 0, total @ shares
        rest = np.where(narrow, 0.0, shares + np.finfo(float).tiny * (powers == 0))
        rest *= mean[~narrow].sum() / rest.sum(axis=1, keepdims=True)
        shares = np.where(narrow, mean, rest)
        mass = weights[rows, None] * shares
    return powers, shares


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
            apart = np.multiply.outer(step / widths, np.arange(1, 9))
            lattice = step * (1 + 2 * np.exp(-(apart**2) / 2).sum(axis=-1))
        out += np.log(np.maximum(lattice, np.sqrt(2 * np.pi) * widths))  # the sum of 8 terms exceeds only if exact
    return out


class _IntegratedError:
    """-J of candidates, relative to the mean density of the samples."""

    def __init__(self, sample, steps, ties, reference, n_jobs):
        self.steps, self.reference, self.n_jobs, self.shift, self.least = steps, reference, n_jobs, None, 0.0
        rows, folds = sample.rows, sample.folds
        weights, share = sample.weights[rows], sample.targets[rows, 0]
        self.weights = weights / weights.sum()
        self.one = weights / sample.weights.sum() * share  # share of each sample in the total weight
        self.error = 2 * np.sqrt(self.weights @ (self.weights * share))  # standard error of a mean over all pairs
        copies = ties * np.maximum(weights - self.one * sample.weights.sum(), 0.0)
        with np.errstate(divide="ignore"):
            self.log_copies = np.log(copies)[:, None]
        own = np.arange(len(sample.X)) if folds is None else folds
        others = sum_of_others(np.bincount(own, sample.weights))[own[rows]]
        self.counted = np.log(self.weights @ (others + copies))

    def __call__(self, sample, bandwidth):
        h, options = np.append(bandwidth, np.sqrt(2) * bandwidth), sample.left_out(sample.rows)
        _, first, place = np.unique(np.log(h).round(9), return_index=True, return_inverse=True)
        options |= {"weights": sample.weights, "bandwidth": h[first], "log": True, "n_jobs": self.n_jobs}
        sums = kernel_sums(sample.X[sample.rows], sample.X, **options).astype(np.float64)
        constants = log_constants(h, self.steps)
        sums = np.logaddexp(sums, self.log_copies)[:, place] - constants - self.counted
        held_out, squared = np.split(sums, 2, axis=1)
        with np.errstate(divide="ignore"):
            squared = np.logaddexp(squared, np.log(self.one)[:, None] - constants[len(bandwidth) :])
        unlikely = self._is_unlikely(np.where(bandwidth < self.least, -np.inf, held_out))
        if self.shift is None:
            self.shift = self._scale(held_out, squared)
        held_out, squared = (np.exp(np.minimum(part - self.shift, LARGEST)) for part in (held_out, squared))
        scores = 2 * held_out - squared
        scores[:, bandwidth < self.least] = np.nan
        centered = scores - self.weights @ scores
        influence = ERRORS * self.error * np.sqrt(self.weights)[:, None] * centered
        nearness = -np.abs(np.log(bandwidth / self.reference)) - LARGEST * unlikely
        return Scored.of(sample, scores, tie_score=lambda index: nearness[index[-1]], influence=influence)

    def _is_unlikely(self, logs):
        """Whether held-out samples are less likely than with a narrower candidate, by `LOSS` and `UNLIKELY` standard
        errors, (k,). The mean of all candidates has the share `NEAR` of each, so that no sample counts without limit.
        """
        mean = np.logaddexp.reduce(logs, axis=1, keepdims=True) - np.log(logs.shape[1])
        logs = np.maximum(np.logaddexp(np.log(1 - NEAR) + logs, np.log(NEAR) + mean), np.finfo(float).min)
        means = self.weights @ logs
        behind = logs[:, [means[: k + 1].argmax() for k in range(len(means))]] - logs
        means = self.weights @ behind
        errors = np.linalg.norm(self.weights[:, None] * (behind - means), axis=0)
        return means > np.maximum(LOSS, UNLIKELY * errors)

    def _scale(self, held_out, squared):
        """log of the largest mean held-out density among the candidates with J below 0."""
        log_weights = np.log(self.weights)[:, None]
        mean, squared = (np.logaddexp.reduce(part + log_weights, axis=0) for part in (held_out, squared))
        useful = np.log(2) + mean > squared
        return mean[useful].max() if useful.any() else squared.min()
