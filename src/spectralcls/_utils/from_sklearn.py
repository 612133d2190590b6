"""All private names of scikit-learn that this package uses, so that a release that moves one breaks only this file."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple, ParamSpec, TypeVar

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
    "LabelsChecked",
    "Options",
    "RealNotInt",
    "StrOptions",
    "boosted_trees",
    "callback_management_context",
    "check_columns_seen",
    "check_matplotlib_support",
    "check_weights",
    "check_y",
    "fit_context",
    "fit_root",
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
            """Not available: callbacks need scikit-learn 1.9."""
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


class TreeNodes(NamedTuple):
    """Nodes of trees, in the order in which the core takes them: the left child of a split follows the split.

    Attributes
    ----------
    kinds : (n,) uint8: leaf (0), split that sends missing values left (1) or right (2), split of a category (3)
    features : (n,) int32, column of a split
    numbers : (n,) threshold of a split, row of `levels` for a category, or value of a leaf
    rights : (n,) int32, right child of a split
    roots : (n_trees,) int32
    levels : (n_sets, 256) bool, levels of a category that go left; the last one is that of missing values
    """

    kinds: Any
    features: Any
    numbers: Any
    rights: Any
    roots: Any
    levels: Any


class LabelsChecked:
    """A base for scikit-learn's boosting whose labels were checked before: no second warning that these are many."""

    def _encode_y(self, y):
        return super()._encode_y(np.tile(y, 3))[: len(y)]


def boosted_trees(model, n_iterations=None):
    """`TreeNodes` of a histogram gradient boosting model, by iteration and then by class, and the baseline (1, k) to
    which the trees add."""
    trees = [tree for iteration in model._predictors[:n_iterations] for tree in iteration]
    sizes, sets = [len(tree.nodes) for tree in trees], [len(tree.raw_left_cat_bitsets) for tree in trees]
    roots, first_set = np.cumsum([0, *sizes[:-1]]), np.cumsum([0, *sets[:-1]])
    nodes = np.concatenate([tree.nodes for tree in trees])
    bits = np.concatenate([tree.raw_left_cat_bitsets for tree in trees]).astype("<u4").view(np.uint8)
    levels = np.unpackbits(bits, axis=1, bitorder="little").astype(bool)
    split = nodes["is_leaf"] == 0
    category, left = split & (nodes["is_categorical"] == 1), nodes["missing_go_to_left"]
    numbers = np.where(split, nodes["num_threshold"], nodes["value"])
    rows = (nodes["bitset_idx"] + np.repeat(first_set, sizes))[category]
    numbers[category], levels[rows, -1] = rows, left[category]
    kinds = np.where(category, 3, np.where(left, 1, 2)) * split
    rights = (nodes["right"] + np.repeat(roots, sizes)) * split
    features, rights, roots = (part.astype(np.int32) for part in (nodes["feature_idx"] * split, rights, roots))
    return TreeNodes(kinds.astype(np.uint8), features, numbers, rights, roots, levels), model._baseline_prediction


def fit_root(estimator, n_steps):
    """The callback context of an estimator's fit with this many steps; None before scikit-learn 1.9."""
    start = getattr(estimator, "_init_callback_context", None)
    return None if start is None else start(max_subtasks=n_steps)
