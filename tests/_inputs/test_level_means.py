"""Categories of many levels are coordinates: shrunken means of the target, over other folds for training rows."""

import numpy as np
import pandas as pd
import pytest
from data import read_csv
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from spectralcls import (
    AutoClassifier,
    AutoRegressor,
    KernelRegressor,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    ParzenClassifier,
    PerTurboClassifier,
    load,
    save,
)
from spectralcls.datasets import read_table


def brands(n, n_levels=150, n_classes=0, seed=0, of=0):
    """A frame of one number and a category, and a target to which both add."""
    effect = np.random.default_rng(of).normal(size=(n_levels, max(n_classes, 1)))
    rng = np.random.default_rng(seed)
    level, x = rng.integers(0, n_levels, n), rng.normal(size=n)
    X = pd.DataFrame({"x": x, "brand": [f"b{code}" for code in level]})
    if n_classes:
        slopes = np.linspace(-1, 1, n_classes)
        return X, (1.5 * effect[level] + x[:, None] * slopes + 0.7 * rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return X, x + 2 * effect[level, 0] + 0.3 * rng.normal(size=n)


def indicators(model):
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["brand"]), remainder="passthrough")
    return make_pipeline(encode, model)


@pytest.mark.parametrize("make", [AutoRegressor, KernelRidgeRegressor])
def test_many_levels_predict_as_well_as_a_linear_model_of_their_indicators(make):
    (X, y), (Q, t) = brands(1500), brands(1000, seed=1)
    linear = indicators(RidgeCV(np.logspace(-3, 2, 6))).fit(X, y).score(Q, t)
    assert make().fit(X, y).score(Q, t) > linear - 0.01 > 0.95


@pytest.mark.parametrize("make", [AutoClassifier, KernelRidgeClassifier, ParzenClassifier])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_many_levels_classify_as_well_as_logistic_regression_of_their_indicators(make, n_classes):
    (X, y), (Q, t) = brands(1200, n_classes=n_classes), brands(1000, n_classes=n_classes, seed=1)
    logistic = indicators(LogisticRegression()).fit(X, y).score(Q, t)
    assert make().fit(X, y).score(Q, t) > logistic - 0.035


@pytest.mark.parametrize("make", [AutoRegressor, KernelRidgeRegressor, KernelRegressor])
def test_levels_without_meaning_do_no_harm(make):
    """Also if each has only two rows, whose mean would tell the target if it contained it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=400), "brand": [f"b{k // 2}" for k in rng.permutation(400)]})
    y = X["x"].to_numpy() + 0.5 * rng.normal(size=400)
    Q = X.sample(frac=1, random_state=0)
    t = Q["x"].to_numpy() + 0.5 * rng.normal(size=400)
    with_levels, without = make().fit(X, y).score(Q, t), make().fit(X[["x"]], y).score(Q[["x"]], t)
    assert with_levels > without - 0.05


KINDS = [ParzenClassifier, KernelRidgeClassifier, PerTurboClassifier, KernelRidgeRegressor, KernelRegressor]


@pytest.mark.parametrize("make", KINDS)
def test_names_and_order_of_levels_and_rows_do_not_matter(make):
    X, y = brands(300, 60, n_classes=3 if hasattr(make, "predict_proba") else 0)
    Q = X[:50].assign(x=0.5)
    rng = np.random.default_rng(1)
    names = dict(zip(sorted(set(X["brand"])), rng.permutation([f"level {k}" for k in range(60)]), strict=True))

    def answers(X, y, Q):
        model = make().fit(X, y)
        return model.predict_proba(Q) if hasattr(model, "predict_proba") else model.predict(Q)

    expected = answers(X, y, Q)
    assert_array_equal(answers(X.replace({"brand": names}), y, Q.replace({"brand": names})), expected)
    order = rng.permutation(len(X))
    assert_allclose(answers(X.iloc[order], y[order], Q), expected, rtol=1e-6, atol=1e-8)
    assert_array_equal(answers(X.assign(one="same"), y, Q.assign(one="same")), expected)  # one level for all


def test_a_new_level_is_the_mean_of_all_and_a_missing_one_is_missing():
    X, y = brands(600, 60)
    model = KernelRidgeRegressor().fit(X, y)
    Q = pd.DataFrame({"x": [0.0] * 3, "brand": ["b1", "a new one", None]})
    table = model._inputs.table
    (own,) = (own for own in table.types if own.name == "brand")
    values = table.matrix(model._inputs.columns(Q))[:, 1]
    assert values[0] == own.means[own.levels.index("b1")][0] and values[1] == 0 and np.isnan(values[2])
    assert np.isfinite(model.predict(Q)).all()
    with pytest.warns(UserWarning, match="'brand' of X has 20 values, but none of the levels .* count as rare"):
        model.predict(X[:20].assign(brand="a new one"))


def test_a_file_a_frame_and_a_stored_model_answer_alike(tmp_path):
    X, y = brands(400, 60, n_classes=2)
    X.assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", target="kind")
    of_file = ParzenClassifier(categorical_features=table.categorical_features).fit(table.data, table.target)
    frame = read_csv(tmp_path / "t.csv")
    of_frame = ParzenClassifier().fit(frame[["x", "brand"]], y.astype(str))
    assert_array_equal(of_file.predict_proba(table.data), of_frame.predict_proba(X))
    save(of_frame, tmp_path / "m.skops")
    assert_array_equal(load(tmp_path / "m.skops").predict_proba(X), of_frame.predict_proba(X))


def test_several_targets_share_few_coordinates():
    X, y = brands(600, 60)
    both = KernelRidgeRegressor().fit(X, np.column_stack([y, -2 * y + 5]))
    assert both._inputs.table.types[1].features == ["brand"]
    assert_allclose(both.predict(X)[:, 1], -2 * both.predict(X)[:, 0] + 5, rtol=1e-6, atol=1e-6)


def test_weights_count():
    """Rows of weight zero say nothing about their level."""
    X, y = brands(600, 60)
    weights = np.where(X["brand"] == "b7", 0.0, 1.0)
    changed = np.where(X["brand"] == "b7", 1e3, y)
    some = KernelRidgeRegressor().fit(X, changed, sample_weight=weights)
    assert_allclose(
        some.predict(X[:9]), KernelRidgeRegressor().fit(X[weights > 0], y[weights > 0]).predict(X[:9]), rtol=1e-6
    )
