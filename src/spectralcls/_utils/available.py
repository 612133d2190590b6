"""Methods that exist only on some objects; on others, an AttributeError gives the reason."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def available_if(check: Callable[[Any], object]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a method that exists if ``check(self)`` is true.

    Like scikit-learn's decorator of this name, except that the user sees the check's AttributeError with its reason.
    """
    return lambda method: _Available(method, check)  # type: ignore[return-value]


class _Available:
    def __init__(self, method, check):
        update_wrapper(self, method)
        self._method, self._check = method, check

    def __get__(self, instance, owner=None):
        if instance is None:
            return self._method
        if not self._check(instance):
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self.__name__!r}")
        return self._method.__get__(instance, owner)
