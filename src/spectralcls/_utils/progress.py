"""Progress of long work on stderr: a bar if rich is installed, otherwise plain lines, or nothing."""

import sys
import time
from contextlib import contextmanager

_SECONDS_BETWEEN_LINES = 1.0


@contextmanager
def progress(title, total, *, silent=False, stream=None):
    """Show the progress of a task.

    On a terminal with rich installed, this is a bar. Otherwise lines such as ``title: 3/20 what is next, 40 s left``
    are printed, at most one per second, beginning with the first step.

    Parameters
    ----------
    title : str
        Name of the task.
    total : int
        Number of steps.
    silent : bool, default=False
        Show nothing.
    stream : text file, default=None
        Output stream; None means stderr.

    Yields
    ------
    step : callable
        ``step("what is next")`` names the step that begins; each call after the first counts the previous step as done.
    """
    stream = sys.stderr if stream is None else stream
    if silent:
        yield lambda what: None
    elif stream.isatty() and (console := _rich_console(stream)) is not None:
        with _bar(title, total, console) as step:
            yield step
    else:
        yield _lines(title, total, stream)


def _rich_console(stream):
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=stream)


@contextmanager
def _bar(title, total, console):
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    ]
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, what="")
        done = -1

        def step(what):
            nonlocal done
            done += 1
            bar.update(task, completed=done, what=what)

        yield step


def _lines(title, total, stream):
    start = time.monotonic()
    done, last = -1, -float("inf")

    def step(what):
        nonlocal done, last
        done += 1
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            left = f", {(now - start) * (total - done) / done:.0f} s left" if done else ""
            print(f"{title}: {done}/{total} {what}{left}", file=stream, flush=True)

    return step
