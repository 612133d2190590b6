import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from spectralcls import (
    CCDRClassifier,
    KernelRegressor,
    KernelRidgeClassifier,
    ParzenDensity,
    PerTurboClassifier,
    SpectralKernelClassifier,
    plotting,
)
from spectralcls.kernel_mean import CauchySchwarzClassifier, ParzenClassifier
from spectralcls.spectral import LaplacianSpectralClassifier, SpectralISEClassifier


def test_the_curve_is_the_path(axes):
    X, y = load_iris(return_X_y=True)
    model = ParzenClassifier().fit(X, y)
    display = plotting.BandwidthPathDisplay.from_estimator(model, ax=axes[0], color="k")
    path = np.c_[model.cv_results_["param_bandwidth"], model.cv_results_["mean_test_score"]]
    np.testing.assert_array_equal(display.line_.get_xydata(), path)
    assert display.best_line_.get_xdata()[0] == model.bandwidth_
    assert display.ax_ is axes[0] and axes[0].get_xscale() == "log" and display.line_.get_color() == "k"
    labels = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert labels[0] == "ParzenClassifier" and labels[1].startswith("h = ")
    other = CauchySchwarzClassifier().fit(X, y)
    plotting.BandwidthPathDisplay.from_estimator(other, ax=axes[0], name="CS")
    assert len(axes[0].get_legend().get_texts()) == 4


def test_nothing_to_draw():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        plotting.BandwidthPathDisplay.from_estimator(ParzenClassifier())
    for model in (ParzenClassifier(bandwidth=1.0), CCDRClassifier()):  # the second tunes other parameters
        with pytest.raises(ValueError, match="tuned no bandwidth, so there is no path to draw"):
            plotting.BandwidthPathDisplay.from_estimator(model.fit(X, y))


def test_the_path_of_a_grid_search(axes):
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(ParzenClassifier(), {"bandwidth": [1.0, 0.1, 0.3]}).fit(X, y)
    display = plotting.BandwidthPathDisplay.from_estimator(search, ax=axes[0])
    h, scores = display.line_.get_xydata().T
    np.testing.assert_array_equal(h, [0.1, 0.3, 1.0])
    np.testing.assert_array_equal(scores, search.cv_results_["mean_test_score"][[1, 2, 0]])
    assert display.best_line_.get_xdata()[0] == search.best_params_["bandwidth"]


@pytest.mark.parametrize(
    "model",
    [
        LaplacianSpectralClassifier(),
        LaplacianSpectralClassifier(n_components="cv", max_components=4),
        SpectralISEClassifier(),
        SpectralISEClassifier(n_components="cv", max_components=4),
        PerTurboClassifier(),
        KernelRidgeClassifier(),
        SpectralKernelClassifier(),
    ],
    ids=repr,
)
def test_every_estimator_that_tunes_a_bandwidth_has_a_path(axes, model):
    X, y = load_iris(return_X_y=True)
    model.fit(X[::3], y[::3])
    display = plotting.BandwidthPathDisplay.from_estimator(model, ax=axes[0])
    h, scores = display.line_.get_xydata().T
    assert np.all(np.diff(h) > 0) and len(h) == len(set(model.cv_results_["param_bandwidth"]))
    assert len(h) == {"KernelRidgeClassifier": 3, "SpectralKernelClassifier": 6}.get(type(model).__name__, 16)
    assert np.nanmax(scores) == np.nanmax(model.cv_results_["mean_test_score"])
    assert display.best_line_.get_xdata()[0] in h
    assert display.score_name == {
        "KernelRidgeClassifier": "Held-out log likelihood",
        "LaplacianSpectralClassifier": "Cross-validated balanced accuracy",
    }.get(type(model).__name__, "Cross-validated accuracy")


def test_paths_of_densities_and_regressors_name_their_score():
    X = np.random.default_rng(0).normal(size=(80, 1))
    for model, name in ((ParzenDensity().fit(X), "fit of the density"), (KernelRegressor().fit(X, X[:, 0]), "R²")):
        assert plotting.BandwidthPathDisplay.from_estimator(model).ax_.get_ylabel() == f"Held-out {name}"
