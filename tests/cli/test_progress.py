import io
import sys

from spectralcls._utils.progress import progress
from spectralcls.cli import evaluation


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_time_left_is_that_of_each_estimators_own_pace(monkeypatch):
    clock, lines = [0.0], io.StringIO()
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    paces, repeats = (40.0, 1.0, 0.1), 10  # the first estimator is the slowest by far, and its first fit imports
    results = [evaluation.Result(name, 100, 50, {}) for name in "abc"]
    with progress("compare", 3 * repeats, stream=lines) as step:
        for number in range(repeats):
            for result, pace in zip(results, paces, strict=True):
                step(result.name, left=evaluation._seconds_left(results, repeats, workers=1))
                seconds = pace + 100 * (number == 0 and pace == 40)
                result.outcomes[number], clock[0] = {"fit": seconds, "predict": 0.0}, clock[0] + seconds
    told = [line for line in lines.getvalue().splitlines() if line.endswith("s left")]
    assert told[0].startswith("compare: 7/30") and abs(float(told[0].split()[-3]) - (8 * sum(paces) - 40)) < 1
    assert float(told[-1].split()[-3]) <= sum(paces)


def test_progress_as_lines_as_a_bar_and_not_at_all(monkeypatch):
    lines, bar, nothing = io.StringIO(), Terminal(), Terminal()
    for stream, silent in ((lines, False), (bar, False), (nothing, True)):
        with progress("work", 3, silent=silent, stream=stream) as step:
            for what in ("one", "two", "three"):
                step(what)
    assert lines.getvalue() == "work: 0/3 one\n"  # the rest came within a second
    assert "work" in bar.getvalue() and "\x1b[" in bar.getvalue()
    assert nothing.getvalue() == ""
    monkeypatch.setitem(sys.modules, "rich.console", None)
    plain = Terminal()
    with progress("work", 1, stream=plain) as step:
        step("one")
    assert plain.getvalue() == "work: 0/1 one\n"
