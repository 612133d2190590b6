"""Kernel ridge regression in the cells of random trees."""

import pickle

import numpy as np
import pytest

from spectralcls import KernelRidgeClassifier
from spectralcls._expansion.tree_cells import TreeCells
from spectralcls.kernels import kernel_matrix
from spectralcls.linalg.ridge import solve
from spectralcls.regression import KernelRidgeRegressor, _kernel_ridge, _local_ridge
from spectralcls.regression._kernel_ridge import KernelRidge
from spectralcls.regression._local_ridge import LocalRidge, held_out_in_cells

FORM = {"kernel": "laplace", "bandwidth": 2.0}


def grown(X, most, trees=1, seed=0):
    rng = np.random.RandomState(seed)
    return [TreeCells.of(X, most, rng) for _ in range(trees)]


def fitted(X, Y, forest, ridge=0.1, weights=None, n_jobs=1, judged=None, **form):
    weights = np.ones(len(X)) if weights is None else weights
    form = FORM | form
    return LocalRidge.of(X, Y, weights, ridge, forest, judged, n_jobs=n_jobs, step_done=lambda what: None, **form)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5)) * [3, 2, 1, 1, 0.5]
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) - [0, 4]


@pytest.fixture
def few(monkeypatch):
    """Cells for few points."""
    monkeypatch.setattr(_kernel_ridge, "MANY", 400)
    monkeypatch.setattr(_kernel_ridge, "CELL", 150)


def classes(n=900, n_classes=3, d=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return (rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(n_classes, d))[y]).astype(dtype), y


LOCALLY = {"max_exact_samples": 0}


@pytest.mark.parametrize("n", [1, 99, 100, 101, 1000, 1234])
def test_cells_are_a_partition_in_about_equal_parts(n):
    cells = grown(np.random.default_rng(0).normal(size=(n, 3)), 100)[0]
    np.testing.assert_array_equal(np.sort(np.concatenate(cells.parts)), np.arange(n))
    sizes = np.array([len(part) for part in cells.parts])
    assert len(cells) == -(-n // 100) and sizes.max() <= 100 and np.ptp(sizes) <= 4


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_training_point_lies_in_its_cell(points, offset):
    X = points[0] + offset
    cells = grown(X, 60)[0]
    found = dict(cells.of_queries(X))
    for cell, part in enumerate(cells.parts):
        np.testing.assert_array_equal(np.sort(part), found[cell])


def test_whole_numbers_are_cut_between_two_values():
    X = np.random.default_rng(0).integers(4, size=(3000, 6)).astype(float)
    X = np.unique(X, axis=0)
    cells = grown(X, 100)[0]
    found = dict(cells.of_queries(X))
    assert all(np.array_equal(np.sort(part), found[cell]) for cell, part in enumerate(cells.parts))


@pytest.mark.parametrize("n_places", [1, 2, 5])
def test_copies_are_cut_by_their_rank(n_places):
    X = np.random.default_rng(0).normal(size=(n_places, 3))[np.arange(200_000) % n_places]
    sizes = [len(part) for part in grown(X, 1000)[0].parts]
    assert max(sizes) <= 1000 and sum(sizes) == len(X)


def test_neither_rotation_nor_shift_nor_unit_changes_the_cells(points):
    X = points[0]
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    for changed in (X @ rotation, X[:, ::-1], X + 100.0, 1e-8 * X):
        for part, other in zip(grown(X, 80)[0].parts, grown(changed, 80)[0].parts, strict=True):
            assert set(part) == set(other)


def test_constant_columns_say_nothing(points):
    X = points[0]
    wide = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    for part, other in zip(grown(X, 80)[0].parts, grown(wide, 80)[0].parts, strict=True):
        assert set(part) == set(other)


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_one_cell_is_the_exact_ridge(points, kernel, ridge):
    X, Y = points
    weights = np.random.default_rng(1).uniform(0.1, 3, len(X))
    local, held_out = fitted(X, Y, grown(X, 1000), ridge, weights, kernel=kernel)
    K = kernel_matrix(X, kernel=kernel, bandwidth=2.0)
    exact = solve(K.copy(), Y, ridge, weights)
    np.testing.assert_allclose(local.values(X), K @ exact.coefficients, atol=5e-3)
    np.testing.assert_allclose(held_out, exact.held_out, atol=5e-3)


def test_a_query_is_answered_by_its_cell_alone(points):
    X, Y = points
    cells = grown(X, 150)[0]
    local, _ = fitted(X, Y, [cells])
    Q = np.random.default_rng(2).normal(size=(50, 5))
    for cell, rows in cells.of_queries(Q):
        own = cells.rows(cell)
        alone = solve(kernel_matrix(X[own], **FORM), Y[own], 0.1, np.ones(len(own))).coefficients
        np.testing.assert_allclose(local.values(Q)[rows], kernel_matrix(Q[rows], X[own], **FORM) @ alone, atol=1e-3)


def test_trees_are_averaged(points):
    X, Y = points
    forest, Q = grown(X, 150, trees=3), X[:40] + 0.1
    together, held_out = fitted(X, Y, forest)
    alone = [fitted(X, Y, [cells]) for cells in forest]
    np.testing.assert_allclose(together.values(Q), np.mean([local.values(Q) for local, _ in alone], axis=0), atol=1e-12)
    np.testing.assert_allclose(held_out, np.mean([others for _, others in alone], axis=0), atol=1e-12)


def test_a_point_left_out_is_predicted_as_by_a_fit_without_it(points):
    X, Y = (part[:300] for part in points)
    cells = grown(X, 100)[0]
    _, held_out = fitted(X, Y, [cells], ridge=1e-3)
    for i in (0, 17, 299):
        own = next(part for part in cells.parts if i in part)
        others = own[own != i]
        refit = solve(kernel_matrix(X[others], **FORM), Y[others], 1e-3, np.ones(len(others))).coefficients
        np.testing.assert_allclose(held_out[i], (kernel_matrix(X[i : i + 1], X[others], **FORM) @ refit)[0], atol=1e-8)


def test_points_that_are_not_judged_change_nothing(points):
    X, Y = points
    forest, judged = grown(X, 150, trees=2), np.array([5, 3, 600])
    all_of_them, some = fitted(X, Y, forest), fitted(X, Y, forest, judged=judged)
    np.testing.assert_allclose(some[0].values(X), all_of_them[0].values(X), atol=1e-12)
    np.testing.assert_array_equal(some[1], all_of_them[1][judged])


@pytest.mark.parametrize("wanted", [1, 3, 100])
def test_some_cells_are_spread_over_all(points, wanted):
    cells = grown(points[0], 80)[0]
    some = cells.spread(wanted)
    numbers = [next(i for i, part in enumerate(cells.parts) if np.array_equal(part, own)) for own in some]
    assert len(set(numbers)) == min(wanted, len(cells)) and numbers[0] == 0
    assert wanted == 1 or numbers[-1] == len(cells) - 1


def test_those_that_choose_are_those_of_the_fit(points):
    X, Y = points
    cells = grown(X, 150)[0]
    chosen = held_out_in_cells(X, Y, np.ones(len(X)), cells.parts[:2], [0.01, 0.1], **FORM)
    for ridge, held_out in zip([0.01, 0.1], chosen, strict=True):
        rows = np.concatenate(cells.parts[:2])
        np.testing.assert_array_equal(held_out, fitted(X, Y, [cells], ridge)[1][rows])


def test_a_weight_of_two_is_a_row_given_twice(points):
    X, Y = (part[:200] for part in points)
    weights = np.where(np.arange(200) < 50, 2.0, 1.0)
    twice = np.concatenate([np.arange(200), np.arange(50)])
    weighted = fitted(X, Y, grown(X, 1000), weights=weights)[0].values(X)
    np.testing.assert_allclose(weighted, fitted(X[twice], Y[twice], grown(X[twice], 1000))[0].values(X), atol=1e-3)


def test_hardly_any_weight_is_none(points):
    X, Y = (part[:200] for part in points)
    weights = np.where(np.arange(200) < 50, 1e-300, 1.0)
    local, held_out = fitted(X, Y, grown(X, 1000), weights=weights)
    assert np.isfinite(held_out).all()
    np.testing.assert_allclose(local.values(X), fitted(X[50:], Y[50:], grown(X[50:], 1000))[0].values(X), atol=1e-3)


def test_float32_serves_down_to_its_ridge(points):
    """Within .002 of the spread at `_SINGLE`; the Gaussian kernel with a tenth of it would not be."""
    X, Y = points
    errors = []
    for ridge in (_local_ridge._SINGLE, _local_ridge._SINGLE / 10):
        K = kernel_matrix(X, kernel="gaussian", bandwidth=30.0)
        exact = solve(K.copy(), Y, ridge, np.ones(len(X))).held_out
        single = solve(K.astype(np.float32), Y.astype(np.float32), ridge, np.ones(len(X), np.float32)).held_out
        errors.append(np.abs(single - exact).max() / Y.std())
    assert _local_ridge._SINGLE == 0.01 and errors[0] < 2e-3 < errors[1]


def test_a_cell_that_float32_cannot_factor_is_solved_in_float64():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 40, axis=0)
    Y = np.random.default_rng(1).normal(size=(200, 1))
    weights = np.full(200, 1e6)  # of a point: what is added to the diagonal is beyond float32
    local, held_out = fitted(X, Y, grown(X, 1000), 0.1, weights)
    means = [Y[start : start + 40].mean() for start in range(0, 200, 40)]
    np.testing.assert_allclose(local.values(X[::40])[:, 0], means, rtol=1e-4)
    assert np.isfinite(held_out).all()


def test_a_ridge_that_is_too_small_is_said(points):
    X, Y = (np.repeat(part[:50], 2, axis=0) for part in points)
    with pytest.raises(np.linalg.LinAlgError, match="raise alpha"):
        fitted(X, Y, grown(X, 1000), 1e-20)
    assert held_out_in_cells(X, Y, np.ones(100), [np.arange(100)], [1e-20, 0.1], **FORM)[0] is None


def test_bits_do_not_depend_on_threads(few):
    X, y = classes(1500, dtype=np.float32)
    one, two = (KernelRidgeClassifier(n_jobs=n_jobs, **LOCALLY).fit(X, y) for n_jobs in (1, 2))
    assert one.bandwidth_ == two.bandwidth_ and one.loss_ == two.loss_
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    some = X[::97]
    np.testing.assert_array_equal(two.decision_function(X)[::97], two.decision_function(some))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_classifier(few, dtype):
    X, y = classes(3000, dtype=dtype)
    model = KernelRidgeClassifier(**LOCALLY).fit(X[:2000], y[:2000])
    assert not hasattr(model, "dual_coef_") and not hasattr(model, "residuals_") and model.n_iter_ == 1
    probability = model.predict_proba(X[2000:])
    assert probability.dtype == dtype
    loss = -np.mean(np.log(probability[np.arange(1000), y[2000:]]))
    np.testing.assert_allclose(loss, model.loss_, atol=0.05)  # as points left out said
    exact = KernelRidgeClassifier(max_exact_samples=5000).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > exact.score(X[2000:], y[2000:]) - 0.02
    sets = model.predict_set(X[2000:], coverage=0.8)
    assert 0.76 < sets[np.arange(1000), y[2000:]].mean() < 0.84


def test_regressor(few):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = 1e3 + np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=2000)
    model = KernelRidgeRegressor(**LOCALLY).fit(X[:1500], y[:1500])
    assert not hasattr(model, "dual_coef_")
    error = np.mean((model.predict(X[1500:]) - y[1500:]) ** 2) / y[:1500].var()
    assert error < 0.05 and 0.5 < error / model.loss_ < 2


def test_a_stored_model_answers_with_the_same_bits(few):
    X, y = classes()
    model = KernelRidgeClassifier(**LOCALLY).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.conformal_p_values(X[:50]), model.conformal_p_values(X[:50]))


def test_the_order_of_the_samples_does_not_matter(few):
    X, y = classes()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = KernelRidgeClassifier(**LOCALLY).fit(X, y), KernelRidgeClassifier(**LOCALLY).fit(X[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-5)


def test_far_queries_tend_to_the_shares_of_the_classes(few):
    X, y = classes()
    model = KernelRidgeClassifier(**LOCALLY).fit(X, y)
    np.testing.assert_allclose(model.decision_function(1e6 + X[:1])[0], model.class_prior_, atol=1e-6)


@pytest.mark.parametrize("kind", ["copies", "separate", "constant", "many classes", "one feature", "wide"])
def test_hard_tables(few, kind):
    rng = np.random.default_rng(0)
    X, y = classes(1200, d=3)
    expected = 0.5
    if kind == "copies":
        some = rng.integers(600, size=200_000)
        X, y = X[some], y[some]
    elif kind == "separate":  # cells of one class
        X, expected = X + 100.0 * y[:, None], 1.0
    elif kind == "constant":
        X = np.column_stack([np.full(len(X), 3.0), X])
    elif kind == "many classes":
        y = np.repeat(np.arange(400), 3)
        X, expected = rng.normal(size=(400, 8))[y] * 5 + 0.1 * rng.normal(size=(1200, 8)), 0.9
    elif kind == "one feature":
        X = X[:, :1]
    elif kind == "wide":
        X = np.column_stack([X, 0.05 * rng.normal(size=(1200, 1997))])
    model = KernelRidgeClassifier(**LOCALLY).fit(X, y)
    assert len(model.points_) < 400 or not hasattr(model, "residuals_")
    assert np.isfinite(model.predict_proba(X[:200])).all() and model.score(X, y) >= expected


def test_weights_of_classes(few):
    X, y = classes()
    plain, weighted = (
        KernelRidgeClassifier(class_weight=w, **LOCALLY).fit(X, y) for w in (None, {0: 20.0, 1: 1.0, 2: 1.0})
    )
    assert (weighted.predict(X) == 0).mean() > (plain.predict(X) == 0).mean()
    assert weighted.conformal_p_values(X[:5]).shape == (5, 3)


class Stopped(Exception):
    """A fit that has chosen its way."""


@pytest.mark.parametrize("n, locally", [(19_999, False), (20_000, True)])
def test_from_how_many_points(n, locally, monkeypatch):
    """Cells have 1000 to 2000 points: with 1000, ridge regression of 500 000 points is a little less accurate than with
    1500, and with 2000 the fit takes almost twice as long as with 1000."""
    sizes = []

    def in_cells(X, Y, weights, parts, *arguments, **form):
        sizes.extend(map(len, parts))
        raise Stopped

    def of_all(*arguments):
        raise Stopped

    monkeypatch.setattr(_kernel_ridge, "held_out_in_cells", in_cells)
    monkeypatch.setattr(KernelRidge, "_fit_one_system", of_all)
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    with pytest.raises(Stopped):
        KernelRidgeClassifier(bandwidth=1.0, alpha=1.0, scale=None, max_tuning_samples=None).fit(X, X[:, 0] > 0)
    assert bool(sizes) == locally and all(1000 < size < 2000 for size in sizes)
    assert (_kernel_ridge.TREES, _kernel_ridge.TUNED) == (4, 8)


def test_exact_if_asked(few):
    X, y = classes(600)
    assert hasattr(KernelRidgeClassifier(max_exact_samples=600).fit(X, y), "dual_coef_")
    assert not hasattr(KernelRidgeClassifier(max_exact_samples=500).fit(X, y), "dual_coef_")
