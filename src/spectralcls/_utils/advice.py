"""Warnings that a caller can suppress in its thread. Python's own filters hold for the whole process."""

import inspect
import warnings
from contextlib import contextmanager
from contextvars import ContextVar

_BETWEEN = {"spectralcls", "sklearn", "joblib", "contextlib", "functools"}  # packages whose code is not the user's
_withheld = ContextVar("withheld", default=False)


@contextmanager
def quietly():
    """Suppress `advise` while evaluating candidates that may not be chosen."""
    before = _withheld.set(True)
    try:
        yield
    finally:
        _withheld.reset(before)


def advise(message, category=UserWarning):
    """Call `tell`, unless the caller has suppressed it."""
    if not _withheld.get():
        tell(message, category)


def tell(message, category=UserWarning):
    """Warn as :func:`warnings.warn` does, at the user's line that called this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
