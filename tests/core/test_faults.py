"""Concurrent use, forked and spawned processes, and callables of the user that fail."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import threadpoolctl
from every_estimator import assert_same, make, names, problem, responses
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone

from spectralcls import kernel_sums, knn, top_eigenpairs
from spectralcls.linalg import rpcholesky

pytestmark = pytest.mark.any_variant


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_many_threads_predict_while_a_clone_is_refitted(name):
    X, y, Q = problem()
    model = make(name, fixed=True).fit(X, y)
    expected, stop, refits = responses(model, Q), threading.Event(), 0
    limits = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]

    def predict(_):
        assert_same(responses(model, Q), expected)

    def refit():
        nonlocal refits
        while not stop.is_set():
            clone(model).fit(X[::-1], y[::-1])
            refits += 1

    with ThreadPoolExecutor(65) as pool:
        refitting = pool.submit(refit)
        try:
            list(pool.map(predict, range(64)))
        finally:
            stop.set()
        refitting.result()
    assert refits
    assert_same(responses(model, Q), expected)
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == limits


def sums(seed):
    """Work for a process: sums, neighbors and a factor, all with threads."""
    X = np.random.default_rng(seed).standard_normal((400, 5))
    return (
        kernel_sums(X, X, bandwidth=1.0, n_jobs=3),
        knn(X, X, 5, n_jobs=3)[0],
        rpcholesky(X, 40, bandwidth=1.0, random_state=0, n_jobs=3).factor,
    )


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_of_every_kind_answer_alike(method):
    """Forked ones while another thread is inside the core."""
    expected = sums(0)
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            sums(1)

    thread = threading.Thread(target=keep_busy)
    if method == "fork":
        thread.start()
    try:
        with multiprocessing.get_context(method).Pool(2) as pool:
            answers = pool.map_async(sums, [0, 0, 0]).get(timeout=120)
    finally:
        stop.set()
        if method == "fork":
            thread.join()
    for answer in answers:
        for found, value in zip(answer, expected, strict=True):
            np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_answers_alike(backend):
    expected = sums(0)
    for answer in joblib.Parallel(2, backend=backend)(joblib.delayed(sums)(0) for _ in range(3)):
        for found, value in zip(answer, expected, strict=True):
            np.testing.assert_array_equal(found, value)


class Mine(BaseException):
    pass


@pytest.mark.parametrize("error", [Mine, ValueError, SystemExit, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("solver", ["lanczos", "arpack", "dense"])
@pytest.mark.parametrize("after", [0, 1])
def test_an_exception_in_an_operator_comes_through_as_it_is(solver, error, after):
    calls = 0

    def multiply(v):
        nonlocal calls
        calls += 1
        if calls > after:
            raise error("mine")
        return np.arange(500.0).reshape(-1, *[1] * (v.ndim - 1)) * v

    operator = LinearOperator((500, 500), matvec=multiply, matmat=multiply, dtype=np.float64)
    if solver == "dense" and after:
        pytest.skip("asks the operator once")
    with pytest.raises(error, match="mine"):
        top_eigenpairs(operator, 2, solver=solver)
    assert top_eigenpairs(np.diag(np.arange(500.0)), 2, solver=solver).values[0] == pytest.approx(499)


def test_an_exception_in_a_kernel_comes_through_as_it_is():
    def kernel(X, Y):
        if len(X) != len(Y):
            raise Mine("mine")
        return np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2))

    before = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    with pytest.raises(Mine, match="mine"):
        rpcholesky(np.random.default_rng(0).standard_normal((300, 2)), 20, kernel=kernel)
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == before


@pytest.mark.parametrize("answer", [None, "a", np.zeros(3), np.full(500, np.nan), np.zeros((500, 7))])
def test_an_operator_that_answers_something_else_is_refused(answer):
    operator = LinearOperator((500, 500), matvec=lambda v: answer, dtype=np.float64)
    with pytest.raises((ValueError, TypeError)):
        top_eigenpairs(operator, 2, solver="lanczos")
