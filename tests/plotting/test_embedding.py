import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from spectralcls.ccdr import CCDR
from spectralcls.plotting import EmbeddingDisplay


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[::5] = -1
    return X, y, CCDR(3, unlabeled=-1).fit(X, y)


def test_scatter_shows_every_point_once(iris):
    X, y, model = iris
    display = EmbeddingDisplay.from_estimator(model, components=(0, 2), class_names=["a", "b", "c"])
    drawn = np.vstack([scatter.get_offsets() for scatter in display.scatters_])
    assert [len(s.get_offsets()) for s in display.scatters_] == [np.sum(y == c) for c in (-1, 0, 1, 2)]
    assert {tuple(p) for p in drawn} == {tuple(p) for p in model.embedding_[:, [0, 2]].astype(float)}
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["unlabeled", "a", "b", "c", "class centers"]
    assert display.ax_.get_ylabel().startswith("component 3")


def test_scatter_of_new_points(iris):
    X, y, model = iris
    display = EmbeddingDisplay.from_estimator(model, X + 0.1, np.abs(y))
    assert sum(len(s.get_offsets()) for s in display.scatters_) == 150
    grey = EmbeddingDisplay.from_estimator(model, X + 0.1)
    assert len(grey.scatters_[0].get_offsets()) == 150


def test_ten_classes_are_seen_although_one_is_far_from_all_others():
    rng = np.random.default_rng(0)
    index = np.repeat(np.arange(10), 20)
    points = 1e-3 * (np.stack([index, index % 3]).T + 0.1 * rng.normal(size=(200, 2)))
    points[index == 9] += [5.0, 0.0]
    display = EmbeddingDisplay(points, index, class_names=range(10), centers=points[::20]).plot()
    place = display.ax_.transAxes.inverted().transform(display.ax_.transData.transform(points))
    spread = np.ptp(place, axis=0)
    assert np.all(spread > 0.9) and display.ax_.get_xlabel() == "component 1, by rank"
    for c in range(10):  # each has its tenth of the width, and its neighbor the next tenth
        assert 0.05 < np.ptp(place[index == c, 0]) < 0.15
        assert c == 0 or place[index == c, 0].min() > place[index == c - 1, 0].max()
    shown = [float(text.get_text()) for text in display.ax_.get_xticklabels()]
    np.testing.assert_allclose(shown, np.quantile(points[:, 0], [0, 0.25, 0.5, 0.75, 1]), rtol=0.05, atol=1e-3)
    axis = display.ax_.get_xaxis().get_transform()
    np.testing.assert_allclose(axis.inverted().transform(axis.transform(points[:, 0])), points[:, 0], rtol=1e-9)
    assert len(display.centers_.get_facecolors()) == 0  # hollow: hides no point


def test_bad_input(iris):
    X, y, model = iris
    with pytest.raises(ValueError, match="components"):
        EmbeddingDisplay.from_estimator(model, components=(0, 3))
    with pytest.raises(ValueError, match="inconsistent"):
        EmbeddingDisplay.from_estimator(model, X, y[:5])
    with pytest.raises(NotFittedError):
        EmbeddingDisplay.from_estimator(CCDR())
