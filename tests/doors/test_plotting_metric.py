import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from spectralcls.metric import GradientMetric, KernelMetric

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plotting = pytest.importorskip("spectralcls.plotting")


@pytest.mark.filterwarnings("ignore:No step improved")
def test_bars_are_the_largest_weights_and_the_line_is_the_loss():
    import matplotlib.pyplot as plt

    X, y = load_wine(return_X_y=True, as_frame=True)
    metric = KernelMetric("diagonal", max_iter=8).fit(X, y)
    display = plotting.MetricDisplay.from_estimator(metric, X=X, n_shown=4)
    weights = np.abs(np.diag(metric.components_)) * X.to_numpy().std(axis=0)
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], np.sort(weights)[-4:])
    names = [label.get_text() for label in display.axes_[0].get_yticklabels()]
    assert names == list(X.columns[np.argsort(weights)[-4:]])
    np.testing.assert_array_equal(display.line_.get_ydata(), metric.loss_curve_)
    plt.close(display.figure_)


def test_own_axes_and_features_without_names():
    import matplotlib.pyplot as plt

    X, y = load_wine(return_X_y=True)
    figure, axes = plt.subplots(1, 2)
    display = plotting.MetricDisplay.from_estimator(GradientMetric().fit(X, y), axes=axes)
    assert display.axes_[0] is axes[0] and len(display.bars_) == 13
    assert {label.get_text() for label in axes[0].get_yticklabels()} == {f"x{j}" for j in range(13)}
    plt.close(figure)


def test_a_metric_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        plotting.MetricDisplay.from_estimator(KernelMetric())
