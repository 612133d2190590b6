"""Files that the command line reads, with some bytes changed: read as what they say, or refused in one line."""

import io
import json
import tempfile
import zipfile
from pathlib import Path

import every_estimator as estimators
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import spectralcls
from spectralcls.datasets import read_table

from .data import Refused


def csv_file(rng):
    """A table with some bytes changed is read as finite numbers and classes, or refused in one line."""
    numbers = rng.standard_normal((12, 2))
    rows = "\n".join(f"{a:.3g},{b:.3g},{'xyz'[i % 3]}" for i, (a, b) in enumerate(numbers))
    content = bytearray(("a,b,c\n" + rows + "\n").encode(str(rng.choice(["utf-8", "utf-16", "utf-8-sig"]))))
    for _ in range(rng.integers(0, 5)):
        place = rng.integers(len(content))
        odd = [b"\x00", b",", b"\n", b'"', b"\xff", b"_", b"nan", b"1e999", b";"]
        content[place : place + rng.integers(3)] = odd[rng.integers(len(odd))]
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(content)
        file.flush()
        _learn(file.name, str(rng.choice(["c", "2", "-1"])))


def parquet_file(rng):
    """A Parquet file of odd columns, whole or damaged."""
    n = int(rng.integers(1, 12))
    kinds = [
        rng.standard_normal(n),
        rng.integers(-5, 5, n).astype(str(rng.choice(["i1", "u2", "i8"]))),
        rng.random(n) < 0.5,
        [None] * n,
        list("ab" * n)[:n],
        [[1.0]] * n,
        np.where(rng.random(n) < 0.2, np.inf, 1.0),
        rng.standard_normal(n).astype("f2"),
        pa.array(["x", None] * n).slice(0, n),
    ]
    chosen = rng.integers(0, len(kinds), rng.integers(1, 4))
    table = pa.table({"abc"[i]: kinds[kind] for i, kind in enumerate(chosen)} | {"t": list("xyz" * n)[:n]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=int(rng.integers(1, n + 1)))
    content = _damaged(rng, buffer.getvalue()) if rng.random() < 0.5 else buffer.getvalue()
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(content)
        file.flush()
        _learn(file.name, str(rng.choice(["t", "a", "0", "-1"])))


def _learn(path, target):
    """What `spectralcls fit` does with a file: numbers are finite where they are not missing, rows have a class."""
    try:
        table = read_table(path, target=target)
    except ValueError as error:
        raise Refused from error
    assert len(table.data) == len(table.target)
    assert not np.isinf(table.data).any()


def _damaged(rng, content):
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = rng.integers(len(content))
        content[place : place + rng.integers(1, 40)] = rng.bytes(rng.integers(40))
    return bytes(content[: rng.integers(len(content)) if rng.random() < 0.3 else None])


def _tampered(rng, value):
    """A JSON value in which something was exchanged."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _tampered(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], _tampered(rng, value[i]), *value[i + 1 :]]
    odd = [None, -1, 2**40, "", "os", "builtins", "ParzenClassifier", [], {}, 1e308, True]
    return odd[rng.integers(len(odd))]


_MODEL = []  # the bytes of a model file, made once in a process


def model_file(rng):
    """A model file with some bytes changed, or its parts exchanged, is refused in one line, or still a classifier."""
    X, y, Q = estimators.problem(n=20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        if not _MODEL:
            spectralcls.save(spectralcls.ParzenClassifier(1.0).fit(X, y), path)
            _MODEL.append(path.read_bytes())
        if rng.random() < 0.3:
            path.write_bytes(_damaged(rng, _MODEL[0]))
        else:
            with zipfile.ZipFile(io.BytesIO(_MODEL[0])) as whole, zipfile.ZipFile(path, "w") as changed:
                victim = str(rng.choice(["schema.json", str(rng.choice(whole.namelist()))]))
                for name in whole.namelist():
                    content = whole.read(name)
                    if name == victim == "schema.json":
                        content = json.dumps(_tampered(rng, json.loads(content)))
                    elif name == victim:
                        content = _damaged(rng, content)
                    changed.writestr(name, content)
        try:
            model = spectralcls.load(path)
        except ValueError as error:
            raise Refused from error
    try:
        model.predict(Q)
    except Exception as error:  # a file that was tampered with may hold anything but code
        raise Refused from error
