import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from spectralcls.plotting import ComparisonDisplay


def record(name, mean, std, fit, predict):
    return {
        "classifier": name,
        "accuracy_mean": mean,
        "accuracy_std": std,
        "bandwidth": None,
        "fit_seconds": fit,
        "predict_seconds": predict,
        "n_train": 2,
        "n_test": 1,
    }


RECORDS = [
    record("ours", 0.9, 0.02, 0.01, 0.001),
    record("broken", None, None, None, None),
    record("theirs", 0.8, 0.05, 10.0, 0.1),
]


@pytest.fixture
def display():
    axes = Figure().subplots(1, 2, sharey=True)
    return ComparisonDisplay(RECORDS, baselines=["theirs"]).plot(axes=axes)


def test_it_draws_what_the_records_say_first_on_top(display):
    accuracy, time = display.axes_
    assert [label.get_text() for label in accuracy.get_yticklabels()] == ["ours", "theirs"]
    assert accuracy.yaxis_inverted()
    bars, points = accuracy.collections
    np.testing.assert_allclose(points.get_offsets(), [[90, 0], [80, 1]])
    np.testing.assert_allclose([s[:, 0] for s in bars.get_segments()], [[88, 92], [75, 85]])
    assert [text.get_text() for text in accuracy.texts] == ["90.0", "80.0"]
    fit, predict = time.collections[:2]
    np.testing.assert_allclose(fit.get_offsets(), [[0.01, 0], [10, 1]])
    np.testing.assert_allclose(predict.get_offsets(), [[0.001, 0], [0.1, 1]])
    assert time.get_xscale() == "log"


def test_baselines_have_another_color(display):
    ours, theirs = display.axes_[0].collections[1].get_facecolors()
    assert tuple(ours) != tuple(theirs) and tuple(theirs) == to_rgba("#8a8a8a")


def test_it_makes_its_own_figure():
    import matplotlib
    import matplotlib.pyplot as plt

    with matplotlib.rc_context({"backend": "Agg"}):
        display = ComparisonDisplay(RECORDS).plot()
        assert display.figure_ is display.axes_[1].figure
        plt.close(display.figure_)
