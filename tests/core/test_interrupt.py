"""Ctrl-C is answered by every call that takes long.

Each call runs in a process of its own, which interrupts itself after 0.3 seconds of its processors. A call that ends
before that fails the test: it would show nothing."""

import json
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.any_variant

# A process that has imported everything and forks a child for each call that it is sent.
LAUNCHER = """
import json, os, signal, sys, time, warnings
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import spectralcls as S
from spectralcls.linalg import KernelOperator
for name in S.__all__:
    getattr(S, name)
S.spectral, S.metric
warnings.simplefilter("ignore")
for line in sys.stdin:
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if status:
            print("ended with status", status, flush=True)
        continue
    setup, call = (compile(text, "<call>", "exec") for text in json.loads(line))
    rng = np.random.default_rng(0)
    exec(setup)
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, 0.3)
    begun = time.process_time()
    what = "over"
    try:
        exec(call)
    except KeyboardInterrupt:
        what = "answered"
    print(what, time.process_time() - begun - 0.3, flush=True)
    os._exit(0)  # what was left behind is not waited for here
"""

X = "X = rng.normal(size=({n}, {d}))"
CALLS = {
    "kernel_sums": (X.format(n=300_000, d=8), "S.kernel_sums(X, X, bandwidth=1.0)"),
    "log sums": (X.format(n=300_000, d=8), "S.kernel_sums(X, X, bandwidth=[1.0, 2.0], log=True)"),
    "sums within a tolerance": (X.format(n=400_000, d=6), "S.kernel_sums(X, X, bandwidth=1.0, rtol=1e-3)"),
    "kernel_matrix": (X.format(n=14_000, d=800) + ".astype('f4')", "S.kernel_matrix(X, bandwidth=30.0)"),
    "knn, brute": (X.format(n=200_000, d=30), "S.knn(X, X, 10)"),
    "knn, tree": (X.format(n=300_000, d=5), "S.knn(X, X, 100)"),
    "knn, tree of duplicates": ("X = np.zeros((3_000_000, 3))", "S.knn(X, X, 5)"),
    "tree built": ("X = rng.random((24_000_000, 2))", "S.knn(X[:2], X, 1, algorithm='kd_tree')"),
    "rpcholesky": (X.format(n=300_000, d=8), "S.linalg.rpcholesky(X, 1500, bandwidth=1.0)"),
    "eigenpairs of a kernel": (X.format(n=60_000, d=3), "S.top_eigenpairs(KernelOperator(X, bandwidth=0.3), 30)"),
    "eigenpairs, dense": ("A = rng.normal(size=(2000, 2000)); A += A.T", "S.top_eigenpairs(A, 5, solver='dense')"),
    "eigenpairs, Lanczos": (
        "A = rng.normal(size=(5000, 5000)); A += A.T",
        "S.top_eigenpairs(A, 200, solver='lanczos', tol=1e-15)",
    ),
    "PerTurbo, fit": (
        X.format(n=9000, d=5) + "; y = np.arange(9000) % 2",
        "S.PerTurboClassifier(bandwidth=1.0, alpha=0.1).fit(X, y)",
    ),
    "PerTurbo, tuning": (
        X.format(n=6000, d=5) + "; y = np.arange(6000) % 4",
        "S.PerTurboClassifier(max_tuning_samples=1500).fit(X, y)",
    ),
    "PerTurbo, predict": (
        X.format(n=6000, d=5) + "; y = np.arange(6000) % 2\n"
        "clf = S.PerTurboClassifier(bandwidth=1.0, alpha=0.1).fit(X, y)",
        "clf.predict(np.tile(X, (30, 1)))",
    ),
    "kernel ridge": (
        X.format(n=6000, d=5) + "; y = np.arange(6000) % 2",
        "S.KernelRidgeClassifier(max_tuning_samples=6000).fit(X, y)",
    ),
    "metric": (
        X.format(n=6000, d=5) + "; y = np.arange(6000) % 2",
        "S.metric.GradientMetric(max_samples=6000).fit(X, y)",
    ),
    "Parzen, tuning": (
        X.format(n=100_000, d=12) + "; y = np.arange(100_000) % 3",
        "S.ParzenClassifier(max_tuning_samples=None).fit(X, y)",
    ),
    "CCDR": (X.format(n=100_000, d=20) + "; y = np.arange(100_000) % 3", "S.CCDR(n_components=5).fit(X, y)"),
    "spectral ISE": (
        X.format(n=40_000, d=10) + "; y = np.arange(40_000) % 3",
        "S.spectral.SpectralISEClassifier(n_components=20).fit(X, y)",
    ),
}


@contextmanager
def launched():
    """A function that runs a call of `CALLS` and returns what came of it, and the seconds since the interrupt."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", LAUNCHER], start_new_session=True, **pipes) as process:

        def run(name):
            print(json.dumps(CALLS[name]), file=process.stdin, flush=True)
            what, _, seconds = process.stdout.readline().rpartition(" ")
            return what, float(seconds)

        yield run
        process.stdin.close()


@pytest.fixture(scope="module")
def run():
    with launched() as run:
        yield run


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers of processor time")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_is_answered(run, name):
    assert run(name)[0] == "answered"
