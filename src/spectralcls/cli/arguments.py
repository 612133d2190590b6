"""Types of arguments that several commands share."""

import argparse
from contextlib import nullcontext
from pathlib import Path

import threadpoolctl

from .._core.threads import effective_n_threads
from . import outputs
from .columns import number
from .errors import CommandError


def _is_whole(text):
    return text.isascii() and text.isdecimal()


def count(text):
    value = int(text) if _is_whole(text) else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def jobs(text):
    value = int(text) if _is_whole(text.removeprefix("-")) else 0
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of threads (-1: all cores)")
    return value


def seed(text):
    if not _is_whole(text) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^32 - 1")
    return int(text)


def size(text):
    try:
        return count(text) if _is_whole(text) else _share(text)
    except ValueError:
        wanted = "neither a share between 0 and 1 nor a number of samples"
        raise argparse.ArgumentTypeError(f"{text!r} is {wanted}") from None


def _share(text):
    value = number(text)
    if not 0 < value < 1:
        raise ValueError
    return value


def output(text):
    """A file that can be written, found out before the work and not after it."""
    try:
        outputs.check(Path(text))
    except CommandError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


def threads(n_jobs):
    """A context in which work takes as many threads as ``--n-jobs`` says."""
    return nullcontext() if n_jobs is None else threadpoolctl.threadpool_limits(effective_n_threads(n_jobs))
