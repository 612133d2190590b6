"""Columns of dates are numbers of days, months and weekdays; columns that name the rows are left out."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from every_estimator import make
from numpy.testing import assert_allclose, assert_array_equal

import spectralcls
from spectralcls import AutoClassifier, KernelRidgeRegressor, ParzenClassifier
from spectralcls._inputs import frames
from spectralcls._inputs.columns import learned
from spectralcls._inputs.frames import of_objects
from spectralcls._inputs.reading import Reading
from spectralcls.datasets import read_table
from spectralcls.datasets._sheets import _from_cells

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:y has two values")  # of regressions: what they learn does not matter

ALL = [
    "AutoClassifier",
    "AutoRegressor",
    "CCDRClassifier",
    "KernelRegressor",
    "KernelRidgeClassifier",
    "KernelRidgeRegressor",
    "ParzenClassifier",
    "ParzenDensity",
    "PerTurboClassifier",
]


def table(n=120, seed=0):
    """A frame whose column of dates tells the classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    days = np.datetime64("2021-01-01") + rng.integers(0, 200, n) + 300 * y
    return pd.DataFrame({"day": days.astype("datetime64[s]"), "a": rng.normal(size=n)}), y


def as_numbers(frame):
    """The same with numbers in place of the dates."""
    day = pd.to_datetime(frame["day"])
    elapsed = (day - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return pd.DataFrame({"days": elapsed, "month": day.dt.month, "weekday": day.dt.day_of_week, "a": frame["a"]})


def test_a_date_is_its_days_month_and_weekday():
    X, y = table()
    model, numbers = ParzenClassifier(0.5).fit(X, y), ParzenClassifier(0.5).fit(as_numbers(X), y)
    assert_allclose(model.predict_proba(X), numbers.predict_proba(as_numbers(X)), rtol=1e-12)
    assert model.score(X, y) > 0.95
    of_january = ParzenClassifier(0.5).fit(X.assign(day=pd.Timestamp("2021-01-04") + pd.to_timedelta(y, "W")), y)
    assert of_january._inputs.table.types[0].parts == ("days",)  # all Mondays, all in January


@pytest.mark.parametrize("name", ALL)
def test_every_estimator_takes_dates(name):
    X, y = table()
    model = make(name, fixed=True)
    assert_array_equal(
        *[
            fitted.predict(Z) if hasattr(fitted, "predict") else fitted.score_samples(Z)
            for fitted, Z in ((model.fit(X, y), X), (make(name, fixed=True).fit(as_numbers(X), y), as_numbers(X)))
        ]
    )


def test_dates_of_any_kind_are_the_same():
    X, y = table()
    expected = ParzenClassifier(0.5).fit(X, y).predict_proba(X)
    kinds = {
        "with a zone": X.assign(day=X["day"].dt.tz_localize("Asia/Kolkata")),
        "objects": X.assign(day=pd.Series([day.to_pydatetime() for day in X["day"]], dtype=object)),
        "days": X.assign(day=pd.Series([day.date() for day in X["day"]], dtype=object)),
        "timestamps": X.assign(day=pd.Series(list(X["day"]), dtype=object)),
        "texts": X.assign(day=X["day"].dt.strftime("%Y-%m-%d")),
        "pyarrow": pa.Table.from_pandas(X),
    }
    for kind, other in kinds.items():
        assert_allclose(ParzenClassifier(0.5).fit(other, y).predict_proba(other), expected, err_msg=kind)
    elapsed = X.assign(day=X["day"] - X["day"].min())
    assert ParzenClassifier(0.5).fit(elapsed, y).score(elapsed, y) > 0.95


def times(n=120, seed=0):
    """Hours that tell the classes apart."""
    y = np.arange(n) % 2
    minutes = np.random.default_rng(seed).integers(0, 240, n) + 480 * y
    return [datetime.time(*divmod(int(minute), 60)) for minute in minutes], y


@pytest.mark.parametrize("name", ALL)
def test_times_of_day_are_parts_of_a_day(name, tmp_path):
    """As objects, durations and texts, in pandas and Arrow; as `read_table` takes them from a file."""
    at, y = times()
    elapsed = [datetime.timedelta(hours=time.hour, minutes=time.minute) for time in at]
    texts = [f"{time.hour}:{time.minute:02d}" for time in at]
    (tmp_path / "t.csv").write_text("at\n" + "\n".join(texts))
    days = read_table(tmp_path / "t.csv").data
    assert_allclose(days[:, 0], [time / datetime.timedelta(days=1) for time in elapsed], rtol=1e-14)

    def answers(X):
        model = make(name, fixed=True).fit(X, y)
        return model.predict(X) if hasattr(model, "predict") else model.score_samples(X)

    expected = answers(pd.DataFrame(days, columns=["at"]))
    frames = [pd.DataFrame({"at": pd.Series(values)}) for values in (at, elapsed, texts)]
    for frame in (*frames, pa.table({"at": at})):
        assert_allclose(answers(frame), expected, rtol=1e-12)


def test_texts_are_times_only_if_all_are_and_nobody_calls_them_categories():
    at, y = times()
    texts = pd.DataFrame({"at": [f"{time:%H:%M}" for time in at], "a": np.arange(len(y)) % 7})
    model = ParzenClassifier(0.5).fit(texts, y)
    assert model._inputs.table.types[0].parts == ("days",)
    expected = model.predict_proba(texts)
    assert_array_equal(model.predict_proba(texts.assign(at=at)), expected)
    with pytest.raises(
        ValueError, match="are no dates, unlike the others of their column in fit:\n  Column 'at' of X: "
    ):
        model.predict(texts.assign(at="closed"))
    assert np.isfinite(model.predict_proba(texts.assign(at=None))).all()
    hours = texts.assign(at=[f"{time.hour:02d}:00" for time in at])
    model = ParzenClassifier(0.5, categorical_features=["at"]).fit(hours, y)
    assert len(model._inputs.table.types[0].levels) == 8
    with pytest.raises(ValueError, match="are no dates, .*:\n  Column 'at' of X: 'closed' in rows 6, 8"):
        ParzenClassifier(0.5).fit(hours.replace({"at": {"00:00": "closed"}}), y)


WRITTEN = [
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d-%m-%y",
    "%a, %d. %b %Y",
    "%B %d, %Y",
    "%d.%m.%Y %I:%M %p",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m",
]


@pytest.mark.parametrize("written", WRITTEN)
def test_texts_are_dates_as_those_of_a_file(written, tmp_path):
    """In the same order for queries, however few; a column may name itself a category."""
    X, y = table()
    texts = X["day"].dt.strftime(written)
    texts.to_frame("day").to_csv(tmp_path / "t.csv", index=False)
    expected = read_table(tmp_path / "t.csv", as_frame=True).data
    X, same = texts.to_frame("day").assign(a=X["a"]), expected.assign(a=X["a"])
    fitted, numbers = ParzenClassifier(0.5).fit(X, y), ParzenClassifier(0.5).fit(same, y)
    assert_allclose(fitted.predict_proba(X), numbers.predict_proba(same), rtol=1e-9)
    rows = [fitted.predict_proba(X.iloc[[i]])[0] for i in range(20)]
    assert_allclose(rows, fitted.predict_proba(X)[:20], rtol=1e-9)
    levels = ParzenClassifier(0.5, categorical_features=["day"]).fit(X, y)._inputs.table.types[0]
    assert levels.kind == "category"


def test_dates_in_two_orders_are_refused_and_other_cells_are_named():
    y = np.arange(40) % 2
    X = pd.DataFrame({"day": [f"{1 + i % 12:02d}/{1 + i % 3:02d}/2022" for i in range(40)], "a": y})
    with pytest.raises(
        ValueError, match="Column 'day' of X holds dates such as '01/01/2022' in row 0, in which day and month"
    ):
        ParzenClassifier(0.5).fit(X, y)
    assert ParzenClassifier(0.5, categorical_features=["day"]).fit(X, y).score(X, y) == 1
    pointed = ParzenClassifier(0.5).fit(X.assign(day=X["day"].str.replace("/", ".")), y)
    assert pointed._inputs.table.types[0].order == "dmy"
    for odd in ("31/02/2022", "13/13/2022", "unknown"):
        with pytest.raises(ValueError, match=f"'day' of X: '{odd}' in row 39"):
            ParzenClassifier(0.5).fit(X.assign(day=["29/04/2022", *X["day"][1:-1], odd]), y)


def test_texts_are_matched_once_in_a_fit(monkeypatch):
    X, y = table()
    texts = X.assign(day=X["day"].dt.strftime("%d.%m.%Y"))
    calls, read = [], frames.read_dates
    monkeypatch.setattr(frames, "read_dates", lambda some, order: calls.append((len(some), order)) or read(some, order))
    ParzenClassifier(0.5).fit(texts, y)
    assert calls.count((texts["day"].nunique(), "dmy")) == 1


@pytest.mark.parametrize("make", [ParzenClassifier, AutoClassifier])
def test_missing_and_wrong_dates(make):
    X, y = table()
    X.loc[::9, "day"] = pd.NaT
    model = make().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.predict_proba(X.assign(day=pd.NaT))).all()
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="Column 'day' of X holds numbers, but held dates in fit"):
        model.predict(X.assign(day=1.0))
    with pytest.raises(ValueError, match="Column 'a' of X holds dates, but held numbers in fit"):
        model.predict(X.assign(a=pd.Timestamp("2020-01-01")))
    with pytest.raises(ValueError, match="'day' of X holds objects of type object"):
        model.fit(X.assign(day=object()), y)
    assert_array_equal(model.predict_proba(X), before)


def test_a_model_with_dates_is_read_as_it_was_written(tmp_path):
    pytest.importorskip("skops")
    X, y = table()
    model = ParzenClassifier(0.5).fit(X, y)
    spectralcls.save(model, tmp_path / "model.skops")
    assert_array_equal(spectralcls.load(tmp_path / "model.skops").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ALL)
def test_columns_that_name_the_rows_are_left_out_with_a_warning(name):
    X, y = table()
    rng = np.random.default_rng(1)
    more = X.assign(
        **{"Kunden-Nr": rng.permutation(len(X)) * 7 + 10_000, "note": [f"call {i} back" for i in range(len(X))]}
    )
    with pytest.warns(UserWarning, match="'Kunden-Nr': identifier; 'note': free text"):
        model = make(name, fixed=True).fit(more, y)
    few = make(name, fixed=True).fit(X, y)
    answers = [
        fitted.predict(Z) if hasattr(fitted, "predict") else fitted.score_samples(Z)
        for fitted, Z in ((model, more.assign(note="new")), (few, X))
    ]
    assert_array_equal(*answers)


def test_decimal_commas_are_read_and_arrays_of_texts_are_refused_in_a_sentence():
    X, y = table()
    for cells, values in ((["1,5", "1.234,25", "-"], [1.5, 1234.25, np.nan]), (["0,5", "2,5", "0,5"], [0.5, 2.5, 0.5])):
        texts, numbers = (X.assign(size=np.resize(some, len(X))) for some in (cells, values))
        with pytest.warns(UserWarning, match="reads columns of texts as numbers \\('size': "):
            fitted = ParzenClassifier(0.5).fit(texts, y)
        expected = ParzenClassifier(0.5).fit(numbers, y).predict_proba(numbers)
        assert_array_equal(fitted.predict_proba(texts), expected)
        named = ParzenClassifier(0.5, categorical_features=["size"]).fit(texts[["size"]], y)
        assert named.predict(texts[["size"]]).shape == y.shape
    for array in (np.array([["a", "b"], ["c", "d"]]), [["a", 1.0], ["b", 2.0]]):
        with pytest.raises(ValueError, match="array with texts such as 'a' in row 0, column 0: pass a data frame"):
            ParzenClassifier().fit(array, [0, 1])


def test_an_identifier_in_a_frame_of_numbers():
    X, y = table()
    numbers = as_numbers(X)
    for scale in ("auto", None):
        with pytest.warns(UserWarning, match="'customer_id': identifier"):
            model = ParzenClassifier(0.5, scale=scale).fit(numbers.assign(customer_id=np.arange(len(X)) * 3.0), y)
        expected = ParzenClassifier(0.5, scale=scale).fit(numbers, y).predict_proba(numbers)
        assert_allclose(model.predict_proba(numbers.assign(customer_id=-1.0)), expected, rtol=1e-12)


def test_numbers_that_only_look_like_keys_are_taken():
    """Without a name that says so, distinct whole numbers are measurements; repeated ones are whatever their name."""
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ParzenClassifier(0.5).fit(X.assign(height=np.arange(len(X))), y)
        ParzenClassifier(0.5).fit(X.assign(room_no=np.arange(len(X)) % 7), y)
        ParzenClassifier(0.5).fit(np.column_stack([np.arange(len(X)), X["a"]]), y)


FORMS = {
    "types": lambda at: at,
    "texts": lambda at: [one.isoformat() for one in at],
    "objects": lambda at: np.array([one.to_pydatetime() for one in at], dtype=object),
}


@pytest.mark.parametrize("before", FORMS)
@pytest.mark.parametrize("now", FORMS)
def test_equal_moments_have_equal_answers_and_a_date_without_a_zone_is_none(before, now):
    """The hour in the zone of fit tells the classes apart, so that a shifted or a local hour would not."""
    at = pd.date_range("2024-01-01", periods=60, freq="37h", tz="UTC")
    zoned = pd.DataFrame({"at": FORMS[before](at), "x": np.arange(60) % 5 * 1.0})
    model = ParzenClassifier(0.5).fit(zoned, at.hour > 11)
    elsewhere = zoned.assign(at=FORMS[now](at.tz_convert("Europe/Berlin")))
    assert_array_equal(model.predict_proba(elsewhere), model.predict_proba(zoned))
    naive = zoned.assign(at=FORMS[now](at.tz_localize(None)))
    with pytest.raises(
        ValueError, match="'at' of X has dates with no time zone, but had one in fit.* in rows 0, 1, 2 and 57 more"
    ):
        model.predict(naive)
    with pytest.raises(ValueError, match="'at' of X has dates with a time zone, but had none in fit"):
        ParzenClassifier(0.5).fit(naive, at.hour > 11).predict(elsewhere)
    if now != "types":
        both = zoned.assign(at=[*elsewhere["at"][:-1], naive["at"].iloc[-1]])
        with pytest.raises(ValueError, match="'at' of X (holds|has) dates (with and without a|with no) time zone"):
            model.predict(both)


def test_dates_beyond_those_of_fit_are_named_once():
    at = pd.date_range("2020-01-01", periods=100, freq="D")
    y = np.arange(100.0)
    model = KernelRidgeRegressor(bandwidth=1.0, alpha=0.1).fit(pd.DataFrame({"at": at}), y)
    model.predict(pd.DataFrame({"at": at[50:] + pd.Timedelta(days=20)}))  # most are known
    with pytest.warns(UserWarning, match="'at' of X: 50 of 50 dates lie outside those of fit, 2020-01-01 to") as told:
        model.predict(pd.DataFrame({"at": at[50:] + pd.Timedelta(days=60)}))
    assert len(told) == 1


def test_durations_of_all_spreadsheets_are_the_same():
    """More than a day is a text in OpenDocument, and an object in other formats."""
    long = datetime.timedelta(hours=26, minutes=30, seconds=7)
    cells = [datetime.time(1, 30), long, "n/a"]
    for column in (cells, [cells[0], "PT26H30M07S", "n/a"], [cells[0], "PT26H30M07S"], cells[:2]):
        _, objects = _from_cells(pa, column)
        column = of_objects("t", objects)
        own = learned(column, reading=Reading(words={"n/a"}))
        assert own.features == ["t"]
        assert_array_equal(own.read(column, Reading(words={"n/a"}))[:2, 0] * 86_400, [5400, 26.5 * 3600 + 7])
