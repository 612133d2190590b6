"""One-pass cross-validation against refitting fold by fold, bandwidth by bandwidth."""

from functools import partial

import numpy as np
import pytest
from folds import stratified_folds
from numpy.testing import assert_allclose, assert_array_equal
from reference import distances
from sklearn.datasets import load_iris, load_wine, make_blobs, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import spectralcls._expansion.held_out as tuning
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning import TuningSample, best_candidate, draw_sample
from spectralcls._tuning.folds import (
    drawn_seed,
    folds_by_content,
    shuffled_ranks,
    stratified_subsample,
)
from spectralcls._tuning.grids import reference_bandwidth
from spectralcls._utils.copies import copies_of, random_keys
from spectralcls.inspection import with_priors
from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.kernels import bandwidth_grid

CLASSIFIERS = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
ONE_RULE = [*CLASSIFIERS[:3], partial(CauchySchwarzClassifier, priors="shares")]


def problem(weighted=False, n=60):
    """Wines, with two rows given twice and unequal classes."""
    X, y = load_wine(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    rows[-2:] = rows[:2]
    w = np.random.default_rng(1).uniform(0.2, 3, len(rows)) if weighted else np.ones(len(rows))
    return StandardScaler().fit_transform(X[rows]), y[rows], w


def grid_of(X, kernel):
    return bandwidth_grid(X, 7, kernel=kernel) * 2


@pytest.mark.parametrize("weighting, kernel, cv", [("inverse", "gaussian", 4), (None, "triweight", "loo")])
def test_priors_are_chosen_with_the_bandwidth(weighting, kernel, cv):
    """From the scores of either rule, and the result is the one that was chosen."""
    X, y, w = problem(weighted=True)
    options = {"weighting": weighting, "kernel": kernel, "cv": cv, "bandwidth_grid": grid_of(X, kernel)}
    model = CauchySchwarzClassifier(**options).fit(X, y, w)
    results = model.cv_results_
    for priors in ("equal", "shares"):
        other = CauchySchwarzClassifier(priors=priors, **options).fit(X, y, w)
        own = results["param_priors"] == priors
        assert_allclose(results["mean_test_score"][own], other.cv_results_["mean_test_score"], rtol=1e-12)
    chosen = CauchySchwarzClassifier(model.bandwidth_, priors=model.priors_, weighting=weighting, kernel=kernel)
    assert_array_equal(model.decision_function(X), chosen.fit(X, y, w).decision_function(X))


def test_priors_follow_what_is_tuned():
    """Of a rare class that the features hardly tell shares count, of one that they tell they need not. A bandwidth that
    is given decides nothing; added points decide if they are to."""
    X, y = make_classification(n_samples=1000, weights=[0.9], random_state=1)
    model = CauchySchwarzClassifier().fit(X[:600], y[:600])
    assert model.priors_ == "shares"
    assert model.score(X[600:], y[600:]) > 1 - y[600:].mean() - 0.005
    assert not hasattr(CauchySchwarzClassifier(0.5).fit(X, y), "priors_")
    told = X + 9 * y[:, None]
    model = CauchySchwarzClassifier(scale=None, scoring="accuracy").fit(told, y)
    assert model.priors_ == "equal" and model.partial_fit(X, y).priors_ == "equal"
    every = CauchySchwarzClassifier(scale=None, scoring="accuracy").fit(np.r_[told, X, X], np.r_[y, y, y])
    assert model.partial_fit(X, y, retune=True).priors_ == every.priors_


def test_a_bandwidth_tuned_for_given_priors_is_as_good_for_queries_that_have_them():
    """As the one of equal shares whose priors are replaced after the fit."""
    shares, loss = [0.8, 0.15, 0.05], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y, truth = rng.choice(3, size=600), rng.choice(3, size=3000, p=shares)
        X, Q = (rng.normal(size=(len(t), 2)) + 2.0 * np.c_[t, t % 2] for t in (y, truth))
        models = with_priors(ParzenClassifier().fit(X, y), shares), ParzenClassifier(priors=shares).fit(X, y)
        loss.append([log_loss(truth, model.predict_proba(Q)) for model in models])
    after, before = np.mean(loss, axis=0)
    assert after < 0.25 and before < after + 0.02


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_small_blocks_give_the_same_scores(make, monkeypatch):
    X, y, w = problem(weighted=True)
    expected = make().fit(X, y, sample_weight=w).cv_results_["mean_test_score"]
    blocks = tuning.blocks
    monkeypatch.setattr(tuning, "blocks", lambda n, size, limit=0: blocks(n, 1, 7))
    assert_allclose(make().fit(X, y, sample_weight=w).cv_results_["mean_test_score"], expected, rtol=1e-12)


def test_splits_that_are_no_partition_are_refused():
    X, y, _ = problem()
    ParzenClassifier(bandwidth_grid=grid_of(X, "gaussian"), cv=StratifiedKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="cv must partition"):
        ParzenClassifier(cv=ShuffleSplit(3, random_state=0)).fit(X, y)


def test_tiny_bandwidths_are_nearest_neighbors():
    """No underflow: as h vanishes the Parzen rule becomes the 1-nearest-neighbor rule, in every fold."""
    X, y, w = problem()
    folds = stratified_folds(X, y, 5)
    hits = 0
    for fold in range(5):
        out = folds == fold
        nearest = distances(X[out], X[~out]).argmin(axis=1)
        hits += np.sum(y[~out][nearest] == y[out])
    model = ParzenClassifier(bandwidth_grid=[1e-4, 1e-3], cv=5).fit(X, y)
    assert_allclose(model.cv_results_["mean_test_score"], hits / len(y))


def test_one_pass_over_the_pairs_serves_all_folds_and_bandwidths(monkeypatch):
    X, y, _ = problem()
    calls = []

    def counting(Q, X, **options):
        calls.append((len(Q), len(X), np.size(options["bandwidth"])))
        return kernel_sums(Q, X, **options)

    kernel_sums = tuning.kernel_sums
    monkeypatch.setattr(tuning, "kernel_sums", counting)
    n = len(np.unique(np.column_stack([X, y]), axis=0))  # copies of a point are one
    for make, n_bandwidths in [(ParzenClassifier, 16), (ISEClassifier, 17)]:  # potentials: the next rung
        for cv in (5, "loo"):
            calls.clear()
            make(cv=cv).fit(X, y)
            first, *within = calls
            assert first == (n, n, n_bandwidths)
            # The potentials of k folds add the pairs of one class and fold, which the first call leaves out.
            assert sum(m for m, _, _ in within) == (n if make is ISEClassifier and cv == 5 else 0)
            assert all(m == k and b == 16 and m < n / 5 for m, k, b in within)


def test_folds_keep_copies_together_and_classes_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(200, 2)).astype(float)
    y = (X @ [2, 3]).astype(int) % 3  # one class in each place
    folds = stratified_folds(X, y, 4)
    first, group = copies_of(X, y)
    assert_array_equal(X[first][group], X)
    assert_array_equal(y[first][group], y)
    assert len({(*x, c) for x, c in zip(X, y, strict=True)}) == len(first)
    assert all(len(set(folds[group == g])) == 1 for g in range(len(first)))
    counts = np.array([np.bincount(folds[first][y[first] == c], minlength=4) for c in range(3)])
    assert np.ptp(counts, axis=1).max() <= 1 and np.ptp(counts.sum(axis=0)) <= 1
    order = rng.permutation(200)
    assert_array_equal(stratified_folds(X[order], y[order], 4), folds[order])


def test_rows_that_lack_the_same_values_are_copies():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 3)).astype(float)
    X[rng.random(X.shape) < 0.4] = np.nan
    X[::2] = np.where(np.isnan(X[::2]), -np.array(np.nan), X[::2])  # a NaN of another sign
    codes = (np.nan_to_num(X, nan=5) @ [1, 2, 3]).astype(int) % 2  # one class in each place
    first, group = copies_of(X, codes)
    known = {(c, *np.nan_to_num(row, nan=9)) for c, row in zip(codes, X, strict=True)}
    assert len(first) == len(known)
    assert_array_equal(X[first][group], X)
    assert_array_equal(codes[first][group], codes)
    order = rng.permutation(40)
    assert_array_equal(X[order][copies_of(X[order], codes[order])[0]], X[first])
    folds = folds_by_content(X, 5, 0)
    assert all(
        len(set(folds[own])) == 1
        for own in (np.flatnonzero(group == g) for g in range(len(first)))
        if len(set(codes[own])) == 1
    )


@pytest.mark.parametrize("rule", ["silverman", "scale", "silverman_per_class"])
def test_a_reference_rule_sees_the_variances_of_what_is_known(rule):
    rng = np.random.default_rng(1)
    X, codes, counts = rng.normal(size=(50, 3)), rng.integers(0, 2, 50), rng.integers(1, 4, 50)
    X[rng.random(X.shape) < 0.3] = np.nan
    found = reference_bandwidth(rule, 1e200 * X, codes, 2, counts.astype(float)) / 1e200
    assert_allclose(reference_bandwidth(rule, X, codes, 2, 0.3 * counts), found, rtol=1e-12)
    groups = [slice(None)] if rule != "silverman_per_class" else [codes == c for c in range(2)]
    for one, own in zip(np.atleast_1d(found), groups, strict=True):
        variance = np.nanvar(np.repeat(X[own], counts[own], axis=0), axis=0).mean()
        n = counts[own].sum() ** 2 / (counts[own] ** 2).sum()
        expected = np.sqrt(variance * 3 / 2 if rule == "scale" else variance * n / (n - 1) * (4 / (7 * n)) ** (2 / 7))
        assert_allclose(one, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_folds_by_content_are_even_and_keep_copies_together(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)).astype(dtype)
    folds = folds_by_content(X, 5, 7)
    assert np.all(np.abs(np.bincount(folds, minlength=5) - 1800) < 200)
    rows = rng.integers(0, 9000, size=3000)
    assert_array_equal(folds_by_content(X[rows], 5, 7), folds[rows])
    assert np.mean(folds_by_content(X, 5, 8) == folds) < 0.25
    small = np.arange(1000.0, dtype=dtype)[:, None]  # bits that hardly differ
    assert np.all(np.abs(np.bincount(folds_by_content(small, 2, 0)) - 500) < 100)
    assert folds_by_content(np.array([[-0.0]], dtype), 1000, 0) == folds_by_content(np.array([[0.0]], dtype), 1000, 0)


def test_subsample_keeps_two_points_of_rare_classes():
    y = np.repeat([-1, 0, 1, 5], [1000, 1000, 3, 1])
    rows = stratified_subsample(y, 100, random_keys(np.arange(len(y))[:, None]))
    assert_array_equal([np.sum(y[rows] == c) for c in (1, 5)], [2, 1])
    assert 100 <= len(set(rows)) == len(rows) <= 103
    assert_array_equal(rows, np.sort(rows))


def test_subsample_keeps_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [700, 250, 50])
    rows = stratified_subsample(y, 100, random_keys(np.arange(len(y))[:, None]))
    assert len(set(rows)) == 100
    assert np.all(np.abs(np.bincount(y[rows]) - [70, 25, 5]) <= 1)


def split_of_moons(n, n_validated, n_folds):
    """What `draw_sample` draws from random state 0: the rows validated, and everybody's fold, of distinct rows."""
    X, y = make_moons(n_samples=n, noise=0.2, random_state=0)
    order, _ = copies_of(X, y)
    X, y, seed = X[order], y[order], drawn_seed(0)
    validated = stratified_subsample(y, n_validated, random_keys(X, seed))
    return X, y, validated, None if n_folds is None else shuffled_ranks(y, random_keys(X, seed + 1)) % n_folds


@pytest.mark.parametrize("cv", [3, "loo"])
def test_of_many_points_a_subsample_is_validated_against_all(cv):
    X, y, validated, folds = split_of_moons(400, 90, None if cv == "loo" else cv)
    folds = np.arange(400) if cv == "loo" else folds
    grid = bandwidth_grid(X, 5)
    model = ParzenClassifier(bandwidth_grid=grid, max_tuning_samples=90, cv=cv, scale=None).fit(X, y)
    assert model.n_tuning_samples_ == 90
    hits = np.zeros(5)
    for fold in np.unique(folds[validated]):
        queries = validated[folds[validated] == fold]
        for b, h in enumerate(grid):
            refitted = ParzenClassifier(bandwidth=h, scale=None).fit(X[folds != fold], y[folds != fold])
            hits[b] += np.sum(refitted.predict(X[queries]) == y[queries])
    assert_allclose(model.cv_results_["mean_test_score"], hits / 90)


def test_of_very_many_points_a_part_validates_for_scaled_bandwidths(monkeypatch):
    monkeypatch.setattr("spectralcls._tuning.sample.MOST_OTHERS", 200)
    X, y = make_moons(n_samples=1000, noise=0.2, random_state=0)
    data = TrainingData(X, y, np.arange(2))
    sample = draw_sample(data, cv=5, max_samples=50, random_state=0, against_all=True)
    assert (len(sample.X), sample.n_samples) == (200, 50)
    assert_allclose(sample.bandwidth_ratio, 5 ** (1 / 6))
    assert_array_equal(np.bincount(sample.codes), [100, 100])
    model, few = ParzenClassifier(max_tuning_samples=50).fit(X, y), ParzenClassifier(max_tuning_samples=None).fit(X, y)
    assert abs(np.log2(model.bandwidth_ / few.bandwidth_)) < 1


@pytest.mark.parametrize("make", [ISEClassifier, lambda: CauchySchwarzClassifier(weighting=None)])
@pytest.mark.parametrize("folds", [None, 5])
def test_potentials_are_estimated_from_the_points_validated(make, folds):
    """Within a few standard errors of those of all points, and exactly where the subsample is all points."""
    X, y, validated, folds = split_of_moons(2000, 500, folds)
    all_points = tuning.Problem(
        make()._rule(), TuningSample(X, y, 2, np.ones(2000), folds), "gaussian", bandwidth_grid(X, 4)
    )
    run = tuning._leave_one_out if folds is None else tuning._by_fold
    exact, estimated, same = (
        run(all_points._replace(sample=all_points.sample._replace(validated=rows)))
        for rows in (None, validated, np.arange(2000))
    )
    assert_array_equal(same.offsets, exact.offsets)
    assert_array_equal(same.log_scale, exact.log_scale)
    rows = slice(None) if folds is not None else validated
    for name in ("offsets", "log_scale"):
        assert_allclose(getattr(estimated, name), getattr(exact, name)[rows], rtol=0.08)
    assert_allclose(estimated.log_sums, exact.log_sums[validated], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cv", [2, 5, "loo"])
def test_estimated_potentials_never_lie_below_their_diagonal(cv):
    """A handful of points far apart is all that is validated of thousands in clumps."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(1500, 2)) * 1e-3, rng.normal(size=(500, 2)) * 100])
    y = rng.integers(0, 2, size=2000)
    model = ISEClassifier(max_tuning_samples=20, cv=cv).fit(X, y)
    assert np.all((model.cv_results_["mean_test_score"] >= 0) & (model.cv_results_["mean_test_score"] <= 1))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_large_data_are_tuned_on_the_grid_of_all_points(make):
    X, y = make_moons(n_samples=600, noise=0.2, random_state=0)
    full = make(max_tuning_samples=None).fit(X, y)
    assert full.n_tuning_samples_ == 600
    model = make(max_tuning_samples=150).fit(X, y)
    assert model.n_tuning_samples_ == 150
    assert_allclose(model.cv_results_["param_bandwidth"], full.cv_results_["param_bandwidth"])
    assert model.bandwidth_ in model.cv_results_["param_bandwidth"]


@pytest.mark.parametrize("make", ONE_RULE[2:])
def test_rules_weighted_by_densities_are_tuned_on_a_subsample_and_rescaled(make):
    X, y = make_moons(n_samples=600, noise=0.2, random_state=0)
    model = make(max_tuning_samples=150, scale=None).fit(X, y)
    some = copies_of(X, y)[0]
    rows = stratified_subsample(y[some], 150, random_keys(X[some], drawn_seed(0)))
    sub = some[rows]
    folds = shuffled_ranks(y[sub], random_keys(X[some], drawn_seed(0) + 1)[rows]) % 5
    tried = model.cv_results_["param_bandwidth"] * 4 ** (1 / 6)
    assert model.n_tuning_samples_ == 150
    same = make(bandwidth_grid=tried, cv=PredefinedSplit(folds), scale=None).fit(X[sub], y[sub])
    assert_allclose(same.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"], rtol=1e-12)


def test_weighted_leave_one_out_refuses_what_would_not_end():
    X, y = make_moons(n_samples=2100, noise=0.2, random_state=0)
    with pytest.raises(ValueError, match="O\\(n\\^3\\)"):
        CauchySchwarzClassifier(cv="loo").fit(X, y)


@pytest.mark.parametrize("seed", [8, 10])  # where the candidates within no, or one, standard error give another one
def test_near_ties_of_accuracy_are_broken_by_log_loss(seed):
    """The class depends on one feature smoothly, so that accuracy is flat where log loss is not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 3))
    y = rng.uniform(size=1000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    found, alone, likely = (
        ParzenClassifier(scoring=scoring, cv="loo").fit(X, y) for scoring in ("auto", "accuracy", "neg_log_loss")
    )
    accuracy, loss = alone.cv_results_["mean_test_score"], -likely.cv_results_["mean_test_score"]
    near = accuracy >= accuracy.max() - np.sqrt(accuracy.max() * (1 - accuracy.max()) / 1000) / 2
    chosen = np.flatnonzero(found.cv_results_["param_bandwidth"] == found.bandwidth_)
    assert chosen == np.flatnonzero(near)[loss[near].argmin()]


def test_ties():
    scores = np.array([0.5, 0.9, 0.8, 0.9 - 1e-13, 0.9, 0.9, 0.1])
    assert best_candidate(scores) == (3,)
    assert best_candidate(np.ones(1)) == (0,)
    assert best_candidate([np.nan, 0.2, np.nan, 0.2]) == (1,)
    assert best_candidate(np.full((4, 2), np.nan)) == (1, 0)
    assert best_candidate([[0, 1, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]]) == (2, 1)
    X, y = make_blobs(n_samples=90, centers=3, cluster_std=0.1, random_state=0)
    middle = ParzenClassifier().fit(X, y)
    grid, scores = (middle.cv_results_[name] for name in ("param_bandwidth", "mean_test_score"))
    assert scores[0] == scores.max() and grid[0] < middle.bandwidth_ < grid[-1]


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_the_default_grid_holds_the_best_bandwidth(make):
    for load in (load_iris, load_wine):
        X, y = load(return_X_y=True)
        model = make().fit(StandardScaler().fit_transform(X), y)
        assert model.cv_results_["param_bandwidth"][0] < model.bandwidth_ < model.cv_results_["param_bandwidth"][-1]


def test_random_state_draws_the_folds():
    X, y, _ = problem()
    one, same, other = (
        ParzenClassifier(random_state=seed).fit(X, y).cv_results_["mean_test_score"] for seed in (0, 0, 1)
    )
    assert_array_equal(one, same)
    assert np.any(one != other)


def test_priors_are_chosen_with_the_factor_of_bandwidths_for_each_class():
    X, y = load_iris(return_X_y=True)
    model = CauchySchwarzClassifier("cv_per_class", bandwidth_grid=[0.2, 0.4, 0.8], scale=None).fit(X[::3], y[::3])
    assert len(model.cv_results_["params"]) == 6 and model.priors_ in ("equal", "shares")


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_gaps_are_completed_for_bandwidths_of_each_class(make):
    X, y = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    assert make("cv_per_class").fit(X[::3], y[::3]).score(X[::3], y[::3]) > 0.8


def test_a_class_of_a_different_spread_is_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 5)), 3 * rng.normal(size=(200, 5))])
    y = np.repeat([0, 1], 200)
    own, common = (ParzenClassifier(h, scale=None).fit(X[::2], y[::2]) for h in ("cv_per_class", "cv"))
    assert own.score(X[1::2], y[1::2]) > common.score(X[1::2], y[1::2]) + 0.02
    assert own.bandwidth_[1] / own.bandwidth_[0] == pytest.approx(3, rel=0.1)
