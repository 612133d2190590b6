from contextlib import nullcontext

import pytest

try:
    from matplotlib import rc_context
except ImportError:
    rc_context = nullcontext


@pytest.fixture(autouse=True)
def figure_style_as_it_was():
    """Pages and examples set styles; none of them may reach the next test of the process."""
    with rc_context():
        yield
