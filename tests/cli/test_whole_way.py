"""The installed command from an office's export to predictions; and what is left of it without optional packages."""

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import office
import pytest

from spectralcls.cli import main
from spectralcls.cli.registry import ENTRIES

psutil = pytest.importorskip("psutil")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("skops")

pytestmark = pytest.mark.filterwarnings("ignore:.*is read as cp1252", "ignore:.*reveals? the class")
FRONT = [entry.name for entry in ENTRIES if entry.front]
COMMAND = shutil.which("spectralcls")
COMMAND = [COMMAND] if COMMAND else [sys.executable, "-m", "spectralcls"]
WITHOUT = """
import contextlib, io, json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pandas", "pyarrow", "matplotlib", "skops", "python_calamine", "rich"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from spectralcls.cli import main
for arguments in json.load(sys.stdin):
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(arguments)
    print(json.dumps([code, out.getvalue(), error.getvalue()]), flush=True)
"""


def command(*arguments, code=0):
    done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def call(*arguments, code=0):
    """As `command`, in this process: an import of everything less."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        assert main(list(map(str, arguments))) == code, error.getvalue()
    return out.getvalue() if code == 0 else error.getvalue()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Customers to learn from, and further ones without the target, in each dialect: {dialect: (path, path)}."""
    folder, columns = tmp_path_factory.mktemp("office"), office.customers(420)
    parts = [{name: values[rows] for name, values in columns.items()} for rows in (slice(300), slice(300, None))]
    parts[1].pop(office.TARGET)
    found = {}
    for dialect in office.DIALECTS:
        paths = [folder / f"{dialect} {what}.csv" for what in ("old", "new")]
        found[dialect] = [office.export(path, part, dialect) for path, part in zip(paths, parts, strict=True)]
    return found, columns[office.TARGET][300:]


@pytest.mark.parametrize("dialect", office.DIALECTS)
def test_from_an_export_to_probabilities(tables, dialect, tmp_path):
    (old, new), truth = tables[0][dialect], tables[1]
    run = call if dialect != "german excel" else command
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    understood = call("compare", old, "--target", office.TARGET, "--dry-run")
    assert "identifier" in understood and "free text" in understood and "ja 2" in understood
    fit = ["--classifier", "kernelridge", "--out", model, "--quiet"]
    assert "300 rows, 10 features, 2 classes" in run("fit", old, "--target", office.TARGET, *fit)
    assert "no column 'PLZ'" not in run(
        "predict", model, new, "--out", out, "--proba", "--keep", "Kunden-Nr", "--keep", "Tarif"
    )
    decimal = office.DIALECTS[dialect][1]
    delimiter = ";" if decimal == "," else ","  # whatever stood between the cells of the input
    with open(out, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    assert list(rows[0]) == ["row", "Kunden-Nr", "Tarif", "prediction", "p(ja)", "p(nein)"]
    assert [int(row["row"]) for row in rows] == list(range(120)) and rows[0]["Kunden-Nr"].isdecimal()
    shares = np.array([[float(row[f"p({label})"].replace(decimal, ".")) for label in ("ja", "nein")] for row in rows])
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)
    predicted = np.array([row["prediction"] for row in rows])
    assert np.array_equal(predicted == "ja", shares[:, 0] > shares[:, 1])
    assert np.mean(predicted == truth) > np.mean(truth == "nein")  # better than the majority


def test_a_comparison_of_an_export(tables):
    old, _ = tables[0]["german excel"]
    some = ["--classifiers", "parzen,kernelridge,knn", "--repeats", "2", "--quiet"]
    printed = call("compare", old, "--target", office.TARGET, *some)
    assert "left out: Kunden-Nr (identifier), Bemerkung (free text)" in printed and "Take " in printed


@pytest.mark.parametrize("name", FRONT)
def test_every_classifier_in_front_is_fitted_stored_and_read(tables, name, tmp_path):
    (old, new), truth = tables[0]["german excel"], tables[1]
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    call("fit", old, "--target", office.TARGET, "--classifier", name, "--out", model, "--quiet")
    call("predict", model, new, "--out", out)
    with open(out, encoding="utf-8-sig", newline="") as file:
        predicted = np.array([row["prediction"] for row in csv.DictReader(file, delimiter=";")])
    assert set(predicted) <= {"ja", "nein"} and np.mean(predicted == truth) > 0.7


def test_compare_with_its_defaults_has_the_front_row(tables, tmp_path):
    out = tmp_path / "out.json"
    (old, _), _ = tables[0]["english"], None
    printed = call("compare", old, "--target", "-1", "--repeats", "1", "--json", out, "--quiet")
    records = json.loads(out.read_text())
    assert [record["classifier"] for record in records] == FRONT
    assert all(record["error"] is None for record in records), printed
    assert all(record["log_loss_mean"] is None or record["log_loss_mean"] > 0 for record in records)


def test_predictions_keep_all_columns_and_escape_formulas(tmp_path):
    rng = np.random.default_rng(0)
    notes = ["-", "=1+1", *["\uff1d1+1"] * 38]
    rows = [
        f"{k % 2 + rng.random():.3f},-{k}.5,{('=HYPERLINK(1)', '@SUM(1)')[k % 2]},{note}"
        for k, note in enumerate(notes)
    ]
    data, model, out = tmp_path / "t.csv", tmp_path / "m.skops", tmp_path / "out.csv"
    data.write_text("a,b,c,note\n" + "\n".join(rows) + "\n", encoding="utf-8")
    call("fit", data, "--target", "c", "--drop", "note", "--classifier", "parzen", "--out", model)
    call("predict", model, data, "--out", out, "--keep", "all")
    with open(out, newline="", encoding="utf-8-sig") as file:
        first, second, third = list(csv.DictReader(file))[:3]
    assert first["prediction"] == "'=HYPERLINK(1)" and second["prediction"] == "'@SUM(1)"
    assert (first["b"], first["note"], second["note"]) == ("-0.5", "-", "'=1+1")  # a sign alone is no formula
    assert third["note"] == "'\uff1d1+1"
    call("predict", model, data, "--out", out, "--keep", "all", "--no-escape")
    with open(out, newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["prediction"], first["note"], first["c"]) == ("=HYPERLINK(1)", "-", "=HYPERLINK(1)")


def test_kept_numbers_are_not_rounded_and_no_column_takes_the_place_of_another(tmp_path):
    keys, a = 1_234_567_890.0 + np.arange(8), np.arange(8) / 8
    table = pa.table({"key": [None, *keys[1:]], "a": a, "c": ["x", "y"] * 4})
    data, model, out = tmp_path / "t.parquet", tmp_path / "m.skops", tmp_path / "out.csv"
    pq.write_table(table, data)
    call("fit", data, "--target", "c", "--drop", "key", "--classifier", "parzen", "--out", model)
    call("predict", model, data, "--out", out, "--keep", "all")
    with open(out, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["key"] for row in rows] == ["", *(str(int(key)) for key in keys[1:])]
    assert [float(row["a"]) for row in rows] == a.tolist()
    other = tmp_path / "t.csv"
    for names, name in ("prediction,a,c", "prediction"), ("p(x),a,c", "p(x)"), ("b,a,b", "b"):
        other.write_text(f"{names}\n1,0.5,x\n")
        message = call("predict", model, other, "--out", tmp_path / "two.csv", "--keep", "all", "--proba", code=2)
        assert f"the output would have several columns {name!r}" in message and not (tmp_path / "two.csv").exists()


def test_bad_input_writes_nothing(tables, tmp_path):
    (old, new), _ = tables[0]["german excel"], None
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    call("fit", old, "--target", office.TARGET, "--classifier", "parzen", "--out", model)
    text = new.read_bytes().decode("cp1252")
    for wrong, message in (
        (text.replace("Premium", "Platin"), "'Tarif': 'Platin' in lines"),
        (text.replace("28.", "32.").replace("10.", "35."), "'Vertragsbeginn': '"),
        (text[: text.rindex(";", 0, 2000)], "the first row has 10 cells, but line"),
        (text.replace("Tarif", "Tarif2", 1), "no column 'Tarif'"),
        ("", "the file is empty"),
    ):
        bad = tmp_path / "bad.csv"
        bad.write_bytes(wrong.encode("cp1252"))
        assert message in call("predict", model, bad, "--out", out, code=2) and not out.exists()
    assert call("predict", model, "none.csv", "--out", out, code=2) == "spectralcls: error: none.csv: no such file\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_a_terminated_comparison_leaves_no_process():
    arguments = [*COMMAND, "compare", "digits", "--repeats", "50", "--quiet", "--classifiers", "parzen,rbf-svm"]
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process, workers = psutil.Process(running.pid), []
    deadline = time.monotonic() + (60 if joblib.cpu_count() > 1 else 9)  # one processor has no workers to wait for
    while not workers and time.monotonic() < deadline and running.poll() is None:
        workers = [child for child in process.children(recursive=True) if "loky" in " ".join(child.cmdline())]
        time.sleep(0.1)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)  # to the end of the pipe, which workers hold too
    assert workers or joblib.cpu_count() == 1
    assert running.returncode == 143 and b"terminated" in said
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive


# Without optional packages


def without_optional_packages(*calls):
    """Exit status, output and errors of each call, all in one process."""
    calls = json.dumps([list(map(str, call)) for call in calls])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], input=calls, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_without_optional_packages_a_bundled_set_is_compared():
    ((code, out, _),) = without_optional_packages(["compare", "wine", "--classifiers", "parzen", "--repeats", "2"])
    assert code == 0 and "Take ParzenClassifier" in out


def test_without_optional_packages_a_message_says_what_to_install(tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "t.skops"
    table.write_text("a,y\n1,x\n2,z\n")
    calls = {
        "compare": (["compare", table, "--target", "y"], "tables"),
        "fit": (["fit", table, "--target", "y", "--out", model], "models"),
    }
    found = without_optional_packages(*(arguments for arguments, _ in calls.values()))
    for (code, out, error), (command, (_, extra)) in zip(found, calls.items(), strict=True):
        assert code == 2 and out == "" and error.count("\n") == 1, command
        assert f'pip install "spectralcls[{extra}]"' in error, command
