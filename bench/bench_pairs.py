"""The rate of exact class sums, from which docs/scaling.md reckons: d = 16, three classes, float32, all cores."""

import numpy as np

from spectralcls import show_config
from spectralcls.kernels import kernel_sums

N, D, CLASSES = 30_000, 16, 3


def test_pairs(benchmark):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, D)).astype(np.float32), rng.integers(0, CLASSES, N)
    benchmark.pedantic(
        kernel_sums,
        (X, X),
        {"labels": y, "n_labels": CLASSES, "bandwidth": 1.4, "log": True},
        rounds=7,
        warmup_rounds=1,
    )
    config = show_config("dict")
    benchmark.extra_info.update(
        pairs_per_second=N * N / benchmark.stats.stats.median, threads=config["threads"], variant=config["variant"]
    )
