"""Ctrl-C is answered within half a second of processor time by every call that takes long.

Each call runs in a process of its own, which says when it begins, gets the signal a while later, and says when it has
answered. A call that ends before the signal comes fails the test: it would show nothing.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.any_variant
WITHIN = 0.5  # seconds of processor time of the whole process between the signal and the answer, however busy the rest

# A process that has imported everything and forks a child for each call that it is sent.
LAUNCHER = """
import json, os, signal, sys, time, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may ignore it
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import spectralcls as S
from spectralcls.linalg import KernelOperator
for name in S.__all__:
    getattr(S, name)
warnings.simplefilter("ignore")
def used():
    return time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
for line in sys.stdin:
    child = os.fork()
    if child:
        print("ended", os.waitpid(child, 0)[1], flush=True)
        continue
    setup, call = (compile(text, "<call>", "exec") for text in json.loads(line))
    rng = np.random.default_rng(0)
    exec(setup)
    print("ready", os.getpid(), flush=True)
    began = used()
    try:
        exec(call)
    except KeyboardInterrupt:
        print("answered", used(), flush=True)
        os._exit(0)  # what was left behind is not waited for here
    print("over", used() - began, flush=True)
    os._exit(1)
"""

X = "X = rng.normal(size=({n}, {d}))"
CALLS = {
    "kernel_sums": (X.format(n=300_000, d=8), "S.kernel_sums(X, X, bandwidth=1.0)"),
    "log sums": (X.format(n=300_000, d=8), "S.kernel_sums(X, X, bandwidth=[1.0, 2.0], log=True)"),
    "sums within a tolerance": (X.format(n=400_000, d=6), "S.kernel_sums(X, X, bandwidth=1.0, rtol=1e-3)"),
    "kernel_matrix": (X.format(n=14_000, d=800) + ".astype('f4')", "S.kernel_matrix(X, bandwidth=30.0)"),
    "knn, brute": (X.format(n=200_000, d=30), "S.knn(X, X, 10)"),
    "knn, tree": (X.format(n=300_000, d=5), "S.knn(X, X, 100)"),
    "knn, tree of duplicates": ("X = np.zeros((100_000, 3))", "S.knn(X, X, 5)"),
    "tree built": (X.format(n=8_000_000, d=2), "S.knn(X[:2], X, 1)"),
    "rpcholesky": (X.format(n=300_000, d=8), "S.linalg.rpcholesky(X, 1500, bandwidth=1.0)"),
    "eigenpairs of a kernel": (X.format(n=60_000, d=3), "S.top_eigenpairs(KernelOperator(X, bandwidth=0.3), 30)"),
    "eigenpairs, dense": ("A = rng.normal(size=(3000, 3000)); A += A.T", "S.top_eigenpairs(A, 5, solver='dense')"),
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
        "S.SpectralISEClassifier(n_components=20).fit(X, y)",
    ),
}


@pytest.fixture(scope="module")
def launcher():
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        os.killpg(process.pid, signal.SIGKILL)  # and what it has forked


@pytest.mark.skipif(sys.platform == "win32", reason="no signals for child processes")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_is_answered(launcher, name):
    print(json.dumps(CALLS[name]), file=launcher.stdin, flush=True)
    what, child = heard(launcher)
    if what == "ready":
        begun = processor_seconds(child)
        while processor_seconds(child) < begun + 0.6:
            time.sleep(0.02)
        sent = processor_seconds(child)
        with contextlib.suppress(ProcessLookupError):  # over, or a crash: it is heard
            os.kill(int(child), signal.SIGINT)
        what, seconds = heard(launcher)
        if what != "ended":
            assert heard(launcher)[0] == "ended"
    assert what == "answered", f"the call was not interrupted: {what}"
    assert float(seconds) - sent < WITHIN


def heard(launcher):
    """What comes next: ready, with the process; answered or over, with its seconds; ended, with its status."""
    what, value = launcher.stdout.readline().split()
    return what, value


def processor_seconds(pid):
    """Of user and system, of all threads of a process."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
