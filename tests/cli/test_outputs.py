"""What the command line writes: found out before the work, at once or not at all, and never over a device."""

import errno
import json
import os
import stat
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_cases import fails_with

from spectralcls._utils.atomic_files import atomic
from spectralcls.cli import main, registry

FAST = ["--classifiers", "GaussianNB", "--repeats", "2", "--quiet"]
FIT = "fit {} --target {} --classifier parzen --quiet"


@pytest.fixture
def no_work(monkeypatch):
    """Fails where an error is found after the work, not before it."""
    monkeypatch.setattr("spectralcls.cli.evaluation.evaluate", lambda *_, **__: pytest.fail("the work had begun"))
    monkeypatch.setattr("spectralcls.cli.tables.read", lambda *_, **__: pytest.fail("the work had begun"))


@pytest.fixture
def device(tmp_path):
    """A pipe: like a device, no file; and made without rights that a test may lack."""
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    return path


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "table.parquet"
    columns = {"a": rng.normal(size=40), "b": rng.normal(size=40), "c": ["x", "y"] * 20}
    pq.write_table(pa.table(columns), path, row_group_size=10)
    return path


@pytest.fixture
def full_disk(monkeypatch):
    def replace(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)


def test_outputs_of_compare_that_cannot_be_written_are_found_before_the_work(device, no_work, capsys):
    assert "is a device or a pipe" in fails_with(capsys, "compare", "iris", *FAST, "--json", device)
    assert stat.S_ISFIFO(os.stat(device).st_mode)
    assert "/proc/x" in fails_with(capsys, "compare", "iris", *FAST, "--json", "/proc/x.json")


def test_a_model_is_not_written_over_a_device(device, table, no_work, capsys):
    line = fails_with(capsys, "fit", table, "--target", "c", "--out", device)
    assert "is a device or a pipe" in line and stat.S_ISFIFO(os.stat(device).st_mode)


def test_a_full_disk_costs_one_line_and_leaves_no_file(tmp_path, full_disk, capsys):
    assert main(["compare", "iris", *FAST, "--json", str(tmp_path / "out.json")]) == 2
    captured = capsys.readouterr()
    assert "GaussianNB" in captured.out  # the work is not lost
    assert captured.err.count("\n") == 1 and "No space left on device" in captured.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_with_its_permissions_and_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    before = os.umask(0o027)
    try:
        with atomic(link) as temporary:
            temporary.write_text("first")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        target.chmod(0o604)
        with atomic(link) as temporary:
            temporary.write_text("second")
    finally:
        os.umask(before)
    assert link.is_symlink() and target.read_text() == "second" and stat.S_IMODE(target.stat().st_mode) == 0o604


def test_a_missing_file_is_missing_before_anything_else(tmp_path, capsys):
    for name in ("missing.csv", "missing.parquet", "missing.xlsx"):
        assert "no such file" in fails_with(capsys, "compare", tmp_path / name).lower()


@pytest.mark.parametrize("classifiers", ["", ",", "knn,", "knn,,parzen"])
def test_empty_names_of_classifiers_are_one_line(classifiers, capsys):
    assert "unknown classifier ''" in fails_with(capsys, "compare", "iris", "--classifiers", classifiers)


def test_every_classifier_is_found_by_the_name_in_the_table():
    for entry in registry.ENTRIES:
        assert registry.select(entry.name.split(",")) == (entry,)


def test_one_split_has_no_deviation(tmp_path, capsys):
    out = tmp_path / "one.json"
    arguments = ["compare", "iris", "--classifiers", "knn,gaussiannb", "--repeats", "1", "--quiet"]
    assert main([*arguments, "--json", str(out)]) == 0
    assert all(record["accuracy_std"] is None for record in json.loads(out.read_text()))
    assert "±" not in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--repeats", "--seed", "--test-size", "--n-jobs"])
@pytest.mark.parametrize("value", ["1_0", "٣", "0_.5"])
def test_numbers_of_options_too(option, value, capsys):
    assert option in fails_with(capsys, "compare", "iris", option, value)


def test_too_little_memory_is_one_line(monkeypatch, capsys):
    def evaluate(*_, **__):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("spectralcls.cli.evaluation.evaluate", evaluate)
    assert main(["compare", "iris", *FAST]) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("iris: 150 samples") and captured.err.count("\n") == 1  # the heading came before
    assert "not enough memory: Unable to allocate 7 TiB" in captured.err


def test_a_warning_is_one_line(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("a,y\n" + "".join(f"{i / 4},c{i}\n" for i in range(30)), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(f"{FIT.format(table, 'y')} --out {tmp_path / 'model.skops'}".split()) == 0
    assert capsys.readouterr().err.startswith("spectralcls: warning: y has 30 classes in 30 samples")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "environment", "code", "message"),
    [
        ("--version > /dev/full", {}, 2, "spectralcls: error: standard output: No space left on device\n"),
        ("--version >&-", {}, 0, ""),
        ("--version", {"SPECTRALCLS_ISA": "none"}, 2, "spectralcls: error: SPECTRALCLS_ISA='none' was requested"),
    ],
)
def test_whatever_ends_the_process_early_is_one_line(command, environment, code, message):
    command = f"{sys.executable} -m spectralcls {command}"
    done = subprocess.run(command, shell=True, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == code and done.stderr.startswith(message)
    assert done.stderr.count("\n") == (code != 0)


def test_what_is_read_is_not_written_over(table, tmp_path, capsys):
    csv_file, model = tmp_path / "table.csv", tmp_path / "model.skops"
    text = "a,b,c\n" + "".join(f"{i % 7},{i % 3},{'xy'[i % 2]}\n" for i in range(40))
    csv_file.write_text(text)
    link = tmp_path / "link.csv"
    link.symlink_to(csv_file)
    assert main(f"{FIT.format(csv_file, 'c')} --set bandwidth=1 --out {model}".split()) == 0
    written, content = model.read_bytes(), table.read_bytes()
    capsys.readouterr()
    for line in (
        fails_with(capsys, "predict", model, csv_file, "--out", csv_file),
        fails_with(capsys, "predict", model, csv_file, "--out", link),
        fails_with(capsys, "predict", model, csv_file, "--out", model),
        fails_with(capsys, "predict", model, table, "--out", table),
        fails_with(capsys, "fit", csv_file, "--target", "c", "--out", csv_file),
        fails_with(capsys, "fit", table, "--target", "c", "--out", table),
        fails_with(capsys, "compare", csv_file, "--target", "c", *FAST, "--json", csv_file),
    ):
        assert "is read here" in line
    assert csv_file.read_text() == text and model.read_bytes() == written and table.read_bytes() == content


def test_a_closed_standard_output_is_no_error_of_the_program(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["compare", "iris", *FAST]) == 0
    assert capsys.readouterr().err == ""
