from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from spectralcls._core import compiled

try:
    from matplotlib import rc_context, use
except ImportError:
    rc_context = nullcontext
else:
    use("Agg")  # no windows

quiet = list(HealthCheck)  # draws of whole arrays are slow, and fixtures reset warnings only
settings.register_profile("few", max_examples=40, deadline=None, derandomize=True, suppress_health_check=quiet)
settings.register_profile("many", max_examples=16_000, deadline=None, suppress_health_check=quiet)  # a million calls
settings.load_profile("few")


def pytest_configure(config):
    """With `pytest -n 2` a worker takes tests in their order: what a module makes for its tests is made once."""
    if getattr(config.option, "dist", None) == "load":
        config.option.dist = "worksteal"


@pytest.fixture
def pruning():
    """A function that lets sums and searches skip pairs "always", "never", or where samples say so: "sampled"."""
    yield compiled.set_pruning
    compiled.set_pruning("sampled")


@pytest.fixture(autouse=True)
def figure_style_as_it_was():
    """Pages and examples set styles; none of them may reach the next test of the process."""
    with rc_context():
        yield
