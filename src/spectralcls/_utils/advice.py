"""Warnings that a caller can withhold, in its own thread alone: Python's filters belong to the whole process."""

import warnings
from contextlib import contextmanager
from contextvars import ContextVar

_withheld = ContextVar("withheld", default=False)


@contextmanager
def quietly():
    """Withhold what `advise` would say, where a result may well be one that nobody chooses."""
    before = _withheld.set(True)
    try:
        yield
    finally:
        _withheld.reset(before)


def advise(message, category=UserWarning, stacklevel=1):
    """Warn as :func:`warnings.warn` does, unless the caller is to be quiet."""
    if not _withheld.get():
        warnings.warn(message, category, stacklevel=stacklevel + 1)
