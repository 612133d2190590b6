"""Warnings that a caller can suppress in its own thread; Python's filters apply to the whole process."""

import inspect
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

# packages whose frames may lie between the user's call and the warning
_BETWEEN = {"spectralcls", "sklearn", "joblib", "contextlib", "functools"}
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
    """Call :func:`warnings.warn`; the warning points to the user's line that called this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
