"""Which samples are copies of each other is found once, and what follows from it is what a fresh look finds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import spectralcls._inputs.training_data as training_data
from spectralcls import ISEClassifier, KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier
from spectralcls._inputs.training_data import TrainingData
from spectralcls._utils.copies import _ranks, copies_of, equal_rows, hashes, random_keys, units_of_counts


def some_data(n=120, **fields):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    return TrainingData(X, rng.integers(0, 2, n), np.arange(2), rng.integers(1, 4, n).astype(float), **fields)


def test_what_is_kept_is_what_a_fresh_look_finds():
    data = some_data()
    copies, points = data.copies, data.distinct()
    assert points.weights.sum() == data.weights.sum() and len(points.X) < len(data.X)
    assert_array_equal(points.X[copies.group], data.X)
    fresh = TrainingData(points.X, points.codes, points.classes)
    for kept, found in zip(points.copies, fresh.copies, strict=True):
        assert_array_equal(kept, found)
    assert_array_equal(points.keys(3), fresh.keys(3))  # ranks are those among distinct values
    again = points.distinct()
    for kept, found in ((points.X, again.X), (points.weights, again.weights)):
        assert_array_equal(kept, found)


def test_keys_go_with_the_rows_and_are_forgotten_with_them():
    data, rows = some_data(), np.arange(0, 120, 7)
    before = data.keys()
    assert_array_equal(data.take(rows).keys(), before[rows])
    assert_array_equal(data._replace(weights=None).keys(), before)
    assert_array_equal(data.moved(2 * data.X).keys(), before)
    others = data._replace(X=data.X[::-1])
    assert_array_equal(others.keys(), random_keys(data.X[::-1]))
    one_class = data._replace(codes=np.zeros(120, dtype=int))
    assert len(one_class.copies.first) == len(np.unique(data.X, axis=0)) < len(data.copies.first)


def test_targets_and_the_rows_before_a_map_tell_samples_apart():
    X, targets = np.zeros((6, 2)), np.array([[0.0], [0], [1], [1], [2], [2]])
    data = TrainingData(X, np.zeros(6, dtype=int), np.zeros(1), targets=targets)
    assert len(data.copies.first) == 3 and len(np.unique(data.keys())) == 3
    unmapped = np.arange(6.0)[:, None]
    assert len(data._replace(unmapped=unmapped).copies.first) == 6


def test_sparse_rows_are_copies_as_dense_ones_are():
    data = some_data()
    dense, sparse = data.copies.group, copies_of(csr_array(data.X), data.codes).group
    assert_array_equal(dense[:, None] == dense, sparse[:, None] == sparse)


@pytest.mark.parametrize("make", [ParzenClassifier, ISEClassifier, KernelRidgeClassifier, PerTurboClassifier])
def test_a_fit_looks_once(make, monkeypatch):
    looks = []
    monkeypatch.setattr(training_data, "row_numbers", lambda X: looks.append(len(X)) or random_numbers(X))
    random_numbers = training_data.copies_of.__globals__["row_numbers"]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)) * [1, 1, 5, 100], rng.integers(0, 2, 90)
    make().fit(np.vstack([X, X[:9]]), np.append(y, y[:9]))
    assert looks == [99]


def test_ranks_of_columns_with_few_and_many_values():
    rng = np.random.default_rng(0)
    columns = np.stack([rng.integers(0, n, 200) for n in (1, 2, 3, 50)] + [rng.normal(size=200)]).astype(np.float64)
    columns[1, :5] = np.nan
    expected = [np.unique(np.where(np.isnan(x), np.inf, x), return_inverse=True)[1] for x in columns]
    assert_array_equal(_ranks(columns), expected)
    two_values = np.where(rng.random((4, 200)) < 0.3, -0.0, 7.0)
    assert_array_equal(_ranks(two_values), two_values > 0)


@pytest.mark.parametrize("shape", [(50, 3), (3, 70_000)])
def test_hashes_are_sums_over_words(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    words = X.view(np.uint32).reshape(len(X), -1).astype(object)
    factors = np.random.default_rng(0).integers(1 << 63, size=2 * shape[1], dtype=np.uint64) * 2 + 1
    assert_array_equal(hashes(X), [sum(row * factors.astype(object)) % 2**64 for row in words])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 1), (40, 0), (500, 1), (3000, 3), (1500, 9)])
def test_equal_rows_are_those_that_compare_equal(n, d, dtype):
    values = np.array([0.0, -0.0, 1.0, -1.0, np.nan, 2.0**-20, np.inf], dtype)  # few bits tell these apart
    X = values[np.random.default_rng(0).integers(0, len(values), (n, d))]
    first, group = equal_rows(X)
    numbers = {}
    found = [numbers.setdefault(tuple("nan" if np.isnan(v) else v for v in row), len(numbers)) for row in X.tolist()]
    assert_array_equal(group, found)
    assert_array_equal(first, np.unique(found, return_index=True)[1])
    assert_array_equal(equal_rows(np.asfortranarray(X))[1], group)


def test_a_count_stands_for_samples_where_classes_overlap():
    X, codes = np.array([[0.0], [0], [1], [1], [2]]), np.array([0, 1, 0, 1, 0])
    counts = np.array([4.0, 6, 2, 9, 8])
    for unit in (1, 0.1, 1 / 3, 1e9):
        assert_array_equal(units_of_counts(X, codes, unit * counts), [4, 6, 2, 9, 1])
    assert_array_equal(units_of_counts(X, codes, 2 * counts, by_class=True), [2, 2, 1, 3, 1])
    cost = np.where(codes, np.pi, 1.0)  # of the classes
    assert_array_equal(units_of_counts(X, codes, cost * counts, by_class=True), [2, 2, 1, 3, 1])
    for others in (cost * counts, cost, np.sqrt(counts), counts + [0, 0, 0, 0, 1e6]):
        assert_array_equal(units_of_counts(X, codes, others), np.ones(5))
    assert_array_equal(units_of_counts(np.arange(5.0)[:, None], codes, counts), np.ones(5))
    sparse = units_of_counts(csr_array(X), codes, counts)
    assert_array_equal(sparse, [4, 6, 2, 9, 1])


def test_large_counts_stand_for_few_samples():
    X, codes, counts = np.zeros((3, 1)), np.array([0, 1, 1]), np.array([30_000.0, 7, 4])
    assert_array_equal(units_of_counts(X, codes, counts), [1989, 7, 4])
    rng = np.random.default_rng(0)
    X, codes, counts = rng.integers(0, 9, (5000, 2)) * 1.0, rng.integers(0, 2, 5000), rng.integers(1, 50, 5000) * 1.0
    assert units_of_counts(X, codes, counts).max() == 1  # no more samples than rows
