"""The compiled variants, their choice at import, threads and configuration."""

import json
import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
import threadpoolctl

import spectralcls
from spectralcls import _core, show_config
from spectralcls._core.threads import effective_n_threads
from spectralcls.kernels import kernel_sums


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )


SUMS = """
import json, numpy as np, spectralcls
from spectralcls.kernels import kernel_sums
X = np.random.default_rng(0).normal(size=(300, 7))
sums = [kernel_sums(Y, Y, bandwidth=[1.0, 0.5, 0.1], log=True).tolist() for Y in (X.astype("f4"), X)]
print(json.dumps([spectralcls.show_config("dict")["variant"], *sums]))
"""


@pytest.mark.any_variant
def test_environment_variable_forces_a_variant_and_all_agree():
    """The same sums from every variant, to the contract's tolerance."""
    found = [json.loads(run(SUMS, SPECTRALCLS_ISA=variant).stdout) for variant in _core.available_variants()]
    variants, single, double = zip(*found, strict=True)
    assert variants == tuple(_core.available_variants())
    for outputs, tolerance in ((single, 1e-5), (double, 1e-12)):
        for other in outputs[1:]:
            np.testing.assert_allclose(other, outputs[0], rtol=tolerance, atol=tolerance)


@pytest.mark.any_variant
@pytest.mark.parametrize("variant", ["mmx", *sorted({"avx2", "avx512"} - set(_core.available_variants()))])
def test_a_variant_that_is_not_there_is_an_import_error_with_advice(variant):
    result = run("import spectralcls.kernels", SPECTRALCLS_ISA=variant)
    assert result.returncode != 0
    assert f"SPECTRALCLS_ISA='{variant}'" in result.stderr and _core.available_variants()[0] in result.stderr


@pytest.mark.any_variant
def test_show_config(capsys):
    config = show_config("dict")
    assert config["variant"] in _core.available_variants()
    assert config["spectralcls"] == spectralcls.__version__
    show_config()
    printed = capsys.readouterr().out
    for key in ("variant", "compiler", "flags", "threads"):
        assert key in printed
    with pytest.raises(ValueError, match="mode"):
        show_config("html")


@pytest.mark.any_variant
def test_version_is_the_distributions():
    from importlib.metadata import PackageNotFoundError, version

    try:
        assert version("spectralcls") == spectralcls.__version__
    except PackageNotFoundError:
        pytest.skip("spectralcls runs from its source folder, not from an installation")


def test_threads_follow_n_jobs(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = joblib.cpu_count()
    assert effective_n_threads() == cores
    assert effective_n_threads(3) == 3
    assert effective_n_threads(-1) == cores
    assert effective_n_threads(-cores - 5) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert effective_n_threads() == 1
    for wrong in (0, 1.5, True, "all"):
        with pytest.raises(ValueError, match="n_jobs"):
            effective_n_threads(wrong)


def test_threadpoolctl_limits_the_core(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert any(info["user_api"] == "spectralcls" for info in threadpoolctl.threadpool_info())
    with threadpoolctl.threadpool_limits(limits=1):
        assert effective_n_threads() == 1
    assert effective_n_threads() == joblib.cpu_count()


@pytest.mark.any_variant
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_workers_do_not_oversubscribe(backend, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    workers = max(2, joblib.cpu_count())
    with joblib.parallel_config(backend, n_jobs=workers):
        used = joblib.Parallel()(joblib.delayed(effective_n_threads)() for _ in range(workers))
    assert used == [1] * workers


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processors are not ours to choose here")
def test_processors_of_the_caller_stay_as_they_are():
    """Workers begin away from the caller: where anybody may run, and the answer, stay the same on any processors."""
    allowed = os.sched_getaffinity(0)
    X = np.random.default_rng(0).normal(size=(1500, 8))
    everywhere = kernel_sums(X, X, bandwidth=1.0, n_jobs=3)
    assert os.sched_getaffinity(0) == allowed
    try:
        os.sched_setaffinity(0, {min(allowed)})
        np.testing.assert_array_equal(kernel_sums(X, X, bandwidth=1.0, n_jobs=3), everywhere)
        assert os.sched_getaffinity(0) == {min(allowed)}
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space")
def test_an_exception_in_a_worker_reaches_python():
    """The workers' sums do not fit into the memory that is left, the result does."""
    code = (
        "import resource, numpy as np\n"
        "from spectralcls.kernels import kernel_sums\n"
        "n = 150_000\n"
        "X, labels = np.zeros((n, 1), np.float32), np.arange(n)\n"
        "kernel_sums(X[:2], X[:2], bandwidth=1.0, n_jobs=2)\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 400_000_000,) * 2)\n"
        "try:\n"
        "    kernel_sums(X[:512], X, labels=labels, bandwidth=1.0, n_jobs=4)\n"
        "except MemoryError:\n"
        "    print('MemoryError')\n"
    )
    result = run(code)
    assert result.stdout.strip() == "MemoryError", result.stderr
