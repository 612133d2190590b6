"""`scale="auto"` keeps the common unit of columns where held-out labels are clearly more likely so."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine

import spectralcls
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning import scales
from spectralcls.kernel_mean import ISEClassifier, ParzenClassifier
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.regression import KernelRegressor, KernelRidgeClassifier
from spectralcls.spectral import LaplacianSpectralClassifier

TUNED = [ParzenClassifier, ISEClassifier, PerTurboClassifier, KernelRidgeClassifier]


def common_unit(n=300, noisy=20, seed=0):
    """One feature of large spread that tells the classes, and many of small spread that tell nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.column_stack([4.0 * y + rng.normal(size=n), 0.3 * rng.normal(size=(n, noisy))]), y


@pytest.mark.parametrize("cls", TUNED)
def test_a_common_unit_is_kept(cls):
    X, y = common_unit()
    model = cls().fit(X[:200], y[:200])
    assert model.scale_ == "shared"
    raw = cls(scale=None).fit(X[:200], y[:200])
    assert_array_equal(model.predict(X[200:]), raw.predict(X[200:]))  # but for one factor the same coordinates
    assert model.score(X[200:], y[200:]) > 0.9


@pytest.mark.parametrize("cls", TUNED)
def test_other_units_are_scaled_away(cls):
    X, y = load_wine(return_X_y=True)
    model = cls().fit(X, y)
    assert model.scale_ == "each"
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_array_equal(model.predict(X), cls(scale=None).fit(Z, y).predict(Z))


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.parametrize("cls", [*TUNED, LaplacianSpectralClassifier])
def test_spoiled_cells_make_no_common_unit(cls):
    """A hundredth of the cells is -9999. One column is constant but for them: raw, it alone would count."""
    rng = np.random.default_rng(2)
    y = np.arange(600) % 2
    X = np.column_stack([rng.normal(size=(600, 20)) * np.where(y, 1.5, 0.6)[:, None], np.zeros(600)])
    spoiled = np.where(rng.random(X.shape) < 0.01, -9999.0, X)
    model = cls().fit(spoiled[:200], y[:200])
    assert model.scale_ == "each"
    assert model.score(X[200:], y[200:]) > cls().fit(X[:200], y[:200]).score(X[200:], y[200:]) - 0.05


def test_squared_distances_of_one_scale_are_those_of_many_on_average():
    X, y = common_unit()
    Z = ParzenClassifier().fit(X, y)._inputs(X)
    assert_allclose(np.square(Z - Z.mean(axis=0)).sum(axis=1).mean(), X.shape[1], rtol=0.05)


def test_nothing_is_chosen_without_labels_or_tuning():
    X, y = common_unit()
    assert ParzenClassifier(1.0).fit(X, y).scale_ == "each"
    assert ISEClassifier("silverman").fit(X, y).scale_ == "each"
    assert ParzenClassifier(metric="diagonal").fit(X, y).scale_ == "each"
    assert KernelRegressor().fit(X, y.astype(float)).scale_ == "each"
    assert ParzenClassifier(scale=None).fit(X, y).scale_ is None
    with pytest.raises(AttributeError, match="scale_"):
        ParzenClassifier().scale_  # noqa: B018


@pytest.mark.parametrize("cls", TUNED)
def test_copies_order_and_names_change_no_choice(cls):
    X, y = common_unit(n=150)
    rng = np.random.default_rng(1)
    copies, order, columns = rng.integers(1, 4, 150), rng.permutation(150), rng.permutation(X.shape[1])
    plain = cls().fit(X, y, sample_weight=copies)
    repeated = cls().fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert plain.scale_ == repeated.scale_ == "shared"
    turned = cls().fit(X[order][:, columns], np.array(["c", "a", "b"])[y[order]], sample_weight=copies[order])
    assert turned.scale_ == "shared"
    assert_allclose(turned._inputs(X[:, columns]), plain._inputs(X)[:, columns], rtol=1e-12)
    assert_allclose(repeated._inputs(X), plain._inputs(X), rtol=1e-12)


def test_the_choice_is_stored_and_forgotten(tmp_path):
    X, y = common_unit()
    model = ParzenClassifier().fit(X, y)
    spectralcls.save(model, tmp_path / "model")
    loaded = spectralcls.load(tmp_path / "model")
    assert loaded.scale_ == "shared"
    assert_array_equal(loaded.predict(X), model.predict(X))
    grown = clone(model).fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert grown.scale_ == "shared"
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    assert model.fit(standardized, y).scale_ == "each"


def test_missing_values_constants_and_one_column():
    X, y = common_unit()
    X[::7, 0] = X[1::5, 3] = np.nan
    model = ParzenClassifier().fit(np.column_stack([X, np.full(len(X), 3.0)]), y)
    assert model.scale_ == "shared"
    assert np.isfinite(model.predict_proba(np.column_stack([X, np.full(len(X), 3.0)]))).all()
    assert ParzenClassifier().fit(X[:, :1], y).scale_ == "each"
    large = ParzenClassifier().fit(1e200 * np.nan_to_num(X), y)
    assert large.scale_ == "shared" and large.score(1e200 * np.nan_to_num(X), y) > 0.8


def test_the_same_on_dask():
    da = pytest.importorskip("dask.array")
    X, y = common_unit()
    there = ParzenClassifier().fit(da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100))
    here = ParzenClassifier().fit(X, y)
    assert there.scale_ == here.scale_ == "shared"
    assert_allclose(there.to_local()._inputs(X), here._inputs(X), rtol=1e-12)


@pytest.mark.parametrize("ratio, errors, shared", [(1.04, 9, False), (1.07, 9, True), (2, 1.9, False), (2, 2.1, True)])
def test_when_columns_share_a_scale(ratio, errors, shared, monkeypatch):
    """Their scales differ by a twentieth, and the loss with one of them is two standard errors less."""
    n = 100

    class Losses:
        def __init__(self, data, bandwidth, **options):
            self.X = data.X

        def bandwidths(self, X):
            return None

        def __call__(self, X, bandwidths, few):
            gains = np.tile([-1.0, 1.0], n // 2) + errors / np.sqrt(n)
            return gains if X is self.X else np.zeros(n)

        mean = staticmethod(np.mean)

    monkeypatch.setattr(scales, "HeldOutLoss", Losses)
    X = np.random.default_rng(0).normal(size=(n, 2))
    numbers = [SimpleNamespace(scale=1.0), SimpleNamespace(scale=ratio)]
    table = SimpleNamespace(has_categories=False, numbers=numbers)
    data = TrainingData(X, np.arange(n) % 2, np.arange(2), None, None)
    assert (scales.shared_scale(table, data) is not None) == shared
