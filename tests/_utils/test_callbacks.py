"""Callbacks of scikit-learn: long fits tell them of their steps, and of their end."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import AutoClassifier, AutoRegressor
from spectralcls._utils import from_sklearn
from spectralcls.metric import GradientMetric, KernelMetric

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
LONG = [
    AutoClassifier(cv=2),
    AutoRegressor(cv=2),
    KernelMetric(max_iter=20),
    KernelMetric("whiten"),
    GradientMetric("diagonal", max_iter=2),
]
some = pytest.mark.parametrize("estimator", LONG, ids=repr)


class Recorder:
    """Counts what a callback is told; may fail at a step."""

    max_propagation_depth = None

    def __init__(self, fail_at=None):
        self.fail_at, self.told, self.open = fail_at, [], 0

    def setup(self, estimator, context):
        self.told.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.open += 1
        self.told.append(f"begin {context.task_name}")
        if len(self.told) == self.fail_at:
            raise RuntimeError("enough")

    def on_fit_task_end(self, estimator, context):
        self.open -= 1
        self.told.append("end")

    def teardown(self, estimator, context):
        self.told.append("teardown")


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback")


@some
def test_every_step_is_told(estimator, callbacks):
    recorder = Recorder()
    plain = clone(estimator).fit(X, Y)
    model = clone(estimator).set_callbacks(recorder).fit(X, Y)
    assert recorder.told[:2] == ["setup", "begin fit"] and recorder.told[-2:] == ["end", "teardown"]
    assert recorder.open == 0 and (len(recorder.told) > 6 or estimator.get_params().get("kind") == "whiten")
    ask = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(model, ask)(X), getattr(plain, ask)(X))
    assert not [name for name in vars(model) if "ctx" in name]
    model.fit(X, Y)
    assert recorder.told.count("teardown") == 2
    model.set_callbacks()
    pickle.dumps(model)


def test_a_callback_that_fails_is_torn_down_and_changes_nothing(callbacks):
    model = AutoClassifier(cv=2).fit(X, Y)
    before = model.predict_proba(X)
    recorder = Recorder(fail_at=5)
    with pytest.raises(RuntimeError, match="enough"):
        model.set_callbacks(recorder).fit(X[:, :2], Y)
    assert recorder.told[-1] == "teardown"
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_searches_and_pipelines_pass_callbacks_on(callbacks):
    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(), AutoClassifier())
    GridSearchCV(pipeline, {"autoclassifier__cv": [2, 3]}, cv=2).set_callbacks(recorder).fit(X, Y)
    assert recorder.open == 0 and recorder.told.count("teardown") == 1
    assert sum("ridge" in told for told in recorder.told) > 4


def test_the_progress_bar_of_scikit_learn(callbacks, capsys):
    pytest.importorskip("rich")
    AutoClassifier(cv=2).set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    assert "AutoClassifier" in capsys.readouterr().out


def test_before_scikit_learn_1_9_one_line_says_what_to_install():
    if hasattr(AutoClassifier, "_init_callback_context"):
        pytest.skip("this scikit-learn has callbacks")
    assert not hasattr(AutoClassifier(), "set_callbacks")
    with pytest.raises(AttributeError, match="scikit-learn>=1.9"):
        AutoClassifier().set_callbacks()
    assert from_sklearn.fit_root(AutoClassifier(), 3) is None
