"""`spectralcls fit` and `predict` on Parquet files: streamed, written whole, careful with model files."""

import errno
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import skops.io
from cli_cases import fails_with
from sklearn.datasets import make_blobs

import spectralcls
from spectralcls.cli import main, predict, tables
from spectralcls.kernel_mean import ParzenClassifier

GROUP = 100
FIT = ["--target", "tree", "--classifier", "parzen", "--set", "bandwidth=0.7", "--no-scale", "--quiet"]


@pytest.fixture
def points():
    X, y = make_blobs(730, centers=3, n_features=2, random_state=0)
    return X, np.array(["ash", "beech", "cedar"])[y]


@pytest.fixture
def data(tmp_path, points):
    """A file of eight row groups."""
    return write(tmp_path / "data.parquet", *points)


@pytest.fixture
def model(tmp_path, data):
    path = tmp_path / "model.skops"
    assert main(["fit", str(data), *FIT, "--out", str(path)]) == 0
    return path


def write(path, X, y=None, names=("height", "girth")):
    columns = {names[0]: X[:, 0], names[1]: X[:, 1]} | ({} if y is None else {"tree": y})
    pq.write_table(pa.table(columns), path, row_group_size=GROUP)
    return path


def run(*arguments):
    return main(["predict", *map(str, arguments), "--quiet"])


def predictions(path):
    return pd.read_csv(path)


def test_predictions_are_those_of_the_classifier(tmp_path, points, data, model):
    out = tmp_path / "out.csv"
    assert run(model, data, "--out", out) == 0
    table = predictions(out)
    X, y = points
    expected = ParzenClassifier(bandwidth=0.7, scale=None).fit(X, y).predict(X)
    assert table["prediction"].tolist() == expected.tolist()
    assert table["row"].tolist() == list(range(len(X)))


def test_columns_are_found_by_name_and_scaling_travels_with_the_model(tmp_path, points, data):
    X, y = points
    path = tmp_path / "scaled.skops"
    options = ["--target", "tree", "--classifier", "ise", "--set", "bandwidth=0.5", "--quiet"]
    assert main(["fit", str(data), *options, "--out", str(path)]) == 0
    turned = write(tmp_path / "turned.parquet", X[:, ::-1], names=("girth", "height"))
    outs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source, out in zip((data, turned), outs, strict=True):
        assert run(path, source, "--out", out) == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    accuracy = np.mean(predictions(outs[0])["prediction"] == y)
    assert accuracy > 0.9


def test_a_sample_of_the_rows_is_read_from_all_row_groups(tmp_path, points, data, capsys):
    path = tmp_path / "small.skops"
    assert main(["fit", str(data), *FIT, "--max-points", "240", "--out", str(path)]) == 0
    assert "a random sample of 240 of 730 rows" in capsys.readouterr().out
    X = spectralcls.load(path)._model.points.X
    everything = {tuple(row): i for i, row in enumerate(points[0])}
    rows = [everything[tuple(row)] for row in X]
    assert rows == sorted(set(rows)) and len(rows) == 240
    assert len(np.unique(np.array(rows) // GROUP)) == 8


def test_a_sample_takes_the_memory_of_a_few_row_groups(tmp_path):
    """Seen by a process of its own, as the largest memory of pyarrow does not fall."""
    table = pa.table({"x": np.random.default_rng(0).normal(size=1 << 20), "y": np.arange(1 << 20) % 3})
    pq.write_table(table, tmp_path / "large.parquet", row_group_size=1 << 14, compression="none", use_dictionary=False)
    code = (
        "import sys, pyarrow as pa; from spectralcls.datasets import read_table; "
        "assert read_table(sys.argv[1], target='y', n_samples=100).data.shape == (100, 1);"
        "print(pa.default_memory_pool().max_memory())"
    )
    found = subprocess.run([sys.executable, "-c", code, tmp_path / "large.parquet"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) < table.nbytes / 4, int(found.stdout) / table.nbytes


def test_float32_columns_stay_float32(tmp_path, points):
    X, y = points
    path = tmp_path / "m.skops"
    data = write(tmp_path / "single.parquet", X.astype(np.float32), y)
    assert main(["fit", str(data), *FIT, "--out", str(path)]) == 0
    assert spectralcls.load(path)._model.points.X.dtype == np.float32


# What is written


def test_memory_for_predictions_does_not_grow_with_the_file(tmp_path, points, model):
    X, out = np.tile(points[0], (300, 1)), tmp_path / "out.csv"
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"height": X[:, 0], "girth": X[:, 1]}), path, row_group_size=7000)
    code = (
        "import sys, pyarrow as pa; from spectralcls.cli import main; code = main(sys.argv[1:]);"
        "print(pa.default_memory_pool().max_memory()); sys.exit(code)"
    )
    arguments = ["predict", str(model), str(path), "--out", str(out), "--quiet"]
    found = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout.split()[-1]) < X.nbytes / 4
    assert predictions(out)["row"].tolist() == list(range(len(X)))


def test_a_disk_that_fills_up_leaves_no_file_and_says_so_in_one_line(tmp_path, points, model):
    """A real limit of the system instead of a full disk: no file may be larger than a few kilobytes."""
    X, out = np.tile(points[0], (20, 1)), tmp_path / "out.csv"
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"height": X[:, 0], "girth": X[:, 1]}), path, row_group_size=7000)
    script = (
        "import resource, sys; from spectralcls.cli import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)); sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["predict", str(model), str(path), "--out", str(out), "--quiet"]
    run = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.count("\n") == 1
    assert "File too large" in run.stderr and not out.exists() and not list(tmp_path.glob(".*"))


def test_an_interruption_leaves_no_file(tmp_path, data, model, monkeypatch):
    out, original = tmp_path / "out.csv", predict._answers

    def interrupted(model, source, first_row, arguments):
        if first_row >= 2 * GROUP:
            raise KeyboardInterrupt
        return original(model, source, first_row, arguments)

    monkeypatch.setattr(predict, "_answers", interrupted)
    assert run(model, data, "--out", out) == 130
    assert not out.exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["out", "out.parquet", "out.xlsx"])
def test_other_files_than_text_are_refused_before_any_work(tmp_path, data, model, name, capsys):
    message = fails_with(capsys, "predict", model, data, "--out", tmp_path / name)
    assert f"{name}: predictions are written as text; use a name ending in .csv, .tsv, .txt" in message
    assert not (tmp_path / name).exists()


# Bad data


def test_a_missing_column_in_a_later_file_is_found_before_any_work(tmp_path, points, model, capsys):
    X, y = points
    folder = tmp_path / "many"
    folder.mkdir()
    write(folder / "a.parquet", X[:300], y[:300])
    write(folder / "b.parquet", X[300:], y[300:], names=("height", "width"))
    out = tmp_path / "out.csv"
    message = fails_with(capsys, "predict", model, folder, "--out", out)
    assert "b.parquet: no column 'girth', which the first file has" in message
    assert not out.exists()
    assert "no column 'girth'" in fails_with(capsys, "fit", folder, *FIT, "--out", tmp_path / "m.skops")


def test_an_infinite_value_is_named_by_its_row_in_the_whole_file(tmp_path, points, model, capsys):
    column = [float(x) for x in points[0][:, 1]]
    column[543] = np.inf
    path = tmp_path / "gap.parquet"
    table = pa.table({"height": points[0][:, 0], "girth": pa.array(column, from_pandas=False)})
    pq.write_table(table, path, row_group_size=GROUP)
    out = tmp_path / "out.csv"
    message = fails_with(capsys, "predict", model, path, "--out", out, "--quiet", silent=False)
    assert "column 'girth': 'inf' in row 543" in message and not out.exists()


def test_damaged_data(tmp_path, data, model, capsys):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(data.read_bytes()[:-200])
    out = ["--out", tmp_path / "out.csv"]
    assert "not a readable Parquet file" in fails_with(capsys, "predict", model, broken, *out)
    assert "no such file" in fails_with(capsys, "predict", model, tmp_path / "absent.parquet", *out)
    assert "unknown classifier" in fails_with(
        capsys, "fit", data, *FIT, "--classifier", "parsen", "--out", tmp_path / "m.skops"
    )
    arguments = ["fit", data, *FIT, "--set", "bandwith=2", "--out", tmp_path / "m.skops"]
    message = fails_with(capsys, *arguments, silent=False)
    assert "Invalid parameter 'bandwith'" in message


# Model files


def test_damaged_and_foreign_model_files(tmp_path, data, model, capsys):
    arguments = (data, "--out", tmp_path / "out.csv")
    truncated = tmp_path / "truncated.skops"
    truncated.write_bytes(model.read_bytes()[:-500])
    assert "truncated" in fails_with(capsys, "predict", truncated, *arguments)
    assert "not a readable model file" in fails_with(capsys, "predict", data, *arguments)
    foreign = tmp_path / "foreign.skops"
    skops.io.dump({"weights": np.ones(3)}, foreign)
    assert "holds a dict, not a model that predicts" in fails_with(capsys, "predict", foreign, *arguments)
    foreign.write_bytes(b"")
    with zipfile.ZipFile(foreign, "w") as file:  # importing this module would run a program, which ends by SystemExit
        file.writestr(
            "schema.json", '{"__module__": "numpy.f2py.__main__", "__class__": "X", "__loader__": "TypeNode"}'
        )
    assert "refused, because it holds numpy.f2py" in fails_with(capsys, "predict", foreign, *arguments)
    assert not (tmp_path / "out.csv").exists()


def test_a_prediction_that_ends_the_program_is_no_success(tmp_path, data, model, monkeypatch, capsys):
    monkeypatch.setattr(ParzenClassifier, "predict", lambda self, X: sys.exit(0))
    message = fails_with(capsys, "predict", model, data, "--quiet", "--out", tmp_path / "out.csv")
    assert "stopped before the end" in message and not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", ["messages", "predictions"])
def test_a_reader_that_ends_first_is_no_success_without_the_output(tmp_path, data, model, kind):
    out = tmp_path / "out.csv" if kind == "messages" else "-"
    words = [sys.executable, "-c", "from spectralcls.cli import main; raise SystemExit(main())", "predict", model, data]
    program = subprocess.Popen([*words, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    program.stderr.close()
    assert program.wait() == (0 if kind == "predictions" or out.exists() else 141)


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path, data, model, monkeypatch, capsys):
    before = model.read_bytes()

    def full(content, path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(skops.io, "dump", full)
    message = fails_with(capsys, "fit", data, *FIT, "--out", model, silent=False)
    assert "No space left on device" in message and message.count("\n") == 1
    assert model.read_bytes() == before and not list(tmp_path.glob(".*"))


def test_features_that_share_a_name_are_refused_since_predict_could_not_tell_them_apart(tmp_path, capsys):
    data, out = tmp_path / "table.csv", tmp_path / "model.skops"
    data.write_text("a,a,c\n" + "".join(f"{i % 7},{i % 3},{'xy'[i % 2]}\n" for i in range(40)))
    arguments = ["fit", str(data), "--target", "c", "--classifier", "ise", "--set", "bandwidth=1", "--out", str(out)]
    assert main(arguments) == 2
    assert "more than one column 'a'" in capsys.readouterr().err and not out.exists()
    assert main([*arguments, "--drop", "1"]) == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_nothing_but_missing_values(tmp_path, ending, capsys):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=40), "b": rng.normal(size=40), "g": ["u", "v"] * 20, "y": ["x"] * 20 + ["z"] * 20}
    full, out = tmp_path / "full.parquet", tmp_path / "model.skops"
    pq.write_table(pa.table(columns), full)
    columns["b"] = columns["g"] = pa.nulls(40)
    lacking = tmp_path / f"lacking.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(columns), lacking)
    else:
        cells = zip(columns["a"], columns["y"], strict=True)
        lacking.write_text("a,b,g,y\n" + "".join(f"{a},,,{y}\n" for a, y in cells))
    for i, train in enumerate((full, lacking)):
        assert main(f"fit {train} --target y --classifier parzen --set bandwidth=1 --out {out} --quiet".split()) == 0
        out_file = tmp_path / f"predictions{i}.csv"
        assert main(["predict", str(out), str(lacking), "--out", str(out_file), "--quiet"]) == 0
        assert out_file.exists()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_too_many_columns_are_refused_at_once(tmp_path, capsys, monkeypatch, command):
    assert tables.MOST_FEATURES == 50_000
    monkeypatch.setattr(tables, "MOST_FEATURES", 500)
    d, out = 501, tmp_path / "out"
    rows = [f"{row}.5," * d + "ab"[row % 2] for row in range(4)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*(f"c{j}" for j in range(d)), "y"]), *rows]))
    arguments = ["--out", out] if command == "fit" else ["--json", out]
    message = fails_with(capsys, command, tmp_path / "wide.csv", "--target", "y", *arguments)
    assert "wide: 501 features, but at most 500 " in message and not out.exists()


@pytest.fixture
def visits(tmp_path):
    """A file of ten visits of each patient, whose targets share an unknown part."""
    rng = np.random.default_rng(0)
    patient, unknown = np.repeat(np.arange(40), 10), rng.normal(size=40)
    X = rng.normal(size=(40, 2))[patient] + 0.1 * rng.normal(size=(400, 2))
    columns = {"height": X[:, 0], "girth": X[:, 1], "patient": patient.astype(str)}
    pq.write_table(pa.table(columns | {"dose": X[:, 0] + unknown[patient]}), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def test_fit_leaves_out_groups(tmp_path, visits):
    arguments = ["--target", "dose", "--group", "patient", "--classifier", "kernel", "--no-scale", "--quiet"]
    assert main(["fit", str(visits), *arguments, "--out", str(tmp_path / "model.skops")]) == 0
    found, table = spectralcls.storage.load(tmp_path / "model.skops"), pd.read_parquet(visits)
    X, y = table[["height", "girth"]].to_numpy(), table["dose"].to_numpy()
    expected = spectralcls.KernelRegressor(scale=None).fit(X, y, groups=table["patient"])
    assert found.bandwidth_ == expected.bandwidth_ != spectralcls.KernelRegressor(scale=None).fit(X, y).bandwidth_
    np.testing.assert_allclose(found.predict_interval(X[:9]), expected.predict_interval(X[:9]), rtol=1e-9)


def test_compare_tunes_by_groups(visits, capsys):
    table, covered = ["--target", "dose", "--group", "patient", "--quiet"], []
    assert main(["compare", str(visits), *table, "--classifiers", "kernel,svr", "--repeats", "5"]) == 0
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("KernelRegressor"):
            covered.append(float(line.split("±")[-2].split()[-1]))
    assert len(covered) == 1 and covered[0] > 75  # about 20 without groups in tuning
