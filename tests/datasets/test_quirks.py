"""Each quirk that the page of tables measures, read rightly or refused, never wrong without a word."""

from functools import partial

import pytest

pytest.importorskip("pyarrow")
bench_tables = pytest.importorskip("bench.bench_tables")

from bench.quirks import quirks, verdict  # noqa: E402

TOLD = {  # a warning or an error: what the bytes do not tell, and what someone has to decide
    "a remark below",
    "a sum below",
    "a name twice",
    "cp1251",
    "cp1250",
    "shift_jis",
    "1.460 and 490, semicolons",
}


@pytest.mark.parametrize("quirk", quirks(), ids=lambda quirk: quirk.name)
def test_quirk(tmp_path, quirk):
    path = tmp_path / "table.csv"
    path.write_bytes(quirk.data)
    expected = ("told", "right") if quirk.name in TOLD else ("right",)
    assert verdict(quirk, partial(bench_tables.by_ours, path)) in expected[:1]
    if quirk.target is not None:
        assert verdict(quirk, partial(bench_tables.by_ours, path, quirk.target)) in expected


def test_a_verdict_tells_what_is_wrong():
    (plain,) = (one for one in quirks() if one.name == "plain")
    names, columns = list(plain.columns), list(plain.columns.values())

    def answer(**changes):
        return verdict(plain, lambda: (names, [changes.get(n, c) for n, c in zip(names, columns, strict=True)], False))

    assert answer() == "right"
    assert answer(size=[100 * v for v in plain.columns["size"]]) == "right"  # percents have two readings
    assert answer(size=[2 * v for v in plain.columns["size"]]) == "wrong"
    assert answer(size=list(map(str, plain.columns["size"]))) == "text"
    assert answer(tree=["oak"] * 14) == "wrong"
    assert verdict(plain, lambda: (names, [c[1:] for c in columns], False)) == "wrong"
    assert verdict(plain, lambda: (names, [c[1:] for c in columns], True)) == "told"
