"""Names that matplotlib would take for formulas or leave out, and axes that do not fit."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import CCDR, ParzenClassifier
from spectralcls.plotting import BandwidthPathDisplay, EmbeddingDisplay, FeatureEffectDisplay

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["price $ (US$)", "_x^y$_$", "c$"])


def as_drawn(texts):
    """What matplotlib shows of texts, after its own rules for formulas."""
    plt.gcf().canvas.draw()
    shown = []
    for text in texts:
        cleaned, is_formula = text._preprocess_math(text.get_text())
        assert not is_formula
        shown.append(cleaned.strip("\u200b"))
    return shown


def test_classes_are_named_in_the_legend_as_they_are():
    labels = NAMES[Y]
    display = EmbeddingDisplay.from_estimator(CCDR().fit(X, labels), X, labels)
    assert as_drawn(display.ax_.get_legend().get_texts()) == [*np.unique(labels), "class centers"]


def test_features_are_named_as_they_are():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:, :3], columns=NAMES)
    display = FeatureEffectDisplay.from_estimator(ParzenClassifier().fit(frame, Y), frame[:1])
    assert {name.partition(" = ")[0] for name in as_drawn(display.ax_.get_yticklabels())} == set(NAMES)


def test_a_legend_lies_beside_the_points():
    display = EmbeddingDisplay.from_estimator(CCDR().fit(X, Y))
    display.figure_.canvas.draw()
    assert display.ax_.get_legend().get_window_extent().x0 >= display.ax_.get_window_extent().x1


@pytest.mark.filterwarnings("ignore:No step improved")
def test_axes_that_do_not_fit_are_named():
    model = ParzenClassifier(metric="diagonal").fit(X, Y)
    with pytest.raises(ValueError, match="BandwidthPathDisplay draws into one matplotlib Axes"):
        BandwidthPathDisplay.from_estimator(model, ax=plt.subplots(1, 2)[1])
    with pytest.raises(ValueError, match="draws into one matplotlib Axes"):
        EmbeddingDisplay.from_estimator(CCDR().fit(X, Y), ax=plt.figure())


@pytest.mark.filterwarnings("ignore:No step improved")
def test_displays_look_into_pipelines_and_searches():
    model = ParzenClassifier(metric="diagonal", scale=None)
    pipeline, Z = make_pipeline(StandardScaler(), model).fit(X, Y), StandardScaler().fit_transform(X)
    bare = ParzenClassifier(metric="diagonal", scale=None).fit(Z, Y)
    search = GridSearchCV(model, {"kernel": ["gaussian"]}, cv=2).fit(Z, Y)
    for wrapped in (pipeline, search):
        path, plain = (BandwidthPathDisplay.from_estimator(each) for each in (wrapped, bare))
        np.testing.assert_array_equal(path.bandwidths, plain.bandwidths)
    plane, points = EmbeddingDisplay.from_estimator(pipeline, X, Y), EmbeddingDisplay.from_estimator(bare, Z, Y)
    np.testing.assert_allclose(plane.points, points.points)
