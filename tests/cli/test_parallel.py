"""Classifiers that are compared beside each other: every task once, the same results."""

import json
import os
import time

import pytest
import threadpoolctl

from spectralcls.cli import main
from spectralcls.cli.errors import CommandError
from spectralcls.cli.parallel import imap_unordered

HERE = os.getpid()


def slow_square():
    """A function that processes are given by value: they cannot import this module."""

    def square(x):
        time.sleep(0.02)
        return x * x, os.getpid()

    return square


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("spectralcls.cli.parallel._PATIENCE", 0.1)


def numbered(n):
    return ((f"task {k}", (k,)) for k in range(n))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_every_task_is_done_once_and_told(processes):
    told, n = [], 100 if processes > 1 else 5
    found = list(imap_unordered(slow_square(), numbered(n), processes, told.append))
    assert sorted(told) == sorted(name for name, _ in found) == sorted(f"task {k}" for k in range(n))
    assert all(square == int(name.split()[1]) ** 2 for name, (square, _) in found)
    others = {worker for _, (_, worker) in found} - {HERE}
    assert (processes == 1) == (not others) and len(others) <= processes


def test_what_is_soon_done_starts_no_process():
    found = list(imap_unordered(lambda k: os.getpid(), numbered(50), 2, lambda name: None))
    assert {worker for _, worker in found} == {HERE}


@pytest.mark.usefixtures("impatient")
def test_a_process_that_is_killed_is_an_error_and_no_hang():
    parent = HERE

    def fatal(k):
        time.sleep(0.02)
        if os.getpid() != parent:
            os._exit(1)

    with pytest.raises(CommandError, match="was killed, perhaps for lack of memory: --n-jobs 1"):
        list(imap_unordered(fatal, numbered(1_000), 2, lambda name: None))


@pytest.mark.usefixtures("impatient")
def test_beside_each_other_or_not_the_accuracies_are_the_same(tmp_path):
    common = "compare wine --quiet --repeats 2 --classifiers auto,perturbo,knn --json".split()
    with threadpoolctl.threadpool_limits(1, user_api="blas"):  # as in the other processes: two round otherwise
        assert main([*common, str(tmp_path / "beside.json")]) == 0
        assert main([*common, str(tmp_path / "alone.json"), "--n-jobs", "1"]) == 0
    beside, alone = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("beside", "alone"))
    for one, other in zip(beside, alone, strict=True):
        times = [one.pop(key) + other.pop(key) for key in ("fit_seconds", "predict_seconds")]
        assert one == other and min(times) > 0
