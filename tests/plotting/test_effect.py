import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import KernelRidgeClassifier
from spectralcls.inspection import feature_effect
from spectralcls.plotting import FeatureEffectDisplay

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("wrapped", [False, True])
def test_bars_are_the_effects_on_the_predicted_class(wrapped):
    model = make_pipeline(StandardScaler(), KernelRidgeClassifier()) if wrapped else KernelRidgeClassifier()
    model.fit(X, Y)
    display = FeatureEffectDisplay.from_estimator(model, X[70:71], n_shown=3)
    effects = feature_effect(model, X[70:71]).values[0, :, model.predict(X[70:71])[0]]
    largest = np.argsort(-np.abs(effects))[:3]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], effects[largest])
    if not wrapped:
        names = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert names == [f"x{j} = {X[70, j]:.4g}" for j in largest]


def test_values_of_all_kinds_are_named():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"cost in $": X[:, 2], "_text": rng.choice(["a$", "b$"], 150), "gap": X[:, 0]})
    frame.loc[3, "gap"] = None
    display = FeatureEffectDisplay.from_estimator(KernelRidgeClassifier().fit(frame, Y), frame[3:4])
    names = {label.get_text().strip("\u200b") for label in display.ax_.get_yticklabels()}
    assert names == {r"cost in \$ = 1.5", rf"_text = {frame['_text'][3]}".replace("$", r"\$"), "gap = missing"}
    display.figure_.canvas.draw()


def test_one_query_is_drawn():
    with pytest.raises(ValueError, match="X must be one query, got 2"):
        FeatureEffectDisplay.from_estimator(KernelRidgeClassifier().fit(X, Y), X[:2])
