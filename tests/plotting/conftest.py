import pytest


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    pytest.importorskip("matplotlib.pyplot").close("all")


@pytest.fixture
def axes():
    """Two axes side by side."""
    return pytest.importorskip("matplotlib.pyplot").subplots(1, 2)[1]
