"""Pictures of reliability, doubtful labels and points that decide show what classifiers and `inspection` say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from spectralcls import ISEClassifier, ParzenClassifier
from spectralcls.inspection import influence, label_quality
from spectralcls.plotting import InfluenceDisplay, LabelQualityDisplay, ReliabilityDisplay

X, y = load_iris(return_X_y=True)


def test_the_most_doubtful_labels_are_numbered():
    changed = y.copy()
    changed[[3, 80]] = 2, 0
    model = ParzenClassifier().fit(X, changed)
    display = LabelQualityDisplay.from_estimator(model, changed, n_doubtful=4)
    assert set(display.doubtful_[:2]) == {3, 80}
    assert [text.get_text() for text in display.ax_.texts] == [str(i) for i in display.doubtful_]
    quality = np.concatenate([points.get_offsets()[:, 1] for points in display.points_])
    assert_allclose(quality, label_quality(model)[np.argsort(changed, kind="stable")])


def test_labels_have_to_be_those_of_the_fit():
    with pytest.raises(ValueError, match="150"):
        LabelQualityDisplay.from_estimator(ParzenClassifier().fit(X, y), y[:10])


def test_bars_are_the_shares_and_add_up():
    model = ISEClassifier(bandwidth=0.5).fit(X, y)
    display = InfluenceDisplay.from_estimator(model, X[70:71], n_points=6)
    found = influence(model, X[70:71], 6)
    widths = [bar.get_width() for bar in display.bars_]
    assert_array_equal(widths[:6], found.shares[0])
    assert_allclose(sum(widths), found.margin[0])
    with pytest.raises(ValueError, match="one query"):
        InfluenceDisplay.from_estimator(model, X[:2])


def test_curves_are_shares_of_groups_that_add_up_to_all():
    model = ParzenClassifier().fit(X[::2], y[::2])
    display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2], coverage=0.8, n_groups=5)
    members = model.predict_set(X[1::2], 0.8)
    assert_allclose(display.accuracy.mean(), model.score(X[1::2], y[1::2]))
    assert_allclose(display.covered.mean(), members[np.arange(75), y[1::2]].mean())
    assert_allclose(display.size.mean(), members.sum(axis=1).mean())
    assert_allclose(display.probability.mean(), model.predict_proba(X[1::2]).max(axis=1).mean())
    assert_array_equal(display.lines_[1].get_ydata(), display.covered)
    with pytest.raises(ValueError, match="one of"):
        ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2] + 1)
