"""Missing values that tell the class: a coordinate for each such column, if held-out labels ask for it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls import ParzenClassifier, PerTurboClassifier
from spectralcls._inputs.coordinates import FEWEST_GAPS, Gap
from spectralcls._tuning import factors
from spectralcls.kernel_mean import ISEClassifier
from spectralcls.regression import KernelRidgeClassifier

KINDS = [ParzenClassifier, ISEClassifier, PerTurboClassifier, KernelRidgeClassifier]


def table(n=300, seed=0, share=0.7):
    """The class decides whether `said` is there; `noise` lacks values at random."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"a": rng.normal(size=n), "said": rng.normal(size=n), "noise": rng.normal(size=n)})
    frame.loc[(y == 1) & (rng.random(n) < share), "said"] = np.nan
    frame.loc[rng.random(n) < 0.3, "noise"] = np.nan
    return frame, y


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_that_tell_the_class_are_used_in_frames_and_arrays(kind):
    (X, y), (Q, t) = table(), table(seed=1)
    framed, plain = kind().fit(X, y), kind().fit(X.to_numpy(), y)
    assert framed.score(Q, t) > 0.75  # 85 % of the labels follow from the gaps
    assert_array_equal(framed.predict(Q), plain.predict(Q.to_numpy()))
    assert [gap.position for gap in framed._inputs.table.gaps] == [1]


def test_gaps_of_categories_are_used_and_belong_to_their_column():
    X, y = table()
    X["word"] = np.where(X.pop("said").isna(), None, np.random.default_rng(2).choice(["u", "v", "w"], len(X)))
    model = ParzenClassifier().fit(X, y)
    assert model.score(X, y) > 0.8 and [gap.position for gap in model._inputs.table.gaps] == [2]
    assert model._inputs.column_of[-1] == 2
    assert len(model._inputs.column_of) == model._model.points.X.shape[1]


@pytest.mark.parametrize("seed", range(5))
def test_gaps_that_say_nothing_change_nothing(seed):
    X, y = table(seed=seed, share=0.0)
    X.loc[np.random.default_rng(seed).random(len(X)) < 0.3, "said"] = np.nan
    assert not ParzenClassifier().fit(X, y)._inputs.table.gaps


def test_a_clear_gain_is_three_standard_errors():
    X, y = table(share=0.25)
    assert factors.ERRORS == 3.0
    chosen = {}
    for errors in (0.0, 3.0, 30.0):
        factors.ERRORS = errors
        chosen[errors] = [gap.position for gap in ParzenClassifier().fit(X, y)._inputs.table.gaps]
    factors.ERRORS = 3.0
    assert chosen[0.0] and not chosen[30.0]


def test_the_coordinate_of_a_gap_varies_as_a_standardized_number_does():
    missing = np.arange(100) < 30
    gap = Gap.learned(0, missing)
    assert_allclose(np.std(missing * gap.scale), 1.0)
    assert Gap.learned(0, np.arange(1000) < FEWEST_GAPS).scale == 3.0  # rare ones lie three spreads away
    assert Gap.learned(0, np.arange(1000) < FEWEST_GAPS - 1) is None
    assert Gap.learned(0, np.arange(1000) >= FEWEST_GAPS - 1) is None


def test_copies_of_rows_weights_and_order_choose_the_same():
    X, y = table(n=150)
    counts = np.random.default_rng(0).integers(1, 4, 150)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(150), counts))
    weighted = ParzenClassifier().fit(X, y, sample_weight=counts)
    repeated = ParzenClassifier().fit(X.iloc[rows], y[rows])
    assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-9)
    gaps = [[(gap.position, gap.scale, gap.factor) for gap in m._inputs.table.gaps] for m in (weighted, repeated)]
    assert gaps[0] and np.allclose(*gaps, rtol=1e-12)


def test_scales_of_categories_are_searched_where_that_pays():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame({"number": rng.normal(size=200) + 2 * y, "word": rng.choice(list("abcd"), 200)})
    mean, ridge = ParzenClassifier().fit(X, y), KernelRidgeClassifier().fit(X, y)
    assert mean._inputs.table.columns[1].factor == 0.0  # the word says nothing
    assert ridge._inputs.table.columns[1].factor == 1.0
