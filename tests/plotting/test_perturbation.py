import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spectralcls.perturbo import PerTurboClassifier
from spectralcls.plotting import PerturbationDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fitted(n_classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    return PerTurboClassifier(1.0, alpha=1e-2).fit(X, y), X, y


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_fields_are_the_classifiers(n_classes):
    clf, X, y = fitted(n_classes)
    display = PerturbationDisplay.from_estimator(clf, X, y, grid_resolution=20)
    assert len(display.axes_) == n_classes + 1
    point = np.array([[display.x[3], display.y[7]]])
    np.testing.assert_allclose(display.tau[7, 3], clf.perturbation(point)[0])
    assert clf.classes_[display.winner[7, 3]] == clf.predict(point)[0]
    assert display.x[0] < X[:, 0].min() and display.y[-1] > X[:, 1].max()
    display.figure_.canvas.draw()
    images = display.axes_[0].collections
    np.testing.assert_allclose(np.ravel(images[0].get_array()), display.tau[:, :, 0].ravel())


@pytest.mark.parametrize("names", [["a", "b"], [0, 1]])
def test_a_classifier_that_knows_names_sees_them(names):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(30, 2))
    frame, y = pd.DataFrame(X, columns=names), X[:, 0] > 0
    of_names, plain = (PerTurboClassifier(1.0, alpha=0.1).fit(data, y) for data in (frame, X))
    found = PerturbationDisplay.from_estimator(of_names, frame, grid_resolution=9)
    assert_array_equal(found.tau, PerturbationDisplay.from_estimator(plain, X, grid_resolution=9).tau)
    plt.close("all")


def test_given_axes_and_bad_input():
    clf, X, y = fitted()
    axes = plt.subplots(1, 4)[1]
    display = PerturbationDisplay.from_estimator(clf, X, axes=axes, gamma=0.2, grid_resolution=10)
    assert display.axes_[0] is axes[0]
    with pytest.raises(ValueError, match="4 axes"):
        display.plot(axes[:2])
    with pytest.raises(ValueError, match="two features"):
        PerturbationDisplay.from_estimator(clf, np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"labels \[7\]"):
        PerturbationDisplay.from_estimator(clf, X, np.full(60, 7))
