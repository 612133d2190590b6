import pytest
from changed import (  # noqa: F401
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_ignore_collect,
)  # fmt: skip

try:
    from matplotlib import rc_context
except ImportError:
    from contextlib import nullcontext as rc_context


@pytest.fixture(autouse=True)
def figure_style_as_it_was():
    """Pages and examples set styles: none of them reaches the next test of the process."""
    with rc_context():
        yield
