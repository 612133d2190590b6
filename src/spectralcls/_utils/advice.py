"""Warnings that a caller can withhold, in its own thread alone: Python's filters belong to the whole process."""

import inspect
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

_BETWEEN = {"spectralcls", "sklearn", "joblib", "contextlib", "functools"}  # packages whose lines are not the user's
_withheld = ContextVar("withheld", default=False)


@contextmanager
def quietly():
    """Withhold what `advise` would say, where a result may well be one that nobody chooses."""
    before = _withheld.set(True)
    try:
        yield
    finally:
        _withheld.reset(before)


def advise(message, category=UserWarning):
    """`tell`, unless the caller is to be quiet."""
    if not _withheld.get():
        tell(message, category)


def tell(message, category=UserWarning):
    """Warn as :func:`warnings.warn` does, at the line of the user from which this package was called."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
