"""Parameters shared by estimators: one name has one meaning and one range of values."""

import functools
import inspect
from dataclasses import dataclass
from numbers import Integral, Real
from typing import dataclass_transform

from .._tuning import SCORINGS
from .._utils.from_sklearn import HasMethods, Interval, StrOptions
from ..kernels import KERNELS

_COUNT = Interval(Integral, 1, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")

CONSTRAINTS = {
    "bandwidth": [_POSITIVE, StrOptions({"cv", "silverman", "silverman_per_class"}), dict, "array-like"],
    "kernel": [StrOptions(set(KERNELS))],
    "metric": [StrOptions({"whiten", "diagonal", "full"}), HasMethods(["transform"]), None],
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    "scale": [StrOptions({"auto"}), None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "scoring": [StrOptions(set(SCORINGS))],
    "n_components": [_COUNT, StrOptions({"cv", "all"})],
    "max_components": [_COUNT],
    "potential": [StrOptions({"convolved", "same"})],
    "cv": [
        Interval(Integral, 2, None, closed="left"),
        StrOptions({"loo"}),
        HasMethods(["split", "get_n_splits"]),
        "array-like",
    ],
    "bandwidth_grid": ["array-like", None],
    "max_tuning_samples": [Interval(Integral, 2, None, closed="left"), None],
    "tolerance": [Interval(Real, 0, 1, closed="neither"), None],
    "rank": [_COUNT, None],
    "solver": [StrOptions({"auto", "lanczos", "arpack", "dense"})],
    "tol": [Interval(Real, 0, 1, closed="left"), None],
    "random_state": ["random_state"],
    "verbose": ["boolean"],
    "n_jobs": [_COUNT, Interval(Integral, None, -1, closed="right"), None],
}


def constraints(cls):
    """Constraints of the parameters of a class, from `CONSTRAINTS` and the `_parameter_constraints` of the class and
    its bases.
    """
    names = inspect.signature(cls.__init__).parameters
    found = {name: CONSTRAINTS[name] for name in names if name in CONSTRAINTS}
    for base in reversed(cls.__mro__):
        found |= vars(base).get("_parameter_constraints", {})
    return found


@dataclass_transform(eq_default=False)
def with_parameters(cls):
    """Decorator of an estimator class that turns annotated names in its body into parameters of its constructor.

    Names after ``_: KW_ONLY`` of :mod:`dataclasses` are keyword-only. The signature shows them before those of the
    bases.
    """
    above = inspect.signature(cls.__init__).parameters
    cls = dataclass(cls, eq=False, repr=False, match_args=False)
    cls.__init__ = _naming_the_class(cls.__init__)
    signature = inspect.signature(cls.__init__)
    shown = sorted(signature.parameters.values(), key=lambda p: (p.kind, p.kind == p.KEYWORD_ONLY and p.name in above))
    cls.__init__.__signature__ = signature.replace(parameters=shown)
    names = inspect.signature(cls).parameters
    cls._parameter_constraints = {name: allowed for name, allowed in constraints(cls).items() if name in names}
    return cls


def _naming_the_class(init):
    """The constructor, with errors that name the class that the user calls instead of the class that defines it."""

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        try:
            init(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(str(error).replace(f"{init.__qualname__}()", f"{type(self).__name__}()")) from None

    return __init__
