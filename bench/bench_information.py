"""Tests of samples: level, power and time against hyppo, dcor and SciPy

*Grid*, the default, takes the largest standardized statistic over six bandwidths; *median* takes the median distance as
the only bandwidth. *Moments* is `n_permutations=None`, which computes the p-value from the moments of all permutations.
"""

import numpy as np
import pytest
from scipy import stats

from bench.measure import QUICK, compare, peer, processor_seconds
from bench.pages import view
from spectralcls.information import independence_test, two_sample_test

DRAWS, POWER_DRAWS, PERMUTATIONS = (20, 10, 99) if QUICK else (5000, 200, 199)
LEVELS = (0.01, 0.05, 0.1)
WAYS = {
    "grid": {"n_jobs": 1},
    "median": {"n_jobs": 1, "bandwidth": "median"},
    "moments": {"n_jobs": 1, "bandwidth": "median", "n_permutations": None},
}


def normal(rng, n, d=2):
    return rng.normal(size=(n, d))


def integers(rng, n):
    return rng.integers(0, 3, size=(n, 1)).astype(float)


def two_places(rng, n):
    return (rng.uniform(size=(n, 1)) < 0.2).astype(float)


NULLS = {
    "normal, d = 2": normal,
    "normal, d = 20": lambda rng, n: normal(rng, n, 20),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=(n, 1)),
    "one decimal": lambda rng, n: normal(rng, n, 1).round(1),
    "0, 1, 2": integers,
    "two places": two_places,
}


@pytest.mark.parametrize("n", [8, 20])
@pytest.mark.parametrize("distribution", NULLS)
def test_level(record, distribution, n):
    """Fractions of p-values of at most .01, .05 and .1 under the null hypothesis."""
    rng, draw = np.random.default_rng(n), NULLS[distribution]
    found = {way: [] for way in WAYS}
    for seed in range(DRAWS):
        X, Y = draw(rng, n), draw(rng, n if seed % 2 else n // 2)
        test = independence_test if seed % 2 else two_sample_test
        for way, options in WAYS.items():
            found[way].append(test(X, Y, **{"n_permutations": 99, "random_state": seed} | options).p_value)
    record({f"{way}, {level:g}": float(np.mean(np.array(p) <= level)) for way, p in found.items() for level in LEVELS})


@view("level")
def levels(rows):
    """The table gives the fraction of 5000 draws under the null hypothesis whose p-value is at most .01 or at most .05.
    The p-values of *grid* and *median* come from 99 permutations. Half of the draws are two samples of n and n / 2
    points; the others are n pairs of independent measurements. The standard errors are .0014 at .01 and .003 at .05.
    Ties make permutation p-values larger.
    """
    names = [f"{way}, {level:g}" for way in WAYS for level in LEVELS[:2]]
    kept = ("distribution", "n")
    return [[{key: row[key] for key in kept} | {name: f"{row[name]:.3f}" for name in names} for row in rows]]


def groups(rng, n, ratio):
    return rng.normal(size=(n, 2)) * [1, ratio] + 10 * rng.integers(0, 3, (n, 1))


DIFFERENCES = {  # (n, first sample, second sample)
    "shift, d = 2": (50, normal, lambda rng, n: normal(rng, n) + 0.35),
    "spread, d = 2": (50, normal, lambda rng, n: 1.5 * normal(rng, n)),
    "shift, d = 10": (50, lambda rng, n: normal(rng, n, 10), lambda rng, n: normal(rng, n, 10) + 0.22),
    "spread, d = 10": (50, lambda rng, n: normal(rng, n, 10), lambda rng, n: 1.2 * normal(rng, n, 10)),
    "shift, d = 100": (40, lambda rng, n: normal(rng, n, 100), lambda rng, n: normal(rng, n, 100) + 0.12),
    "shape of three groups": (100, lambda rng, n: groups(rng, n, 1.0), lambda rng, n: groups(rng, n, 2.2)),
    "ripples, d = 1": (
        80,
        lambda rng, n: rng.uniform(size=(n, 1)),
        lambda rng, n: (rng.integers(0, 4, (n, 1)) + rng.beta(2.5, 2.5, (n, 1))) / 4,
    ),
    "shift of Cauchy, d = 1": (
        60,
        lambda rng, n: rng.standard_cauchy(size=(n, 1)),
        lambda rng, n: rng.standard_cauchy(size=(n, 1)) + 0.9,
    ),
    "counts, d = 1": (
        60,
        lambda rng, n: rng.poisson(3, size=(n, 1)).astype(float),
        lambda rng, n: rng.poisson(4, size=(n, 1)).astype(float),
    ),
}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_power_of_the_test_of_two_samples(record, difference):
    """The table gives the fraction of 200 draws, with n points in each sample, whose p-value is at most .05. The peers
    are dcor's `energy_test` and, in one dimension, SciPy's Kolmogorov-Smirnov and Cramer-von Mises tests. *Grid*,
    *median* and dcor use 199 permutations.
    """
    dcor = peer("dcor")
    n, first, second = DIFFERENCES[difference]
    rng, found = np.random.default_rng(0), {}
    for seed in range(POWER_DRAWS):
        X, Y = first(rng, n), second(rng, n)
        p = {
            way: two_sample_test(X, Y, **{"n_permutations": PERMUTATIONS, "random_state": seed} | options).p_value
            for way, options in WAYS.items()
        }
        p["dcor"] = dcor.homogeneity.energy_test(X, Y, num_resamples=PERMUTATIONS, random_state=seed).pvalue
        if X.shape[1] == 1:
            p["Kolmogorov-Smirnov"] = stats.ks_2samp(X[:, 0], Y[:, 0]).pvalue
            p["Cramer-von Mises"] = stats.cramervonmises_2samp(X[:, 0], Y[:, 0]).pvalue
        for name, value in p.items():
            found.setdefault(name, []).append(value <= 0.05)
    record({"n": n} | {name: float(np.mean(rejected)) for name, rejected in found.items()})


def circle(rng, n):
    angle = rng.uniform(0, 2 * np.pi, size=(n, 1))
    return np.cos(angle) + 0.2 * normal(rng, n, 1), np.sin(angle) + 0.2 * normal(rng, n, 1)


def line(rng, n, d, strength):
    X = normal(rng, n, d)
    return X, strength * X + normal(rng, n, d)


def sine(rng, n, frequency):
    X = rng.uniform(-np.pi, np.pi, size=(n, 1))
    return X, np.sin(frequency * X) + 0.5 * normal(rng, n, 1)


def scales(rng, n):
    X = normal(rng, n, 1)
    return X, X * normal(rng, n, 1)


DEPENDENCES = {
    "line, d = 1": (50, lambda rng, n: line(rng, n, 1, 0.4)),
    "line, d = 5": (50, lambda rng, n: line(rng, n, 5, 0.3)),
    "line of integers": (60, lambda rng, n: tuple(A.round() for A in line(rng, n, 1, 0.5))),
    "circle": (60, circle),
    "spread": (50, scales),
    "sine": (60, lambda rng, n: sine(rng, n, 2)),
    "fast sine": (100, lambda rng, n: sine(rng, n, 5)),
}


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_power_of_the_test_of_independence(record, dependence):
    """This is the same table for n pairs of measurements and dcor's `distance_covariance_test`."""
    dcor = peer("dcor")
    n, draw = DEPENDENCES[dependence]
    rng, found = np.random.default_rng(0), {}
    for seed in range(POWER_DRAWS):
        X, Y = draw(rng, n)
        p = {
            way: independence_test(X, Y, **{"n_permutations": PERMUTATIONS, "random_state": seed} | options).p_value
            for way, options in WAYS.items()
        }
        options = dict(num_resamples=PERMUTATIONS, random_state=seed)
        p["dcor"] = dcor.independence.distance_covariance_test(X, Y, **options).pvalue
        for name, value in p.items():
            found.setdefault(name, []).append(value <= 0.05)
    record({"n": n} | {name: float(np.mean(rejected)) for name, rejected in found.items()})


@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("n", [100] if QUICK else [100, 1000])
@pytest.mark.parametrize("test", ["two samples", "independence"])
def test_time(record, test, n, d):
    """Seconds of a test with 999 permutations; hyppo's take 99 and only few points."""
    dcor, hyppo = peer("dcor"), peer("hyppo")
    rng = np.random.default_rng(0)
    fewer = dict(reps=99, auto=False, workers=1, random_state=0)
    if test == "two samples":
        X, Y = normal(rng, n // 2, d), normal(rng, n // 2, d)
        ours, theirs = two_sample_test, lambda: dcor.homogeneity.energy_test(X, Y, num_resamples=999)
        other = ("hyppo's MMD, 99", lambda: hyppo.ksample.MMD(compute_kernel="gaussian").test(X, Y, **fewer))
    else:
        X, Y = normal(rng, n, d), normal(rng, n, d)
        ours, theirs = independence_test, lambda: dcor.independence.distance_covariance_test(X, Y, num_resamples=999)
        other = ("hyppo's Hsic, 99", lambda: hyppo.independence.Hsic(compute_kernel="gaussian").test(X, Y, **fewer))
    functions = {
        **{way: lambda options=options: ours(X, Y, **options) for way, options in WAYS.items()},
        "dcor": theirs,
    }
    if n <= 100:
        functions |= dict([other])
    record(compare(functions, repeats=3, budget=20.0)[0])


@view("time")
def times(rows):
    """The table gives the seconds of *grid*, and the time of the others relative to that. n is the number of points in
    both samples together, or the number of pairs in tests of independence. *Grid*, *median* and dcor's tests use 999
    permutations; hyppo's `MMD` and `Hsic`, run at n = 100 only, use 99.
    """
    hyppo = {"two samples": "x hyppo's MMD, 99", "independence": "x hyppo's Hsic, 99"}
    kept = ("test", "n", "d", "grid, s", "x median", "x moments", "x dcor")
    return [[{key: row[key] for key in kept} | {"x hyppo, 99": row.get(hyppo[row["test"]], "")} for row in rows]]


@pytest.mark.parametrize("n", [2000] if QUICK else [10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("test", [two_sample_test, independence_test])
def test_many_rows(record, test, n):
    """The table gives the processor seconds and the p-value of a test without permutations. A test of two samples gets
    n points in all, with two features; a test of independence gets n pairs of numbers. The shift and the dependence
    shrink with n, so that they are equally hard to detect at every n.
    """
    rng = np.random.default_rng(0)
    if test is two_sample_test:
        X, Y = normal(rng, n // 2), normal(rng, n // 2) + 4 / n**0.5
    else:
        X = normal(rng, n, 1)
        Y = 3 / n**0.5 * X + normal(rng, n, 1)
    row = {}
    for way in ("median", "grid"):
        found, seconds = processor_seconds(test, X, Y, **WAYS[way] | {"n_permutations": None})
        row |= {f"{way}, s": seconds, f"p by {way}": found.p_value}
    record(row)
