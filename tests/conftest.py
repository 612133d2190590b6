import gc
import os
from contextlib import nullcontext

# Before NumPy is imported: matrices are small, and threads that wait busily take the processors from other tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from hypothesis import HealthCheck, settings

from spectralcls._core import compiled

try:
    from matplotlib import rc_context, use
except ImportError:
    rc_context = nullcontext
else:
    use("Agg")  # no windows

quiet = list(HealthCheck)  # drawing whole arrays is slow, and fixtures only reset warnings
settings.register_profile("few", max_examples=40, deadline=None, derandomize=True, suppress_health_check=quiet)
settings.register_profile("fewest", settings.get_profile("few"), max_examples=10)
settings.register_profile("many", max_examples=16_000, deadline=None, suppress_health_check=quiet)  # a million calls
settings.load_profile("few")


def pytest_configure(config):
    """Keeps the order of tests with `pytest -n 2`, so that fixtures of a module are mostly set up only once."""
    if getattr(config.option, "dist", None) == "load":
        config.option.dist = "worksteal"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collects the tests without garbage collection, which would visit all of them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def pruning():
    """Returns a function that sets when sums and searches prune and use a grid: "always" (where they can), "never", or
    as costs and samples predict: "sampled"."""
    yield compiled.set_pruning
    compiled.set_pruning("sampled")


@pytest.fixture(autouse=True, scope="module")
def figure_style_as_it_was():
    """Restores the style, which pages and examples set, before the tests of the next module."""
    with rc_context():
        yield
