"""Tables with missing values and categories, and scales

Each classifier tunes itself. Figures are means over random splits with a third of the rows for testing; accuracies are
in percent.
"""

import importlib.util
import os
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.data import sets
from bench.measure import QUICK, compare, half_interval, limited_threads, paired
from bench.pages import view
from bench.quirks import quirks, verdict
from spectralcls import (
    AutoClassifier,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
    PerTurboClassifier,
    datasets,
)

SETS = "iris wine wdbc glass ecoli pima ionosphere wbc ratsch_thyroid ratsch_banana".split()
SCALE_SETS = (*SETS, "digits", "letter", "satimage", "shuttle", "covertype", "blood_transfusion")
SPLITS, SAMPLES, SHARE = (1, 250, 0.3) if QUICK else (10, 400, 0.3)
IMPUTERS = {
    "mean": lambda: make_pipeline(SimpleImputer()),
    "k-NN": lambda: make_pipeline(StandardScaler(), KNNImputer()),
    "iterative": lambda: make_pipeline(StandardScaler(), IterativeImputer(max_iter=5, random_state=0)),
}
KINDS = {
    "Parzen": ParzenClassifier,
    "ISE": ISEClassifier,
    "Laplacian ISE": LaplacianISEClassifier,
    "Cauchy-Schwarz": CauchySchwarzClassifier,
    "PerTurbo": PerTurboClassifier,
}
BOOSTING = partial(HistGradientBoostingClassifier, random_state=0)


LINES, CUSTOMERS, DRAWN = (500, 300, 1) if QUICK else (1_000_000, 1200, 5)
CUSTOMER = {"dtype": {"PLZ": str}, "parse_dates": ["Vertragsbeginn"]}
GERMAN = CUSTOMER | dict(sep=";", decimal=",", thousands=".", na_values=["-", "k.A."], date_format="%d.%m.%Y")


def problem(name, n_samples):
    """At most `n_samples` rows and labels of a set, without classes of fewer than nine rows."""
    if name not in sets():
        pytest.skip(f"no data set {name}")
    X, y = sets()[name]()
    X, y = X.astype(np.float64), np.unique(y, return_inverse=True)[1]
    known = np.isfinite(X).all(axis=1)
    X, y = X[known], y[known]
    rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
    X, y = X[rows], y[rows]
    frequent = np.isin(y, [label for label in np.unique(y) if np.count_nonzero(y == label) > 8])
    return X[frequent], y[frequent]


def splits_of(y):
    return StratifiedShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(np.zeros(len(y)), y)


def with_missing(X, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < SHARE, np.nan, X)


def mean_of(runs):
    return {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}


@pytest.mark.parametrize("name", SETS)
def test_missing_values(record, name):
    """A set without 30 % of its entries, removed at random from the training and the test part. Missing values stay
    (*as they are*), or are imputed first.
    """
    X, y = problem(name, SAMPLES)
    broken, runs = with_missing(X), []
    for a, b in splits_of(y):
        ways = {"complete": (X[a], X[b]), "as they are": (broken[a], broken[b])}
        for imputer, make_imputer in IMPUTERS.items():
            fill = make_imputer().fit(broken[a])
            ways[imputer] = fill.transform(broken[a]), fill.transform(broken[b])
        runs.append(
            {
                f"{kind}, {way}": 100 * make().fit(train, y[a]).score(test, y[b])
                for kind, make in (KINDS | {"boosting": BOOSTING}).items()
                for way, (train, test) in ways.items()
                if kind != "boosting" or way not in IMPUTERS
            }
        )
    record(mean_of(runs))


@view("missing_values")
def loss_by_missing_values(rows):
    """From ten sets, 30 % of the entries of the training and the test part are removed at random. The table gives the
    mean loss of accuracy, in points, when the classifier handles missing values itself and when they are imputed first.
    The last column is the loss with imputation by the mean minus the loss without imputation, with its 95 % interval
    over the sets.
    """
    table = []
    for kind in [*KINDS, "boosting"]:
        lost = {
            way: np.array([row[f"{kind}, complete"] - row[f"{kind}, {way}"] for row in rows])
            for way in ("as they are", *IMPUTERS)
            if f"{kind}, {way}" in rows[0]
        }
        row = {"lost by": kind} | {way: f"{values.mean():.1f}" for way, values in lost.items()}
        if "mean" in lost:
            less = paired(lost["mean"] - lost["as they are"])
            row["as they are, less than mean"] = f"{less['mean']:.1f} {less['95 % interval']}"
        table.append(row)
    return [table]


@pytest.mark.parametrize("name", SCALE_SETS)
def test_scales(record, name):
    """Accuracy on complete data with unscaled features (`scale=None`), and with `scale="auto"`, the default."""
    X, y = problem(name, SAMPLES)
    runs = [
        {
            f"{kind}, {value}": 100 * make(scale=value).fit(X[a], y[a]).score(X[b], y[b])
            for kind, make in (KINDS | {"kernel ridge": KernelRidgeClassifier}).items()
            for value in (None, "auto")
        }
        for a, b in splits_of(y)
    ]
    record(mean_of(runs))


@view("scales")
def gain_by_scaling(rows):
    """The table gives the accuracy with `scale="auto"`, the default, minus that with `scale=None`, in points, set by
    set, and the mean with its 95 % interval over the sets."""
    kinds = [*KINDS, "kernel ridge"]
    gains = {kind: [row[f"{kind}, auto"] - row[f"{kind}, None"] for row in rows] for kind in kinds}
    table = [{"set": row["name"]} | {k: f"{gains[k][i]:+.1f}" for k in kinds} for i, row in enumerate(rows)]
    means = {kind: paired(values) for kind, values in gains.items()}
    return [[*table, {"set": "mean"} | {k: f"{m['mean']:+.1f} {m['95 % interval']}" for k, m in means.items()}]]


@pytest.fixture(scope="module")
def large_files(tmp_path_factory):
    """About 100 MB each: {name: (path, name of the target, options with which pandas reads it correctly)}."""
    import office  # of the tests, which make the customers' exports

    folder, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(11 * LINES // 20, 20)).round(6)).add_prefix("x")
    numbers.assign(y=np.where(numbers["x0"] > 0, "a", "b")).to_csv(folder / "numbers.csv", index=False)
    customers = office.customers(LINES)
    utf8 = office.export(folder / "utf8.csv", customers, "german utf-8")
    cp1252 = folder / "cp1252.csv"
    cp1252.write_bytes(b"sep=;\r\n" + utf8.read_bytes().decode("utf-8-sig").encode("cp1252"))
    return {
        "numbers": (folder / "numbers.csv", "y", {}),
        "customers, English": (
            office.export(folder / "english.csv", customers, "english"),
            office.TARGET,
            CUSTOMER,
        ),
        "customers, UTF-8": (utf8, office.TARGET, GERMAN),
        "customers, cp1252": (cp1252, office.TARGET, GERMAN | {"encoding": "cp1252", "skiprows": 1}),
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("file", ["numbers", "customers, English", "customers, UTF-8", "customers, cp1252"])
def test_reading(record, large_files, file, threads):
    """The files have 100 MB. One has 20 columns of numbers and one of labels; the others are customer tables with a
    million rows, one in English and two in German, which differ in encoding. Times are relative to that of
    `pandas.read_csv`. `read_table` gets only the name of the target. pandas gets the delimiter, both signs of numbers,
    words for missing values, the column of dates with its format, and the columns of digits that are not numbers;
    otherwise it would read dates and postal codes as numbers. pandas uses its default engine, or that of pyarrow, which
    cannot read thousands separators. `read_table` parses with pyarrow, too; on one thread, this takes most of its time
    for the file of numbers and the English file. With two threads the serial parts also matter: reading the file, and
    copying into a matrix.
    """
    import pyarrow as pa

    if len(os.sched_getaffinity(0)) < threads:
        pytest.skip(f"there are no {threads} cores")
    path, target, known = large_files[file]
    pa.set_cpu_count(threads)
    work = {"pandas": lambda: pd.read_csv(path, **known)}
    if "thousands" not in known:
        work["pandas, pyarrow"] = lambda: pd.read_csv(path, engine="pyarrow", **known)
    if file == "numbers" and importlib.util.find_spec("duckdb"):
        work["DuckDB"] = lambda: with_duckdb(path)
    work["read_table"] = lambda: datasets.read_table(path, target=target)
    with limited_threads(threads):
        row, found = compare(work, threads=threads, repeats=3, budget=120)
    assert found["read_table"].n_rows == len(found["pandas"])
    record({"MB": round(path.stat().st_size / 1e6)} | row)


def test_raw_exports(record, tmp_path):
    """AutoClassifier learns the customer table (1200 rows) from the raw German export through `read_table`, and from a
    data frame of the same values prepared by hand, with dates, numbers and categories of the right type, without two
    useless columns, and with only the first digit of the postal code. Accuracy is in percent over five splits. All
    dialects of the file give the same table.
    """
    import office

    columns = office.customers(CUSTOMERS)
    raw = datasets.read_table(office.export(tmp_path / "raw.csv", columns), target=office.TARGET, as_frame=True)
    clean = pd.DataFrame(columns).drop(columns=[office.TARGET, *office.LEFT_OUT])
    clean["PLZ"] = clean["PLZ"].str[0]
    clean = clean.astype(dict.fromkeys(("PLZ", "Tarif", "Region"), "category"))
    y, found = raw.target, []
    for a, b in StratifiedShuffleSplit(DRAWN, test_size=1 / 3, random_state=0).split(clean, y):
        frames = raw.data, clean
        found.append([100 * AutoClassifier().fit(X.iloc[a], y[a]).score(X.iloc[b], y[b]) for X in frames])
    means = dict(zip(("raw export", "clean frame"), np.mean(found, axis=0).tolist(), strict=True))
    differences = np.subtract(*np.transpose(found))
    row = means | {"difference": float(differences.mean()), "±": float(half_interval(differences))}
    record(row | {"majority": 100 * float(np.mean(y == "nein"))})


def by_ours(path, target=None):
    """Names and columns from `read_table`, dates as days, and whether it has warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = datasets.read_table(path, target=target, as_frame=True)
    columns = {
        own.name: table.target if own.name == table.schema.target else table.data[own.features[0]]
        for own in table.schema.columns
        if own.features
    }
    if target is not None:
        columns[table.schema.target] = table.target
    return list(columns), list(columns.values()), bool(caught)


def by_frame(read, path):
    """The same from a reader that returns a pandas data frame."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read(path)
    return list(frame.columns), [frame.iloc[:, j] for j in range(frame.shape[1])], bool(caught)


def with_duckdb(path):
    import duckdb

    return duckdb.read_csv(str(path)).df()


def with_clevercsv(path):
    import clevercsv

    return clevercsv.read_dataframe(str(path))


def with_polars(path):
    import polars

    frame = polars.read_csv(path, try_parse_dates=True)
    names, frame.columns = frame.columns, list(map(str, range(frame.width)))  # pandas takes no names with a zero byte
    return frame.to_pandas().set_axis(names, axis=1)


READERS = {
    "DuckDB": with_duckdb,
    "clevercsv": with_clevercsv,
    "pandas": lambda path: pd.read_csv(path, sep=None, engine="python"),
    "polars": with_polars,
}


@pytest.mark.parametrize("quirk", [f"{quirk.group}: {quirk.name}" for quirk in quirks()])
def test_quirks(record, tmp_path, quirk):
    """Small files, each with one quirk, read by each reader with its defaults."""
    (own,) = (one for one in quirks() if f"{one.group}: {one.name}" == quirk)
    path = tmp_path / "table.csv"
    path.write_bytes(own.data)
    found = {"read_table": verdict(own, partial(by_ours, path))}
    found["read_table, target"] = verdict(own, partial(by_ours, path, own.target)) if own.target else ""
    for name, read in READERS.items():
        try:
            found[name] = verdict(own, partial(by_frame, read, path))
        except ImportError:
            continue
    record(found)


@view("quirks")
def files_with_a_quirk(rows):
    """Small files of 14 rows (two have 40 000), each with one common quirk of exports, are read with defaults by
    `read_table`, with and without the target; by the sniffers of DuckDB and of clevercsv, which passes the file to
    pandas; by pandas with `sep=None`, which detects the delimiter; and by polars with `try_parse_dates=True`. *Right*
    means that all values and types are as expected (12.5 and 0.125 both count as 12.5 %), *text* that numbers, dates or
    Booleans are left as text, *told* that the reader raises an error or warns, and *wrong* that values, rows or columns
    differ without a warning. For ambiguous content (a short row, a word among numbers, days or months first), refusing
    the file is right.
    """
    readers = [key for key in rows[0] if key not in ("quirk", "isa")]
    kinds = ("right", "text", "told", "wrong")
    counts = [{"reader": r} | {kind: sum(row[r] == kind for row in rows) for kind in kinds} for r in readers]
    return [counts, [{"quirk": row["quirk"]} | {r: row[r] or "-" for r in readers} for row in rows]]
