"""Argument types shared by several commands."""

import argparse
from contextlib import nullcontext
from pathlib import Path

from . import outputs
from .errors import CommandError

YES_OR_NO = {"action": argparse.BooleanOptionalAction, "default": True}
COVERAGE = 0.9  # of the intervals of a regression


def count(text):
    return _whole(text, 1, "a whole number of at least 1")


def jobs(text):
    value = _whole(text.removeprefix("-"), 1, "a number of threads (-1: all cores)")
    return -value if text.startswith("-") else value


def seed(text):
    return _whole(text, 0, "a whole number from 0 to 2^32 - 1", 2**32 - 1)


def _whole(text, least, what, most=float("inf")):
    value = int(text) if text.isascii() and text.isdecimal() else -1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def size(text):
    """A number of samples, or a fraction of them."""
    if text.isascii() and text.isdecimal():
        return count(text)
    try:
        value = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        wanted = "neither a share between 0 and 1 nor a number of samples"
        raise argparse.ArgumentTypeError(f"{text!r} is {wanted}")
    return value


def share(text):
    """A fraction between 0 and 1."""
    if isinstance(value := size(text), int):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return value


def output(text):
    """A writable file, checked before the work starts."""
    if text == "-":
        raise argparse.ArgumentTypeError("- is the standard output, but this needs a file")
    try:
        outputs.check(Path(text))
    except CommandError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


def threads(n_jobs):
    """A context with the number of threads given by ``--n-jobs``."""
    if n_jobs is None:
        return nullcontext()
    import threadpoolctl

    from .._core.threads import effective_n_threads

    return threadpoolctl.threadpool_limits(effective_n_threads(n_jobs))
