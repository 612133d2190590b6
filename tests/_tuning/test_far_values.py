"""A value that is far from all others of its column is named, with its row and what to do."""

import warnings

import numpy as np
import pytest
from every_estimator import make, names, problem
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from spectralcls import ParzenClassifier
from spectralcls._tuning.spread import isolated, suspects
from spectralcls.regression import KernelRegressor


def said(fit):
    """What a fit says of far values."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(warning.message) for warning in caught if "as far from the column's median" in str(warning.message)]


def spoiled(n=45, value=-9999.0):
    X, y, _ = problem(n)
    X[7, 1] = value
    return X, y


@pytest.mark.parametrize("name", [name for name in names() if name == "AutoClassifier" or hasattr(make(name), "scale")])
def test_each_estimator_says_it_once(name):
    X, y = spoiled()
    messages = said(lambda: make(name).fit(X, y))
    unscaled = name in ("ParzenDensity", "ParzenOutlierDetector")  # for which it is a place like any other
    assert len(messages) == (0 if unscaled else 1)
    assert unscaled or messages[0].startswith(f"{name}: the value -9999 in column 1, row 7, is ")


def test_a_part_of_an_estimator_does_not_say_it_again():
    X, y = spoiled()
    assert len(said(lambda: KernelRegressor(metric="diagonal").fit(X, y))) == 1
    assert len(said(lambda: ParzenClassifier(metric="whiten").fit(X, y))) == 1


def test_row_and_column_are_those_of_the_frame():
    pd = pytest.importorskip("pandas")
    X, y = spoiled()
    frame = pd.DataFrame(X, columns=["length", "width", "depth"], index=[f"patient {i}" for i in range(45)])
    frame.iloc[9, 2] = np.nan
    expected = "the value -9999 in column 'width', row 'patient 7', is "
    assert expected in said(lambda: ParzenClassifier().fit(frame, y))[0]
    frame["color"] = pd.Categorical(np.where(np.arange(45) % 2, "red", "blue"))
    assert expected in said(lambda: ParzenClassifier().fit(frame, y))[0]
    weights = (np.arange(45) > 3).astype(float)  # rows before it that do not count
    assert expected in said(lambda: ParzenClassifier().fit(frame, y, sample_weight=weights))[0]
    assert "row 7, is" in said(lambda: ParzenClassifier().fit(frame.to_numpy()[:, :3].astype(float), y, weights))[0]
    frame["code"] = np.where(np.arange(45) == 5, 99_999, np.arange(45) % 3)
    frame["width"] = 0.5
    assert not said(lambda: ParzenClassifier(categorical_features=["color", "code"]).fit(frame, y))


def test_several_like_it():
    X, y = spoiled(90)
    X[[20, 50], 1] = -9999
    assert "row 7, and 2 more like it, is " in said(lambda: ParzenClassifier().fit(X, y))[0]


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine])
def test_public_tables_have_none(load):
    for column in load(return_X_y=True)[0].T:
        assert not len(isolated(column)[0])


def test_heavy_tails_are_none():
    rng = np.random.default_rng(0)
    found = 0
    for n in (50, 300, 2000):
        for draw in (rng.standard_normal, rng.standard_cauchy, rng.standard_exponential):
            found += sum(len(isolated(draw(n))[0]) > 0 for _ in range(50))
        found += sum(len(isolated(np.exp(2 * rng.standard_normal(n)))[0]) > 0 for _ in range(50))
        found += sum(len(isolated(rng.standard_t(3, n) * (rng.random(n) < 0.3))[0]) > 0 for _ in range(50))
    assert found <= 7  # of 750: a single value of heavy tails may be as far


@pytest.mark.parametrize("times, expected", [(0.98, 0), (1.02, 1)])
def test_from_where_a_value_is_far_from_all_others(times, expected):
    """Five times as far as all others, beyond ten interquartile ranges."""
    x = np.concatenate([np.full(30, -0.5), np.linspace(-0.5, 0.5, 41), np.full(30, 0.5), [0.0]])  # quartiles 1 apart
    for nearer in (0.5, 3.0):
        x[0] = -nearer
        x[-1] = times * max(5 * nearer, 10)
        assert len(isolated(x)[0]) == expected


def test_more_than_a_few_are_a_group_of_samples_unless_they_are_equal():
    """Values such as -999 stand for something else; of two groups, the larger one is not far."""
    x = np.random.default_rng(0).normal(size=100)
    for n_far, expected in ((1, 1), (5, 5), (6, 0), (20, 0)):
        assert len(isolated(np.append(x[n_far:], 1e4 + np.arange(n_far)))[0]) == expected
    for n_far, sign in ((6, 1), (20, -1), (45, 1)):
        column = np.append(x[n_far:], np.full(n_far, sign * 1e4))
        far, times = isolated(column)
        assert_array_equal(far, np.arange(100 - n_far, 100))
        assert times > 1000 and suspects([column])[0]
    codes = np.append(x[30:], np.repeat([97.0, 98.0, 99.0], 10))
    assert len(isolated(codes)[0]) == 30
    assert len(isolated(np.append(x[:40], np.full(60, 1e4)))[0]) == 0
    assert len(isolated(np.append(x[:9], 1e4))[0]) == 1


@pytest.mark.parametrize("n", [30, 5000])
def test_what_has_far_values_is_suspected(n):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=n) * 10.0**i for i in range(8)]
    for i, column in enumerate(columns[:3]):
        column[n // 2 + 1] = 1e4 * 10.0**i
    columns[3][5] = np.nan  # looked at itself
    assert suspects(columns).tolist() == [True] * 4 + [False] * 4
    assert not len(suspects([]))
