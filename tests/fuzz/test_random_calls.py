"""What `tests.fuzz` draws: every public function takes part; and what it found in functions of all kinds."""

import importlib
import inspect
import pkgutil
from operator import attrgetter

import numpy as np
import pytest

pytest.importorskip("dask", reason="functions on Dask collections are drawn too")

import dask.array as da

import spectralcls
from fuzz import hostile

ASKS_THE_NETWORK = {spectralcls.datasets.load}
X = hostile.MORE
MIXED = np.array(["a", 1, 2, "b"] * 5, dtype=object)


def public_functions():
    names = [module.name for module in pkgutil.iter_modules(spectralcls.__path__)]
    modules = [importlib.import_module(f"spectralcls.{name}") for name in names if name[0] != "_" and name != "cli"]
    things = (getattr(module, name) for module in [spectralcls, *modules] for name in module.__all__)
    return {thing for thing in things if inspect.isfunction(thing)}


def test_every_public_function_is_called_with_arguments_of_the_wrong_kind():
    assert {attrgetter(name)(spectralcls) for name in hostile.CALLS} == public_functions() - ASKS_THE_NETWORK


@pytest.mark.parametrize("name", hostile.CALLS)
def test_the_arguments_that_are_spoiled_are_those_of_the_function(name):
    known = set(inspect.signature(attrgetter(name)(spectralcls)).parameters)
    assert set(hostile.CALLS[name]) <= known | ({"n_resamples"} if "options" in known else set())


REFUSED = {  # function, arguments, error, words
    "kernel by number": ("kernels.log_normalizer", dict(kernel=3), ValueError, "kernel must be one of"),
    "dimension": ("kernels.log_normalizer", dict(d=0), ValueError, "d must be an integer of at least 1"),
    "negative width": ("kernels.log_normalizer", dict(bandwidth=-1.0), ValueError, "positive and finite"),
    "confidence": ("kernel_sums", dict(rtol=0.1, confidence=None), ValueError, "confidence must be a number"),
    "kernel of a variance": ("kernels.kernel_variance", dict(kernel=[]), ValueError, "kernel must be one of"),
    "no features": ("kernels.kernel_variance", dict(n_features=0), ValueError, "n_features must be an integer"),
    "weights of zero": ("kernels.scale_bandwidth", dict(sample_weight=np.zeros(4)), ValueError, "no spread|non-zero"),
    "equal samples": ("kernels.scale_bandwidth", dict(X=np.ones((4, 2))), ValueError, "no spread"),
    "margin of a number": ("perturbo.margin", dict(estimator=1), ValueError, "perturbation"),
    "strategies": ("perturbo.simulate", dict(strategies=[["boundary"]]), ValueError, "strategies must be some of"),
    "truth value for a number of neighbors": ("knn", dict(k=True), ValueError, "k must be an integer"),
    "mixed labels": ("perturbo.simulate", dict(y=MIXED), TypeError, "y mixes str with int"),
    "mixed labels, reduced": ("kernel_mean.reduce_training_set", dict(X=X, y=MIXED), TypeError, "y mixes str with int"),
    "mixed labels, dimensions": ("information.class_dimensions", dict(y=MIXED), TypeError, "y mixes str with int"),
    "sizes": ("information.entropic_dimension", dict(sizes=[2.5, 3.5]), ValueError, "sizes must be integers"),
    "gamma": ("information.entropic_dimension", dict(gamma="1"), ValueError, "gamma must be a positive number"),
    "neighbors": (
        "information.entropic_dimension",
        dict(n_neighbors="2"),
        ValueError,
        "n_neighbors must be a positive",
    ),
    "features": ("spectral.linear_svm", dict(features=1e308), ValueError, "2D array"),
    "ring": ("datasets.make_gaussian_in_ring", dict(radius=1e308), ValueError, "is too large"),
    "path": ("datasets.read_npz", dict(path=None), TypeError, "path must be the name of a file"),
    "folder": ("datasets.available", dict(data_home=3), TypeError, "data_home must be the name of a folder"),
    "epsilon": ("neighbors.knn_graph", dict(epsilon=-1.0), ValueError, "epsilon must be positive"),
    "rows": ("dask.from_memmap", dict(rows=0), ValueError, "rows must be an integer of at least 1"),
    "neighbors on Dask": ("dask.knn", dict(k=1.5), ValueError, "k must be an integer"),
    "graph on Dask": ("dask.knn_graph", dict(n_neighbors=None), ValueError, "n_neighbors must be an integer"),
    "mode on Dask": ("dask.knn_graph", dict(mode=[]), ValueError, "mode must be"),
    "kernel on Dask": ("dask.kernel_sums", dict(kernel="a"), ValueError, "kernel must be one of"),
    "groups on Dask": ("dask.kernel_sums", dict(exclude_groups=1.0), ValueError, "must be a pair"),
    "labels on Dask": ("dask.kernel_sums", dict(labels=[0.5] * 4), ValueError, "labels must be integers"),
    "excluded on Dask": ("dask.kernel_sums", dict(exclude_self=None), ValueError, "exclude_self must be True or False"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_of_another_kind_are_refused_in_words(case):
    name, changed, error, words = REFUSED[case]
    arguments = {key: value() if callable(value) else value for key, value in hostile.CALLS[name].items()}
    with pytest.raises(error, match=words):
        attrgetter(name)(spectralcls)(**arguments | changed)


def test_a_graph_on_dask_is_refused_before_any_block_is_read():
    def read(block):
        raise AssertionError("read")

    points = da.from_array(X, chunks=(5, 3)).map_blocks(read, dtype=np.float64, meta=np.zeros((0, 0)))
    with pytest.raises(ValueError, match="mode must be"):
        spectralcls.dask.knn_graph(points, 2, mode="none")


def test_no_more_processes_are_started_than_there_are_repeats():
    arguments = {
        key: value() if callable(value) else value for key, value in hostile.CALLS["perturbo.simulate"].items()
    }
    spectralcls.perturbo.simulate(**arguments | dict(n_jobs=2**62))


def test_the_scale_of_lengths_changes_no_bandwidth():
    for unit in (2.0**700, 2.0**-700):
        assert spectralcls.kernels.scale_bandwidth(X * unit) == unit * spectralcls.kernels.scale_bandwidth(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_refuses_numbers_that_no_float_holds_in_words():
    import every_estimator as estimators
    import pandas as pd

    P, y, Q = estimators.problem()
    huge = P.astype(object)
    huge[3, 1] = 10**400
    weights = np.array([1] * 44 + [10**400], dtype=object)
    for name in estimators.names():
        estimator = estimators.make(name, fixed=True)
        for given in (huge, huge.tolist(), pd.DataFrame(huge)):
            with pytest.raises(ValueError, match="X.*: int too large"):
                estimator.fit(given, y)
        if "sample_weight" in inspect.signature(estimator.fit).parameters:
            with pytest.raises(ValueError, match="sample_weight: int too large"):
                estimator.fit(P, y, sample_weight=weights)
        estimator.fit(P, y)
        for method in {"predict", "transform", "score_samples"} & set(dir(estimator)):
            with pytest.raises(ValueError, match="X: int too large"):
                getattr(estimator, method)(huge)
    with pytest.raises(ValueError, match="y: int too large"):
        spectralcls.KernelRegressor().fit(P, weights)
    with pytest.raises(ValueError, match="priors: int too large"):
        spectralcls.ParzenClassifier(1.0, priors=[10**400, 1, 1]).fit(P, y)


def test_points_whose_sum_overflows_are_no_warning():
    import every_estimator as estimators

    P, y, Q = estimators.problem()
    unit = 2.0**1020  # of finite numbers, whose sum is infinity less infinity
    model = spectralcls.ParzenClassifier(1.0, scale=None).fit(P, y)
    large = spectralcls.ParzenClassifier(unit, scale=None).fit(P * unit, y)
    np.testing.assert_array_equal(large.predict(Q * unit), model.predict(Q))


def test_every_classifier_refuses_labels_of_mixed_kinds_in_words():
    import every_estimator as estimators

    for name in estimators.classifiers():
        with pytest.raises(TypeError, match="y mixes str with int"):
            estimators.make(name, fixed=True).fit(X, MIXED)


@pytest.mark.parametrize("name", ["ParzenClassifier", "PerTurboClassifier", "SpectralISEClassifier"])
@pytest.mark.parametrize("order", [slice(None), np.argsort([isinstance(label, str) for label in MIXED])])
def test_classifiers_on_dask_refuse_labels_of_mixed_kinds_in_words(name, order):
    points, labels = da.from_array(X, chunks=(10, -1)), da.from_array(MIXED[order], chunks=10)
    with pytest.raises(TypeError, match="y mixes str with int"):
        getattr(spectralcls.dask, name)(bandwidth=1.0).fit(points, labels)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("CCDRClassifier", {"beta": {}}, "beta must be a number or a list of numbers"),
        ("GradientMetric", {"alpha_grid": [1j]}, "alpha_grid must consist of numbers"),
        ("KernelRidgeClassifier", {"alpha": "cv", "alpha_grid": ["1"]}, "alpha_grid must consist of numbers"),
    ],
)
def test_candidates_that_are_no_numbers_are_refused(name, parameters, words):
    y = np.repeat([0, 1], len(X) // 2)
    with pytest.raises(ValueError, match=words):
        getattr(spectralcls, name, getattr(spectralcls.metric, name, None))(**parameters).fit(X, y)
