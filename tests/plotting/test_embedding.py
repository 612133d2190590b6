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
    assert display.ax_.get_ylabel() == "component 3"


def test_scatter_of_new_points(iris):
    X, y, model = iris
    display = EmbeddingDisplay.from_estimator(model, X + 0.1, np.abs(y))
    assert sum(len(s.get_offsets()) for s in display.scatters_) == 150
    grey = EmbeddingDisplay.from_estimator(model, X + 0.1)
    assert len(grey.scatters_[0].get_offsets()) == 150


def test_bad_input(iris):
    X, y, model = iris
    with pytest.raises(ValueError, match="components"):
        EmbeddingDisplay.from_estimator(model, components=(0, 3))
    with pytest.raises(ValueError, match="inconsistent"):
        EmbeddingDisplay.from_estimator(model, X, y[:5])
    with pytest.raises(NotFittedError):
        EmbeddingDisplay.from_estimator(CCDR())
