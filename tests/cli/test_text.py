"""`spectralcls fit` and `predict` on CSV files."""

import pytest

from spectralcls.cli import main

pytest.importorskip("skops")


def run(command, folder):
    """A command whose files lie in the folder."""
    return main([str(folder / word) if "." in word[1:] else word for word in command.split()])


@pytest.mark.filterwarnings("ignore:.*reveals the class")
def test_a_file_without_a_header_is_taken_by_position(tmp_path):
    rows = [f"{6 * (i % 2) + i / 40},{i / 40}" for i in range(80)]
    (tmp_path / "data.csv").write_text("\n".join(f"{row},{('ash', 'beech')[i % 2]}" for i, row in enumerate(rows)))
    (tmp_path / "new.csv").write_text("\n".join(rows))
    assert run("fit data.csv --target -1 --quiet --out m.skops", tmp_path) == 0
    assert run("predict m.skops new.csv --out out.csv", tmp_path) == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("ash") == 40


def test_a_gap_in_a_query_is_filled_if_any_value_is_there(tmp_path, capsys):
    rows = [f"{i % 2 + i / 40},{i / 40},{'pq'[i % 2]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,class", *rows]))
    (tmp_path / "queries.csv").write_text("a,b\n1.0,\n")
    (tmp_path / "nothing.csv").write_text("a,b\n,NA\n-,\n-,?\n")
    assert run("fit data.csv --target class --classifier kernelridge --out m.skops --quiet", tmp_path) == 0
    assert run("predict m.skops queries.csv --out out.csv --quiet", tmp_path) == 0
    assert (tmp_path / "out.csv").exists()
    capsys.readouterr()
    assert run("predict m.skops nothing.csv --out none.csv", tmp_path) == 2
    assert "all values are missing" in capsys.readouterr().err and not (tmp_path / "none.csv").exists()


def test_numbers_with_decimal_commas_are_no_classes(tmp_path, capsys):
    (tmp_path / "data.csv").write_text("a;b\n" + "\n".join(f"{i % 3};{i},5" for i in range(40)), encoding="utf-8")
    assert run("fit data.csv --target b --out m.skops", tmp_path) == 0
    assert "the target has 40 numbers: regression" in capsys.readouterr().out
