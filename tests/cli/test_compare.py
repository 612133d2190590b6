import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cli_cases import fails_with
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from spectralcls import __version__
from spectralcls.cli import main, registry
from spectralcls.cli.tables import BUNDLED

METRICS = ("accuracy", "balanced_accuracy", "log_loss")
KEYS = ["classifier", *(f"{metric}_{what}" for metric in METRICS for what in ("mean", "std")), "bandwidth"]
KEYS += ["fit_seconds", "predict_seconds", "n_train", "n_test", "error"]
FAST = ["--classifiers", "GaussianNB", "--repeats", "2"]


@pytest.fixture
def iris_csv(tmp_path):
    """Iris as a CSV file with a header and a target of words in the middle."""
    iris = load_iris()
    rows = ["sepal_length,sepal_width,species,petal_length,petal_width"]
    for (a, b, c, d), label in zip(iris.data, iris.target_names[iris.target], strict=True):
        rows.append(f"{a},{b},{label},{c},{d}")
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_version_comes_with_the_instruction_set_and_the_threads(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    first, *others = capsys.readouterr().out.splitlines()
    assert end.value.code == 0 and first.split() == ["spectralcls:", __version__]
    assert {"variant", "threads"} <= {line.partition(":")[0].strip() for line in others}


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--help"], ["fit", "--help"]])
def test_help(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0 and "usage: spectralcls" in capsys.readouterr().out


def test_the_help_names_all_data_sets_and_estimators_one_a_line(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    text = capsys.readouterr().out
    assert set(BUNDLED) <= set(text.replace(",", " ").replace(".", " ").split())
    for part, entries in zip(text.split("\nregressors, "), registry.OF_TASK.values(), strict=True):
        for entry in entries:
            (line,) = [line for line in part.splitlines() if line[2:].startswith(f"{entry.name}  ")]
            assert line.startswith(" ") == entry.front and "`" not in line and len(line) <= 120


@pytest.mark.parametrize(
    ("name", "size"),
    list(zip(BUNDLED, [(150, 4), (178, 13), (569, 30), (1797, 64)], strict=True)),
)
def test_bundled_sets_have_names(name, size, capsys):
    assert main(["compare", name, "--dry-run"]) == 0
    assert capsys.readouterr().out == f"{name}: {size[0]} samples, {size[1]} features\n"


def test_python_m_runs_it():
    run = subprocess.run([sys.executable, "-m", "spectralcls", "compare"], capture_output=True, text=True)
    assert run.returncode == 2 and run.stdout == ""
    assert run.stderr == "spectralcls: error: the following arguments are required: DATA\n"


def test_compare_prints_a_table_and_writes_the_records(capsys, tmp_path):
    out = tmp_path / "wine.json"
    arguments = ["compare", "wine", "--repeats", "3", "--seed", "5", "--json", str(out)]
    assert main([*arguments, "--classifiers", "knn,rbf-svm,gaussiannb"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("wine: 178 samples, 13 features, 3 classes\n3 stratified splits into 118 training")
    lines = [line for line in captured.out.splitlines() if "±" in line]
    names = [line.split()[0] for line in lines]
    assert set(names) == {"k-NN", "RBF-SVM", "GaussianNB", "majority"}
    assert captured.err.startswith("compare wine: 0/12 k-NN, split 1 of 3\n")
    records = json.loads(out.read_text())
    assert all(list(record) == KEYS for record in records)
    *records, majority = records
    assert [record["classifier"] for record in records] == ["k-NN", "RBF-SVM", "GaussianNB"]  # as they were asked for
    assert majority["accuracy_mean"] < 0.5
    names.remove("majority")
    lines = [line for line in lines if "majority" not in line]
    means = {record["classifier"]: record["accuracy_mean"] for record in records}
    assert names == sorted(names, key=means.get, reverse=True)
    for record in records:
        line = lines[names.index(record["classifier"])]
        assert f"{100 * record['accuracy_mean']:.1f}" in line
        assert record["fit_seconds"] > 0 and record["predict_seconds"] > 0
        assert (record["n_train"], record["n_test"]) == (118, 60)
        assert record["accuracy_mean"] > 0.85
    assert records[1]["bandwidth"] > 0 and records[0]["bandwidth"] is None


def test_accuracies_are_those_of_the_splits_that_the_seed_gives(capsys, tmp_path):
    out = tmp_path / "iris.json"
    common = f"compare iris --classifiers k-NN --seed 3 --test-size 50 --repeats 3 --json {out}".split()
    assert main([*common, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    record, _ = json.loads(out.read_text())
    X, y = load_iris(return_X_y=True)
    accuracies = []
    for train, test in StratifiedShuffleSplit(3, test_size=50, random_state=3).split(X, y):
        scaler = StandardScaler().fit(X[train])
        setting = registry.Setting(100, 5, 1.0, 4, 3, None)
        model = registry.select(["knn"])[0].make(setting).fit(scaler.transform(X[train]), y[train])
        accuracies.append(model.score(scaler.transform(X[test]), y[test]))
    assert record["accuracy_mean"] == pytest.approx(np.mean(accuracies), rel=1e-12)
    assert record["accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1), rel=1e-12)
    assert main(common) == 0
    again, _ = json.loads(out.read_text())
    assert again["accuracy_mean"] == record["accuracy_mean"]
    assert main([*common, "--seed", "4"]) == 0
    other, _ = json.loads(out.read_text())
    assert other["accuracy_mean"] != record["accuracy_mean"]


def test_scaling_matters_and_can_be_turned_off(tmp_path):
    out = tmp_path / "wine.json"
    accuracy = {}
    for option in ("--scale", "--no-scale"):
        assert main(["compare", "wine", "--classifiers", "knn", "--repeats", "3", option, "--json", str(out)]) == 0
        accuracy[option] = json.loads(out.read_text())[0]["accuracy_mean"]
    assert accuracy["--scale"] > accuracy["--no-scale"] + 0.1  # proline is a thousand times the rest


def test_subsample(capsys):
    assert main(["compare", "digits", *FAST, "--subsample", "200"]) == 0
    assert "digits: 200 samples, 64 features, 10 classes" in capsys.readouterr().out
    assert "--subsample 5" in fails_with(capsys, "compare", "digits", "--subsample", "5")


def test_small_classes_are_tuned_on_as_many_folds_as_they_fill(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 30, 3])
    rows = np.column_stack([rng.normal(size=(73, 2)) + y[:, None], y])
    np.savetxt(tmp_path / "small.csv", rows, delimiter=",", header="a,b,y", comments="")
    common = ["compare", str(tmp_path / "small.csv"), "--target", "y", "--repeats", "2", "--classifiers"]
    assert main([*common, "knn,svm"]) == 2
    assert main([*common, "knn,rbfsvm"]) == 0
    assert "warned" not in capsys.readouterr().out


def test_other_bad_input_is_one_line(tmp_path, capsys, iris_csv):
    assert "none.csv: no such file" in fails_with(capsys, "compare", tmp_path / "none.csv", "--target", "x")
    assert "no data set 'wnie'" in fails_with(capsys, "compare", "wnie")
    line = fails_with(capsys, "compare", "iris", "--classifiers", "gausianNB")
    assert "unknown classifier 'gausianNB'. Did you mean GaussianNB?" in line
    assert "not a file" in fails_with(capsys, "compare", "iris", "--target", "species")
    assert "no column 'x'" in fails_with(capsys, "compare", iris_csv, "--target", "species", "--drop", "x")
    for option, *values in [
        ("--repeats", "0", "x"),
        ("--test-size", "1.5", "0", "nan", "x"),
        ("--seed", "-1", "1.5"),
        ("--json", tmp_path / "no" / "x.json", tmp_path),
        ("--subsample", "-3"),
        ("--n-jobs", "many", "0"),
        ("--frobnicate", "1"),
    ]:
        for value in values:
            assert option in fails_with(capsys, "compare", "iris", option, value)
    assert "test_size" in fails_with(capsys, "compare", "iris", "--test-size", "2")
    assert "unknown command 'compar'. Did you mean compare?" in fails_with(capsys, "compar")
    assert "unknown metric 'acc'" in fails_with(capsys, "compare", "iris", "--metric", "acc")
    (tmp_path / "latin.csv").write_bytes("gr\xf6\xdfe,c\n1,x\n".encode("latin-1"))
    assert "not text in" in fails_with(
        capsys, "compare", tmp_path / "latin.csv", "--target", "c", "--encoding", "utf-8"
    )
    (tmp_path / "nul.csv").write_bytes(b"a,c\n1,\x00\n2,x\n2,x\n")
    assert "NUL" in fails_with(capsys, "compare", tmp_path / "nul.csv", "--target", "c")
    (tmp_path / "file.xyz").write_text("1")
    assert "unknown kind of file" in fails_with(capsys, "compare", tmp_path / "file.xyz", "--target", "c")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "folder.csv" in fails_with(capsys, "compare", folder, "--target", "c")


def test_interruption_is_one_line(capsys, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("spectralcls.cli.evaluation.evaluate", interrupt)
    assert main(["compare", "iris", "--quiet"]) == 130
    assert capsys.readouterr().err == "spectralcls: interrupted\n"


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m spectralcls compare iris --quiet --classifiers gaussiannb --repeats 1 | true; "
    run = subprocess.run(["bash", "-c", command + "exit ${PIPESTATUS[0]}"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_stream_without_unicode_gets_ascii():
    run = subprocess.run(
        [sys.executable, "-m", "spectralcls", "compare", "iris", *FAST],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert run.returncode == 0 and b"+-" in run.stdout
