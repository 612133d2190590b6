import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from spectralcls import plotting
from spectralcls.kernel_mean import ParzenClassifier
from spectralcls.metric import GradientMetric, KernelMetric


@pytest.mark.filterwarnings("ignore:No step improved")
def test_bars_are_the_largest_weights_and_the_line_is_the_loss():
    X, y = load_wine(return_X_y=True, as_frame=True)
    metric = KernelMetric("diagonal", max_iter=8).fit(X, y)
    display = plotting.MetricDisplay.from_estimator(metric, X=X, n_shown=4)
    weights = np.abs(np.diag(metric.components_)) * X.to_numpy().std(axis=0)
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], np.sort(weights)[-4:])
    names = [label.get_text() for label in display.axes_[0].get_yticklabels()]
    assert names == list(X.columns[np.argsort(weights)[-4:]])
    np.testing.assert_array_equal(display.line_.get_ydata(), metric.loss_curve_)


def test_own_axes_and_features_without_names(axes):
    X, y = load_wine(return_X_y=True)
    display = plotting.MetricDisplay.from_estimator(GradientMetric().fit(X, y), axes=axes)
    assert display.axes_[0] is axes[0] and len(display.bars_) == 13
    assert {label.get_text() for label in axes[0].get_yticklabels()} == {f"x{j}" for j in range(13)}


@pytest.mark.filterwarnings("ignore:No step improved")
def test_a_classifier_shows_the_metric_that_it_learned():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = ParzenClassifier(metric="diagonal").fit(X, y)
    display = plotting.MetricDisplay.from_estimator(model, X=X, n_shown=13)
    weights = np.abs(np.diag(model.metric_.components_))  # of features that the classifier has scaled
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], np.sort(weights))
    names = [label.get_text() for label in display.axes_[0].get_yticklabels()]
    assert names == list(X.columns[np.argsort(weights)])
    plane = plotting.EmbeddingDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(plane.points, plotting.EmbeddingDisplay.from_estimator(model, X).points)
    np.testing.assert_allclose(plane.points, model._inputs(X)[:, :2])
    with pytest.raises(ValueError, match="ParzenClassifier did not learn a metric"):
        plotting.MetricDisplay.from_estimator(ParzenClassifier().fit(X, y))


def test_a_metric_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        plotting.MetricDisplay.from_estimator(KernelMetric())
