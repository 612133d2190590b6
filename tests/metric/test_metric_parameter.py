"""`metric=` of the classifiers: the same as fitting the map first, whatever else the classifier does."""

import numpy as np
import pytest
from every_estimator import KINDS
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spectralcls
from spectralcls.metric import KernelMetric

NAMES = [
    "ParzenClassifier",
    "ISEClassifier",
    "LaplacianISEClassifier",
    "CauchySchwarzClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
    "LaplacianSpectralClassifier",
    "PerTurboClassifier",
    "KernelRidgeClassifier",
]
pytestmark = pytest.mark.filterwarnings("ignore:No (step|round) improved:sklearn.exceptions.ConvergenceWarning")


def make(name, **parameters):
    return KINDS[name](**{"scale": None} | parameters)


def scaled_problem(n=120, seed=0, dtype=np.float64):
    """Two features that tell classes apart, two of large scale that do not."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 2.5 * np.eye(4)[y] * (np.arange(4) < 2)
    return (X * [1, 1, 30, 300]).astype(dtype), y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("metric", ["whiten", "diagonal", "full"])
def test_a_kind_is_the_map_fitted_first(name, metric):
    X, y = scaled_problem()
    Q = X[::5] + 0.3
    learned = KernelMetric(metric).fit(X, y)
    found = make(name, bandwidth=1.0, metric=metric).fit(X, y)
    expected = make(name, bandwidth=1.0).fit(learned.transform(X), y)
    assert_allclose(found.metric_.components_, learned.components_)
    assert_allclose(found.decision_function(Q), expected.decision_function(learned.transform(Q)), rtol=1e-10)
    assert found.n_features_in_ == 4
    plain = make(name).fit(X, y)
    assert plain.metric_ is None
    unseen = scaled_problem(seed=1)
    assert make(name, metric=metric).fit(X, y).score(*unseen) > plain.score(*unseen) + 0.05


@pytest.mark.parametrize("name", ["ParzenClassifier", "SpectralISEClassifier", "PerTurboClassifier"])
def test_transformers_fitted_and_unfitted(name):
    X, y = load_iris(return_X_y=True)
    fitted = PCA(2, random_state=0).fit(X[:20])
    model = make(name, bandwidth=1.0, metric=fitted).fit(X, y)
    assert model.metric_ is fitted
    plain = make(name, bandwidth=1.0).fit(fitted.transform(X), y)
    assert_allclose(model.decision_function(X), plain.decision_function(fitted.transform(X)), rtol=1e-10)
    unfitted = make_pipeline(StandardScaler(), PCA(2))
    model = clone(make(name, metric=unfitted)).fit(X, y)
    assert model.metric_ is not unfitted and not hasattr(unfitted[0], "mean_")
    assert_allclose(model.metric_[0].mean_, X.mean(axis=0))
    frozen = make(name, metric=FrozenEstimator(fitted))
    assert_allclose(clone(frozen).fit(X, y).metric_.estimator.mean_, fitted.mean_)


@pytest.mark.parametrize("name", ["ParzenClassifier", "LaplacianISEClassifier", "PerTurboClassifier"])
def test_growth_keeps_the_metric(name):
    X, y = scaled_problem()
    fixed = {"bandwidth": 1.0} | ({"alpha": 0.01} if name == "PerTurboClassifier" else {})
    model = make(name, **fixed, metric="full")
    model.partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    metric = model.metric_
    model.partial_fit(X[60:], y[60:])
    assert model.metric_ is metric
    whole = make(name, **fixed, metric=metric).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-8, atol=1e-10)
    if name == "ParzenClassifier":
        before = model.decision_function(X)
        with pytest.raises(ValueError, match="features"):
            model.partial_fit(X[:3, :2], y[:3])
        assert_array_equal(model.decision_function(X), before)
        tuned = make(name, metric="full", cv="loo").partial_fit(X[:60], y[:60], classes=[0, 1, 2])
        tuned.partial_fit(X[60:], y[60:], retune=True)
        again = make(name, metric=tuned.metric_, cv="loo").fit(X, y)  # folds would be drawn by other values of X
        assert_allclose(tuned.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"])
        assert_allclose(tuned.bandwidth_, again.bandwidth_)


def test_the_pool_of_active_learning_maps_its_samples():
    X, y = scaled_problem()
    model = spectralcls.PerTurboClassifier(1.0, alpha=1e-2, metric="full").fit(X[::4], y[::4])
    pool = spectralcls.perturbo.ActivePool(model, X)
    position = pool.query(random_state=0)
    pool.label(position, y[position])
    assert_allclose(pool.perturbation, model.perturbation(X[pool.remaining]), atol=1e-10)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("mahalanobis", "The 'metric' parameter"),
        (KernelMetric("diagonl"), "The 'kind' parameter of KernelMetric"),
        (KernelMetric(n_components=9), "n_components=9 is more than the 4 features"),
    ],
)
@pytest.mark.parametrize("name", ["ParzenClassifier", "SpectralISEClassifier", "PerTurboClassifier"])
def test_what_is_wrong_is_said(name, metric, message):
    X, y = scaled_problem(30)
    model = make(name, bandwidth=1.0).fit(X, y)
    before = vars(model).copy()
    with pytest.raises(ValueError, match=message):
        model.set_params(metric=metric).fit(X, y)
    assert {**vars(model), "metric": None} == before


@pytest.mark.parametrize("name", [name for name in NAMES if KINDS[name]._learns_on_workers])
def test_on_dask_collections(name):
    da = pytest.importorskip("dask.array")
    X, y = scaled_problem()
    XD, yD = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    local = make(name, bandwidth=1.0, metric="full").fit(X, y)
    spread = make(name, bandwidth=1.0, metric="full", scale=None).fit(XD, yD)
    assert_allclose(spread.decision_function(XD).compute(), local.decision_function(X), rtol=1e-6, atol=1e-8)
    assert_allclose(spread.to_local().decision_function(X), local.decision_function(X), rtol=1e-6, atol=1e-8)
