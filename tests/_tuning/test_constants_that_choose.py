"""Constants that decide: each test names the effect for which the value was chosen, and fails at half and at twice it.
Constants with a longer story are tested where their subject is."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import binom, norm
from sklearn.ensemble import HistGradientBoostingClassifier

import spectralcls as sc
from spectralcls._expansion import tree_cells
from spectralcls._expansion.tree_cells import TreeCells
from spectralcls._inputs.completion import Completion
from spectralcls._tuning.dimension import NeighborGraphs
from spectralcls.ccdr._eigenmap import constrained_eigenmap
from spectralcls.density._shares import _without_noise
from spectralcls.ensemble import _trees
from spectralcls.ensemble._blend import learn_blend
from spectralcls.ensemble._budget import Clock, next_ensemble
from spectralcls.ensemble._ensemble import _with_grown_members
from spectralcls.ensemble._loss import Loss
from spectralcls.ensemble._members import Member
from spectralcls.ensemble._target_map import TargetMap, residual_quantiles
from spectralcls.kernels import PackedPoints


@pytest.mark.parametrize(("rest", "kept"), [(0.7e-6, 0), (1.5e-6, 1)])
def test_a_direction_that_eq_20_would_amplify_a_million_times_is_dropped(rest, kept):
    """Two points with loops: 1 - lambda is (loop - edge) / (loop + edge)."""
    G = csr_array([[1 + rest, 1 - rest], [1 - rest, 1 + rest]])
    found = constrained_eigenmap(G, n_classes=0, n_components=1)
    assert len(found.eigenvalues) == kept
    assert_allclose(1 - found.eigenvalues, [rest] * kept, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_that_bound_changes_exceed_the_true_ones_by_ten_times_the_error_of_float32(dtype):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(60, 2)).astype(dtype), rng.normal(size=(9, 2)).astype(dtype)
    y = np.arange(60) % 3
    left_out = sc.ParzenClassifier(bandwidth=0.8, scale=None).fit(X, y)._leave_one_out()
    found = np.exp(left_out._sums(Q)[..., -1] - left_out._least)
    k = np.exp(-((Q[:, None].astype(float) - X) ** 2).sum(axis=2) / (2 * 0.8**2))
    exact = k @ (left_out.weights * np.exp(-left_out.own) * np.eye(3)[y].T).T
    assert_allclose(found / exact - 1, 1e-4, rtol=0.3)


@pytest.mark.parametrize("k", [4, 10, 30])
def test_one_point_in_a_hundred_thousand_finds_too_few_of_its_known_neighbors_in_a_subsample(k):
    X = np.random.default_rng(0).normal(size=(800, 2))
    graphs = NeighborGraphs.of(X, k, 400, None)
    assert 1e-7 < binom.cdf(k - 1, graphs.distances.shape[1], 0.5) < 1e-4


def test_numbers_that_differ_by_rounding_are_equal():
    step = 2.0**-26
    X = np.array([[1.0], [1.0 + 0.45 * step], [1.0 + 0.9 * step]])
    assert_array_equal(_without_noise(X, np.ones(1)), [[1.0], [1.0], [1.0 + step]])


def test_residuals_of_a_millionth_weigh_no_more_than_a_zero():
    weights = Loss("absolute").importance(np.array([[0.0], [0.7e-6], [1.4e-6]]))
    assert_allclose(weights[:, 0], [1e6, 1e6, 1e6 / 1.4])


def test_a_mean_over_quantiles_of_residuals_is_a_mean_over_the_residuals():
    """To one and a half per cent for the exponential of normal residuals: the tail beyond the last quantile."""
    residuals = norm.ppf((np.arange(20_000) + 0.5) / 20_000)[:, None]
    found = np.exp(residual_quantiles(residuals)).mean() / np.exp(residuals).mean()
    assert 0.01 < 1 - found < 0.018


def test_a_time_budget_begins_with_two_hundred_points():
    first = [next_ensemble(10_000, [], [], Clock(60.0), n_classes=c)[0] for c in (2, 100)]
    assert first == [200, 400]


@pytest.mark.parametrize(("excess", "shares"), [(1.12, True), (1.35, False)])
def test_a_member_with_a_fifth_more_loss_shares_half_of_the_weight(excess, shares):
    """The better one alone has the least loss if the errors of the other are a multiple of its own."""
    rng = np.random.default_rng(0)
    truth, error = rng.normal(size=(400, 1)), 0.2 * rng.normal(size=(400, 1))
    map = TargetMap.of("none", truth, None)
    blend = learn_blend([map.to(truth + error), map.to(truth + np.sqrt(excess) * error)], truth, map, "squared")
    assert (blend.weights[1] > 0.2) == shares


@pytest.mark.parametrize(
    ("large", "weight", "loss", "tried"),
    [(True, 0.0, 1.15, True), (True, 1.0, 1.4, False), (False, 0.4, 9.0, True), (False, 0.2, 1.0, False)],
)
def test_trees_are_grown_if_they_are_about_as_good_as_the_vote_or_carry_it(large, weight, loss, tried):
    """With many points their loss decides, with few their weight: few trees may have no weight where grown ones do."""

    class Fitting:
        seconds, fitted = {"trees": 0.0}, []

        def fit(self, member, unseen):
            self.fitted.append(member.name)

        def said(self, member, X):
            return np.zeros((len(X), 2))

    class Points:
        X, width = np.zeros((6, 1)), 2

        def take(self, rows):
            return self

        def vote(self, said):
            return SimpleNamespace(weights=[weight] * len(said), losses=[loss] * len(said), loss=1.0)

    trees, fitting = Member("trees", "as given", None, grown=Member("grown", "as given", None)), Fitting()
    fitting.large, fitting.fitted = large, []
    judged = np.ones(6, dtype=bool)
    _with_grown_members([trees], [fitting], [judged], {"trees": np.zeros((6, 2))}, judged, Points(), Clock(None), 1.0)
    assert fitting.fitted == ["grown"] * tried


class _Stopped(Exception):
    """Carries the parameters of a fit that did not take place."""


@pytest.fixture
def asked(monkeypatch):
    """A function of a number of classes that returns the parameters with which grown trees ask for boosting."""

    class Boosting(_trees._Boosting):
        def fit(self, *training):
            raise _Stopped(self.get_params())

    monkeypatch.setattr(_trees, "_Boosting", Boosting)

    def of(n_classes):
        y = np.arange(2 * n_classes) % n_classes
        with pytest.raises(_Stopped) as found:
            _trees.GrownTrees().fit(y[:, None].astype(float), y)
        return found.value.args[0]

    return of


def test_grown_trees_begin_with_the_defaults_of_boosting(asked):
    """Up to some 30 classes; with more, fewer iterations, in each of which the step is larger."""
    expected = HistGradientBoostingClassifier().get_params()
    for n_classes in (2, 3, 25):
        found = asked(n_classes)
        for name in ("max_iter", "learning_rate", "max_leaf_nodes"):
            assert found[name] == expected[name]
    found = asked(40)
    assert 60 < found["max_iter"] < 100
    assert_allclose(found["max_iter"] * found["learning_rate"], 10)


@pytest.mark.parametrize(("n_labels", "fits"), [(2**31 - 1, True), (2**31, False)])
def test_labels_are_counted_in_an_int(n_labels, fits):
    points = {"X": np.zeros((3, 1)), "labels": np.arange(3), "n_labels": n_labels}
    if fits:
        assert PackedPoints(**points).n_labels == n_labels
    else:
        with pytest.raises(ValueError, match=f"n_labels .* {np.iinfo(np.int32).max}"):
            PackedPoints(**points)


def test_the_bandwidth_of_completion_is_half_the_distance_of_a_twentieth_of_the_pairs():
    """On 20 tables a tenth and a fifth of the pairs give 1 % less error, a fortieth gives 2 % more."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    reach = 2 * Completion.learned(X, np.zeros(400, dtype=int)).width
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(400, 1)]
    assert 0.035 < np.mean(distances < reach) < 0.07


def test_the_mean_of_a_class_completes_what_is_far_from_all_donors():
    """It weighs as much as kernels of 1e-5, at a distance of 4.8 bandwidths."""
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    completion = Completion.learned(np.column_stack([x, x + y]), np.zeros(100, dtype=int))
    far = x.max() + completion.width * np.arange(2.0, 6.0)
    kernels = np.exp(-(((far[:, None] - x) / completion.width) ** 2) / 2)
    expected = (kernels @ (x + y) + 1e-5 * (x + y).sum()) / (kernels.sum(axis=1) + 1e-5 * 100)
    filled = completion.of_class(np.column_stack([far, np.full(4, np.nan)]), 0)[0]
    np.testing.assert_allclose(filled[:, 1], expected, rtol=1e-9)


def test_a_few_hundred_points_tell_the_directions_of_cells(monkeypatch):
    """The cells are as small as if all points had been asked."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40)) / np.arange(1, 41)

    def spread(seed):
        parts = TreeCells.of(X, 200, np.random.RandomState(seed)).parts
        return sum(np.square(X[part] - X[part].mean(axis=0)).sum() for part in parts)

    some = np.mean([spread(seed) for seed in range(8)])
    monkeypatch.setattr(tree_cells, "_SEEN", 3000)
    assert_allclose(some, np.mean([spread(seed) for seed in range(8)]), rtol=0.03)
