"""`spectralcls.save` and `spectralcls.load`: every estimator, whole tables, and nothing foreign."""

import json
import re
import zipfile

import numpy as np
import pytest
import sklearn
from every_estimator import KINDS, names
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spectralcls

skops = pytest.importorskip("skops.io")
pd = pytest.importorskip("pandas")


def table(n=120):
    """A frame of numbers, categories, text and truth values, some of which are missing."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": rng.normal(size=n),
            "c": pd.Categorical(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]),
            "t": np.array(["p", "q"])[rng.integers(0, 2, n)],
            "u": rng.random(n) < 0.5,
            "d": rng.normal(size=n) + y,
        }
    )
    frame.loc[::7, "d"] = np.nan
    frame.loc[::11, "c"] = None
    return frame, y


@pytest.mark.filterwarnings("ignore:No round improved")  # of a metric on noise
@pytest.mark.filterwarnings("ignore:y has two values")
@pytest.mark.parametrize("columns", [list("ab"), list("abctud")], ids=["numbers", "table"])
@pytest.mark.parametrize("name", names())
def test_every_estimator_is_read_as_it_was_written(name, columns, tmp_path):
    X, y = table()
    X, parameters = X[columns], {"cv": 2} if name == "AutoClassifier" else {}
    model = KINDS[name](**parameters).fit(X, y)
    spectralcls.save(model, tmp_path / "model.skops")
    again = spectralcls.load(tmp_path / "model.skops")
    for method in ("predict", "predict_proba", "transform", "score_samples"):
        if hasattr(model, method):
            assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


class Stranger(LogisticRegression):
    pass


def call_home(X):
    return X


def test_foreign_types_are_refused_in_one_sentence(tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    X, y = np.eye(4), [0, 1, 0, 1]
    for model, name in ((Stranger().fit(X, y), "Stranger"), (FunctionTransformer(call_home).fit(X), "call_home")):
        spectralcls.save(model, tmp_path / "strange.skops")
        with pytest.raises(ValueError, match=f"refused, because it holds .*{name}") as refused:
            spectralcls.load(tmp_path / "strange.skops")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        "numpy.memmap",
        "numpy.load",
        "os.system",
        "builtins.eval",
        "spectralcls.storage.Path",
        "sklearn.base.warnings",
        "spectralcls.kernels.kernel_sums",
        "sklearn.datasets.fetch_openml",
        "scipy.io.loadmat",
        "spectralcls.no.Such",
    ],
)
def test_names_that_could_do_something_are_not_trusted(name):
    assert not spectralcls.storage._skops._is_trusted(name)


def test_damaged_files_and_missing_ones(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(FileNotFoundError, match="no such file"):
        spectralcls.load(path)
    with pytest.raises(FileNotFoundError, match="not a file"):
        spectralcls.load(tmp_path)
    spectralcls.save(spectralcls.ParzenClassifier(1.0).fit([[0.0], [1.0]], [0, 1]), path)
    content = path.read_bytes()
    path.write_bytes(content[:-500])
    with pytest.raises(ValueError, match="not a readable model file, or a truncated one"):
        spectralcls.load(path)
    path.write_bytes(content)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    schema = json.loads(parts["schema.json"])
    for wrong in ({**schema, "content": 5}, [], {**schema, "__loader__": []}):
        with zipfile.ZipFile(path, "w") as changed:
            for name, part in parts.items():
                changed.writestr(name, json.dumps(wrong) if name == "schema.json" else part)
        with pytest.raises(ValueError, match="not a readable model file") as raised:
            spectralcls.load(path)
        assert not re.search("has no attribute|unhashable|concatenate|NoneType", str(raised.value))


@pytest.mark.filterwarnings("ignore:.*reveals the class")
def test_a_model_of_fit_and_its_schema_predict_in_python(tmp_path):
    pytest.importorskip("pyarrow")
    from spectralcls.cli import main
    from spectralcls.datasets import read_table

    rng = np.random.default_rng(0)
    rows = [
        f"{k % 2 + rng.normal() / 4:.2f};{'rot' if k % 3 else 'grün'};0{1 + k % 9}.0{1 + k % 7}.2022;{'ab'[k % 2]}"
        for k in range(60)
    ]
    data, model = tmp_path / "t.csv", tmp_path / "m.skops"
    data.write_text("x;farbe;tag;y\n" + "\n".join(row.replace(".", ",", 1) for row in rows), encoding="utf-8")
    assert main(["fit", str(data), "--target", "y", "--classifier", "parzen", "--out", str(model)]) == 0
    again = spectralcls.load(model)
    table = read_table(data, schema=again.table_schema_)
    truth = read_table(data, target="y").target
    assert np.mean(again.predict(table.data) == truth) > 0.9


def test_without_skops_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "skops", None)
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    for call in (lambda: spectralcls.save(1, tmp_path / "x"), lambda: spectralcls.load(tmp_path / "x")):
        with pytest.raises(ImportError, match=r"spectralcls\[models\]"):
            call()


@pytest.mark.parametrize("version, is_read", [("1.2.3", False), (sklearn.__version__, True)])
def test_estimators_of_another_scikit_learn_are_refused_in_one_sentence(tmp_path, version, is_read):
    X = np.arange(20.0)[:, None]
    model = make_pipeline(StandardScaler(), spectralcls.ParzenClassifier(bandwidth=1.0)).fit(X, X[:, 0] > 9)
    spectralcls.save(model, tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as old, zipfile.ZipFile(tmp_path / "other.skops", "w") as new:
        for name in old.namelist():
            here, there = (f'"content": "\\"{one}\\""'.encode() for one in (sklearn.__version__, version))
            new.writestr(name, old.read(name).replace(here, there))
    if is_read:
        assert spectralcls.load(tmp_path / "other.skops").predict(X).tolist() == model.predict(X).tolist()
    else:
        with pytest.raises(ValueError, match=f"written with scikit-learn 1.2.3, but this is {sklearn.__version__}"):
            spectralcls.load(tmp_path / "other.skops")
