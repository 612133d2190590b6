import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from spectralcls.papers import as_printed
from spectralcls.plotting import EmbeddingDisplay
from spectralcls.spectral import KernelMap, LaplacianSpectralClassifier, SpectralLaplacianISEClassifier

X, y = load_iris(return_X_y=True)


def test_spectral_map_shows_points_centres_and_queries(axes):
    model = SpectralLaplacianISEClassifier(0.5, n_components=3, scale=None).fit(X, y)
    display = EmbeddingDisplay.from_estimator(model, X, y, X_test=X[:30], y_test=y[:30], components=(0, 2), ax=axes[0])
    Z = model.map_.transform(X)[:, [0, 2]]
    for c, points in enumerate(display.scatters_):
        assert_allclose(points.get_offsets(), Z[y == c])
    assert_allclose(display.test_[0].get_offsets(), Z[:30])
    assert_allclose(display.centers_.get_offsets(), model.centers_[:, [0, 2]])
    assert display.ax_ is axes[0] and axes[0].get_ylabel() == "component 3"


@pytest.mark.parametrize("reading", [lambda model: model, as_printed], ids=["ours", "printed"])
def test_spectral_map_of_the_laplacian_spectral_classifier(axes, reading):
    model = reading(LaplacianSpectralClassifier("silverman_per_class", n_components=3, scale=None)).fit(X[::2], y[::2])
    display = EmbeddingDisplay.from_estimator(model, y=y[::2], X_test=X[1::2], ax=axes[0])
    training = np.concatenate([points.get_offsets() for points in display.scatters_])
    M = np.eye(3)[y[::2]] / 25
    Z = model.map_.training_map_
    assert_allclose(model.centers_, M.T @ Z)
    assert_allclose(training, np.concatenate([Z[y[::2] == c, :2] for c in range(3)]))
    # The angles in the picture's space are the classifier's.
    phi = model.map_.transform(X[1::2])
    cosines = phi @ (model.centers_ / np.linalg.norm(model.centers_, axis=1, keepdims=True)).T
    assert_array_equal(cosines.argmax(axis=1), model.predict(X[1::2]))
    assert_allclose(display.test_[0].get_offsets(), phi[:, :2])


def test_equal_widths_map_training_points_as_queries():
    """With one width for all the class of a point tells nothing, and phi(x_i) is the training map."""
    model = LaplacianSpectralClassifier(0.8, n_components=4, scale=None).fit(X, y)
    assert_allclose(model.map_.transform(X), model.map_.training_map_, atol=1e-9 * np.abs(model.centers_).max())


def test_spectral_map_of_the_map_alone(axes):
    model = KernelMap(scale=None).fit(X)
    display = EmbeddingDisplay.from_estimator(model, X, y, X_test=X[:5], ax=axes[0])
    assert not hasattr(display, "centers_") and len(display.test_[0].get_offsets()) == 5


def test_spectral_map_says_what_is_missing(axes):
    with pytest.raises(ValueError, match="no embedding to draw"):
        EmbeddingDisplay.from_estimator(LaplacianSpectralClassifier(scale=None).fit(X, y), X, y)
    with pytest.raises(ValueError, match="two of 0 ... 1"):
        EmbeddingDisplay.from_estimator(KernelMap(scale=None).fit(X), X, y, components=(0, 2))
    with pytest.raises(ValueError, match="does not keep its training points"):
        EmbeddingDisplay.from_estimator(KernelMap(scale=None).fit(X), y=y)
