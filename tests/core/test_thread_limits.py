"""BLAS and the core have as many threads after any mix of calls as they had before."""

import inspect
import os
import re
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from sklearn.datasets import load_iris

import spectralcls
from spectralcls import CCDRClassifier, PerTurboClassifier
from spectralcls._core import threads as _parallel
from spectralcls._core.threads import serial_blas
from spectralcls._utils.cached import cached_property
from spectralcls.ccdr import _eigenmap
from spectralcls.linalg import rpcholesky
from spectralcls.perturbo import _held_out_spans

pytestmark = pytest.mark.any_variant


def limits(user_api=None):
    return {
        pool["filepath"]: pool["num_threads"]
        for pool in threadpoolctl.threadpool_info()
        if user_api in (None, pool["user_api"])
    }


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """Limits that one thread differs from, on a machine with one processor too; all else must leave them alone."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpoolctl.threadpool_limits(2):
        before = limits()
        assert 2 in limits("blas").values()
        yield
        assert limits() == before


def test_contexts_that_overlap_in_any_order_end_as_they_began():
    before = limits("blas")
    for order in [(0, 1), (1, 0)]:
        contexts = serial_blas(), serial_blas()
        for context in contexts:
            context.__enter__()
            assert set(limits("blas").values()) == {1}
        leaving = [contexts[i] for i in order]
        leaving[0].__exit__(None, None, None)
        assert set(limits("blas").values()) == {1}  # the other is still inside
        leaving[1].__exit__(None, None, None)
        assert limits("blas") == before


def test_nested_contexts_and_exceptions():
    before = limits("blas")
    with pytest.raises(KeyError), serial_blas():
        with serial_blas():
            pass
        assert set(limits("blas").values()) == {1}
        raise KeyError
    assert limits("blas") == before


def test_an_interrupt_at_any_call_leaves_no_limit():
    before, stop, interrupted = limits("blas"), 0, True

    def watch(frame, event, argument):
        nonlocal count
        if event == "call" and frame.f_globals.get("__name__") == _parallel.__name__:
            count += not frame.f_code.co_flags & inspect.CO_GENERATOR
            if count == stop:
                sys.setprofile(None)
                raise KeyboardInterrupt

    while interrupted:
        stop, count, interrupted = stop + 1, 0, False
        sys.setprofile(watch)
        try:
            with serial_blas():
                pass
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.setprofile(None)
        assert limits("blas") == before, f"interrupted at call {stop}"
        with serial_blas():
            assert set(limits("blas").values()) == {1}
        assert limits("blas") == before, f"interrupted at call {stop}"
    assert stop > 4


def enter_and_leave():
    with serial_blas():
        pass


def test_a_limit_of_the_caller_ends_although_another_thread_was_inside_meanwhile():
    before = limits("blas")
    with ThreadPoolExecutor(1) as pool:  # whose thread lives on
        with threadpoolctl.threadpool_limits(1, user_api="blas"):
            pool.submit(enter_and_leave).result()
        assert limits("blas") == before


def test_many_threads_that_come_and_go():
    before, start = limits("blas"), threading.Barrier(16)

    def work(i):
        start.wait()
        for _ in range(20):
            with serial_blas():
                assert set(limits("blas").values()) == {1}

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert limits("blas") == before


@pytest.mark.parametrize("call", ["rpcholesky", "perturbo"])
def test_concurrent_calls_leave_all_limits_alone(call):
    X, y = load_iris(return_X_y=True)
    n, start = 8, threading.Barrier(8)

    def work(seed):
        start.wait()
        if call == "rpcholesky":
            for _ in range(10):
                rpcholesky(X, 30, bandwidth=1.0, random_state=seed, block_size=4)
        else:
            for _ in range(3):
                PerTurboClassifier(cv=3, bandwidth_grid=[0.5, 1.0], alpha_grid=[0.1]).fit(X[::3], y[::3])

    before = limits()
    with ThreadPoolExecutor(n) as pool:
        list(pool.map(work, range(n)))
    assert limits() == before


TUNED = {
    _held_out_spans: lambda n_jobs: PerTurboClassifier(bandwidth_grid=[0.5, 1.0], alpha_grid=[0.1], n_jobs=n_jobs),
    _eigenmap: lambda n_jobs: CCDRClassifier(n_jobs=n_jobs),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("module", TUNED)
def test_small_matrices_are_decomposed_by_one_thread(module, n_jobs, monkeypatch):
    """Threads of BLAS beside it are not counted in n_jobs, and several such fits keep each other waiting."""
    X, y = load_iris(return_X_y=True)
    seen, eigh = set(), module.eigh
    monkeypatch.setattr(module, "eigh", lambda A: seen.update(limits("blas").values()) or eigh(A))
    TUNED[module](n_jobs).fit(X, y)
    assert seen == {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_is_inside_gets_its_threads_back():
    before, inside, leave = limits("blas"), threading.Event(), threading.Event()

    def stay():
        with serial_blas():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        fine = limits("blas") == before
        with serial_blas():
            fine &= set(limits("blas").values()) == {1}
        fine &= limits("blas") == before
        os._exit(0 if fine else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert limits("blas") == before
    np.testing.assert_allclose(np.eye(3) @ np.ones(3), 1)


class Library:
    """What threadpoolctl has for a BLAS whose limit belongs to the calling thread."""

    def __init__(self, internal_api, threading_layer):
        self.internal_api, self.threading_layer = internal_api, threading_layer
        self.here = threading.local()

    def get_num_threads(self):
        return getattr(self.here, "count", 4)

    def set_num_threads(self, count):
        self.here.count = count


@pytest.mark.parametrize("kind", [("openblas", "openmp"), ("mkl", "intel")])
def test_limits_that_belong_to_a_thread_are_set_and_restored_in_each(monkeypatch, kind):
    library, start = Library(*kind), threading.Barrier(4)
    monkeypatch.setattr(_parallel, "_blas", lambda: [library])
    serial = _parallel._SerialBlas()

    def work(_):
        start.wait()
        with serial.inside(), serial.inside():
            start.wait()
            assert library.get_num_threads() == 1
            start.wait()
        assert library.get_num_threads() == 4

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


class Slow:
    """An attribute whose value takes as long as it is told to."""

    def __init__(self, wait=None):
        self.wait = wait

    @cached_property
    def value(self):
        if self.wait is not None:
            self.wait()
        return 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_computes_an_attribute_computes_its_own():
    inside, leave = threading.Event(), threading.Event()

    def wait():
        inside.set()
        leave.wait()

    thread = threading.Thread(target=lambda: Slow(wait).value)
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends the child if it hangs
        os._exit(0 if Slow().value == 1 else 1)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_attribute_is_cached_under_a_lock():
    """As ``functools.cached_property`` is before Python 3.12."""
    sources = Path(spectralcls.__file__).parent.rglob("*.py")
    assert not [path for path in sources if re.search(r"functools import .*cached_property", path.read_text("utf-8"))]
