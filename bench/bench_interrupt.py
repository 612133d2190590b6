"""Response to Ctrl-C: processor seconds of the whole process from the interrupt to the response

Each call is interrupted after 0.6 processor seconds.
"""

import pytest

from bench.measure import QUICK, spread
from tests.core.test_interrupt import CALLS, launched


@pytest.fixture(scope="module")
def run():
    with launched() as run:
        yield run


@pytest.mark.parametrize("call", CALLS)
def test_answer(record, run, call):
    """The table gives the median and the longest response time over five interrupts."""
    answers = [run(call) for _ in range(1 if QUICK else 5)]
    assert {what for what, _ in answers} == {"answered"}
    seconds = [seconds for _, seconds in answers]
    record({"seconds": spread(seconds), "longest": max(seconds)})
