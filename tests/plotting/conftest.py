from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("matplotlib") else ["test_*.py"]


@pytest.fixture(autouse=True)
def figures_are_closed():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture
def axes():
    """Two axes side by side."""
    from matplotlib import pyplot

    return pyplot.subplots(1, 2)[1]
