"""Thousands of features, as of spectra and expression data: h^d and 2^(d/2) are no numbers, their logarithms are."""

import numpy as np
import pytest

from spectralcls.kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.spectral import LaplacianSpectralClassifier

FORMS = [
    (ParzenClassifier, {}),
    (ISEClassifier, {}),
    *[(CauchySchwarzClassifier, {"weighting": weighting}) for weighting in (None, "inverse", "symmetric")],
    *[(LaplacianISEClassifier, {"weighting": weighting}) for weighting in ("inverse", "symmetric")],
    (LaplacianSpectralClassifier, {}),
]


def draw(n, d, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, : d // 20] += y[:, None]
    return X, y


@pytest.mark.parametrize("form, options", FORMS)
@pytest.mark.parametrize("kind", ["one", "by class"])
def test_no_bandwidth_and_no_weighting_leaves_the_range_of_numbers(form, options, kind):
    (X, y), (T, t) = draw(60, 3000, 0), draw(80, 3000, 1)
    bandwidth = 55.0 if kind == "one" else {0: 55.0, 1: 55.05}
    model = form(bandwidth=bandwidth, scale=None, **options).fit(X, y)
    assert not np.isnan(model.decision_function(T)).any()
    if kind == "one":
        assert model.score(T, t) > 0.9
    far_apart = form(bandwidth={0: 20.0, 1: 60.0}, scale=None, **options).fit(X, y)
    assert not np.isnan(far_apart.decision_function(T)).any()


@pytest.mark.parametrize("form, options", [of for of in FORMS if of[0] not in (ISEClassifier, LaplacianISEClassifier)])
def test_columns_that_say_nothing_change_no_label(form, options):
    """Zeros in 3000 further columns change no distance; scores by density or angle get a factor."""
    (X, y), (T, _) = draw(60, 40, 0), draw(80, 40, 1)
    options = dict(options, bandwidth=4.0, scale=None)
    narrow = form(**options).fit(X, y).decision_function(T)
    X, T = (np.pad(points, ((0, 0), (0, 3000))) for points in (X, T))
    wide = form(**options).fit(X, y).decision_function(T)
    np.testing.assert_array_equal(np.argsort(wide), np.argsort(narrow))


@pytest.mark.parametrize("form", [CauchySchwarzClassifier, LaplacianSpectralClassifier])
def test_tuned_classifiers_of_angles_learn_from_wide_data(form):
    (X, y), (T, t) = draw(60, 3000, 0), draw(80, 3000, 1)
    model = form().fit(X, y)
    assert np.isfinite(model.decision_function(T)).all()
    assert model.score(T, t) > 0.9
