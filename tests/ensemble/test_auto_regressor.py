"""The vote of regressions: its weights against a slow search, transformations of the target, intervals, bad input."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor

from spectralcls import AutoClassifier, AutoRegressor, KernelRidgeRegressor, load, save
from spectralcls.ensemble._blend import NEAR, UNIFORM, learn_blend
from spectralcls.ensemble._budget import Clock
from spectralcls.ensemble._loss import Loss
from spectralcls.ensemble._members import OF_NUMBERS, members_for
from spectralcls.ensemble._target_map import TargetMap, chosen_map
from spectralcls.ensemble._trees import BoostedRegression

RNG = np.random.default_rng(0)


def problem(n=200, m=300, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + m, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n + m)
    return X[:n], y[:n], X[n:], y[n:]


def plain(y):
    return TargetMap.of("none", y[:, None], None)


@pytest.mark.parametrize("noise", [(0.3, 0.5), (0.3, 0.31)], ids=["one is better", "nearly alike"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_weights_are_those_of_a_grid(loss, noise):
    """But for the equal share of all that are near the best, they have the least loss of those that add up to one."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    said = [truth + s * rng.normal(size=400) for s in noise]
    map = plain(truth)
    blend = learn_blend([map.to(p[:, None]) for p in said], truth[:, None], map, loss)
    errors = [map.to(truth[:, None]) - map.to(p[:, None]) for p in said]
    judged = min((Loss.of(loss, own) for own in errors), key=lambda found: found.elbow)
    steps = np.linspace(0, 1, 101)
    prior = map.to(truth[:, None]) - blend.prior
    losses = {
        (a, b): judged(a * errors[0] + b * errors[1] + (1 - a - b) * prior).mean()
        for a, b in product(steps, steps)
        if a + b <= 1 + 1e-12
    }
    best = np.array(min(losses, key=losses.get))
    near = np.array(blend.losses) <= NEAR * min(blend.losses)
    assert near.all() == (noise[1] < 0.5)
    expected = (1 - UNIFORM) * best + UNIFORM * best.sum() * near / near.sum()
    assert_allclose(blend.weights, expected, atol=0.012)
    assert_allclose(blend.weights.sum() + blend.prior_weight, 1)
    assert max(blend.losses) < 1


def test_members_worse_than_the_mean_leave_everything_to_it():
    truth = RNG.normal(size=(100, 1))
    map = TargetMap.of("none", truth, None)
    blend = learn_blend([5 * RNG.normal(size=(100, 1)) for _ in range(2)], truth, map, "squared")
    assert blend.prior_weight == 1 and not blend.weights.any() and blend.loss == 1
    assert_allclose(blend([np.ones((3, 1))] * 2), truth.mean())


def test_weights_of_rows_are_copies():
    truth, counts = RNG.normal(size=(60, 1)), RNG.integers(1, 4, 60)
    said = [truth + s * RNG.normal(size=(60, 1)) for s in (0.5, 0.7)]
    repeated = np.repeat(truth, counts, axis=0)
    weighted = learn_blend(said, truth, TargetMap.of("none", truth, counts.astype(float)), "squared", counts)
    copies = learn_blend(
        [np.repeat(p, counts, axis=0) for p in said], repeated, TargetMap.of("none", repeated, None), "squared"
    )
    assert_allclose(weighted.weights, copies.weights, rtol=1e-6)


@pytest.mark.parametrize("kind", ["none", "log", "ranks"])
def test_a_transformation_comes_back(kind):
    y = np.exp(RNG.normal(size=(80, 2)))
    found = TargetMap.of(kind, y, None)
    assert_allclose(found.back(found.to(y)), y, rtol=1e-9)
    assert_allclose(found.to(y).mean(axis=0), 0, atol=1e-12)


def test_the_mean_of_a_transformed_target_is_that_of_its_residuals():
    """A logarithm with normal residuals of deviation s: the mean is exp(s^2 / 2) times the median."""
    noise = RNG.normal(size=(20_000, 1))
    y = np.exp(noise)
    found = TargetMap.of("log", y, None)
    blend = learn_blend([np.zeros((20_000, 1))], y, found, "squared")
    said = found.to(np.ones((1, 1)))  # predicts the median
    assert_allclose(found.back(said, blend.smear), np.exp(0.5), rtol=0.03)
    assert_allclose(found.back(said), 1)


def test_a_transformation_is_chosen_where_it_is_clearly_better():
    """Few large targets decide about squared errors, but not about densities."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(400, 3))
    linear = Z.sum(axis=1, keepdims=True) * 2 / np.sqrt(3)
    growing = np.exp(linear + 0.5 * rng.normal(size=(400, 1)))
    for y, loss, expected in (
        (growing, "absolute", "log"),
        (growing, "squared", "log"),
        (-growing, "absolute", "ranks"),
        (10 + linear, "absolute", "none"),
        (10 + linear, "squared", "none"),
    ):
        assert chosen_map(Z, y, None, loss, np.random.RandomState(0)).kind == expected


def boosted(iterations, leaves=8):
    options = {"learning_rate": 0.07, "max_leaf_nodes": leaves, "min_samples_leaf": 4, "max_features": 0.3}
    return HistGradientBoostingRegressor(max_iter=iterations, early_stopping=False, random_state=0, **options)


def by_correlation(X, y):
    """The order of columns in which the trees see them, whatever the given order is."""
    return np.argsort(np.corrcoef(X.T, y)[-1, :-1])


def test_boosted_trees_are_those_of_scikit_learn():
    X, y, Q, _ = problem()
    columns, of_squares = by_correlation(X, y), by_correlation(X, y**2)
    expected = boosted(200).fit(X[:, columns], y).predict(Q[:, columns])
    squares = boosted(150).fit(X[:, of_squares], y**2).predict(Q[:, of_squares])
    assert_allclose(BoostedRegression().fit(X, y).predict(Q)[:, 0], expected, rtol=1e-12, atol=1e-14)
    larger = boosted(200, 31).fit(X[:, columns], y).predict(Q[:, columns])
    assert_allclose(BoostedRegression(leaves=31).fit(X, y).predict(Q)[:, 0], larger, rtol=1e-12, atol=1e-14)
    both = BoostedRegression([200, 150]).fit(X, np.column_stack([y, y**2]))
    assert_allclose(both.predict(Q), np.column_stack([expected, squares]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_boosted_trees_grow_until_the_loss_on_unseen_points_stops_falling(noise):
    X, y, Q, truth = problem(noise=noise)
    weights = RNG.integers(1, 3, len(Q)).astype(float)
    columns = by_correlation(X, y)
    X, Q = X[:, columns], Q[:, columns]
    model = BoostedRegression().fit(X, y, unseen=(Q, truth, weights))
    grown = boosted(800).fit(X, y)
    errors = [np.average((p - truth) ** 2, weights=weights) for p in grown.staged_predict(Q)]
    assert (model.iterations_[0] > 200) == (noise == 0)
    some = 100 * 2 ** np.ceil(np.log2(model.iterations_[0] / 75)).astype(int)  # how far it was looked
    assert model.iterations_ == [np.argmin(errors[:some]) + 1]
    assert_allclose(model.predict(Q)[:, 0], list(grown.staged_predict(Q))[model.iterations_[0] - 1], rtol=1e-12)


def test_the_boosted_member_grows_as_far_as_in_the_mean_of_the_parts(monkeypatch):
    X, y, _, _ = problem(300)
    reached, fit = [], BoostedRegression.fit

    def fitted(self, *args, **kwargs):
        fit(self, *args, **kwargs)
        reached.append(self.iterations_[0])
        return self

    monkeypatch.setattr(BoostedRegression, "fit", fitted)
    AutoRegressor().fit(X, y)
    assert len(reached) == 4 and len(set(reached[:3])) > 1
    assert reached[3] == np.round(np.mean(reached[:3]))


def test_the_vote_is_at_least_as_good_as_its_members():
    X, y, Q, truth = problem()
    model = AutoRegressor().fit(X, y)
    members = {name: member.score(Q, truth) for name, member in model.members_}
    assert model.score(Q, truth) > max(members.values()) - 0.02 and model.score(Q, truth) > 0.85
    assert len(members) == 6 and model.loss_ < 1.05 * model.losses_.min()
    assert "vote of ridge" in model.summary_ and "of the mean's on 200 unseen points" in repr(model)


@pytest.mark.parametrize("exponent", [-900, 900])
def test_units_of_the_target_change_no_bit(exponent):
    X, y, Q, _ = problem(60, 20)
    y = np.round(1024 * y)
    expected = AutoRegressor().fit(X, y).predict(Q)
    assert_array_equal(AutoRegressor().fit(X, np.ldexp(y, exponent)).predict(Q), np.ldexp(expected, exponent))


def test_several_outputs_more_than_rows_and_a_constant():
    X, y, Q, _ = problem(40, 10)
    both = AutoRegressor().fit(X, np.column_stack([y, y**2]))
    assert both.predict(Q).shape == (10, 2) and both.predict_interval(Q).shape == (10, 2, 2)
    assert AutoRegressor().fit(X[:6], RNG.normal(size=(6, 8))).predict(Q).shape == (10, 8)
    with pytest.warns(UserWarning, match="y is 0.1 for all samples, and so is every prediction"):
        assert_allclose(AutoRegressor().fit(X, np.full(40, 0.1)).predict(Q), 0.1)


def test_frames_with_categories_and_gaps():
    X, y, Q, _ = problem(120, 30)
    frame = pd.DataFrame(np.vstack([X, Q]), columns=list("abc"))
    frame["kind"] = pd.Categorical(np.where(np.arange(150) % 2, "x", "y"))
    frame.loc[::7, "b"] = np.nan
    shifted = y + 3 * (np.arange(120) % 2)
    model = AutoRegressor().fit(frame[:120], shifted)
    assert model.score(frame[:120], shifted) > 0.9
    assert np.isfinite(model.predict(frame[120:])).all()


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, AutoRegressor])
def test_intervals_hold_the_targets_and_widen_where_the_targets_scatter(cls):
    hits, ratios = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(700, 2))
        mean, scale = 3 * X[:, 0], 0.1 + 0.5 * (X[:, 0] > 0)
        y = mean + scale * rng.normal(size=700)
        low, high = cls().fit(X[:300], y[:300]).predict_interval(X[300:], coverage=0.8).T
        hits.append(np.mean((low <= y[300:]) & (y[300:] <= high)))
        wide = (high - low)[X[300:, 0] > 0.2].mean()
        ratios.append(wide / (high - low)[X[300:, 0] < -0.2].mean())
    assert abs(np.mean(hits) - 0.8) < 0.04
    assert np.mean(ratios) > 1.5


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, AutoRegressor])
def test_intervals_of_one_width_where_the_targets_scatter_alike(cls):
    X, _, Q, _ = problem(400, 100)
    model = cls().fit(X, X[:, 0] + RNG.normal(size=400))
    low, high = model.predict_interval(Q).T
    predicted = model.predict(Q)
    assert ((low <= predicted) & (predicted <= high)).all()
    assert np.std(high - low) < 0.1 * np.mean(high - low)


def lognormal(n, seed, spread=1.5, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.exp(spread * (0.8 * X[:, 0] + 0.6 * X[:, 1]) + noise * rng.normal(size=n))


@pytest.mark.parametrize("spread, noise", [(1.5, 0.3), (3.0, 0.5), (0.7, 0.2)])
def test_prices_are_learned_as_logarithms(spread, noise):
    """Predictions and ends are positive, levels and coverage right, for dear ones too."""
    X, y = lognormal(300, 1, spread, noise)
    Q, truth = lognormal(2000, 2, spread, noise)
    model = AutoRegressor().fit(X, y)
    assert model.transformation_ == "log"
    predicted, (low, high) = model.predict(Q), model.predict_interval(Q).T
    assert (low > 0).all() and ((low <= predicted) & (predicted <= high)).all()
    dear = predicted > np.quantile(predicted, 0.9)
    inside = (low <= truth) & (truth <= high)
    assert abs(inside.mean() - 0.9) < 0.04 and inside[dear].mean() > 0.75
    levels = np.mean(truth[:, None] <= model.predict_quantile(Q, [0.25, 0.5, 0.75]), axis=0)
    assert np.abs(levels - [0.25, 0.5, 0.75]).max() < 0.08


def test_a_density_is_that_of_laplace_in_either_scale():
    y, predicted = np.exp(RNG.normal(size=(50, 1))), RNG.normal(size=(50, 1))
    for kind in ("none", "log"):
        found = TargetMap.of(kind, y, None)
        b = np.abs(found.to(y) - predicted).mean()
        slope = (found.to(y * (1 + 1e-6)) - found.to(y * (1 - 1e-6))) / (2e-6 * y)
        density = np.exp(-np.abs(found.to(y) - predicted) / b) / (2 * b) * slope
        assert_allclose(found.log_loss(predicted, y, None), -np.log(2 * density[:, 0]), rtol=1e-5, atol=1e-5)


def test_half_of_the_targets_lie_below_predictions_for_the_absolute_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3500, 3))
    y = 3 * X[:, 0] + rng.lognormal(size=3500)
    below = np.mean(y[500:] < AutoRegressor(loss="absolute").fit(X[:500], y[:500]).predict(X[500:]))
    assert abs(below - 0.5) < 0.06


@pytest.mark.parametrize("cls, ask", [(AutoRegressor, "predict_interval"), (AutoClassifier, "predict_set")])
def test_a_vote_from_a_file_has_the_intervals_and_sets_that_it_had(cls, ask, tmp_path):
    X, y, Q, _ = problem(60, 10)
    model = cls().fit(X, y if cls is AutoRegressor else (y > 0).astype(int))
    save(model, tmp_path / "m.skops")
    assert_array_equal(getattr(load(tmp_path / "m.skops"), ask)(Q), getattr(model, ask)(Q))


def test_intervals_of_a_wrong_coverage_are_refused():
    X, y, Q, _ = problem(60, 5)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1, got 1.5"):
        AutoRegressor().fit(X, y).predict_interval(Q, coverage=1.5)


def test_members_by_the_number_of_points():
    assert members_for(100_000, OF_NUMBERS)[1] == []
    assert members_for(1_000_000, OF_NUMBERS)[1] == ["gradient metric + local means"]


@pytest.mark.parametrize("large", [False, True])
def test_many_points_grow_larger_trees(large):
    member = OF_NUMBERS[-1].make(np.zeros((9, 2)), large, {})
    assert isinstance(member, BoostedRegression) and member.leaves == (31 if large else 8)


def test_a_budget_is_said():
    X, y, Q, _ = problem(400, 50)
    with pytest.warns(UserWarning, match="time_budget=0.01 seconds did not suffice"):
        model = AutoRegressor(time_budget=0.01).fit(X, y)
    assert np.isfinite(model.predict(Q)).all()


@pytest.mark.filterwarnings("ignore:time_budget")
def test_without_time_for_any_member_noise_is_predicted_by_the_mean(monkeypatch):
    """No member learned anything, and none can be fitted to all points."""
    monkeypatch.setattr(Clock, "affords", lambda *_: False)
    X, y, Q, _ = problem(120, 20)
    noise = np.random.default_rng(3).permutation(y)
    model = AutoRegressor(time_budget=1e6).fit(X, noise)
    assert model.prior_weight_ == 1 and len(model.members_) == 1
    assert np.ptp(model.predict(Q)) == 0
