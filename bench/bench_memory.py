"""Fits and predictions on files larger than the memory that the process may have

Each run is a separate process whose private memory the system limits (RLIMIT_DATA). It fits a classifier to a float32
file with 16 features and predicts 2000 rows, or fits it to 2000 rows and predicts the file. Sizes are in GiB; resident
memory includes mapped pages of the file.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.measure import QUICK

D, CLASSES, SMALL, H = 16, 3, 2000, 2.0
FILE_GIB, LIMIT_GIB = 0.2 if QUICK else 2.2, 1.0
N = int(FILE_GIB * 2**30 / (4 * D))
ROWS = 1_000_000

RUN = """
import json, re, resource, sys, time
limit = int(float(sys.argv[1]) * 2**30)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
folder = sys.argv[2]
start = time.perf_counter()
{work}
with open("/proc/self/status") as status:  # getrusage would give the peak of the process that started this one
    peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", status.read())[1])
print(json.dumps({{"answer": answer, "seconds": time.perf_counter() - start, "resident": peak / 2**20}}))
"""
ARRAYS = """
import dask.array as da
import numpy as np
from spectralcls import ParzenClassifier
from spectralcls.dask import from_memmap
X, y = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in "Xy")
"""
FIT = f"""{ARRAYS}
parts = from_memmap(X, 500_000)
fitted = ParzenClassifier(bandwidth={H}, scale=None).fit(parts, from_memmap(y, 500_000))
answer = float(np.mean(fitted.predict(parts[:{SMALL}]).compute() == y[:{SMALL}]))
"""
PREDICT = f"""{ARRAYS}
points = da.from_array(np.array(X[:{SMALL}]), chunks=({SMALL}, -1))
fitted = ParzenClassifier(bandwidth={H}, scale=None).fit(points, np.array(y[:{SMALL}]))
answer = fitted.score(from_memmap(X, 500_000), from_memmap(y, 500_000))
"""
COMMANDS = f"""
from pathlib import Path
from spectralcls.cli import main
data, model, out = f"{{folder}}/data.parquet", f"{{folder}}/model.skops", f"{{folder}}/out.csv"
options = ["--classifier", "parzen", "--set", "bandwidth={H}", "--no-scale", "--max-points", "{SMALL}", "--quiet"]
assert main(["fit", data, "--target", "y", *options, "--out", model]) == 0
assert main(["predict", model, data, "--out", out, "--quiet"]) == 0
answer = sum(1 for line in open(out)) - 1
"""


def chunks():
    """Yield (first row, X, y), a million rows at a time."""
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


WORK = {
    "fit on a memory map": (FIT, "arrays"),
    "predict a memory map": (PREDICT, "arrays"),
    "command line: fit a sample, predict all": (COMMANDS, "parquet"),
}


@pytest.mark.parametrize("work", WORK)
def test_bounded_memory(record, request, work):
    """The table gives the rows and the size of the file, the private memory allowed, the largest resident size, and
    seconds on the clock."""
    code, source = WORK[work]
    folder = request.getfixturevalue(source)
    command = [sys.executable, "-c", RUN.format(work=code), str(LIMIT_GIB), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout.splitlines()[-1])
    assert result["answer"] == N if source == "parquet" else result["answer"] > 0.95
    assert QUICK or result["resident"] < FILE_GIB / 2
    size = (folder / ("data.parquet" if source == "parquet" else "X.npy")).stat().st_size / 2**30
    row = {"rows": N, "file": size, "allowed": LIMIT_GIB, "resident": result["resident"]}
    record(row | {"pairs": float(N * SMALL), "seconds": result["seconds"]})
