"""The Dask estimators beside the single-process answers, on threads; test_dask_cluster has a cluster."""

import importlib
import operator
import tracemalloc

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask.array")

import dask
import dask.array as da
import dask.dataframe as dd
from dask_cases import assert_same, pair, rows
from every_estimator import KINDS
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import spectralcls.dask
from spectralcls import inspection, kernel_mean
from spectralcls._tuning.folds import folds_by_content
from spectralcls.dask import _tuning as tuning
from spectralcls.dask import _workers as workers
from spectralcls.kernels import kernel_sums
from spectralcls.linalg import KernelOperator

CLASSIFIERS = ["ParzenClassifier", "ISEClassifier", "LaplacianISEClassifier", "CauchySchwarzClassifier"]


@pytest.fixture(scope="module")
def problem():
    X, y = make_blobs(600, centers=4, n_features=3, cluster_std=2.0, random_state=1)
    labels = np.array(["ash", "beech", "cedar"])[y % 3]
    weights = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    queries = np.random.default_rng(3).normal(0, 8, size=(95, 3))
    return X, labels, weights, queries


def test_dask_tells_fits_of_the_same_parameters_apart():
    X, y = make_blobs(20, random_state=0)
    first, second = (kernel_mean.ParzenClassifier(1.0).fit(X[rows], y[rows]) for rows in (slice(10), slice(5, 20)))
    assert dask.base.tokenize(first) == dask.base.tokenize(first) != dask.base.tokenize(second)


# Kernel sums


@pytest.mark.parametrize("log", [False, True, "pair"])
@pytest.mark.parametrize("bandwidth", [0.7, [0.02, 0.5, 3.0]])
def test_kernel_sums_with_labels_folds_and_columns(log, bandwidth):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(301, 4)), rng.normal(size=(97, 4)) * 5
    weights = rng.random((301, 2)) if log is True else rng.normal(size=(301, 2))
    labels, folds, query_folds = (rng.integers(0, 3, n) for n in (301, 301, 97))
    options = dict(n_labels=3, bandwidth=bandwidth, log=log)
    groups = (query_folds, folds)
    expected = kernel_sums(Q, X, weights=weights, labels=labels, exclude_groups=groups, **options)
    result = spectralcls.dask.kernel_sums(
        rows(Q, 30), rows(X, 110), weights=weights, labels=rows(labels, 110), exclude_groups=groups, **options
    )
    if log == "pair":
        (log_scale, sums), (expected_scale, expected_sums) = dask.compute(*result), expected
        assert log_scale.shape == expected_scale.shape and sums.shape == expected_sums.shape
        sums = sums * np.exp(log_scale - expected_scale)[..., None]
        # the exponents go to -1e6 here, and their rounding is the error of the sums
        np.testing.assert_allclose(sums, expected_sums, rtol=1e-9, atol=1e-12)
    else:
        assert result.shape == expected.shape
        np.testing.assert_allclose(result.compute(), expected, rtol=1e-10, atol=1e-13)


def test_kernel_sums_leave_out_the_own_point_and_add_up_far_from_all_points():
    X = np.random.default_rng(0).normal(size=(80, 2)).astype(np.float32)
    parts = rows(X, 30)
    own = spectralcls.dask.kernel_sums(parts, parts, bandwidth=0.5, exclude_self=True)
    np.testing.assert_allclose(own.compute(), kernel_sums(X, X, bandwidth=0.5, exclude_self=True), rtol=1e-5)
    far = np.full((1, 2), 1e3, dtype=np.float32)
    logs = spectralcls.dask.kernel_sums(rows(far), parts, bandwidth=0.5, log=True).compute()
    exact = kernel_sums(far.astype(float), X.astype(float), bandwidth=0.5, log=True)
    assert exact[0] < -1e6 and logs[0] == pytest.approx(exact[0], rel=1e-6)


# Estimators beside their single-process selves


SAMPLED = [*CLASSIFIERS, "LaplacianSpectralClassifier", "SpectralISEClassifier", "SpectralLaplacianISEClassifier"]


@pytest.mark.parametrize("name", SAMPLED)
def test_more_points_than_are_tuned_on_give_what_they_give_in_memory(name):
    rng = np.random.default_rng(0)
    X, y = make_blobs(1500, centers=6, n_features=3, cluster_std=2.5, random_state=1)
    X, y, weights = X * [1, 30, 1], y % 3, rng.integers(0, 3, len(y)).astype(float)
    options = {"max_tuning_samples": 300, "n_jobs": 1}
    local = KINDS[name](**options).fit(X, y, weights)
    distributed = KINDS[name](**options).fit(rows(X), rows(y), rows(weights))
    np.testing.assert_allclose(distributed.bandwidth_, local.bandwidth_, rtol=1e-12)
    assert_same(local, distributed, X[:90] + 0.1, 1e-9)


@pytest.mark.parametrize("name", ["ParzenClassifier", "ISEClassifier"])
def test_many_rows_fill_gaps_and_set_levels_apart_as_in_memory(name):
    rng = np.random.default_rng(0)
    n = 6000
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None], columns=list("abc"))
    X = X.mask(rng.random(X.shape) < 0.03)
    X["d"] = pd.Categorical(np.array(["p", "q", "r"])[(y + rng.integers(0, 2, n)) % 3])
    X["e"] = pd.Categorical(np.array(["u", "v"])[rng.integers(0, 2, n)])
    options = {"max_tuning_samples": 300, "n_jobs": 1}
    local = KINDS[name](**options).fit(X, y)
    parts = dd.from_pandas(X, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    distributed = KINDS[name](**options).fit(*parts)
    assert distributed.bandwidth_ == pytest.approx(local.bandwidth_, rel=1e-12)
    found = distributed.decision_function(dd.from_pandas(X[:90], npartitions=2)).compute()
    expected = local.decision_function(X[:90])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_tuning_on_a_sample_keeps_every_class_and_the_scale(monkeypatch):
    monkeypatch.setattr(tuning, "MOST_VALUES", 0)
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, size=(6000, 2))
    y = np.floor(X).sum(axis=1).astype(int) % 2  # a chessboard: wide bandwidths see no fields
    flipped = rng.random(6000) < 0.2  # and narrow ones follow the noise
    y[flipped] = 1 - y[flipped]
    y[:5], X[:5] = 2, X[:5] + 8
    local, distributed = pair("ParzenClassifier", max_tuning_samples=1500)
    local.fit(X, y)
    distributed.fit(rows(X, 1700), y)
    assert distributed.n_tuning_samples_ == pytest.approx(1500, abs=2)
    assert len(distributed.classes_) == 3
    grids = [model.cv_results_["param_bandwidth"] for model in (distributed, local)]
    np.testing.assert_allclose(*grids, rtol=0.1)
    assert 0.25 < distributed.bandwidth_ / local.bandwidth_ < 4  # rungs of a flat optimum
    found = np.abs(np.log(local.cv_results_["param_bandwidth"] / distributed.bandwidth_)).argmin()
    assert local.cv_results_["mean_test_score"][found] > local.cv_results_["mean_test_score"].max() - 0.02
    again = spectralcls.ParzenClassifier(max_tuning_samples=1500).fit(rows(X, 1700), y)
    assert again.bandwidth_ == distributed.bandwidth_


def mixed_table(n, seed=0, missing=0.15):
    """A frame of numbers and categories with gaps, labels and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    color = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), y)
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=n) + y,
            "income": 1000 * rng.normal(size=n),
            "color": pd.Categorical.from_codes(color, ["red", "green", "blue"]),
            "town": pd.Categorical.from_codes(rng.integers(0, 5, n), list("abcde")),
            "member": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "size": pd.Categorical.from_codes(np.minimum(y + rng.integers(0, 2, n), 3), list("smlx"), ordered=True),
            "age": pd.array(rng.integers(20, 70, n), dtype="Int64"),
        }
    )
    return frame.mask(rng.random(frame.shape) < missing), y, rng.integers(0, 4, n) * 1.0


def compare_tables(name, parameters, weighted, frame, y, weights, queries):
    """A fit in memory and one on Dask, and the decisions of both; the estimator on Dask."""
    local, distributed = (KINDS[name](**parameters) for _ in range(2))
    local.fit(frame, y, weights if weighted else None)
    on_workers = dd.from_pandas(frame, npartitions=2, sort=False)
    distributed.fit(on_workers, da.from_array(y, chunks=100), da.from_array(weights, chunks=90) if weighted else None)
    np.testing.assert_allclose(distributed.bandwidth_, local.bandwidth_, rtol=1e-9)
    expected = local.decision_function(queries)
    tolerance = {"rtol": 1e-7, "atol": 1e-9 * np.abs(expected).max()}
    found = distributed.decision_function(dd.from_pandas(queries, npartitions=2, sort=False)).compute()
    np.testing.assert_allclose(found, expected, **tolerance)
    np.testing.assert_allclose(distributed.to_local().decision_function(queries), expected, **tolerance)
    assert distributed._inputs.table.types == local._inputs.table.types
    return distributed


@pytest.mark.parametrize(
    "parameters, weighted",
    [({}, False), ({}, True), ({"bandwidth": 0.8}, True), ({"scale": None, "categorical_features": ["age"]}, False)],
)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_table_gives_the_estimator_of_the_same_table_in_memory(name, parameters, weighted):
    frame, y, weights = mixed_table(240)
    queries, _, _ = mixed_table(60, seed=1)
    if "categorical_features" in parameters:
        columns = ["length", "age", "member"]
        frame, queries = (part[columns].astype({"age": float}) for part in (frame, queries))
        frame, queries = (part.assign(age=part["age"] // 2) for part in (frame, queries))  # few levels: without means
    compare_tables(name, parameters, weighted, frame, y, weights, queries)


@pytest.mark.parametrize(
    ("name", "bandwidth"),
    [
        ("LaplacianSpectralClassifier", "cv"),
        ("LaplacianSpectralClassifier", "silverman_per_class"),
        ("SpectralISEClassifier", "cv"),
        ("SpectralISEClassifier", "silverman"),
    ],
)
def test_spectral_classifiers_of_the_whole_space_take_tables(name, bandwidth):
    frame, y, weights = mixed_table(240)
    compare_tables(name, {"bandwidth": bandwidth}, False, frame, y, weights, mixed_table(40, seed=1)[0])


def test_a_table_whose_names_are_no_strings():
    frame, y, weights = mixed_table(300)
    (queries, _, _), names = mixed_table(60, seed=1), range(frame.shape[1])
    frame, queries = frame.set_axis(names, axis=1), queries.set_axis(names, axis=1)
    compare_tables("ParzenClassifier", {"bandwidth": 0.8}, False, frame, y, weights, queries)


def test_levels_have_other_positions_in_a_query():
    frame, y, weights = mixed_table(300)
    queries, _, _ = mixed_table(60, seed=1)
    model = compare_tables("ParzenClassifier", {"bandwidth": 0.8}, False, frame, y, weights, queries)
    turned = queries.assign(color=queries["color"].cat.set_categories(["violet", "blue", "green", "red"]))
    expected, found = (model.predict_proba(dd.from_pandas(q, npartitions=2)).compute() for q in (queries, turned))
    np.testing.assert_array_equal(found, expected)


def test_gaps_in_arrays_of_numbers(problem):
    X, y, weights, queries = problem
    rng = np.random.default_rng(0)
    X, queries = (np.where(rng.random(A.shape) < 0.2, np.nan, A) for A in (X, queries))
    weights = weights * rng.uniform(0.9, 1.1, len(y))  # no counts, which workers leave out whole
    for name in CLASSIFIERS:
        local, distributed = pair(name)
        local.fit(X, y, weights)
        distributed.fit(rows(X), rows(y), rows(weights))
        assert distributed.bandwidth_ == pytest.approx(local.bandwidth_, rel=1e-12)
        assert_same(local, distributed, queries, 1e-9)


def test_what_a_table_on_workers_cannot_hold_is_named(problem):
    X, y, _, _ = problem
    frame, labels, _ = mixed_table(200)
    kind = spectralcls.ParzenClassifier(1.0)

    def refused(frame, message, model=kind):
        with pytest.raises(ValueError, match=message):
            model.fit(dd.from_pandas(frame, npartitions=2), da.from_array(labels, chunks=100))

    refused(frame.assign(day=pd.Timestamp("2020-01-01")), "Column 'day' of X holds dates or times")
    refused(frame.assign(word="x"), "Column 'word' of X holds values of type .*convert to a known category")
    refused(
        frame,
        "Column 'color' of X holds category values",
        spectralcls.ParzenClassifier(1.0, categorical_features=None),
    )
    unknown = dd.from_pandas(frame, npartitions=2)
    unknown["color"] = unknown["color"].cat.as_unknown()
    with pytest.raises(ValueError, match="Column 'color' of X is categorical, but its categories are not known"):
        kind.fit(unknown, da.from_array(labels, chunks=100))
    plain = spectralcls.ParzenClassifier(1.0, scale=None).fit(
        dd.from_pandas(frame[["length", "income"]], npartitions=2), da.from_array(labels, chunks=100)
    )
    with pytest.raises(ValueError, match="Column 'income' of X holds category values"):
        plain.predict(dd.from_pandas(frame[["length"]].assign(income=frame["color"]), npartitions=2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"priors": [0.1, 0.2, 0.7]}, {"kernel": "epanechnikov"}])
def test_parzen_validates_a_sample_against_all_points(parameters, weighted, monkeypatch):
    """Equal to refitting on all points outside of each fold, as long as the kernel reaches some of them."""
    grid = np.array([0.2, 0.6, 1.8]) * (8 if "kernel" in parameters else 1)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=900)
    X = rng.normal(size=(900, 2)) + 1.2 * y[:, None]
    weights = rng.uniform(0.5, 2, size=900) if weighted else None
    seen = []

    def accuracies(problem, **options):
        seen.append((problem, options))
        return scores_against_all(problem, **options)

    scores_against_all = tuning.scores_against_all
    monkeypatch.setattr(tuning, "MOST_VALUES", 0)
    monkeypatch.setattr(tuning, "scores_against_all", accuracies)
    model = spectralcls.ParzenClassifier(
        max_tuning_samples=200, bandwidth_grid=grid, cv=3, **parameters, scale=None
    ).fit(rows(X), rows(y), None if weights is None else rows(weights))
    (((_, sample, *_), options),) = seen
    assert model.n_tuning_samples_ == len(sample.X) == pytest.approx(200, abs=3)
    np.testing.assert_allclose(model.cv_results_["param_bandwidth"], grid)
    folds = folds_by_content(X, 3, options["seed"])
    own = folds_by_content(sample.X, 3, options["seed"])
    shares = np.bincount(y, weights) / (len(y) if weights is None else weights.sum())
    counts = (
        sample.weights * (parameters["priors"] / shares)[sample.codes] if "priors" in parameters else sample.weights
    )
    hits = np.zeros(3)
    for fold in range(3):
        out = own == fold
        w = None if weights is None else weights[folds != fold]
        for b, h in enumerate(grid):
            local = kernel_mean.ParzenClassifier(bandwidth=h, **parameters, scale=None)
            local.fit(X[folds != fold], y[folds != fold], w)
            hits[b] += counts[out] @ (local.predict(sample.X[out]) == sample.codes[out])
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], hits / counts.sum())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_tolerance_bounds_the_sums_of_all_blocks_together(problem, name, pruning):
    pruning("always")
    X, y, weights, queries = problem
    exact = pair(name, bandwidth=0.8)[0].fit(X, y, weights)
    tolerant = pair(name, bandwidth=0.8, tolerance=1e-2)[1].fit(rows(X), rows(y), weights)
    queries = np.concatenate([queries, 1e3 * queries[:5]])
    with dask.config.set(scheduler="synchronous"):
        (found,) = dask.compute(log_sums(tolerant, rows(queries, 40)))
        local = tolerant.to_local()
    truth = log_sums(exact, queries)
    assert local.tolerance == 1e-2
    top = truth.max(axis=1, keepdims=True)
    errors = np.abs(np.exp(found - top) - np.exp(truth - top)).sum(axis=1) / np.exp(truth - top).sum(axis=1)
    assert 1e-14 < errors.max() <= 0.031
    assert_allclose_to(local, tolerant, queries)


def assert_allclose_to(local, distributed, queries):
    """Both within the tolerance, each by its own blocks."""
    here = log_sums(local, queries)
    (there,) = dask.compute(log_sums(distributed, rows(queries, 40)))
    top = here.max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(there - top), np.exp(here - top), atol=0.07)


def log_sums(model, queries):
    return model._model._evaluate(queries, operator.attrgetter("log_scale"), len(model.classes_))


def test_leading_components_of_the_laplacian_classifier_are_found_in_memory_alone(problem):
    with pytest.raises(ValueError, match='n_components="all"'):
        spectralcls.spectral.LaplacianSpectralClassifier(n_components=3).fit(rows(problem[0]), problem[1])


def test_data_frames_and_float32(problem):
    X, y, _, queries = problem
    names = ["length", "width", "height"]
    frame = pd.DataFrame(X.astype(np.float32), columns=names)
    query_frame = pd.DataFrame(queries.astype(np.float32), columns=names)
    local, distributed = pair("ISEClassifier", bandwidth=1.5)
    local.fit(frame, y)
    distributed.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3))
    np.testing.assert_array_equal(distributed.feature_names_in_, local.feature_names_in_)
    parts = dd.from_pandas(query_frame, npartitions=2)
    np.testing.assert_allclose(
        distributed.decision_function(parts).compute(), local.decision_function(query_frame), rtol=1e-4
    )
    with pytest.raises(ValueError, match="feature names should match"):
        distributed.predict(parts.rename(columns={"width": "depth"}))


def test_parquet_files_whose_partitions_dask_joins(tmp_path, problem):
    X, y, _, _ = problem
    frame = pd.DataFrame(X, columns=["length", "width", "height"]).assign(tree=y)
    for number, part in enumerate((frame[:100], frame[100:180], frame[180:])):
        part.to_parquet(tmp_path / f"{number}.parquet")
    parts = dd.read_parquet(tmp_path)
    local, distributed = pair("ParzenClassifier", bandwidth=1.0)
    local.fit(frame.drop(columns="tree"), y)
    distributed.fit(parts.drop(columns="tree"), parts["tree"])
    assert distributed.score(parts.drop(columns="tree"), parts["tree"]) == pytest.approx(
        local.score(frame.drop(columns="tree"), y)
    )


def test_doubt_is_in_memory_but_for_shares_of_classes(problem):
    """PerTurbo's local estimator did not know its labels, influence and shares failed with errors of Dask."""
    X, y, _, queries = problem
    for name, options in (("PerTurboClassifier", {"alpha": 0.1}), ("ParzenClassifier", {})):
        local, distributed = (KINDS[name](bandwidth=1.5, scale=None, **options) for _ in range(2))
        local.fit(X, y)
        distributed.fit(rows(X), rows(y))
        back = distributed.to_local()
        np.testing.assert_array_equal(back.predict_set(queries), local.predict_set(queries))
        np.testing.assert_allclose(inspection.label_quality(back), inspection.label_quality(local), rtol=1e-9)
        for function in (inspection.influence, inspection.feature_effect):
            with pytest.raises(TypeError, match="to_local"):
                function(distributed, rows(queries))
        with pytest.raises(AttributeError, match="to_local"):
            inspection.label_quality(distributed)
    expected, found = (inspection.estimate_priors(*of) for of in ((local, queries), (distributed, rows(queries))))
    np.testing.assert_allclose(found.priors, expected.priors, rtol=1e-9)
    moved = inspection.with_priors(distributed, found.priors).predict_proba(rows(queries)).compute()
    np.testing.assert_allclose(moved, inspection.with_priors(local, found.priors).predict_proba(queries), rtol=1e-9)


def reads(fit, X):
    """How often a fit reads each chunk of a lazy array."""
    counted = []

    def read(block):
        counted.append(len(block) > 0)
        return block

    lazy = rows(X).map_blocks(read, dtype=X.dtype, meta=np.empty((0, X.shape[1])))
    with dask.config.set(scheduler="synchronous"):
        fit(lazy)
    return sum(counted) / len(lazy.chunks[0])


@pytest.mark.parametrize(
    "name",
    [*CLASSIFIERS, "PerTurboClassifier", "KernelRegressor", "LaplacianSpectralClassifier", "SpectralISEClassifier"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_reads_lazy_data_once_if_they_fit_into_memory(problem, name, weighted, monkeypatch):
    X, y, weights, _ = problem
    y = X[:, 0] if name == "KernelRegressor" else y
    kind, weight = KINDS[name], weights if weighted else None
    assert reads(lambda lazy: kind().fit(lazy, rows(y), weight), X) == 1
    monkeypatch.setattr(workers, "HELD", 0)
    assert 1 < reads(lambda lazy: kind().fit(lazy, rows(y), weight), X) <= 11  # as the guide says


def test_a_memory_map_larger_than_what_is_held_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "HELD", 0)
    rng = np.random.default_rng(0)
    n, d, chunk = 100_000, 96, 5_000
    path = tmp_path / "X.npy"
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, d))
    y = rng.integers(0, 2, n)
    X[:] = rng.normal(size=(n, d)) + y[:, None]
    X.flush()
    del X
    points = np.load(path, mmap_mode="r")
    queries = rows(np.array(points[:50]))
    with dask.config.set(scheduler="synchronous"):
        tracemalloc.start()
        blocks = spectralcls.dask.from_memmap(points, chunk)
        fitted = spectralcls.ParzenClassifier(bandwidth=5.0).fit(blocks, y)
        labels = fitted.predict(queries).compute()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < points.nbytes / 4
    local = kernel_mean.ParzenClassifier(bandwidth=5.0, n_jobs=1).fit(points, y)
    np.testing.assert_array_equal(labels, local.predict(np.array(points[:50])))
    np.testing.assert_array_equal(blocks[3_999:10_001].compute(), points[3_999:10_001])
    with pytest.raises(ValueError, match="not a view of one"):
        spectralcls.dask.from_memmap(points[10:])
    with pytest.raises(TypeError, match="must be a numpy.memmap, got ndarray"):
        spectralcls.dask.from_memmap(np.ones((3, 2)))


# Spectral methods, neighbors, PerTurbo


@pytest.mark.parametrize("weighting", [None, "mean", "sum"])
def test_kernel_operator_is_that_of_one_process(problem, weighting):
    X, _, weights, _ = problem
    V = np.random.default_rng(0).normal(size=(len(X), 3))
    options = dict(bandwidth=1.5, weighting=weighting, sample_weight=weights + 1)
    product = spectralcls.dask.KernelOperator(rows(X), **options) @ V
    np.testing.assert_allclose(product, KernelOperator(X, **options) @ V, rtol=1e-10, atol=1e-12)
    single = spectralcls.dask.KernelOperator(rows(X.astype(np.float32)), **options) @ V
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, product, rtol=1e-5, atol=1e-5 * np.abs(product).max())


def test_wrong_options_of_a_kernel_operator(problem):
    X = rows(problem[0])
    wrong = {"weighting must be": {"weighting": "max"}, "must be one positive": {"sample_weight": -np.ones(len(X))}}
    for message, options in wrong.items():
        with pytest.raises(ValueError, match=message):
            spectralcls.dask.KernelOperator(X, bandwidth=1.0, **options)


def test_isolated_points_are_said_on_dask_too():
    X = rows(np.arange(300.0)[:, None])
    with pytest.warns(ConvergenceWarning, match="300 of 300 points have no neighbor"):
        spectralcls.top_eigenpairs(spectralcls.dask.KernelOperator(X, bandwidth=1e-3, weighting="sum"), 5)


@pytest.mark.parametrize("rule", ["silverman", "silverman_per_class"])
@pytest.mark.parametrize("most", [1 << 22, 0])
def test_a_rule_of_thumb_is_that_of_all_points_in_memory(problem, rule, most, monkeypatch):
    monkeypatch.setattr(tuning, "MOST_VALUES", most)
    monkeypatch.setattr(importlib.import_module("spectralcls._tuning.gathered"), "MAX_MEASURED", 450)
    X, y, weights, _ = problem
    for w in (None, weights, weights / weights.sum()):
        local = spectralcls.ParzenClassifier(rule).fit(X, y, w)
        distributed = spectralcls.ParzenClassifier(rule).fit(rows(X), rows(y), w)
        np.testing.assert_allclose(distributed.bandwidth_, local.bandwidth_, rtol=1e-12 if most else 0.1)


def test_spectral_classifier_with_cross_validation(problem):
    X, y = problem[0][:300], problem[1][:300]
    local = spectralcls.spectral.SpectralISEClassifier(n_components="cv", max_components=6).fit(X, y)
    distributed = spectralcls.spectral.SpectralISEClassifier(n_components="cv", max_components=6).fit(rows(X), y)
    assert distributed.bandwidth_ == pytest.approx(local.bandwidth_)
    assert distributed.n_components_ == local.n_components_
    assert_same(local, distributed, X[:60], tolerance=1e-6)
    with pytest.raises(ValueError, match="number below n_samples"):
        distributed.set_params(bandwidth=1.0, n_components="all", center="median").fit(rows(X), y)
    assert_same(local, distributed, X[:60], tolerance=1e-6)


def test_neighbors_are_merged_with_ties_by_index(problem):
    X = np.round(problem[0] / 4)  # many ties
    Q = X[:77]
    distances, indices = dask.compute(*spectralcls.dask.knn(rows(Q, 30), rows(X, 110), 7))
    expected = spectralcls.knn(Q, X, 7)
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(indices, expected[1])
    graph = spectralcls.dask.knn_graph(rows(problem[0]), 5, mode="heat", symmetrize="mean")
    expected = spectralcls.neighbors.knn_graph(problem[0], 5, mode="heat", symmetrize="mean")
    np.testing.assert_allclose(graph.toarray(), expected.toarray(), rtol=1e-12)
    with pytest.raises(ValueError, match="k must be an integer between 1 and"):
        spectralcls.dask.knn(rows(Q), rows(X), 601)


def test_ccdr_on_the_graph_that_the_workers_found(problem):
    X, y, _, queries = problem
    classes = np.unique(y, return_inverse=True)[1]
    local = spectralcls.CCDR(n_neighbors=6, scale=None).fit(X, classes)
    parts = rows(X)
    graph = spectralcls.dask.knn_graph(parts, 6, mode="distance")
    embedded = spectralcls.CCDR(affinity="precomputed_nearest_neighbors", scale=None).fit(graph, classes)
    np.testing.assert_allclose(embedded.eigenvalues_, local.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(np.abs(embedded.embedding_), np.abs(local.embedding_), atol=1e-7)
    distances, indices = dask.compute(*spectralcls.dask.knn(rows(queries, 40), parts, 6))
    starts = np.arange(0, indices.size + 1, 6)
    query_graph = csr_array((distances.ravel(), indices.ravel(), starts), shape=(len(queries), len(X)))
    expected = spectralcls.CCDR(n_neighbors=6, extension="nearest", scale=None).fit(X, classes).transform(queries)
    found = embedded.transform(query_graph)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("class_weight", ["balanced", {"ash": 5.0, "beech": 0.5}])
def test_weights_of_classes_count_in_tuning_as_in_memory(problem, class_weight):
    X, y, _, _ = problem
    some = np.flatnonzero((y != "ash") | (np.arange(len(y)) % 8 == 0))[:200]
    X, y = X[some], y[some]
    options = {"class_weight": class_weight, "scale": None}
    local = spectralcls.PerTurboClassifier(**options).fit(X, y)
    distributed = spectralcls.PerTurboClassifier(**options).fit(rows(X), rows(y))
    scores = [model.cv_results_["mean_test_score"] for model in (local, distributed)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9)
    ones = spectralcls.PerTurboClassifier(scale=None).fit(X, y).cv_results_["mean_test_score"]
    assert np.abs(scores[0] - ones).max() > 0.01
    with pytest.raises(ValueError, match="class_weight must be positive"):
        spectralcls.PerTurboClassifier(class_weight={"ash": 0.0}).fit(rows(X), rows(y))


@pytest.mark.parametrize("parameters", [dict(), dict(bandwidth=1.0, alpha=1e-2)])
def test_perturbo_of_a_table_with_gaps(parameters):
    frame, y, _ = mixed_table(240)
    queries, _, _ = mixed_table(40, seed=1)
    local = spectralcls.PerTurboClassifier(**parameters).fit(frame, y)
    distributed = spectralcls.PerTurboClassifier(**parameters)
    distributed.fit(dd.from_pandas(frame, npartitions=3, sort=False), da.from_array(y, chunks=100))
    assert (distributed.bandwidth_, distributed.alpha_) == (local.bandwidth_, local.alpha_)
    on_workers = dd.from_pandas(queries, npartitions=2, sort=False)
    for method in ("decision_function", "score_samples", "perturbation"):
        found = getattr(distributed, method)(on_workers).compute()
        np.testing.assert_allclose(found, getattr(local, method)(queries), rtol=1e-7, atol=1e-9)
    grown = distributed.to_local().partial_fit(queries, np.arange(40) % 3).decision_function(frame)
    expected = local.partial_fit(queries, np.arange(40) % 3).decision_function(frame)
    np.testing.assert_allclose(grown, expected, rtol=1e-7, atol=1e-9)


# Bad input


def test_a_refused_fit_or_query_leaves_the_estimator_as_it_was(problem):
    X, y, _, queries = problem
    fitted = spectralcls.ParzenClassifier(bandwidth=1.0).fit(rows(X), y)
    before = fitted.predict(rows(queries)).compute()
    broken = np.where(np.arange(600)[:, None] == [-1, 431, -1], np.inf, X)
    with pytest.raises(ValueError, match="contains infinity: row 431, column 1"):
        fitted.fit(rows(broken), y)
    with pytest.raises(ValueError, match="1 features, but ParzenClassifier is expecting 3"):
        fitted.predict(rows(queries[:, :1]))
    np.testing.assert_array_equal(fitted.predict(rows(queries)).compute(), before)


@pytest.mark.parametrize(
    "given, error, message",
    [
        (lambda X, y: (rows(X)[rows(X)[:, 0] > 0], y), ValueError, r"unknown chunk sizes.*X\.compute_chunk_sizes\(\)"),
        (lambda X, y: (da.from_array(X, chunks=(100, 2)), y), ValueError, r"its features.*X\.rechunk\(\{1: -1\}\)"),
        (lambda X, y: (rows(X), y[:-1]), ValueError, "X has 600 rows"),
        (
            lambda X, y: (rows(X), np.zeros(len(y), dtype=int)),
            ValueError,
            "number of classes has to be greater than one",
        ),
        (lambda X, y: (rows(X), np.linspace(0, 1, len(y))), ValueError, "Unknown label type"),
    ],
)
def test_data_that_do_not_fit(problem, given, error, message):
    with pytest.raises(error, match=message):
        spectralcls.ParzenClassifier(bandwidth=1.0).fit(*given(*problem[:2]))


def test_not_fitted(problem):
    with pytest.raises(NotFittedError):
        spectralcls.ParzenClassifier().predict(rows(problem[3]))


def test_what_lies_under_a_mask_is_missing(problem):
    X, y, Q, _ = problem
    hidden = np.random.default_rng(0).random(X.shape) < 0.1
    masked, gaps = np.ma.array(np.where(hidden, 1e6, X), mask=hidden), np.where(hidden, np.nan, X)
    chunks = len(X) // 3 + 1
    answers = [
        np.asarray(
            spectralcls.ParzenClassifier(bandwidth=1.0)
            .fit(da.from_array(given, chunks=(chunks, -1)), da.from_array(y, chunks=chunks))
            .predict_proba(da.from_array(given, chunks=(chunks, -1)))
        )
        for given in (masked, gaps)
    ]
    np.testing.assert_array_equal(*answers)
    with pytest.raises(ValueError, match="y contains NaN"):
        labels = da.from_array(np.ma.array(y, mask=hidden[:, 0]), chunks=chunks)
        spectralcls.ParzenClassifier(bandwidth=1.0).fit(da.from_array(X, chunks=(chunks, -1)), labels)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "int64[pyarrow]"])
def test_labels_of_nullable_dtypes_stay_what_they_are(dtype):
    pytest.importorskip("pyarrow")
    X, codes = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    plain = codes == 1 if dtype == "boolean" else codes
    y = dd.from_pandas(pd.Series(plain, dtype=dtype), npartitions=2)
    model = spectralcls.ParzenClassifier(bandwidth=1.0).fit(dd.from_pandas(pd.DataFrame(X), npartitions=2), y)
    assert model.classes_.dtype == plain.dtype
    np.testing.assert_array_equal(model.classes_, np.unique(plain))
