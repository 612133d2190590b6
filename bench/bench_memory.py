"""Fits and predictions on files larger than the memory that the process may have.

Each run is a process of its own whose private memory the system limits to SPECTRALCLS_BENCH_LIMIT GiB (default 1,
by RLIMIT_DATA) on a file of SPECTRALCLS_BENCH_FILE GiB (default 2.2) of float32, 16 features. ``extra_info`` has
the largest resident size that the process reached, mapped pages of the file included.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

D, CLASSES, ROWS = 16, 3, 1_000_000
FILE_GIB = float(os.environ.get("SPECTRALCLS_BENCH_FILE", 2.2))
LIMIT_GIB = float(os.environ.get("SPECTRALCLS_BENCH_LIMIT", 1.0))
N = int(FILE_GIB * 2**30 / (4 * D))
SMALL = 2000  # points on the other side: the file has N of them, so that N * SMALL pairs are summed
H = 2.0

RUN = """
import json, re, resource, sys, time
limit = int(float(sys.argv[1]) * 2**30)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
folder = sys.argv[2]
start = time.perf_counter()
{work}
with open("/proc/self/status") as status:  # getrusage would give the peak of the process that started this one
    peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", status.read())[1])
print(json.dumps({{"answer": answer, "seconds": time.perf_counter() - start, "peak_gib": peak / 2**20}}))
"""

FIT_ON_MEMMAP = f"""
import numpy as np
from spectralcls.dask import ParzenClassifier, from_memmap
X, y = (np.load(f"{{folder}}/{{name}}.npy", mmap_mode="r") for name in "Xy")
parts = from_memmap(X, 500_000)
fitted = ParzenClassifier(bandwidth={H}, scale=None).fit(parts, from_memmap(y, 500_000))
answer = float(np.mean(fitted.predict(parts[:{SMALL}]).compute() == y[:{SMALL}]))
"""

PREDICT_MEMMAP = f"""
import dask.array as da
import numpy as np
from spectralcls.dask import ParzenClassifier, from_memmap
X, y = (np.load(f"{{folder}}/{{name}}.npy", mmap_mode="r") for name in "Xy")
points = da.from_array(np.array(X[:{SMALL}]), chunks=({SMALL}, -1))
fitted = ParzenClassifier(bandwidth={H}, scale=None).fit(points, np.array(y[:{SMALL}]))
answer = fitted.score(from_memmap(X, 500_000), from_memmap(y, 500_000))
"""

COMMANDS = f"""
from spectralcls.cli import main
data, model, out = f"{{folder}}/data.parquet", f"{{folder}}/model.skops", f"{{folder}}/out.parquet"
options = ["--target", "y", "--no-scale", "--set", "bandwidth={H}", "--max-points", "{SMALL}", "--quiet"]
assert main(["fit", data, *options, "--out", model]) == 0
assert main(["predict", model, data, "--out", out, "--quiet"]) == 0
from pathlib import Path
import pyarrow.parquet as pq
answer = sum(pq.read_metadata(part).num_rows for part in Path(out).glob("*.parquet"))
"""


def chunks():
    """(first row, X, y) of a million rows at a time."""
    centers = np.random.default_rng(0).normal(scale=3, size=(CLASSES, D)).astype(np.float32)
    for first in range(0, N, ROWS):
        rng = np.random.default_rng(first)
        y = rng.integers(0, CLASSES, min(ROWS, N - first))
        yield first, centers[y] + rng.standard_normal((len(y), D), dtype=np.float32), y


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arrays")
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (N, D))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int64, (N,))
    for first, points, labels in chunks():
        X[first : first + len(labels)], y[first : first + len(labels)] = points, labels
    return folder


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    folder, writer = tmp_path_factory.mktemp("parquet"), None
    for _, points, labels in chunks():
        table = pa.table({f"x{k}": points[:, k] for k in range(D)} | {"y": labels})
        writer = writer or pq.ParquetWriter(folder / "data.parquet", table.schema, compression="none")
        writer.write_table(table)
    writer.close()
    return folder


def limited(work, folder):
    arguments = [sys.executable, "-c", RUN.format(work=work), str(LIMIT_GIB), str(folder)]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "name, work, source",
    [
        ("fit on a memory map", FIT_ON_MEMMAP, "arrays"),
        ("predict a memory map", PREDICT_MEMMAP, "arrays"),
        ("command line: fit a sample, predict all", COMMANDS, "parquet"),
    ],
)
def test_bounded_memory(benchmark, request, name, work, source):
    folder = request.getfixturevalue(source)
    result = benchmark.pedantic(limited, (work, folder), rounds=1, warmup_rounds=0)
    assert result["answer"] == N if source == "parquet" else result["answer"] > 0.95
    assert result["peak_gib"] < FILE_GIB / 2
    size = sum((folder / name).stat().st_size for name in ("X.npy", "data.parquet") if (folder / name).exists())
    benchmark.extra_info.update(
        work=name, rows=N, file_gib=size / 2**30, limit_gib=LIMIT_GIB, pairs=N * SMALL, **result
    )
