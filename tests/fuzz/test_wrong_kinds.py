"""Calls with an argument of the wrong kind: refused by a sentence, or answered. Every public function takes part."""

import importlib
import inspect
import pkgutil
import tempfile

import every_estimator as estimators
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

pytest.importorskip("dask", reason="functions on Dask collections are drawn, too")

import dask.array as da
from fuzz.strategies import examples, odd, refused

import spectralcls

SMALL, LABELS = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])
MORE, MORE_LABELS = np.vstack([SMALL + 7 * i**2 for i in range(5)]), np.repeat([0, 1], 10)
MIXED = np.array(["a", 1, 2, "b"] * 5, dtype=object)
CHUNKS = da.from_array(SMALL, chunks=(2, 3))
READS_A_FILE = {"load"}
PARZEN = spectralcls.ParzenClassifier(1.0).fit(SMALL, LABELS)
VALUES = {  # of arguments, by their names; others have their defaults
    **dict(A=SMALL @ SMALL.T, Q=SMALL, X=SMALL, X_pool=SMALL, Y=SMALL + 1, features=SMALL, x=np.arange(4.0), y=LABELS),
    **dict(bandwidth=1.0, d=3, k=2, kernel="gaussian", n_classes=2, n_features=3, n_neighbors=2, rank=2),
    **dict(n_components=2, n_permutations=3, n_resamples=2, n_samples=9, path="nowhere.npz", radii=np.ones(4), size=2),
    **dict(n_bandwidths=4, random_state=0, rows=2, version=1, n_initial=None, n_queries=1, n_repeats=1, progress=False),
    "estimator": spectralcls.PerTurboClassifier(1.0, alpha=0.1).fit(SMALL, LABELS),
    "model": spectralcls.ParzenClassifier(1.0).fit(SMALL, LABELS),
}


def csv_file():
    path = tempfile.mkstemp(suffix=".csv")[1]
    pd.DataFrame({"size": [1.5, 2.0, 7.25], "name": ["a", "b", "a"]}).to_csv(path, index=False)
    return path


CHANGED = {
    **{name: {"Q": CHUNKS, "X": CHUNKS} for name in ("dask.kernel_sums", "dask.knn")},
    "dask.knn_graph": {"X": CHUNKS, "mode": "heat"},
    "neighbors.knn_graph": {"mode": "heat"},
    "linalg.rpcholesky": {"bandwidth": 1.0},
    "dask.from_memmap": {"array": np.memmap(tempfile.mkstemp()[1], np.float64, "w+", shape=SMALL.shape)},
    "inspection.estimate_priors": {"estimator": PARZEN},
    "inspection.feature_effect": {"estimator": PARZEN},
    "inspection.influence": {"estimator": PARZEN},
    "inspection.with_priors": {"estimator": PARZEN, "priors": [0.5, 0.5]},
    "information.entropic_dimension": {"X": MORE},
    "information.independence_test": {"Y": SMALL[:, :1]},
    "papers.as_printed": {"model": spectralcls.spectral.SpectralISEClassifier(1.0)},
    **{f"datasets.{name}": {"path": csv_file()} for name in ("read_table", "table_parts")},
    "save": {"path": tempfile.mkstemp(suffix=".skops")[1]},
}


def public_functions():
    """{name below the package: function}, once each."""
    names = [module.name for module in pkgutil.iter_modules(spectralcls.__path__)]
    names = [name for name in names if name[0] != "_" and name != "cli"]
    found = {}
    for prefix, module in [("", spectralcls)] + [(f"{n}.", importlib.import_module(f"spectralcls.{n}")) for n in names]:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and thing not in found.values():
                found[prefix + name] = thing
    return found


FUNCTIONS = public_functions()


def arguments_of(name):
    """Arguments that the function takes."""
    found = {}
    for key, parameter in inspect.signature(FUNCTIONS[name]).parameters.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            found[key] = VALUES[key] if key not in CHANGED.get(name, {}) else None
        elif key in VALUES and parameter.default is not None and parameter.kind is not parameter.VAR_KEYWORD:
            found[key] = VALUES[key] if not isinstance(parameter.default, str) else parameter.default
        elif parameter.kind is not parameter.VAR_KEYWORD:
            found[key] = parameter.default
    return found | CHANGED.get(name, {})


def call(name, **changed):
    answer = FUNCTIONS[name](**arguments_of(name) | changed)
    return answer.compute(scheduler="synchronous") if hasattr(answer, "compute") else answer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_its_arguments(name):
    if name in READS_A_FILE:
        with pytest.raises(OSError):
            call(name)
    else:
        call(name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if arguments_of(name)])
@given(st.data())
def test_functions(name, data):
    keys = sorted(key for key in arguments_of(name) if (name, key) != ("save", "path"))  # no file of an odd name
    keys = data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True))
    try:
        call(name, **{key: data.draw(odd(key)) for key in keys})
    except (ValueError, TypeError, OSError, MemoryError) as error:
        refused(error)


@pytest.mark.parametrize("name", estimators.names())
@examples(0.5)
@given(st.data(), st.sampled_from(["parameter", "parameter", "X", "y"]))
def test_estimators(name, data, what):
    X, y, Q = estimators.problem(n=20, d=2)
    model = estimators.make(name, fixed=True)
    if what == "parameter":
        key = data.draw(st.sampled_from(sorted(model.get_params(deep=False))))
        model.set_params(**{key: data.draw(odd(key))})
    else:
        X, y = (data.draw(odd(what)), y) if what == "X" else (X, data.draw(odd(what)))
    try:
        model.fit(X, y)
        estimators.responses(model, Q)
    except (ValueError, TypeError, NotFittedError) as error:
        refused(error)


REFUSED = {  # function, arguments, error, words
    "kernel by number": ("kernels.log_normalizer", dict(kernel=3), ValueError, "kernel must be one of"),
    "dimension": ("kernels.log_normalizer", dict(d=0), ValueError, "d must be an integer of at least 1"),
    "negative width": ("kernels.log_normalizer", dict(bandwidth=-1.0), ValueError, "positive and finite"),
    "kernel of a variance": ("kernels.kernel_variance", dict(kernel=[]), ValueError, "kernel must be one of"),
    "no features": ("kernels.kernel_variance", dict(n_features=0), ValueError, "n_features must be an integer"),
    "weights of zero": (
        "kernels.silverman_bandwidth",
        dict(sample_weight=np.zeros(4)),
        ValueError,
        "no spread|non-zero|sum of sample_weight",
    ),
    "equal samples": ("kernels.silverman_bandwidth", dict(X=np.ones((4, 2))), ValueError, "no spread"),
    "truth value for a number of neighbors": ("knn", dict(k=True), ValueError, "k must be an integer"),
    "mixed labels, reduced": ("kernel_mean.reduce_training_set", dict(X=MORE, y=MIXED), TypeError, "y mixes str"),
    "sizes": ("information.entropic_dimension", dict(sizes=[2.5, 3.5]), ValueError, "sizes must be integers"),
    "gamma": ("information.entropic_dimension", dict(gamma="1"), ValueError, "'gamma' parameter .* must be a float"),
    "neighbors": (
        "information.entropic_dimension",
        dict(n_neighbors="2"),
        ValueError,
        "'n_neighbors' parameter .* must be an int",
    ),
    "features": ("spectral.linear_svm", dict(features=1e308), ValueError, "2D array"),
    "words": ("datasets.read_table", dict(missing=[1, [2]]), ValueError, "missing must consist of words"),
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
def test_the_argument_is_named(case):
    name, changed, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call(name, **changed)


def test_a_graph_on_dask_is_refused_before_any_block_is_read():
    def read(block):
        raise AssertionError("read")

    chunked = da.from_array(MORE, chunks=(5, 3)).map_blocks(read, dtype=np.float64, meta=np.zeros((0, 0)))
    with pytest.raises(ValueError, match="mode must be"):
        spectralcls.dask.knn_graph(chunked, 2, mode="none")


def test_the_scale_of_lengths_changes_no_bandwidth():
    for unit in (2.0**700, 2.0**-700):
        assert spectralcls.kernels.silverman_bandwidth(MORE * unit) == unit * spectralcls.kernels.silverman_bandwidth(
            MORE
        )


def test_every_estimator_refuses_numbers_that_no_float_holds_in_words():
    P, y, Q = estimators.problem()
    huge = P.astype(object)
    huge[3, 1] = 10**400
    weights = np.array([1] * 44 + [10**400], dtype=object)
    for name in estimators.names():
        estimator = estimators.make(name, fixed=True)
        for given_points in (huge, huge.tolist(), pd.DataFrame(huge)):
            with pytest.raises(ValueError, match="X.*: int too large"):
                estimator.fit(given_points, y)
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


@pytest.mark.filterwarnings("error")
def test_points_whose_sum_overflows_are_no_warning():
    P, y, Q = estimators.problem()
    unit = 2.0**1020  # of finite numbers, whose sum is infinity less infinity
    model = spectralcls.ParzenClassifier(1.0, scale=None).fit(P, y)
    large = spectralcls.ParzenClassifier(unit, scale=None).fit(P * unit, y)
    np.testing.assert_array_equal(large.predict(Q * unit), model.predict(Q))


def test_every_classifier_refuses_labels_of_mixed_kinds_in_words():
    for name in estimators.classifiers():
        with pytest.raises(TypeError, match="y mixes str with int"):
            estimators.make(name, fixed=True).fit(MORE, MIXED)


@pytest.mark.parametrize("name", ["ParzenClassifier", "PerTurboClassifier", "SpectralISEClassifier"])
@pytest.mark.parametrize("order", [slice(None), np.argsort([isinstance(label, str) for label in MIXED])])
def test_classifiers_on_dask_refuse_labels_of_mixed_kinds_in_words(name, order):
    chunked, labels = da.from_array(MORE, chunks=(10, -1)), da.from_array(MIXED[order], chunks=10)
    with pytest.raises(TypeError, match="y mixes str with int"):
        estimators.KINDS[name](bandwidth=1.0).fit(chunked, labels)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("CCDRClassifier", {"beta": {}}, "beta must be a number or a list of numbers"),
        ("KernelRidgeClassifier", {"alpha_grid": [1j]}, "alpha_grid must consist of numbers"),
        ("KernelRidgeClassifier", {"alpha": "cv", "alpha_grid": ["1"]}, "alpha_grid must consist of numbers"),
    ],
)
def test_candidates_that_are_no_numbers_are_refused(name, parameters, words):
    with pytest.raises(ValueError, match=words):
        estimators.KINDS[name](**parameters).fit(MORE, MORE_LABELS)
