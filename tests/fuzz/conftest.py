import re
import warnings

import pytest

CALLS = "random calls"


@pytest.fixture(autouse=True)
def odd_data_may_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """Hypothesis' own count of the calls of a test; a worker hands it over with its report."""
    if hasattr(item, "hypothesis_statistics"):
        passing = re.findall(r"(\d+) passing", item.hypothesis_statistics)
        item.user_properties.append((CALLS, sum(map(int, passing))))


def pytest_terminal_summary(terminalreporter):
    """How many calls were drawn in all."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    ended = [dict(r.user_properties) for r in reports if getattr(r, "when", None) == "teardown"]
    terminalreporter.write_line(f"{sum(properties.get(CALLS, 0) for properties in ended)} {CALLS}")
