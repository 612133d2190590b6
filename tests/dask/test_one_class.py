"""One class in memory and on Dask: what it is fitted to says where it works; what cannot be distributed says so."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask.array")

import dask.array as da
import dask.dataframe as dd
from dask.base import tokenize
from every_estimator import KINDS, make
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline

import spectralcls
from spectralcls import inspection
from spectralcls._expansion import Rule
from spectralcls.kernel_mean import KernelMeanClassifier

LEARN_ON_WORKERS = [
    "CauchySchwarzClassifier",
    "ISEClassifier",
    "KernelRegressor",
    "LaplacianISEClassifier",
    "LaplacianSpectralClassifier",
    "ParzenClassifier",
    "PerTurboClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
]
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples", "perturbation")


@pytest.fixture(scope="module")
def problem():
    X, y = make_blobs(300, centers=3, n_features=3, cluster_std=2.0, random_state=1)
    return X, np.array(["ash", "beech", "cedar"])[y], np.random.default_rng(3).normal(0, 6, size=(70, 3))


def rows(array, chunk=110):
    return da.from_array(array, chunks=(chunk, *array.shape[1:]))


def fitted(name, X, y, **parameters):
    """A fit in memory and one on Dask."""
    y = X[:, 0] if name == "KernelRegressor" else y
    return make(name, **parameters).fit(X, y), make(name, **parameters).fit(rows(X), rows(y))


@pytest.mark.parametrize("name", LEARN_ON_WORKERS)
@pytest.mark.parametrize("parameters", [{}, {"bandwidth": 1.5, "scale": None}])
def test_answers_are_lazy_to_collections_and_arrays_to_arrays(problem, name, parameters):
    X, y, Q = problem
    parameters = {key: value for key, value in parameters.items() if key in make(name).get_params()}
    local, distributed = fitted(name, X, y, **parameters)
    assert type(distributed) is type(local)
    for method in METHODS:
        assert hasattr(distributed, method) == hasattr(local, method)
        if hasattr(local, method):
            expected = getattr(local, method)(Q)
            lazy, here = (getattr(distributed, method)(queries) for queries in (rows(Q, 30), Q))
            assert isinstance(lazy, da.Array) and lazy.shape == expected.shape and lazy.dtype == expected.dtype
            assert type(here) is np.ndarray and here.dtype == expected.dtype
            for found in (lazy.compute(), here):
                if method == "predict" and expected.dtype.kind != "f":
                    assert_array_equal(found, expected)
                else:
                    # Slopes far from the data divide by little: there sums in another order show.
                    rtol = 1e-4 if name == "KernelRegressor" else 1e-7
                    assert_allclose(found, expected, rtol=rtol, atol=0.01 * rtol * np.abs(expected).max())


@pytest.mark.parametrize("name", LEARN_ON_WORKERS)
def test_a_fit_forgets_where_the_last_one_was(problem, name):
    X, y, Q = problem
    answers = X[:, 0] if name == "KernelRegressor" else y
    fixed = {key: value for key, value in {"bandwidth": 1.5, "scale": None}.items() if key in make(name).get_params()}
    model = make(name, **fixed).fit(rows(X), rows(answers)).fit(X, answers)
    assert_array_equal(model.predict(Q), make(name, **fixed).fit(X, answers).predict(Q))
    assert not hasattr(model, "to_local")
    assert hasattr(model.fit(rows(X), rows(answers)), "to_local")
    assert not hasattr(clone(model), "to_local")


def test_queries_in_memory_may_be_frames_with_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": pd.Categorical(rng.choice(["u", "v"], 90))})
    y = (frame["a"] > 0).to_numpy() * 1
    local = spectralcls.ParzenClassifier().fit(frame, y)
    distributed = spectralcls.ParzenClassifier().fit(dd.from_pandas(frame, npartitions=2), da.from_array(y, 50))
    assert_allclose(distributed.predict_proba(frame), local.predict_proba(frame), rtol=1e-9, atol=1e-12)


def test_a_compact_kernel_gives_arrays_in_memory_the_nearest_point(problem):
    X, y, Q = problem
    local, distributed = fitted("ParzenClassifier", X, y, bandwidth=0.4, kernel="uniform", scale=None)
    assert np.isneginf(local.score_samples(Q)).any()
    assert_array_equal(distributed.predict(Q), local.predict(Q))


class Nearby(KernelMeanClassifier):
    """A member that a user wrote."""

    def _rule(self):
        return Rule("angle", None, "same")


def test_a_new_member_learns_on_workers_for_nothing(problem):
    X, y, Q = problem
    found = Nearby(bandwidth=1.5).fit(rows(X), rows(y)).decision_function(rows(Q)).compute()
    assert_allclose(found, Nearby(bandwidth=1.5).fit(X, y).decision_function(Q), rtol=1e-9)


def test_a_pipeline_takes_the_collection_through(problem):
    X, y, Q = problem
    model = make_pipeline(spectralcls.ParzenClassifier(1.5)).fit(rows(X), rows(y))
    assert isinstance(model.predict(rows(Q)), da.Array)
    assert model.score(rows(X), rows(y)) == make_pipeline(spectralcls.ParzenClassifier(1.5)).fit(X, y).score(X, y)


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {*LEARN_ON_WORKERS, "KernelMap"}))
@pytest.mark.parametrize("frame", [False, True])
def test_what_learns_in_memory_says_so_in_its_name(problem, name, frame):
    X, y, _ = problem
    given = dd.from_pandas(pd.DataFrame(X), npartitions=2) if frame else rows(X)
    with pytest.raises(
        TypeError, match=rf"^{name} learns from data in memory, not from a Dask .*: pass X\.compute\(\)"
    ):
        KINDS[name]().fit(given, rows(y))


def test_what_needs_points_in_memory_says_how_to_get_them(problem):
    X, y, Q = problem
    local, distributed = fitted("ParzenClassifier", X, y, bandwidth=1.5)
    for method in ("partial_fit", "predict_set", "conformal_p_values"):
        assert hasattr(local, method) and not hasattr(distributed, method)
        with pytest.raises(AttributeError, match=r"ParzenClassifier was fitted to a Dask.* to_local\(\)"):
            getattr(distributed, method)
    with pytest.raises(TypeError, match=r"ParzenClassifier\.partial_fit learns from data in memory"):
        local.partial_fit(rows(Q), rows(y[:70]))
    with pytest.raises(TypeError, match="ParzenClassifier learns from data in memory"):
        spectralcls.ParzenClassifier(1.5).partial_fit(rows(X), rows(y), np.unique(y))
    with pytest.raises(AttributeError, match="to_local"):
        inspection.label_quality(distributed)
    with pytest.raises(AttributeError, match="ParzenClassifier was not fitted to a Dask collection"):
        local.to_local()
    with pytest.raises(ValueError, match='On Dask collections cv must be an int or "loo"'):
        spectralcls.ParzenClassifier(cv=[(np.arange(100), np.arange(100, 300))]).fit(rows(X), rows(y))


@pytest.mark.parametrize("name", LEARN_ON_WORKERS)
def test_a_fitted_model_is_shown_pickled_and_told_apart_but_not_saved(problem, name, tmp_path):
    X, y, Q = problem
    _, model = fitted(name, X, y)
    assert name in model._repr_html_() and "predict" in dir(model)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Q), model.predict(Q))
    assert tokenize(model) == tokenize(model) != tokenize(fitted(name, X[:200], y[:200])[1])
    for given in (model, make_pipeline("passthrough", model)):
        with pytest.raises(TypeError, match=rf"{name} was fitted to a Dask collection.*result of to_local\(\)"):
            spectralcls.save(given, tmp_path / "model.skops")


def test_a_method_that_is_not_there_says_why():
    with pytest.raises(AttributeError, match="temperature is fitted to held-out points"):
        spectralcls.ISEClassifier(1.0).predict_proba  # noqa: B018


def test_dask_is_imported_when_a_collection_is_seen(problem):
    code = (
        "import sys, numpy as np, spectralcls\n"
        "X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2\n"
        "spectralcls.ParzenClassifier(1.0).fit(X, y).predict(X)\n"
        "assert not {'dask', 'distributed'} & set(sys.modules)\n"
        "import dask.array as da\n"
        "model = spectralcls.ParzenClassifier(1.0).fit(da.from_array(X, chunks=(30, 2)), y)\n"
        "print(type(model.predict(da.from_array(X, chunks=(30, 2)))).__name__)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == "Array", result.stderr


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"weighting": "symmetric", "bandwidth": "silverman"}])
def test_a_kernel_map_of_points_on_workers(problem, parameters, weighted):
    X, _, Q = problem
    weights = np.random.default_rng(0).integers(0, 4, len(X)) * 1.0 if weighted else None
    local = spectralcls.KernelMap(3, **parameters, scale=None).fit(X, sample_weight=weights)
    distributed = spectralcls.KernelMap(3, **parameters, scale=None).fit(rows(X), sample_weight=weights)
    expected = local.transform(X[:40])
    scale = np.abs(expected).max()
    for found in (
        distributed.transform(rows(X[:40], 15)),
        distributed.transform(X[:40]),
        distributed.to_local().transform(X[:40]),
        spectralcls.KernelMap(3, **parameters, scale=None).fit_transform(rows(X), sample_weight=weights)[:40],
    ):
        assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-6 * scale)
    assert_allclose(distributed.bandwidth_, local.bandwidth_)
    for wrong, message in (({"rank": 20}, "rank must be None"), ({"n_components": "all"}, "number below n_samples")):
        with pytest.raises(ValueError, match=message):
            spectralcls.KernelMap(**wrong, scale=None).fit(rows(X))


@pytest.mark.parametrize("name", ["KernelRidgeClassifier", "ParzenClassifier"])
def test_a_model_in_memory_answers_block_by_block(problem, name):
    X, y, Q = problem
    model = make(name).fit(X, y)
    lazy = rows(Q, 30).map_blocks(model.predict, drop_axis=1, dtype=model.classes_.dtype)
    assert_array_equal(lazy.compute(), model.predict(Q))
