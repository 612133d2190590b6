import io
import sys

from spectralcls._utils.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


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
