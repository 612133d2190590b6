"""Pictures of a density show what the estimator says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls import KernelRegressor, ParzenDensity, ParzenOutlierDetector
from spectralcls.plotting import BandwidthPathDisplay, DensityDisplay


def points(d):
    return np.random.default_rng(0).normal(size=(80, d))


def test_the_curve_is_the_density():
    X = points(1)
    density = ParzenDensity().fit(X)
    display = DensityDisplay.from_estimator(density, X, color="C2")
    x, f = display.curve_.get_data()
    assert_allclose(f, np.exp(density.score_samples(x[:, None])))
    assert x[0] < X.min() and x[-1] > X.max() and display.curve_.get_color() == "C2"
    assert_array_equal(display.marks_.get_xdata(), X[:, 0])


def areas(display):
    sides = [np.gradient(side) for side in display.grid]
    return np.outer(*sides)


@pytest.mark.parametrize("far", [False, True])
def test_contours_hold_their_share_of_the_mass(far):
    X = np.vstack([points(2), [[1000.0, 0.0]]]) if far else points(2)
    density = ParzenDensity(0.5).fit(X)
    display = DensityDisplay.from_estimator(density, X, margin=0.0 if far else 1.0)
    assert_allclose(display.curve_.levels[:5], display.levels, rtol=1e-5)
    drawn = np.exp(density.score_samples(density.sample(20_000, random_state=1)))
    for level, share in zip(display.levels, (0.95, 0.8, 0.6, 0.4, 0.2), strict=True):
        assert_allclose(np.mean(drawn >= level), share, atol=0.015)
        if not far:
            mass = display.density * areas(display)
            assert_allclose(mass[display.density >= level].sum(), share, atol=0.015)
    assert_array_equal(display.marks_.get_offsets(), X)


@pytest.mark.parametrize(
    "X, density",
    [
        (np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0), ParzenDensity(0.5, kernel="tophat")),
        (points(2), ParzenDensity(1e-3)),
        (np.ones((20, 2)), ParzenDensity()),
        (np.vstack([points(2), [[1e6, 0.0]]]), ParzenDensity(0.3)),
        (points(2), ParzenOutlierDetector(novelty=True)),
        (points(2) * 1e-300, ParzenDensity()),
        (points(2) * 1e300, ParzenDensity(kernel="tophat")),
    ],
)
def test_every_density_has_contours(X, density):
    display = DensityDisplay.from_estimator(density.fit(X), X)
    assert (np.diff(display.curve_.levels) > 0).all() and len(display.curve_.levels) > 1
    assert (display.density >= display.levels[0] * (1 - 1e-6)).any()


def test_names_of_the_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points(2), columns=["width", "height"])
    ax = DensityDisplay.from_estimator(ParzenDensity().fit(frame), frame).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_estimators_that_know_names_see_them(library):
    X = np.random.default_rng(0).normal(size=(40, 1))
    frame = pytest.importorskip(library).DataFrame({"a": X[:, 0]})
    of_names, plain = ParzenDensity(0.5).fit(frame), ParzenDensity(0.5).fit(X)
    found = DensityDisplay.from_estimator(of_names, frame)
    assert_array_equal(found.density, DensityDisplay.from_estimator(plain, X).density)


def test_paths_of_bandwidths_name_their_score():
    X = points(1)
    assert BandwidthPathDisplay.from_estimator(ParzenDensity().fit(X)).ax_.get_ylabel() == "Held-out fit of the density"
    model = KernelRegressor().fit(X, X[:, 0])
    assert BandwidthPathDisplay.from_estimator(model).ax_.get_ylabel() == "Held-out R²"


def test_too_many_features_are_refused():
    X = points(3)
    with pytest.raises(ValueError, match="one or two features, got 3"):
        DensityDisplay.from_estimator(ParzenDensity(1.0).fit(X), X)
