"""Learned metrics against their definition: the likelihood, its gradient, and what a fitted map promises."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from spectralcls._inputs.training_data import TrainingData
from spectralcls.metric import GradientMetric, KernelMetric, _gradient_metric
from spectralcls.metric._gradient_metric import _combined, _gradients, _root
from spectralcls.metric._likelihood import loss, loss_and_gradient

unlearned = pytest.mark.filterwarnings("ignore:No (step|round) improved:sklearn.exceptions.ConvergenceWarning")


def make_sample(n=40, q=4, n_classes=3, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    Y = rng.normal(size=(n, q)) + 0.7 * codes[:, None] * (np.arange(q) == 0)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    return TrainingData(Y.astype(np.float32), codes, np.arange(n_classes), weights)


def dense_loss(sample, A, queries, references):
    """The definition, point by point, in float64: a query's weight less one copy of itself is what remains of it."""
    Z = sample.X.astype(np.float64) @ A
    total = 0.0
    for i in queries:
        mass = sample.weights[references].copy()
        mass[references == i] -= 1
        k = mass * np.exp(-((Z[i] - Z[references]) ** 2).sum(axis=1) / 2)
        posterior = k[sample.codes[references] == sample.codes[i]].sum() / k.sum()
        total -= sample.weights[i] * np.log(posterior + 0.02)
    return total / sample.weights[queries].sum()


def finite_differences(function, A, step=1e-5):
    gradient = np.empty_like(A)
    for index in np.ndindex(A.shape):
        change = np.zeros_like(A)
        change[index] = step
        gradient[index] = (function(A + change) - function(A - change)) / (2 * step)
    return gradient


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p", [4, 2])
@pytest.mark.parametrize("batch", ["all", "half", "queries among references", "apart"])
def test_gradient_is_that_of_the_dense_form(weighted, p, batch):
    sample = make_sample(weighted=weighted)
    A = np.eye(4)[:, :p] + 0.2 * np.random.default_rng(1).normal(size=(4, p))
    every = np.arange(40)
    queries, references = {
        "all": (every, every),
        "half": (every[::2], every[::2]),
        "queries among references": (every[5:17], every),
        "apart": (every[:15], every[15:]),
    }[batch]
    value, gradient = loss_and_gradient(sample, A, queries, references)
    assert_allclose(value, dense_loss(sample, A, queries, references), rtol=1e-6)
    expected = finite_differences(lambda A: dense_loss(sample, A, queries, references), A)
    assert_allclose(gradient, expected, atol=3e-6 * np.abs(expected).max() + 1e-7)
    assert_allclose(loss(sample, A, queries, references)[0], value, rtol=1e-6)


def test_loss_over_bandwidths_is_that_of_scaled_maps():
    sample, every = make_sample(), np.arange(40)
    losses = loss(sample, np.eye(4), every, every, [0.5, 1.0, 3.0])
    expected = [dense_loss(sample, np.eye(4) / h, every, every) for h in (0.5, 1.0, 3.0)]
    assert_allclose(losses, expected, rtol=1e-6)


def test_isolated_point_has_no_gradient_and_a_finite_loss():
    sample = make_sample()
    sample.X[0] = 1e4
    every = np.arange(40)
    value, gradient = loss_and_gradient(sample, np.eye(4), every, every)
    assert np.isfinite(value) and np.all(np.isfinite(gradient))
    assert np.isfinite(loss(sample, np.eye(4), every, every, [1e-3, 1.0])).all()


def noisy_features(n=400, seed=0):
    """Two informative features of ten, on the smallest scale and rotated."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    centers = np.array([[0, 0], [1, 1], [1, -1]])
    X = np.c_[centers[y] + 0.5 * rng.normal(size=(n, 2)), rng.normal(size=(n, 8))]
    return X, y


@pytest.mark.parametrize("kind", ["full", "diagonal"])
@pytest.mark.parametrize(("learner", "least"), [(KernelMetric, 1.5), (GradientMetric, 3.0)])
def test_learned_map_finds_the_informative_features(learner, least, kind):
    X, y = noisy_features()
    metric = learner(kind, random_state=1).fit(X[:300], y[:300])
    units = X.var(axis=0) if learner is KernelMetric else 1.0
    strength = (metric.components_**2).sum(axis=0) * units
    assert strength[:2].min() > least * strength[2:].max()
    if learner is KernelMetric:
        assert metric.loss_ < metric.start_loss_ and len(metric.loss_curve_) == metric.n_iter_
        assert metric.validation_curve_[0] > min(metric.validation_curve_)
    else:
        assert metric.loss_curve_[metric.best_iter_] == min(metric.loss_curve_) < metric.loss_curve_[0]
    plain, mapped = (
        KNeighborsClassifier().fit(f(X[:300]), y[:300]).score(f(X[300:]), y[300:])
        for f in (np.asarray, metric.transform)
    )
    assert mapped > plain + 0.05


def test_diagonal_metric_is_diagonal():
    X, y = noisy_features()
    components = KernelMetric("diagonal", max_iter=8).fit(X, y).components_
    assert_array_equal(components, np.diag(np.diag(components)))
    kept = KernelMetric("diagonal", n_components=2, max_iter=8).fit(X, y).components_
    assert kept.shape == (2, 10) and kept[0, 0] and kept[1, 1] and np.count_nonzero(kept) == 2


@unlearned
def test_low_rank_map_keeps_the_classes_apart():
    X, y = load_wine(return_X_y=True)
    metric = KernelMetric(n_components=2).fit(X, y)
    Z = metric.transform(X)
    assert Z.shape == (178, 2)
    assert KNeighborsClassifier().fit(Z, y).score(Z, y) > 0.97
    assert list(metric.get_feature_names_out()) == ["kernelmetric0", "kernelmetric1"]
    assert_allclose(np.cov(Z.T)[0, 1], 0, atol=1e-6 * np.cov(Z.T)[0, 0])  # principal axes


@unlearned
@pytest.mark.parametrize(
    "metric", [KernelMetric(), KernelMetric("diagonal"), KernelMetric("whiten"), KernelMetric(n_components=2)], ids=repr
)
@pytest.mark.parametrize("shape", [(200, 6), (30, 50)])
def test_the_map_does_not_depend_on_the_order_of_columns(metric, shape):
    """Not in a single bit: rounding would grow with the steps of the descent."""
    X, y = make_classification(shape[0], shape[1], n_informative=4, flip_y=0.1, random_state=0)
    X[:, 1:3] = X[:, 1:3] > 0  # many equal values
    expected = clone(metric).fit(X, y)
    for seed in range(3):
        columns = np.random.default_rng(seed).permutation(shape[1])
        found = clone(metric).fit(X[:, columns], y)
        assert_array_equal(found.mean_, expected.mean_[columns])
        rows = columns if metric.kind == "diagonal" else slice(None)  # one component for each feature
        assert_array_equal(found.components_, expected.components_[rows][:, columns])
        assert found.loss_curve_ == expected.loss_curve_


def test_nothing_learned_is_a_warning():
    X = np.repeat(np.eye(2), 8, axis=0) * 1e3 + np.arange(16)[:, None] * 1e-3  # separated: nothing to improve
    y = np.repeat([0, 1], 8)
    with pytest.warns(ConvergenceWarning, match="No step improved"):
        metric = KernelMetric().fit(X, y)
    assert metric.n_iter_ < 80  # and patience has an end


def test_gradients_of_the_ridge_are_finite_differences():
    rng = np.random.default_rng(0)
    Z, A = rng.normal(size=(15, 3)), rng.normal(size=(15, 2))

    def prediction(q, i, c):  # the point's own kernel has a kink there, and no gradient
        others = np.arange(15) != i
        return np.exp(-np.linalg.norm(q - Z[others], axis=1) / 0.8) @ A[others, c]

    for c, gradient in enumerate(_gradients(Z, A, 0.8, None)):
        expected = [finite_differences(lambda q, i=i, c=c: prediction(q, i, c), Z[i]) for i in range(15)]
        assert_allclose(gradient, expected, atol=1e-8)


@pytest.mark.parametrize("L", [np.ones(4), np.eye(4)])
def test_no_feature_is_lost_for_good(L):
    """One that changes nothing keeps a millionth of the mean weight, so that a later round may find it."""
    gradients = np.zeros((10, 4))
    gradients[:, 1] = 1.0
    root = _root([(gradients, np.ones(10))], L)
    weights = root**2 if root.ndim == 1 else np.diag(root.T @ root)
    assert_allclose(weights, [1e-6, 4.0, 1e-6, 1e-6], rtol=1e-5)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_a_round_is_the_dense_average_gradient_outer_product(kind, monkeypatch):
    monkeypatch.setattr(_gradient_metric, "_ALPHAS", [0.1])
    X, y = noisy_features(120)
    metric = GradientMetric(kind, max_iter=1, scale=None).fit(X, y)
    assert metric.best_iter_ == 1
    h = 2 * np.median(cdist(X, X)[np.triu_indices(120, 1)])
    distances = cdist(X, X)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    A = np.linalg.solve(np.exp(-distances / h) + 0.1 * np.eye(120), Y)
    M = np.zeros((10, 10))
    for i in range(120):
        others = np.arange(120) != i
        k = np.exp(-distances[i, others] / h) / (h * distances[i, others])
        for c in range(3):
            g = -(k * A[others, c]) @ (X[i] - X[others])
            M += np.outer(g, g)
    M *= 10 / np.trace(M)
    learned = metric.components_.T @ metric.components_
    assert_allclose(learned, M if kind == "full" else np.diag(np.diag(M)), rtol=1e-7, atol=1e-5 * np.abs(M).max())
    assert_allclose(np.trace(learned), 10)


def test_gradient_metric_takes_a_part_of_many_points():
    X, y = noisy_features(150)
    part = GradientMetric(max_iter=2, max_samples=60).fit(X, y)
    assert not np.allclose(part.components_, GradientMetric(max_iter=2).fit(X, y).components_)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_one_cell_of_many_points_is_all_of_them(monkeypatch, kind):
    X, y = noisy_features(300)
    monkeypatch.setattr(_gradient_metric, "MANY", 200)
    monkeypatch.setattr(_gradient_metric, "_CELL", 300)
    cell, plain = (GradientMetric(kind, max_samples=n).fit(X, y) for n in (100, 300))
    assert_allclose(cell.components_, plain.components_, rtol=1e-10)
    assert cell.loss_curve_ == plain.loss_curve_


@unlearned
def test_many_points_teach_in_cells_what_far_ones_cannot(monkeypatch):
    """A class that changes faster than random points lie: neighbors say along which column."""
    X = np.random.default_rng(0).uniform(size=(6000, 4))
    y = (np.sin(60 * X[:, 0]) > 0).astype(int)
    far = GradientMetric(max_samples=400).fit(X, y).components_.diagonal()
    monkeypatch.setattr(_gradient_metric, "MANY", 6000)
    near = GradientMetric(max_samples=400).fit(X, y)
    own = near.components_.diagonal()
    assert own[0] / own[1:].max() > 1.5 > far[0] / far[1:].max()
    order = np.random.default_rng(1).permutation(6000)
    assert_allclose(GradientMetric(max_samples=400).fit(X[order], y[order]).components_.diagonal(), own, rtol=0.3)
    targets = GradientMetric(task="regression", max_samples=400).fit(X, np.sin(60 * X[:, 0]))
    assert targets.components_.diagonal().argmax() == 0
    monkeypatch.undo()
    assert (_gradient_metric.MANY, _gradient_metric._CELLS, _gradient_metric._CELL) == (20_000, 200, 250)


@unlearned
@pytest.mark.parametrize("n_classes", [2, 500])
def test_cells_of_one_class_copies_and_many_classes(monkeypatch, n_classes):
    monkeypatch.setattr(_gradient_metric, "MANY", 500)
    rng = np.random.default_rng(0)
    centers, y = rng.normal(size=(n_classes, 3)) * 100, np.arange(6000) % n_classes
    X = np.column_stack([(centers[y] + rng.normal(size=(6000, 3))).round(1), np.ones(6000)])
    model = GradientMetric(max_samples=100).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert np.isfinite(model.components_).all() and np.isfinite(model.loss_curve_).all()


def test_combinations_stand_for_many_classes_whatever_their_names():
    rng = np.random.default_rng(0)
    targets, coefficients = np.eye(50)[np.arange(200) % 50], rng.normal(size=(200, 50))
    drawn = [_combined(coefficients, targets, np.random.RandomState(seed)) for seed in range(400)]
    assert drawn[0].shape[1] < 50 and _combined(coefficients[:, :5], targets[:, :5], None).shape[1] == 5
    mean = np.mean([C @ C.T for C in drawn], axis=0)
    assert_allclose(mean, coefficients @ coefficients.T, atol=0.02 * 200)

    y = np.arange(240) % 60
    X = rng.normal(size=(60, 6))[y] + rng.normal(size=(240, 6)) * [0.1, 0.1, 0.1, 2, 2, 2]
    learned = GradientMetric().fit(X, y)
    assert_allclose(GradientMetric().fit(X, 59 - y).components_, learned.components_, rtol=1e-6)
    assert np.diag(learned.components_)[:3].min() > np.diag(learned.components_)[3:].max()


def test_gradient_metric_that_learns_nothing_is_the_identity():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="No round improved"):
        metric = GradientMetric(max_iter=1).fit(X[:, 2:3], y)  # one feature has nothing to be weighed against
    assert_array_equal(metric.components_, [[1]])


@pytest.mark.filterwarnings("ignore:No (step|round) improved")
@pytest.mark.parametrize("metric", [GradientMetric(scale=None), KernelMetric(), KernelMetric("whiten")], ids=repr)
def test_far_more_features_than_points_need_no_matrix_of_them(metric):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 4000)), np.arange(24) % 2
    X[:, 0] += 4 * y
    tracemalloc.start()
    Z = metric.fit(X, y).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4000**2 / 4
    np.testing.assert_allclose(Z, (X - metric.mean_) @ metric.components_.T, rtol=1e-9, atol=1e-9 * np.abs(Z).max())


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.filterwarnings("ignore:No step improved")
@pytest.mark.parametrize(
    "metric", [KernelMetric("whiten"), KernelMetric(max_iter=8), GradientMetric(), GradientMetric("full")], ids=repr
)
def test_a_far_cell_does_not_turn_the_map(metric):
    """How far it is does not matter, and the map is nearly that without its row."""
    X, y = noisy_features(200)
    far, farther = X.copy(), X.copy()
    far[7, 3], farther[7, 3] = 1e4, 1e30
    found, same = (metric.fit(points, y).components_ for points in (far, farther))
    assert_array_equal(found, same)
    without = metric.fit(np.delete(X, 7, axis=0), np.delete(y, 7)).components_
    gram, expected = found.T @ found, without.T @ without
    assert np.linalg.norm(gram - expected) < 0.25 * np.linalg.norm(expected)


@pytest.mark.parametrize("columns", [1, 9, 30])
def test_gradients_of_several_classes_are_those_of_each(columns, monkeypatch):
    rng = np.random.default_rng(0)
    Z, coefficients = rng.normal(size=(40, 4)), rng.normal(size=(40, 5))
    whole = np.stack(list(_gradient_metric._gradients(Z, coefficients, 1.5, 1)))
    monkeypatch.setattr(_gradient_metric, "_COLUMNS", columns)
    np.testing.assert_allclose(np.stack(list(_gradient_metric._gradients(Z, coefficients, 1.5, 1))), whole, rtol=1e-12)
    offsets = Z[:, None] - Z
    u = np.linalg.norm(offsets, axis=2) / 1.5
    np.fill_diagonal(u, 1.0)  # the offset of a point from itself is zero
    slow = -np.einsum("ij,ijk,jc->cik", np.exp(-u) / u, offsets, coefficients) / 1.5**2
    np.testing.assert_allclose(whole, slow, rtol=1e-9, atol=1e-12)
