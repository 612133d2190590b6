"""Bandwidths that density estimators choose

Errors are integrated squared errors relative to the integral of the squared density, averaged over draws. The tables
compare the default `ParzenDensity`, R's rule of thumb ``0.9 min(s, IQR / 1.34) n^(-1/5)``, and peers, all with Gaussian
kernels; that of `ParzenDensity` has further bandwidths for isolated samples. There are 50 draws up to n = 1000, then
fewer.

The best bandwidth is the rule times the one factor that gives the least mean error over all draws. Finding it requires
the true density, so no choice from a sample can be expected to beat it. If the error of the best bandwidth equals that
of the rule, no constant factor improves the rule.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bench.measure import QUICK
from spectralcls import ParzenDensity
from spectralcls.kernels import kernel_sums

SIZES = (100, 1000) if QUICK else (100, 1000, 10_000, 100_000)
DRAWS = dict.fromkeys(SIZES, 2) if QUICK else {100: 50, 1000: 50, 10_000: 4, 100_000: 1}
FACTORS = 2.0 ** np.arange(-4, 1.25, 0.25)  # multiples of the rule, among which the best is sought


class Mixture:
    """A mixture of normal distributions of one feature."""

    def __init__(self, *parts):
        self.shares, self.means, self.deviations = np.array(parts).T

    def rvs(self, n, random_state):
        rng = np.random.default_rng(random_state)
        own = rng.choice(len(self.shares), n, p=self.shares)
        return self.means[own] + self.deviations[own] * rng.normal(size=n)

    def pdf(self, x):
        return stats.norm(self.means, self.deviations).pdf(x[:, None]) @ self.shares

    def ppf(self, p):
        return self.means[[0, -1]] + self.deviations[[0, -1]] * stats.norm.ppf(p)


KINDS = {
    "normal": stats.norm(),
    "t(5)": stats.t(5),
    "t(3)": stats.t(3),
    "Cauchy": stats.cauchy(),
    "log-normal": stats.lognorm(1),
    "gamma(2)": stats.gamma(2),
    "uniform": stats.uniform(),
    "two modes": Mixture((0.5, -1.5, 0.5), (0.5, 1.5, 0.5)),
    "two modes 60 apart": Mixture((0.5, -30, 1), (0.5, 30, 1)),
    "normal, one 9999": stats.norm(),
    "normal, rounded to 0.1": stats.norm(),
    "normal, rounded to 1": stats.norm(),
}


def drawn(kind, n, seed):
    x = KINDS[kind].rvs(n, random_state=seed)
    if "9999" in kind:
        x[0] = 9999
    if "rounded" in kind:
        step = float(kind.split()[-1])
        x = np.round(x / step) * step
    return x[:, None]


def rule(x):
    spread = min(x.std(ddof=1), np.subtract(*np.quantile(x, [0.75, 0.25])) / 1.34)
    return 0.9 * spread * len(x) ** -0.2


def sheather_jones(x):
    from KDEpy.bw_selection import improved_sheather_jones

    try:
        return improved_sheather_jones(x)
    except ValueError:  # no root
        return np.nan


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_feature(record, kind, n):
    """The table also includes the improved Sheather-Jones rule of KDEpy. The last columns are mean bandwidths."""
    pytest.importorskip("KDEpy")
    distribution = KINDS[kind]
    grid = np.linspace(*distribution.ppf(np.array([5e-4, 1 - 5e-4])), 4001)
    true = distribution.pdf(grid)
    errors, widths, factors = [], [], FACTORS if n <= 1000 else []
    for seed in range(DRAWS[n]):
        x = drawn(kind, n, seed)
        density = ParzenDensity().fit(x)
        own = [density.bandwidth_, rule(x), sheather_jones(x), *np.multiply(factors, rule(x))]
        known = [h if np.isfinite(h) else 1.0 for h in own]
        sums = kernel_sums(grid[:, None], x, bandwidth=known, normalize=True) / n
        sums[:, 0] = np.exp(density.score_samples(grid[:, None]))
        found = np.trapezoid((sums - true[:, None]) ** 2, grid, axis=0) / np.trapezoid(true**2, grid)
        errors.append(np.where(np.isfinite(own), found, np.nan))
        widths.append(own)
    names = ("ParzenDensity", "rule", "Sheather-Jones")
    means = np.mean(errors, axis=0)
    record(
        {f"error of {name}": float(error) for name, error in zip(names, means[:3], strict=True)}
        | ({"error of the best h": float(means[3:].min())} if len(factors) else {})
        | {f"h of {name}": float(h) for name, h in zip(names[:2], np.mean(widths, axis=0), strict=False)}
    )


def several(kind, n, d, rng):
    Z = rng.normal(size=(n, d))
    if kind == "t(3)":
        return Z / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    if kind == "two modes":
        return Z / 2 + rng.choice([-1.5, 1.5], size=(n, 1))
    return np.exp(Z) if kind == "log-normal" else Z


def log_density(kind, X):
    d = X.shape[1]
    if kind == "t(3)":
        return stats.multivariate_t(np.zeros(d), np.eye(d), df=3).logpdf(X)
    if kind == "two modes":
        return logsumexp([stats.norm(m, 0.5).logpdf(X).sum(axis=1) for m in (-1.5, 1.5)], axis=0) - np.log(2)
    return (stats.lognorm(1) if kind == "log-normal" else stats.norm()).logpdf(X).sum(axis=1)


@pytest.mark.parametrize("n", SIZES[:3])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("kind", ["normal", "t(3)", "log-normal", "two modes"])
def test_several_features(record, kind, d, n):
    """The rule is Scott's, with the same measure of spread as in the rule for one feature. Integrals are estimated by
    means over 20 000 points drawn from the density, that of the square of ours by as many drawn from ours. There are 20
    draws up to n = 1000.
    """
    rng = np.random.default_rng(0)
    Q = several(kind, 2000 if QUICK else 20_000, d, rng)
    squared = np.exp(log_density(kind, Q)).mean()
    errors, factors = [], FACTORS if n <= 1000 else []
    for _ in range(min(DRAWS[n], 20)):
        X = several(kind, n, d, rng)
        spread = np.sqrt(np.mean([(rule(x) / 0.9 * n**0.2) ** 2 for x in X.T]))
        scott = spread * n ** (-1 / (d + 4))
        density = ParzenDensity(scale=None).fit(X)
        own = np.array([scott, *np.multiply(factors, scott)])
        of_pairs = kernel_sums(X, X, bandwidth=np.sqrt(2) * own, normalize=True).mean(axis=0) / n
        found = of_pairs - 2 * kernel_sums(Q, X, bandwidth=own, normalize=True).mean(axis=0) / n
        drawn = density.sample(len(Q), random_state=0)
        ours = np.exp(density.score_samples(drawn)).mean() - 2 * np.exp(density.score_samples(Q)).mean()
        errors.append(np.append(ours, found) / squared + 1)
    means = np.mean(errors, axis=0)
    record(
        {"error of ParzenDensity": float(means[0]), "error of rule": float(means[1])}
        | ({"error of the best h": float(means[2:].min())} if len(factors) else {})
    )
