"""All private names of scikit-learn that this package uses, so that a release that moves one breaks only this file."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, ParamSpec, TypeVar

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils._param_validation import (
    HasMethods,
    Hidden,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_params,
)
from sklearn.utils.validation import _check_feature_names, _check_n_features
from sklearn.utils.validation import _check_sample_weight as check_weights
from sklearn.utils.validation import _check_y as check_y

__all__ = [
    "CallbackSupport",
    "HasMethods",
    "Hidden",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "boosted_levels",
    "boosted_nodes",
    "callback_management_context",
    "check_columns_seen",
    "check_matplotlib_support",
    "check_weights",
    "check_y",
    "fit_context",
    "fit_root",
    "validate_params",
    "validated",
]


try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback._callback_support import callback_management_context
except ImportError:
    callback_management_context = nullcontext

    class CallbackSupport:  # type: ignore[no-redef]
        """Replacement for scikit-learn before 1.9, which has no callbacks."""

        @property
        def set_callbacks(self):
            raise AttributeError('callbacks need scikit-learn 1.9: pip install "scikit-learn>=1.9"')


P = ParamSpec("P")
R = TypeVar("R")


def check_columns_seen(name, seen, X, *, reset):
    """Check the number and the names of the features as scikit-learn does; messages name the estimator.

    Parameters
    ----------
    name : str
        Name of the estimator's class.
    seen : dict
        The estimator's `n_features_in_` and, if X has string names, `feature_names_in_`; set if `reset`.
    X : array-like or data frame
    reset : bool
        Whether to store the features of X instead of comparing with the stored ones.
    """
    holder = type(name, (), {})()  # scikit-learn's messages name the class of their argument
    vars(holder).update(seen)
    _check_feature_names(holder, X, reset=reset)
    _check_n_features(holder, X, reset=reset)
    seen.clear()
    seen.update(vars(holder))


def validated(constraints: Mapping[str, Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that validates the parameters of a function against `constraints`, which maps names to constraints."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own = {name: constraints[name] for name in inspect.signature(function).parameters if name in constraints}
        return validate_params(own, prefer_skip_nested_validation=True)(function)

    return decorate


def boosted_nodes(model):
    """Nodes of the trees of a `HistGradientBoostingClassifier`, by iteration and then by class, and the baseline scores
    (1, k) to which the trees add."""
    return [tree.nodes for iteration in model._predictors for tree in iteration], model._baseline_prediction


def fit_root(estimator, n_steps):
    """The callback context of an estimator's fit with this many steps; None before scikit-learn 1.9."""
    start = getattr(estimator, "_init_callback_context", None)
    return None if start is None else start(max_subtasks=n_steps)


def boosted_levels(model):
    """For each tree of `boosted_nodes`, which of 256 levels go left, (n, 256) bool, with a row for each categorical
    split. Nodes with ``is_categorical`` refer to rows by ``bitset_idx``."""
    bits = [tree.raw_left_cat_bitsets.astype("<u4") for iteration in model._predictors for tree in iteration]
    return [np.unpackbits(own.view(np.uint8), axis=1, bitorder="little").astype(bool) for own in bits]
