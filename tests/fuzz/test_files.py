"""Files that the command line reads, with some bytes changed: read as they are meant, or refused in one line."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import every_estimator as estimators
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.strategies import SEEDS, damaged, examples, refused
from hypothesis import given
from hypothesis import strategies as st

import spectralcls
from spectralcls.datasets import read_table

TARGETS = st.sampled_from(["c", "2", "-1"])


def learned(content, suffix, target):
    """What `spectralcls fit` does with a file: numbers are finite or missing, rows have a class."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        path.write_bytes(content)
        try:
            table = read_table(path, target=target)
        except ValueError as error:
            return refused(error)
    assert len(table.data) == len(table.target)
    assert not np.isinf(table.data).any()


@given(st.data(), SEEDS, st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]), TARGETS)
def test_csv(data, seed, encoding, target):
    numbers = np.random.default_rng(seed).standard_normal((12, 2))
    rows = "\n".join(f"{a:.3g},{b:.3g},{'xyz'[i % 3]}" for i, (a, b) in enumerate(numbers))
    learned(data.draw(damaged(("a,b,c\n" + rows + "\n").encode(encoding))), ".csv", target)


@examples(0.5)
@given(st.data(), st.integers(1, 11), SEEDS)
def test_parquet(data, n, seed):
    rng = np.random.default_rng(seed)
    kinds = [
        *(rng.standard_normal(n), rng.random(n) < 0.5, rng.standard_normal(n).astype("f2")),
        *(rng.integers(-5, 5, n).astype(kind) for kind in ("i1", "u2", "i8")),
        *([None] * n, list("ab" * n)[:n], [[1.0]] * n, pa.array(["x", None] * n).slice(0, n)),
        np.where(rng.random(n) < 0.2, np.inf, 1.0),
    ]
    chosen = data.draw(st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=3))
    table = pa.table({"abc"[i]: kinds[kind] for i, kind in enumerate(chosen)} | {"t": list("xyz" * n)[:n]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=data.draw(st.integers(1, n)))
    learned(data.draw(damaged(buffer.getvalue())), ".parquet", "t")


@st.composite
def tampered(draw, value):
    """A JSON value in which something was exchanged."""
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(tampered(value[key]))}
    if isinstance(value, list) and value:
        i = draw(st.integers(0, len(value) - 1))
        return [*value[:i], draw(tampered(value[i])), *value[i + 1 :]]
    return draw(st.sampled_from([None, -1, 2**40, "", "os", "builtins", "ParzenClassifier", [], {}, 1e308, True]))


@cache
def model_file():
    """The bytes of a model file."""
    X, y, _ = estimators.problem(n=20)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        spectralcls.save(spectralcls.ParzenClassifier(1.0).fit(X, y), path)
        return path.read_bytes()


@examples(0.5)
@given(st.data(), st.booleans())
def test_models(data, whole_file):
    """With some bytes changed, or parts exchanged, refused in one line, or still a classifier."""
    content = data.draw(damaged(model_file())) if whole_file else io.BytesIO()
    if not whole_file:
        with zipfile.ZipFile(io.BytesIO(model_file())) as whole, zipfile.ZipFile(content, "w") as changed:
            victim = data.draw(st.sampled_from(sorted(whole.namelist())))
            for name in whole.namelist():
                part = whole.read(name)
                if name == victim == "schema.json":
                    part = json.dumps(data.draw(tampered(json.loads(part))))
                elif name == victim:
                    part = data.draw(damaged(part))
                changed.writestr(name, part)
        content = content.getvalue()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        path.write_bytes(content)
        try:
            model = spectralcls.load(path)
        except ValueError as error:
            return refused(error)
    try:
        model.predict(estimators.problem(n=20)[2])
    except Exception:
        pass  # a file that was tampered with may hold anything but code
