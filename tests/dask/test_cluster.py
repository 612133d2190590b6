"""The Dask estimators on a cluster of worker processes: same answers, lost workers, bytes moved."""

import importlib
import os
import signal
import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

from dask_cases import assert_same, pair, rows
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin
from sklearn.datasets import make_blobs

import spectralcls.dask
import spectralcls.linalg
from spectralcls import kernel_mean


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem():
    X, y = make_blobs(600, centers=4, n_features=3, cluster_std=2.0, random_state=1)
    queries = np.random.default_rng(3).normal(0, 8, size=(95, 3))
    return X, np.array(["ash", "beech", "cedar"])[y % 3], queries


@pytest.mark.parametrize("name", ["ParzenClassifier", "LaplacianISEClassifier"])
@pytest.mark.parametrize("bandwidth", ["cv", 1.5])
def test_same_answer_as_in_one_process(client, problem, name, bandwidth):
    X, y, queries = problem
    local, distributed = pair(name, bandwidth=bandwidth)
    assert_same(local.fit(X, y), distributed.fit(rows(X), rows(y)), queries)
    assert distributed.bandwidth_ == pytest.approx(local.bandwidth_, rel=1e-12)


def test_a_prediction_keeps_the_training_points_that_it_needs(client, problem):
    X, y, queries = problem
    labels = spectralcls.ParzenClassifier(bandwidth=1.5).fit(rows(X), y).predict(rows(queries, 50))
    expected = kernel_mean.ParzenClassifier(bandwidth=1.5).fit(X, y).predict(queries)
    np.testing.assert_array_equal(labels.compute(), expected)  # the classifier itself is gone


class KillOneWorker(SchedulerPlugin):
    """Kill the process of the worker that finishes the fifth task on a pair of blocks."""

    def __init__(self, pids):
        self.pids, self.finished, self.victim = pids, 0, None

    def transition(self, key, start, finish, *args, worker=None, **kwargs):
        if finish == "memory" and str(key).startswith("_tile") and start == "processing":
            self.finished += 1
            if self.finished == 5:
                self.victim = self.pids[worker]
                os.kill(self.victim, signal.SIGKILL)


def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client, problem):
    X, y, queries = problem
    local, distributed = pair("LaplacianISEClassifier", bandwidth=1.5)
    killer = KillOneWorker(client.run(os.getpid))
    client.cluster.scheduler.add_plugin(killer, name="killer")
    try:
        distributed.fit(rows(X), y)
    finally:
        client.cluster.scheduler.remove_plugin("killer")
    assert killer.victim is not None and killer.finished > 5
    client.wait_for_workers(2, timeout=60)
    assert killer.victim not in client.run(os.getpid).values()
    assert_same(local.fit(X, y), distributed, queries)


def sent_bytes(client):
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def test_bytes_moved_are_points_once_and_partial_sums(client):
    """Every worker receives the points that it does not hold once at most, and a partial sum moves once."""
    n, d, n_blocks, n_classes, m, n_workers = 6000, 40, 6, 3, 600, 2
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.integers(0, n_classes, n)
    fitted = spectralcls.ParzenClassifier(bandwidth=3.0).fit(rows(X, n // n_blocks), y)
    queries = rows(rng.normal(size=(m, d)), m // 3).persist()
    before = sent_bytes(client)
    fitted.predict(queries).compute()
    moved = sent_bytes(client) - before
    points = (n_workers - 1) * n * (8 * d + 8)
    query_points = (n_workers - 1) * m * 8 * d
    partial_sums = n_blocks * m * n_classes * 16
    labels = 8 * m
    messages = 1000 * (3 * n_blocks * 3)  # headers of at most three objects a task
    assert 0 < moved <= points + query_points + partial_sums + labels + messages


def test_eigenpairs_of_an_operator_whose_points_stay_on_the_workers(client, problem):
    X, _, _ = problem
    operator = spectralcls.dask.KernelOperator(rows(X), bandwidth=2.0, weighting="sum")
    before = sent_bytes(client)
    found = spectralcls.top_eigenpairs(operator, 3, solver="lanczos", block_size=4)
    moved = (sent_bytes(client) - before) / found.n_block_products
    expected = spectralcls.top_eigenpairs(spectralcls.linalg.KernelOperator(X, bandwidth=2.0, weighting="sum"), 3)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)
    assert found.residuals.max() < 1e-8
    columns = 4 * 8 * len(X)
    partial_sums = 2 * 4 * columns  # of four blocks of points, with their scales
    assert moved <= 3 * X.nbytes + 3 * columns + partial_sums + columns + 1000 * 3 * 16


def test_a_worker_without_the_package_or_with_another_version(client, problem):
    X, y, _ = problem
    address = list(client.scheduler_info()["workers"])[0]

    def hide():
        sys._hidden = importlib.import_module("spectralcls")  # a worker that was started anew has not imported it
        sys.modules["spectralcls"] = None

    def restore():
        sys.modules["spectralcls"] = sys._hidden

    def set_version(version):
        sys.modules["spectralcls"].__version__ = version

    classifier = spectralcls.ParzenClassifier(bandwidth=1.0)
    client.run(hide, workers=[address])
    try:
        with pytest.raises(RuntimeError, match=f"{address} cannot import spectralcls"):
            classifier.fit(rows(X), y)
    finally:
        client.run(restore, workers=[address])
    client.run(set_version, "0.0.1", workers=[address])
    try:
        with pytest.raises(RuntimeError, match=f"{address} has spectralcls 0.0.1"):
            classifier.fit(rows(X), y)
    finally:
        client.run(set_version, spectralcls.__version__, workers=[address])
