"""The tuner: samples, folds, ties, and results in scikit-learn's layout."""

import joblib
import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier, ParzenDensity, PerTurboClassifier
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning import (
    Scored,
    best_candidate,
    candidate_bandwidths,
    draw_sample,
    has_spread,
    reference_bandwidth,
    ridge_grid,
    search,
)
from spectralcls._tuning.grids import median
from spectralcls._tuning.temperature import softmax
from spectralcls._utils.copies import copies_of
from spectralcls.kernels import silverman_bandwidth


@pytest.fixture
def data():
    X, y = load_iris(return_X_y=True)
    rows = np.unique(X, axis=0, return_index=True)[1]
    return TrainingData(X[rows], y[rows], np.unique(y), None, None)


def test_the_results_are_those_of_a_grid_search(data):
    """A family of scikit-learn's own: nearest neighbors, refitted by the function that scores the candidates."""
    folds = np.random.default_rng(0).permutation(len(data.X)) % 3
    grid = {"n_neighbors": [1, 5, 20], "p": [1, 2]}

    def score(sample, n_neighbors, p):
        right = np.empty((len(sample.X), len(n_neighbors), len(p)), dtype=bool)
        for train, test in sample.splits():
            for i, k in enumerate(n_neighbors):
                for j, power in enumerate(p):
                    model = KNeighborsClassifier(k, p=power).fit(sample.X[train], sample.codes[train])
                    right[test, i, j] = model.predict(sample.X[test]) == sample.codes[test]
        return sample.accuracies(right)

    splitter = PredefinedSplit(folds)
    sample = draw_sample(data._replace(y=data.codes), cv=splitter, max_samples=None, random_state=0)
    found = search(sample, grid, score)
    expected = GridSearchCV(KNeighborsClassifier(), grid, cv=splitter).fit(data.X, data.codes).cv_results_
    ours = {tuple(sorted(params.items())): row for row, params in enumerate(found.cv_results["params"])}
    rows = [ours[tuple(sorted(params.items()))] for params in expected["params"]]
    assert sorted(rows) == list(range(6))
    for name in ("split0_test_score", "split1_test_score", "split2_test_score"):
        assert_allclose(found.cv_results[name][rows], expected[name])
    assert set(found.cv_results) == {name for name in expected if "time" not in name}
    sizes = np.bincount(folds)  # ours weighs the splits by their points
    by_split = np.stack([expected[f"split{k}_test_score"] for k in range(3)])
    assert_allclose(found.cv_results["mean_test_score"][rows], sizes @ by_split / sizes.sum())
    best = found.cv_results["mean_test_score"] == found.scores.max()
    assert_array_equal(found.cv_results["rank_test_score"] == 1, best)
    assert found.scores[found.index] == found.scores.max()
    assert found.params == {name: grid[name][i] for name, i in zip(grid, found.index, strict=True)}


def test_results_are_plain_arrays_that_a_cache_can_tell_apart(data, tmp_path):
    """joblib hashes no masked arrays of numbers, and so could not cache a function of a tuned estimator."""
    candidates = {"bandwidth": np.array([0.5, 1.0]), "degree": [0, 1]}
    sample = draw_sample(data, cv=3, max_samples=None, random_state=0)
    found = search(sample, candidates, lambda sample, bandwidth, degree: np.ones((3, 2, 2))).cv_results
    assert {type(column) for column in found.values()} == {np.ndarray, list}
    assert joblib.hash(found) == joblib.hash(found)
    X, y = load_iris(return_X_y=True)
    count = joblib.Memory(tmp_path, verbose=0).cache(lambda model: model.n_features_in_)
    assert count(ParzenClassifier().fit(X, y)) == 4


def test_a_candidate_without_a_score_never_wins_and_ranks_last(data):
    sample = draw_sample(data, cv=5, max_samples=None, random_state=0)
    table = np.tile([np.nan, 0.5, 0.7, 0.7, 0.7, np.nan], (5, 1))
    table[0, 1] = np.nan
    found = search(sample, {"alpha": np.arange(6)}, lambda sample, alpha: table)
    assert found.params == {"alpha": 3}
    assert_array_equal(np.isnan(found.cv_results["mean_test_score"]), [True, True, False, False, False, True])
    assert_array_equal(found.cv_results["rank_test_score"], [4, 4, 1, 1, 1, 4])
    nothing = search(sample, {"alpha": np.arange(6)}, lambda sample, alpha: np.full((5, 6), np.nan))
    assert nothing.params == {"alpha": 2}


def test_one_point_at_a_time_is_one_split(data):
    sample = draw_sample(data, cv="loo", max_samples=None, random_state=0)
    right = np.random.default_rng(0).random((len(sample.X), 2)) < [0.5, 0.9]
    found = search(sample, {"alpha": [1, 2]}, lambda sample, alpha: sample.accuracies(right))
    assert_allclose(found.scores, right.mean(axis=0))
    assert_allclose(found.cv_results["std_test_score"], right.std(axis=0))
    assert len(list(sample.splits())) == len(sample.X)
    assert all(test.sum() == 1 and train.sum() == len(train) - 1 for train, test in sample.splits())


def test_bandwidths_grow_for_a_part_of_the_points_alone(data):
    seen = []

    def score(sample, bandwidth, alpha):
        seen.append((bandwidth, alpha))
        return np.zeros((len(sample.fold_weights), 2, 1))

    sizes = len(data.X), 50
    for against_all in (False, True):
        sample = draw_sample(data, cv=3, max_samples=50, random_state=0, against_all=against_all)
        assert sample.n_samples == 50 and len(sample.X) == (sizes[0] if against_all else 50)
        search(sample, {"bandwidth": [1.0, 2.0], "alpha": [7.0]}, score)
    assert_allclose(seen[0][0], np.array([1, 2]) * (sizes[0] / sizes[1]) ** (1 / 8))
    assert_allclose(seen[1][0], [1, 2])
    assert seen[0][1] == seen[1][1] == [7.0]


def test_copies_are_one_point_of_greater_weight():
    """But in a place where classes overlap each of them is a sample."""
    X, codes = np.array([[0.0], [0.0], [3.0], [1.0], [2.0], [2.0]]), np.array([0, 0, 1, 1, 0, 0])
    weights = np.array([1.0, 3.0, 1.0, 1.0, 2.0, 2.0])
    data = TrainingData(X, codes, np.array([0, 1]), weights, None)
    sample = draw_sample(data, cv=2, max_samples=None, random_state=0)
    order = np.lexsort((sample.X[:, 0], sample.codes))
    assert_array_equal(sample.X[order, 0], [0, 2, 1, 3])
    assert_allclose(sample.weights[order] / sample.weights[order][2], [4, 4, 1, 1])
    assert_allclose(sample.fold_weights.sum(), sample.weights.sum())
    overlapping = draw_sample(data._replace(X=np.where(X == 3, 0.0, X)), cv=2, max_samples=None, random_state=0)
    assert_array_equal(np.sort(overlapping.X[:, 0]), [0, 0, 0, 1, 2])


def test_data_without_spread_have_the_bandwidth_one(data):
    flat = TrainingData(np.ones((6, 2)), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1]), None, None)
    assert not has_spread(flat.X) and has_spread(data.X)
    assert reference_bandwidth("silverman", flat.X, None, 1) == 1.0
    assert_array_equal(reference_bandwidth("silverman_per_class", flat.X, flat.codes, 2), [1, 1])
    assert_array_equal(candidate_bandwidths(None, flat), [1.0])
    half = np.where(data.codes[:, None] == 0, 5.0, data.X)  # one class without spread gets the pooled value
    found = reference_bandwidth("silverman_per_class", half, data.codes, 3)
    assert found[0] == silverman_bandwidth(half) != found[1] == silverman_bandwidth(half[data.codes == 1])


@pytest.mark.parametrize("cv", [[1, [2, 3]], np.array([1 + 2j] * 4), [([0], [1], [2])]])
def test_splits_that_are_no_pairs_are_refused(cv):
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(ValueError, match="cv must give pairs, the training and the test rows"):
        ParzenClassifier(cv=cv).fit(X, y)


@pytest.mark.parametrize("rows", [[0.0, 1.0], [0, 99], [-1, 0], ["a", "b"], [True] * 8, [None, 1]])
def test_splits_of_what_is_no_row_are_refused(rows):
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(ValueError, match="cv must give rows by their positions, integers from 0 to 7; in split 0"):
        ParzenClassifier(cv=[(rows, [2, 3]), ([2, 3], rows)]).fit(X, y)


@pytest.mark.parametrize(
    "best, at_end", [(0.0, None), (7.0, None), (-6.0, None), (40.0, "largest"), (-40.0, "smallest")]
)
def test_a_grid_grows_towards_the_winner(data, best, at_end):
    """Candidates 2^-2 ... 2^2, scored by how near their logarithm comes to a given one."""
    sample = draw_sample(data, cv=5, max_samples=None, random_state=0)
    asked = []

    def score(sample, alpha, bandwidth):
        asked.extend(bandwidth)
        by_bandwidth = -np.abs(np.log2(bandwidth / sample.bandwidth_ratio) - best)
        return np.tile(by_bandwidth + np.array([[0.0], [1.0]]), (5, 1, 1))

    grid = {"alpha": [1, 2], "bandwidth": 2.0 ** np.arange(-2, 3)}
    found = search(sample, grid, score, growing="bandwidth")
    tried = found.cv_results["param_bandwidth"][: found.scores.shape[1]]
    assert_allclose(np.diff(np.log2(tried)), 1.0)
    assert len(set(asked)) == len(asked) == len(tried)  # none is scored twice
    expected = np.clip(best, -10.0, 10.0)
    assert_allclose(np.log2(found.params["bandwidth"]), expected)
    assert found.params["alpha"] == 2 and found.at_end == at_end
    kept = search(sample, grid, score)
    assert len(kept.cv_results["params"]) == 10 and kept.at_end is None


def test_an_end_that_is_no_better_than_its_neighbor_is_no_end(data):
    sample = draw_sample(data, cv=5, max_samples=None, random_state=0)
    found = search(
        sample,
        {"bandwidth": 2.0 ** np.arange(5)},
        lambda sample, bandwidth: np.ones((5, len(bandwidth))),
        growing="bandwidth",
    )
    assert found.at_end is None


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (ParzenClassifier, " or scoring="),
        (PerTurboClassifier, " or scoring="),
        (KernelRidgeClassifier, " gives"),
        (AutoClassifier, " gives"),
    ],
)
def test_one_class_for_all_held_out_samples_is_warned_of(make, advice):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) < 6
    with pytest.warns(UserWarning, match=f'{make.__name__} predicts the same class.*class_weight="balanced"{advice}'):
        make().fit(X, y)


def test_a_bandwidth_at_the_end_of_all_that_were_tried_is_warned_of():
    """A point and its double a hair beside it: clusters of two."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    X = np.vstack([X, X + 1e-5])
    with pytest.warns(UserWarning, match="best bandwidth is the smallest of those tried, from"):
        ParzenDensity().fit(X)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1001, 5000])
def test_shorter_ways_have_the_bits_of_the_longer_ones(n):
    values = np.random.default_rng(n).normal(size=(n, 3))
    assert median(values[:, 0]) == np.median(values[:, 0])
    assert median(np.round(values[:, 0])) == np.median(np.round(values[:, 0]))
    assert_array_equal(softmax(100 * values), scipy.special.softmax(100 * values, axis=1))


def test_parts_of_an_estimator_do_not_warn():
    """The warning would name a class that nobody asked for: the vote has its own."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.arange(120) < 4
    with pytest.warns(UserWarning) as said:
        AutoClassifier().fit(X, y)
    assert [str(warning.message).split()[0] for warning in said] == ["AutoClassifier"]


def test_weights_of_a_sample_are_those_given_but_for_a_power_of_two(data):
    weights = np.random.default_rng(0).uniform(0.1, 9, len(data.X))
    sample = draw_sample(data._replace(weights=weights), cv=5, max_samples=None, random_state=0)
    assert sample.weight_scale == 16.0 and 0.5 <= sample.weights.max() < 1
    assert_array_equal(np.sort(sample.weights * sample.weight_scale), np.sort(weights))


def test_ridges_are_evenly_spaced_in_the_logarithm_and_are_what_is_written():
    assert ridge_grid(-6, 0) == (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0)
    assert ridge_grid(-2, 0.5, step=0.5) == (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    assert repr(ridge_grid(-3, 0, step=1.5)) == "(0.001, 0.03, 1.0)"


def test_rows_that_are_each_other_s_mirror_image_do_not_part_copies():
    """On a lattice nothing tells the columns apart, and (a, b) has the key of (b, a)."""
    X = np.random.default_rng(0).integers(0, 4, (200, 2)).astype(float)
    first, group = copies_of(X, np.zeros(200, dtype=int))
    assert len(first) == len(np.unique(X, axis=0))
    assert_array_equal(X[first][group], X)


@pytest.mark.parametrize("light, tied", [(0.22, True), (0.28, False)])
def test_scores_nearly_tie_within_half_a_standard_error_of_at_least_half_a_point(data, light, tied):
    """All points are right at the first candidate. That its error is zero nobody knows: a quarter of a usual point."""
    weights = np.ones(len(data.X))
    weights[7] = light
    sample = draw_sample(data._replace(weights=weights), cv="loo", max_samples=None, random_state=0)
    right = np.ones((len(sample.X), 2))
    right[sample.weights.argmin(), 1] = 0
    found = search(
        sample,
        {"alpha": [1, 2]},
        lambda sample, alpha: Scored(sample.accuracies(right), tie_score=lambda index: index[0]),
    )
    assert (found.params["alpha"] == 2) == tied


@pytest.mark.parametrize("factor, tied", [(0.9, True), (1.1, False)])
def test_scores_nearly_tie_within_half_a_standard_error(data, factor, tied):
    n = len(data.X)
    sample = draw_sample(data, cv="loo", max_samples=None, random_state=0)
    share = 0.8 - np.array([0, factor * np.sqrt(0.8 * 0.2 / n) / 2])
    scored = Scored(share[None], tie_score=lambda index: index[0])
    found = search(sample, {"alpha": [1, 2]}, lambda sample, alpha: scored)
    assert (found.params["alpha"] == 2) == tied


@pytest.mark.parametrize("apart, tied", [(0.8e-9, True), (1.2e-9, False)])
def test_scores_that_differ_by_rounding_are_tied(apart, tied):
    assert best_candidate([1 - apart, 1.0]) == (0 if tied else 1,)
