"""Warnings that a caller can suppress in its own thread; Python's filters apply to the whole process."""

import inspect
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

_BETWEEN = {"spectralcls", "sklearn", "joblib", "contextlib", "functools"}  # frames between the user and the warning
_withheld = ContextVar("withheld", default=False)


@contextmanager
def setting(variable, value):
    """Set a context variable, and restore it at the end."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def quietly():
    """Suppress `advise` while evaluating candidates that may not be chosen."""
    return setting(_withheld, True)


def advise(message, category=UserWarning):
    """Call `tell`, unless the caller has suppressed it."""
    if not _withheld.get():
        tell(message, category)


def tell(message, category=UserWarning):
    """Call :func:`warnings.warn` with the user's line that called this package as the location."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
