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
        The time left is that of steps as long as those before. ``step(what, left=seconds)`` gives a better estimate, or
        None as long as there is none.
    """
    stream = sys.stderr if stream is None else stream
    if silent:
        yield lambda what, left=None: None
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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[what]}", markup=False),
    ]
    with Progress(*columns, console=console, transient=True) as bar:
        task, remaining, done = bar.add_task(title, total=total, what="", left=""), _remaining(total), -1

        def step(what, **estimate):
            nonlocal done
            done += 1
            bar.update(task, completed=done, what=what, left=remaining(done, **estimate))

        yield step


def _lines(title, total, stream):
    remaining, done, last = _remaining(total), -1, -float("inf")

    def step(what, **estimate):
        nonlocal done, last
        done += 1
        now, left = time.monotonic(), remaining(done, **estimate)
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            print(", ".join(filter(None, (f"{title}: {done}/{total} {what}", left))), file=stream, flush=True)

    return step


def _remaining(total):
    """A function that words the time left after `done` steps, "" if it is unknown."""
    start = time.monotonic()

    def worded(done, left=...):
        if left is ...:
            left = (time.monotonic() - start) * (total - done) / done if done > 0 else None
        return "" if left is None else f"{left:.0f} s left"

    return worded
