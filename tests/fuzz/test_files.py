"""Files that the command line reads, with some bytes changed: read as they are meant, or refused in one line."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.strategies import SEEDS, damaged, examples, refused
from hypothesis import given
from hypothesis import strategies as st

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
