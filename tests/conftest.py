from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from spectralcls._core import compiled
from spectralcls.kernels._approximate import GRID_PAIRS

_GRID_PAIRS = dict(GRID_PAIRS)

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
def pruning(monkeypatch):
    """A function that lets sums and searches skip pairs "always", "never", or where samples say so: "sampled"."""

    def skip(when):
        compiled.set_pruning(when)
        for d in GRID_PAIRS:  # the grid, too, for however few pairs
            monkeypatch.setitem(GRID_PAIRS, d, 0 if when == "always" else _GRID_PAIRS[d])

    yield skip
    compiled.set_pruning("sampled")


@pytest.fixture(autouse=True)
def figure_style_as_it_was():
    """Pages and examples set styles; none of them may reach the next test of the process."""
    with rc_context():
        yield
