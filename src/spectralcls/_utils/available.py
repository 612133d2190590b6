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
    return lambda method: Available(method, check)  # type: ignore[return-value]


class Available:
    """A method, and whether an object has it."""

    def __init__(self, method, check):
        update_wrapper(self, method)
        self.method, self._check = method, check

    def __get__(self, instance, owner=None):
        if instance is None:
            return self.method
        if not self._check(instance):
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self.__name__!r}")
        return self.method.__get__(instance, owner)
