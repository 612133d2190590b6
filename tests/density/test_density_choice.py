"""The bandwidth of a density: least-squares cross-validation, a robust rule, copies and rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import beta, lognorm, norm, t

from spectralcls import ParzenDensity, ParzenOutlierDetector
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning import Scored, Splits, search
from spectralcls.density._places import Places, share_of_ties, steps_of, without_atoms
from spectralcls.density._shares import (
    CERTAIN,
    ERRORS,
    FINE,
    LOSS,
    NEAR,
    NEAR_OF_MANY,
    RARE,
    ROUNDS,
    UNLIKELY,
    _without_noise,
    log_constants,
    rule_of_thumb,
)
from spectralcls.kernels import kernel_variance


def sample(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)), np.random.default_rng(seed + 1).uniform(0.5, 2, n)


def normal_rule(x):
    """That of R, ``bw.nrd0``."""
    spread = min(x.std(ddof=1), np.subtract(*np.quantile(x, [0.75, 0.25])) / 1.34)
    return 0.9 * spread * len(x) ** -0.2


def gaussians(apart, widths):
    """k(x_i - x_j) / integral for squared distances (n, n) and widths (n, n) or a number; times (2 pi)^(d/2)."""
    return lambda d: np.exp(-apart / (2 * widths**2)) / np.broadcast_to(widths, apart.shape) ** d


def slow_loss(X, w, h, counts=lambda i, j: i != j):
    """J(h) by all pairs; `h` are widths of the points (n,)."""
    n, d = X.shape
    w, h = w / w.sum(), np.broadcast_to(h, n)
    apart = ((X[:, None] - X) ** 2).sum(axis=2)
    i, j = np.indices((n, n))
    pairs = np.outer(w, w) * counts(i, j)
    squared = gaussians(apart, np.hypot(h[:, None], h))(d)
    held_out = gaussians(apart, h[None, :].repeat(n, axis=0))(d)
    return (pairs * (squared - 2 * held_out)).sum() / pairs.sum() + (w**2) @ np.diag(squared)


def assert_proportional(found, expected):
    """But for the noise that is taken off the samples."""
    assert_allclose(found / found[0], expected / expected[0], rtol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "laplace"])
@pytest.mark.parametrize("d", [1, 3])
def test_scores_are_least_squares_of_the_gaussian_of_the_same_variance(kernel, d):
    X, w = sample(40, d)
    grid = np.array([0.3, 0.5, 1.2])
    density = ParzenDensity(kernel=kernel, bandwidth_grid=grid, scale=None).fit(X, sample_weight=w)
    expected = [slow_loss(X, w, h * np.sqrt(kernel_variance(kernel, d))) for h in grid]
    assert_proportional(density.cv_results_["mean_test_score"], -np.array(expected))


def test_the_loss_is_an_integral_without_bias():
    X, _ = sample(25, 1)
    h, n = 0.4, 25
    density = ParzenDensity(h).fit(X)
    squared = quad(lambda x: np.exp(2 * density.score_samples([[x]])[0]), -8, 8, limit=200)[0]
    others = [np.exp(ParzenDensity(h).fit(np.delete(X, i, 0)).score_samples(X[[i]])[0]) for i in range(n)]
    diagonal = 1 / (n * h * np.sqrt(4 * np.pi))
    expected = (squared - diagonal) * n / (n - 1) + diagonal - 2 * np.mean(others)
    assert_allclose(slow_loss(X, np.ones(n), h) / np.sqrt(2 * np.pi), expected, rtol=1e-9)


def test_given_folds_are_held_out_together():
    X, w = sample(30, 2)
    folds = np.arange(len(X)) % 3
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    grid = np.array([0.4, 0.7, 1.0])
    density = ParzenDensity(cv=splits, bandwidth_grid=grid, scale=None).fit(X, sample_weight=w)
    weights = [w[folds == k].sum() for k in range(3)]
    found = np.average([density.cv_results_[f"split{k}_test_score"] for k in range(3)], axis=0, weights=weights)
    assert_allclose(found, density.cv_results_["mean_test_score"], rtol=1e-9)
    expected = [slow_loss(X, w, h, counts=lambda i, j: folds[i] != folds[j]) for h in grid]
    assert_proportional(found, -np.array(expected))


def test_the_candidate_of_the_best_tie_score_within_the_error_of_a_difference():
    scores = np.array([1.0, 2.0, 1.9, 1.2])
    points = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.2, 0.3]])
    for influence, best in ((points, 2), (points / 3, 1), (4 * points, 3)):
        scored = Scored(scores[None], np.ones(4), tie_score=lambda index: index[0], influence=influence)
        assert search(Splits(np.ones(1)), {"h": np.arange(4.0)}, lambda sample, h, s=scored: s).index == (best,)


# The rule that decides where the loss cannot


def test_the_rule_is_rs():
    x = np.random.default_rng(0).standard_t(3, size=20_000)
    assert_allclose(rule_of_thumb(x[:, None], None), normal_rule(x), rtol=0.01)
    assert_allclose(rule_of_thumb(3 * x[:, None], None), 3 * rule_of_thumb(x[:, None], None))
    weights = np.repeat([1.0, 2.0], 10_000)
    assert_allclose(rule_of_thumb(x[:, None], weights), rule_of_thumb(x[:, None], 7 * weights), rtol=1e-12)


@pytest.mark.parametrize("d", [2, 5])
def test_the_rule_of_several_features_is_the_normal_one(d):
    X = np.random.default_rng(0).normal(size=(20_000, d))
    normal = (4 / ((d + 2) * 20_000)) ** (1 / (d + 4))
    for round_ in (False, True):
        assert_allclose(rule_of_thumb(X, None, round_=round_), normal, rtol=0.01)


def criteria(x):
    """Candidates (k,), losses (n, k) whose mean is J, and log densities (n, k) of samples that are left out."""
    n, grid = len(x), rule_of_thumb(x[:, None], None) * np.sqrt(2.0) ** np.arange(-8, 9)
    squares = np.subtract.outer(x, x)[..., None] ** 2
    pairs = np.exp(-squares / (2 * grid**2)) / (np.sqrt(2 * np.pi) * grid)
    held_out = (pairs.sum(axis=1) - norm.pdf(0, scale=grid)) / (n - 1)
    wider, held_out = held_out[:, 1:], held_out[:, :-1]
    logs = np.log((1 - NEAR) * held_out + NEAR * held_out.mean(axis=1, keepdims=True))
    return grid[:-1], wider - 2 * held_out + norm.pdf(0, scale=grid[1:]) / n, logs


def nearest_of_tied(grid, losses, logs, errors=ERRORS, unlikely=UNLIKELY, loss=LOSS):
    """The bandwidth nearest to the rule of those whose J is within `errors` standard errors of the least, and whose
    held-out likelihood is below that of a narrower one by at most `loss` or `unlikely` standard errors."""
    n, J = len(losses), losses.mean(axis=0)
    influence, best, kept = 2 * (losses - J) / n, J.argmin(), []
    tied = np.flatnonzero(J <= J[best] + errors * np.linalg.norm(influence - influence[:, [best]], axis=0) + 1e-12)
    for k in tied:
        behind = logs[:, logs[:, : k + 1].mean(axis=0).argmax()] - logs[:, k]
        if behind.mean() <= max(loss, unlikely * behind.std() / np.sqrt(n)):
            kept.append(k)
    kept = np.array(kept or tied)
    return grid[kept[np.abs(np.log(grid[kept] / grid[8])).argmin()]]


def test_within_how_many_standard_errors_the_rule_decides():
    """Samples of which other limits would choose other bandwidths."""
    told_apart = set()
    changed = ("errors", 1.0), ("errors", 1.5), ("unlikely", 1.5), ("unlikely", 2.5)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = (rng.standard_t(3, size=100), np.exp(rng.normal(size=100)), rng.beta(0.5, 0.5, size=100))[seed % 3]
        found = criteria(x)
        wanted = nearest_of_tied(*found)
        apart = {(name, value) for name, value in changed if nearest_of_tied(*found, **{name: value}) != wanted}
        if apart:
            assert_allclose(ParzenDensity().fit(x[:, None]).bandwidth_, wanted, rtol=1e-6)
        told_apart |= apart
    assert told_apart == set(changed)


def test_two_edges_are_not_smoothed_away():
    """Of the density 1 / (pi sqrt(x (1 - x))), which the squared error cannot tell from a flat one."""
    distribution, gains = beta(0.5, 0.5), []
    for seed in range(10):
        X, Q = (distribution.rvs((size, 1), random_state=seed + size) for size in (100, 2000))
        ruled = ParzenDensity(rule_of_thumb(X, None)).fit(X)
        gains.append(ParzenDensity().fit(X).score_samples(Q).mean() - ruled.score_samples(Q).mean())
    assert np.mean(gains) > 0.03


def test_a_tuned_bandwidth_of_normal_samples_is_the_rule():
    """It is the candidate that the loss cannot tell from the best."""
    for n in (50, 500, 3000):
        x = np.random.default_rng(n).normal(size=n)
        assert 0.7 < ParzenDensity().fit(x[:, None]).bandwidth_ / normal_rule(x) < 1.5


def squared_error(density, distribution):
    grid = np.linspace(*distribution.ppf([0.005, 0.995]), 801)
    return np.trapezoid((np.exp(density.score_samples(grid[:, None])) - distribution.pdf(grid)) ** 2, grid)


@pytest.mark.parametrize("distribution, most", [(t(3), 1.2), (t(1), 1.3), (lognorm(1), 0.75)])
def test_tails_do_not_smooth_the_middle(distribution, most):
    """The error is that of the rule of thumb or less, and falls with the number of samples."""
    errors = []
    for n in (300, 3000):
        samples = [distribution.rvs(n, random_state=seed) for seed in range(6)]
        tuned = [squared_error(ParzenDensity().fit(x[:, None]), distribution) for x in samples]
        ruled = [squared_error(ParzenDensity(normal_rule(x)).fit(x[:, None]), distribution) for x in samples]
        errors.append(np.mean(tuned))
        assert np.mean(tuned) < most * np.mean(ruled)
    assert errors[1] < errors[0] / 2


def test_modes_that_the_rule_would_join_are_kept_apart():
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(-30, 1, 1000), rng.normal(30, 1, 1000)]
    found = ParzenDensity().fit(x[:, None]).bandwidth_
    assert normal_rule(x) > 5 and 0.15 < found < 0.4


def test_one_far_sample_changes_nothing():
    x = np.random.default_rng(0).normal(size=(500, 1))
    found = ParzenDensity().fit(np.vstack([x, [[9999.0]]])).bandwidth_
    assert_allclose(found, ParzenDensity().fit(x).bandwidth_, rtol=0.05)


@pytest.mark.parametrize("d", [30, 500])
def test_densities_of_many_features_neither_overflow_nor_vanish(d):
    X, _ = sample(100, d)
    density = ParzenDensity().fit(X)
    assert 0.5 < density.bandwidth_ < 3
    assert np.isfinite(density.cv_results_["mean_test_score"]).any()


# Copies, rounding, columns of few values


def ties_of(X):
    X = np.asarray(X, dtype=float).reshape(len(X), -1)
    places = Places.of(TrainingData.points(X))
    return share_of_ties(places, steps_of(X, np.ones(len(X))))


def test_places_of_samples():
    X, w = sample(40, 3)
    X = X[np.random.default_rng(0).integers(0, 40, 90)]
    w = np.random.default_rng(0).uniform(size=90)
    places = Places.of(TrainingData.points(X, w))
    assert_array_equal(places.data.X[places.group], X)
    assert_array_equal(places.data.X, X[places.first])
    assert len(np.unique(X, axis=0)) == len(places.first) and (np.diff(places.first) > 0).all()
    own = [w[places.group == k] for k in range(len(places.first))]
    assert_allclose(places.data.weights, [some.sum() for some in own])
    assert_allclose(places.share, [(some**2).sum() / some.sum() ** 2 for some in own])


def test_equal_samples_count_on_a_lattice_alone():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    for step in (0.01, 0.1, 1.0, 1.5):
        assert ties_of(np.round(x / step) * step) == 1
    assert ties_of(rng.normal(size=(3000, 2)).round(1)) == 1
    assert ties_of(rng.poisson(20, 1000)) == 1
    for copied in (np.repeat(x, 2), np.r_[np.zeros(800), x[:200]], rng.choice(x, 1000), x):
        assert ties_of(copied) < 0.1


def test_the_share_of_ties_is_the_number_of_neighbors_over_that_of_copies():
    x = np.r_[np.zeros(30), np.ones(4), np.full(7, 2.0), [5.0]]
    assert_allclose(ties_of(x), 2 * (30 * 4 + 4 * 7) / (30 * 29 + 4 * 3 + 7 * 6))
    assert_array_equal(steps_of(np.column_stack([x, np.arange(42.0)]), np.ones(42)), [1.0, 0.0])


def test_the_kernel_is_summed_over_the_lattice():
    step = 0.4
    for width in (0.05, 0.2, 0.4, 0.41, 0.6, 3.0):
        lattice = step * np.exp(-((np.arange(-400, 401) * step) ** 2) / (2 * width**2)).sum()
        assert_allclose(log_constants(np.array([[width]]), [step])[0, 0], np.log(lattice), atol=1e-8)
    widths = np.array([[0.3], [2.0]])
    assert_allclose(log_constants(widths, [0.0, 0.0]), np.log(2 * np.pi * widths**2))


@pytest.mark.parametrize("step", [0.01, 0.1, 0.25])
def test_the_bandwidth_of_rounded_samples_follows_their_number(step):
    for n in (1000, 30_000):
        x = np.random.default_rng(0).normal(size=n)
        density = ParzenDensity().fit(np.round(x / step)[:, None] * step)
        assert 0.7 < density.bandwidth_ / max(normal_rule(x), step / 2) < 1.5
        assert_allclose(np.exp(density.score_samples([[0.0]])), norm.pdf(0), rtol=0.06)


def test_no_bandwidth_is_narrower_than_half_the_step_of_rounded_values():
    x = np.random.default_rng(0).normal(size=(20_000, 1)).round()
    assert ParzenDensity().fit(x).bandwidth_ == 0.5
    assert ParzenDensity(bandwidth_grid=[0.1, 0.2]).fit(x).bandwidth_ in (0.1, 0.2)


@pytest.mark.parametrize("times", [2, 5])
def test_copies_do_not_collapse_the_bandwidth(times):
    x = np.random.default_rng(0).normal(size=(400, 1))
    copied = ParzenDensity().fit(np.repeat(x, times, axis=0)).bandwidth_
    assert 0.4 < copied / ParzenDensity().fit(x).bandwidth_ <= 1.01
    noisy = np.repeat(x, times, axis=0) * (1 + 1e-15 * np.arange(times * 400)[:, None] % times)
    assert_allclose(ParzenDensity().fit(noisy).bandwidth_, copied, rtol=1e-6)


@pytest.mark.parametrize("n_zeros", [400, 2000])
def test_an_atom_does_not_collapse_the_bandwidth(n_zeros):
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=100)
        found = ParzenDensity().fit(np.r_[np.zeros(n_zeros), x][:, None]).bandwidth_
        assert 0.1 < found / normal_rule(x) < 1.5


def test_an_atom_counts_as_ten_usual_places():
    X = np.r_[np.zeros(500), np.random.default_rng(0).normal(size=60)][:, None]
    for ties, kept in ((0.0, 10.0), (0.5, 250.0), (1.0, 500.0)):
        places = without_atoms(Places.of(TrainingData.points(X)), ties)
        assert_array_equal(np.sort(places.data.weights), [*np.ones(60), kept])
        assert_allclose(places.share * places.data.weights, 1.0)


def test_a_column_of_few_values_does_not_collapse_the_bandwidth():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    binary = rng.integers(0, 2, size=(1000, 3))
    for X in (np.column_stack([x, binary]), np.column_stack([x[:, :1], binary[:, :1]])):
        assert 0.3 < ParzenDensity(scale=None).fit(X).bandwidth_ < 1


def test_a_constant_column_says_nothing():
    x, w = sample(200, 2)
    plain = ParzenDensity().fit(x, sample_weight=w).bandwidth_
    for constant in (3.0, -0.100865, 0.1257302210933933):
        X = np.column_stack([x, np.full(200, constant)])
        assert_allclose(ParzenDensity().fit(X, sample_weight=w).bandwidth_, plain, rtol=1e-12)
        for kind in ("diag", "full"):
            model = ParzenDensity(covariance_type=kind).fit(X, sample_weight=w)
            same = ParzenDensity(covariance_type=kind).fit(x, sample_weight=w)
            assert_allclose(model.bandwidth_, same.bandwidth_, rtol=1e-12)
            beside = model.score_samples([[0.0, 0.0, constant + 1e-9]]) - model.score_samples([[0.0, 0.0, constant]])
            assert_allclose(beside, 0.0, atol=1e-9)


# Units


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
@pytest.mark.parametrize("bandwidth", ["cv", "silverman"])
def test_units_of_a_column_change_log_densities_by_their_constant(kind, bandwidth):
    X, w = sample(100, 3)
    Q, units = X[:10] + 0.3, np.array([1.0, 1000.0, 1e-5])
    options = {"covariance_type": kind, "bandwidth": bandwidth}
    plain, other = (ParzenDensity(**options).fit(X * unit, sample_weight=w) for unit in (1, units))
    expected = plain.score_samples(Q) - np.log(units).sum()
    assert_allclose(other.score_samples(Q * units), expected, rtol=1e-7)
    assert_allclose(
        other.marginal([1]).score_samples(Q[:, [1]] * 1000) + np.log(1000),
        plain.marginal([1]).score_samples(Q[:, [1]]),
        rtol=1e-7,
    )
    densities = ParzenDensity(**options)
    detectors = [ParzenOutlierDetector(densities, novelty=True).fit(X * unit) for unit in (1, units)]
    assert_array_equal(detectors[0].predict(4 * Q), detectors[1].predict(4 * Q * units))
    assert_allclose(detectors[0].p_values(4 * Q), detectors[1].p_values(4 * Q * units))


def test_the_scale_leaves_a_given_bandwidth_alone():
    X = sample(100, 2)[0] * [1.0, 50.0]
    for covariance in ("spherical", [1.0, 2000.0]):
        scaled, plain = (ParzenDensity(0.7, scale=scale, covariance_type=covariance).fit(X) for scale in ("auto", None))
        assert_array_equal(scaled.score_samples(X), plain.score_samples(X))
        assert scaled.scale_ is None
    tuned = ParzenDensity().fit(X)
    assert tuned.scale_ == "each"
    widths = tuned.bandwidth_ * X.std(axis=0) / np.sqrt(np.prod(X.std(axis=0)))
    given = ParzenDensity(1.0, covariance_type=widths**2).fit(X)
    rule = ParzenDensity("silverman").fit(X)
    assert_allclose(rule._form.space.units * tuned.bandwidth_, given._form.space.units, rtol=1e-9)


def test_values_that_differ_by_rounding_are_equal():
    """Within 2^-26 of the power of two below the spread: 1e-8 of it, where decimals of float32 end."""
    scales = np.array([1.5])
    for part, equal in ((0.4, True), (0.6, False), (1.1, False)):
        X = np.array([[1.0], [1.0 + part * 2.0**-26]])
        assert (np.ptp(_without_noise(X, scales)) == 0) == equal


@pytest.mark.parametrize("relative, neighbors", [(0.008, True), (0.012, False)])
def test_neighbors_on_a_lattice_are_a_hundredth_from_its_step(relative, neighbors):
    """If the gaps differ by more, every second one is a step, and steps explain fewer equal pairs than there are."""
    x = np.random.default_rng(0).normal(0, 3, 3000).round()
    x += relative / 2 * (x % 2)
    places = Places.of(TrainingData.points(x[:, None], np.ones(len(x))))
    assert (share_of_ties(places, steps_of(x[:, None], np.ones(len(x)))) == 1) == neighbors


# The kernel of each sample


def slow_shares(X, w, h, steps):
    """Widths and shares of the samples by all pairs."""
    n, d = X.shape
    widths = h * 2.0 ** np.asarray(steps)
    narrow, wide = widths < 0.9 * h, widths > 1.1 * h
    near = widths < 5 * h
    first = NEAR if d < FINE else NEAR_OF_MANY
    shares = np.where(widths == h, 1 - first, 0.0) + first * near / near.sum()
    shares = (n * shares + wide / wide.sum()) / (n + 1)
    least, shares = np.where(narrow, shares, RARE / n * wide), np.tile(shares, (n, 1))
    k = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)[..., None] / (2 * widths**2)) / widths**d
    k[np.arange(n), np.arange(n)] = 0
    for number in range(ROUNDS):
        terms = np.einsum("ijb,jb,j->ib", k, shares, w)
        shares = terms / terms.sum(axis=1, keepdims=True)
        mean, total = w @ shares / w.sum(), shares[:, narrow].sum(axis=1)
        error = np.sqrt(2 * w**2 @ (total - mean[narrow].sum()) ** 2) / w.sum()
        kept = mean >= least
        if number == ROUNDS - 1 and mean[narrow].sum() - CERTAIN * error < least[narrow].sum():
            kept &= ~narrow
        k, least, narrow, widths = k[..., kept], least[kept], narrow[kept], widths[kept]
        shares = terms[:, kept] / terms[:, kept].sum(axis=1, keepdims=True)
        mean = w @ shares / w.sum()
        shares[:, ~narrow] *= (1 - mean[narrow].sum()) / shares[:, ~narrow].sum(axis=1, keepdims=True)
        shares[:, narrow] = mean[narrow]
    return widths, shares


@pytest.mark.parametrize("d, step", [(1, 1), (3, 1), (6, 0.5)])
def test_shares_are_the_probabilities_of_the_bandwidths_given_the_others(d, step):
    X, w = np.random.default_rng(0).standard_t(2, size=(70, d)), sample(70, 1)[1]
    density = ParzenDensity(scale=None).fit(X, sample_weight=w)
    widths, shares = slow_shares(X, w, density.bandwidth_, np.arange(-4, 14, step))
    assert_allclose(density._form.widths, widths, rtol=1e-12)
    assert_allclose(density._form.weights, shares * w[:, None] / w.sum(), rtol=1e-5, atol=1e-9)
    assert_allclose(density.local_bandwidth_, np.exp(shares @ np.log(widths)), rtol=1e-5)
    assert len(widths) > 3 and np.ptp(density.local_bandwidth_) > density.bandwidth_


@pytest.mark.parametrize("distribution", [t(3), t(1), lognorm(1), norm()])
def test_unseen_samples_are_as_likely_as_by_a_grid_search_and_the_squared_error_stays(distribution):
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KernelDensity

    ahead, ratios = [], []
    for seed in range(4):
        X, Q = (distribution.rvs((size, 1), random_state=seed + size) for size in (300, 2000))
        unit = X.std()
        peer = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.01, 1.5, 15) * unit}).fit(X)
        density = ParzenDensity().fit(X)
        ahead.append(density.score_samples(Q).mean() - peer.best_estimator_.score_samples(Q).mean())
        ratios.append(
            squared_error(density, distribution) / squared_error(ParzenDensity(density.bandwidth_).fit(X), distribution)
        )
    assert np.mean(ahead) > -0.02 and np.mean(ratios) < 1.05


def test_unseen_samples_of_many_features_are_nearly_as_likely_as_by_the_best_bandwidth():
    """Of two normal classes, whose closest pairs alone decide the squared error; a first share of .02 loses .35."""
    rng, ahead = np.random.default_rng(0), []
    for _ in range(2):
        X, Q = (rng.normal(size=(n, 20)) + rng.choice([-0.45, 0.45], size=(n, 1)) for n in (600, 600))
        best = max(ParzenDensity(h, scale=None).fit(X).score_samples(Q).mean() for h in np.geomspace(0.4, 1.5, 15))
        ahead.append(ParzenDensity().fit(X).score_samples(Q).mean() - best)
    assert np.mean(ahead) > -0.3


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("n_pairs", [0, 1, 6])
def test_samples_that_are_close_by_chance_keep_their_bandwidth(n, n_pairs):
    """In five dimensions, narrow kernels of pairs of neighbors would multiply the squared error by 20."""
    X = np.random.default_rng(0).normal(size=(n, 5))
    X[:n_pairs] = X[-n_pairs:] + 0.01 if n_pairs else X[:0]
    density = ParzenDensity().fit(X)
    assert density.local_bandwidth_.min() > 0.9 * density.bandwidth_


def test_narrow_kernels_explain_a_narrow_peak():
    """Of a thirtieth of the samples, too few for a narrow bandwidth of all."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2)) * np.where(np.arange(500) % 30, 1.0, 0.03)[:, None]
    density, Q = ParzenDensity().fit(X), 0.03 * rng.normal(size=(100, 2))
    assert density._form.widths.min() < density.bandwidth_ / 4
    assert density.score_samples(Q).mean() > ParzenDensity(density.bandwidth_).fit(X).score_samples(Q).mean() + 0.1


def test_shares_of_many_samples_come_from_a_subsample():
    X = np.random.default_rng(0).standard_t(3, size=(3000, 2))
    whole, part = ParzenDensity().fit(X), ParzenDensity(max_tuning_samples=1500).fit(X)
    assert_allclose(part._form.weights.sum(axis=1), 1 / 3000)
    assert np.abs(part.score_samples(X) - whole.score_samples(X)).mean() < 0.05


def test_copied_rows_have_the_kernels_of_single_ones():
    X = np.random.default_rng(0).standard_t(3, size=(300, 2))
    once, twice = ParzenDensity().fit(X), ParzenDensity().fit(np.repeat(X, 2, axis=0))
    Q = np.random.default_rng(1).standard_t(3, size=(300, 2))
    assert np.abs(once.score_samples(Q) - twice.score_samples(Q)).mean() < 0.3
