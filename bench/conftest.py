"""A bench is a test that calls ``record(**values)``: its row goes into the record of its file and name.

A row that the same run (commit, build, processor, versions) has measured already is kept, so that an interrupted run
continues; ``--again`` measures it again."""

import time

import pytest

from spectralcls._core import available_variants, compiled

from .measure import limited_threads
from .record import Record, identity


def pytest_addoption(parser):
    parser.addoption("--fresh", action="store_true", help="drop rows of other commits and machines")
    parser.addoption("--again", action="store_true", help="measure again what this commit has measured")


def pytest_collection_modifyitems(config, items):
    """With a narrower instruction set than the machine's, run only the benches marked for every one."""
    if compiled.build_info()["variant"] != available_variants()[0]:
        kept = [item for item in items if item.get_closest_marker("every_isa")]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


@pytest.fixture(scope="session")
def this_run():
    """The identity that all rows of this process share."""
    return identity()


@pytest.fixture(autouse=True)
def one_thread():
    """Everything runs on one thread, unless a bench asks for more."""
    with limited_threads(1):
        yield


@pytest.fixture
def record(request, this_run):
    """A function that records the values of a row, whose case is the parameters of the bench."""
    topic, section = request.path.stem.removeprefix("bench_"), request.node.originalname.removeprefix("test_")
    stored, case = Record(topic), dict(request.node.callspec.params) if hasattr(request.node, "callspec") else {}
    case = {key: getattr(value, "__name__", value) for key, value in case.items()}
    case["isa"] = compiled.build_info()["variant"]
    stored.begin(section, this_run, request.config.getoption("--fresh"))
    if stored.row(section, case) and not request.config.getoption("--again"):
        pytest.skip("measured already")
    begin = time.perf_counter()

    def keep(values):
        stored.keep(section, case, values, time.perf_counter() - begin)

    return keep
