"""The base class of the estimators, and the transaction around every fit."""

import functools
import inspect
from collections.abc import Callable
from importlib import metadata
from numbers import Real
from typing import Any, ParamSpec, Self, TypeVar, overload

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.threads import serial_blas
from .._expansion import Expansion
from .._inputs import Inputs, inputs_for
from .._tuning import search
from .._utils.advice import advise
from .._utils.available import Available, available_if
from .._utils.bases import BaseEstimator
from .._utils.blocks import in_memory
from .._utils.from_sklearn import fit_context
from .._utils.typing import Array
from .parameters import constraints
from .state import DERIVED, readable, written

P = ParamSpec("P")
R = TypeVar("R")


@overload
def transactional(method: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def transactional(*, keep: bool = ..., nested_validation: bool = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def transactional(method: Any = None, *, keep: bool = False, nested_validation: bool = False) -> Any:
    """Decorator of `fit` and similar methods that leaves the estimator unchanged if they fail.

    The method works on a copy of the estimator, and one assignment at the end replaces the estimator's state. Thus
    neither invalid data nor Ctrl-C change the estimator.

    Parameters
    ----------
    method : callable
        ``method(self, ...)`` may set attributes of `self`, and returns `self` or another result.
    keep : bool, default=False
        Whether the copy starts with the learned attributes, as `partial_fit` requires. Otherwise it starts with the
        parameters and with attributes set by other code, so that no attribute of the last fit survives. Arrays are not
        copied, so the method must not write into them.
    nested_validation : bool, default=False
        Whether estimators and functions called by the method validate their parameters, as is needed for objects of
        the user.
    """
    if method is None:
        return functools.partial(transactional, keep=keep, nested_validation=nested_validation)
    validated = fit_context(prefer_skip_nested_validation=not nested_validation)(method)

    @functools.wraps(method)
    def whole(self, *args, **kwargs):
        trial = object.__new__(type(self))
        before = _without_learned(self)
        vars(trial).update({name: v for name, v in (vars(self) if keep else before).items() if name not in DERIVED})
        with serial_blas():
            result = validated(trial, *args, **kwargs)
        vars(trial)["_learned_names"] = sorted(vars(trial).keys() - before.keys())
        self.__dict__ = vars(trial)
        return self if result is trial else result

    return whole


def _door(method):
    """A public method, inside which underflow is no error, whatever :func:`numpy.seterr` says: the kernel value of a
    far point is 0. An error in its arguments names the class of the object, not the base class that defines it."""

    @functools.wraps(method)
    def through(*args, **kwargs):
        try:
            with np.errstate(under="ignore"):
                return method(*args, **kwargs)
        except TypeError as error:
            defined, _, rest = str(error).partition("() ")
            if defined not in (method.__qualname__, method.__name__) or not args:
                raise
            raise TypeError(f"{type(args[0]).__name__}.{method.__name__}() {rest}") from None

    return through


def _without_learned(estimator):
    """The estimator's state without the attributes that its last `fit` set."""
    state, learned = dict(vars(estimator)), vars(estimator).get("_learned_names", ())
    return {name: value for name, value in state.items() if name not in learned and name != "_learned_names"}


def fitted_on_workers(estimator):
    """True if the training points are a collection; otherwise raises AttributeError."""
    if not is_on_workers(estimator):
        raise AttributeError(f"{type(estimator).__name__} was not fitted to a Dask collection.")
    return True


def fitted_in_memory(estimator):
    """True if the training points are in memory; otherwise raises AttributeError with the alternative."""
    if is_on_workers(estimator):
        raise AttributeError(
            f"This {type(estimator).__name__} was fitted to a Dask collection, but the method needs all points in "
            "memory: use to_local()."
        )
    return True


def is_on_workers(estimator):
    """Whether an estimator was fitted to a collection on workers."""
    inputs = vars(estimator).get("_inputs")
    return inputs is not None and inputs.on_workers


@functools.cache
def documents():
    """URL of the documentation, from the metadata of the installed package; empty if there is none."""
    try:
        addresses = metadata.metadata("spectralcls").get_all("Project-URL", [])
    except metadata.PackageNotFoundError:  # the package is on the path but not installed
        addresses = []
    return next((line.split(", ")[1].rstrip("/") for line in addresses if line.startswith("Documentation, ")), "")


class Estimator(BaseEstimator):
    """An estimator whose X passes through `Inputs` and whose parameters have shared constraints.

    The constraint of a parameter is the one in `_parameter_constraints` of the class or its bases, or else the one in
    `CONSTRAINTS`. The object from `_make_inputs` converts the user's data to coordinates; a fitted estimator keeps it
    as `_inputs`. Pickles contain the version that wrote them.
    """

    _inputs: Inputs
    _learns_on_workers = False
    _weighs_categories = True
    _doc_link_module = "spectralcls"

    @property
    def _doc_link_template(self):  # scikit-learn's hook: the link in the HTML of an estimator
        module = ".".join(type(self).__module__.split(".")[:2])
        return documents() and f"{documents()}/reference/generated/{module}.{type(self).__name__}.html"

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._parameter_constraints = constraints(cls)
        for name, method in [*vars(cls).items()]:
            if isinstance(method, Available):
                method.method = _door(method.method)
            elif inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, _door(method))

    def _make_inputs(self, **options):
        """New `Inputs` with the relevant parameters of the estimator."""
        shared = {
            "scale": getattr(self, "scale", None),
            "categories": getattr(self, "categorical_features", "from_dtype"),
            "class_weight": getattr(self, "class_weight", None),
            "weighs_categories": self._weighs_categories,
            "random_state": getattr(self, "random_state", 0),
            "n_jobs": getattr(self, "n_jobs", None),
        }
        bandwidth = getattr(self, "bandwidth", None)
        shared["bandwidth"] = bandwidth if isinstance(bandwidth, Real) else None
        shared["tuned"] = self._is_tuned("bandwidth")
        return Inputs(type(self).__name__, **shared | options)

    def _inputs_for(self, X):
        """New `Inputs` for X; their class reads collections if X is one and the estimator supports collections."""
        inputs = self._make_inputs()
        found = inputs_for(X, inputs) if self._learns_on_workers else inputs
        if found.on_workers:
            self._check_on_workers()
        return found

    def _check_on_workers(self):
        """Raise for parameters that need all points in memory."""
        tuned = any(map(self._is_tuned, self.get_params(deep=False)))
        if tuned and not isinstance(self.cv, int | np.integer | str | None):
            raise ValueError(
                'On Dask collections cv must be an int or "loo": splits of arrays in memory do not apply. '
                f"Got {self.cv!r}."
            )

    def _is_tuned(self, name):
        value = getattr(self, name, None)
        return isinstance(value, str) and value in ("cv", "cv_per_class")

    def _queries(self, X):
        return coordinates(self, X)

    def _search(self, sample, candidates, score):
        """`search` the candidates, and set attributes from its result.

        Warns about a doubtful winner, unless warnings are suppressed.
        """
        own_grid = "bandwidth" in candidates and getattr(self, "bandwidth_grid", ()) is None
        found = search(sample, candidates, score, growing="bandwidth" if own_grid else None)
        self._note(found, sample.n_samples)
        if found.predicts_one_class:
            self._warn_of_one_class()
        elif found.at_end is not None:
            advise(at_end(self, found))
        return found

    def _warn_if_one_class(self, scores):
        """Warn if the largest of the scores (m, C) belongs to the same class for all held-out samples."""
        if np.ptp(scores.argmax(axis=1)) == 0:
            self._warn_of_one_class()

    def _warn_of_one_class(self):
        ways = {"class_weight": '"balanced"', "scoring": '"balanced_accuracy"'}
        known = " or ".join(f"{way}={value}" for way, value in ways.items() if hasattr(self, way))
        advise(
            f"{type(self).__name__} predicts the same class for every held-out sample: the features say little about "
            "the other classes, or these are rare." + (f" {known} gives rare classes more weight." if known else "")
        )

    def _note(self, found, n_samples):
        self.cv_results_, self.best_score_, self.n_tuning_samples_ = found.cv_results, found.best_score, n_samples
        if found.temperature is not None:
            self.temperature_ = found.temperature

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during `fit`."""
        return self._of_inputs("n_features_in_")

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features seen during `fit`, if X had string names."""
        return self._of_inputs("feature_names_in_")

    @property
    def scale_(self) -> str | None:
        """ "each" if each column of numbers has its own scale, "shared" if all share one, None if unscaled."""
        inputs = vars(self).get("_inputs")
        if inputs is None or not hasattr(self, "scale"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'scale_'")
        return inputs.scale_

    @available_if(fitted_on_workers)
    def to_local(self) -> Self:
        """Copy the fitted estimator, with all learned data in the memory of this process.

        Only present after a fit to a Dask collection.

        Returns
        -------
        local : object
            An estimator that predicts without a cluster, can be saved, and has the methods that need all points in
            memory.
        """
        local = type(self)(**self.get_params(deep=False))
        vars(local).update({name: in_memory(value) for name, value in vars(self).items()})
        return local

    def _of_inputs(self, name):
        inputs = vars(self).get("_inputs")
        if inputs is None or name not in inputs.seen:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return inputs.seen[name]

    def __dask_tokenize__(self):
        return joblib.hash(self)  # hashes all attributes; Dask would hash only the parameters of a dataclass

    def __getstate__(self):
        return written(super().__getstate__())

    def __setstate__(self, state):
        super().__setstate__(readable(state, type(self).__name__))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def at_end(estimator, found):
    """Warning text for a search whose best bandwidth is the smallest or the largest one tried."""
    tried = found.cv_results["param_bandwidth"]
    return (
        f"{type(estimator).__name__}: the best bandwidth is the {found.at_end} of those tried, from "
        f"{tried.min():.3g} to {tried.max():.3g}. Look at cv_results_, or give a bandwidth_grid that extends further."
    )


def coordinates(estimator, X):
    """Queries (m, d) in the coordinates of a fitted estimator."""
    if "_inputs" not in vars(estimator):  # tested first: the full check takes as long as a query's sums
        check_is_fitted(estimator)
    return estimator._inputs(X)


def columns(estimator, X):
    """Queries of a fitted estimator as columns, one for each feature."""
    return estimator._inputs.columns(X)


def drawn(estimator):
    """The training samples that a fitted estimator keeps, as columns, and their weights."""
    found = estimator._inputs.drawn()
    if found is None:
        raise AttributeError(
            f"This {type(estimator).__name__} keeps no training samples from which values could be drawn, because it "
            "was fitted to a sparse matrix, a kernel matrix or a Dask collection."
        )
    return found


def fitted_form(estimator):
    """The `Expansion` of a fitted estimator, or None, and the index of the point of each training sample, or None."""
    check_is_fitted(estimator)
    form = getattr(estimator, "_model", None)
    return (form if isinstance(form, Expansion) else None), vars(estimator).get("_order")


def user_rows(estimator, samples):
    """The user's row, among those of positive weight, from which each of some training samples comes."""
    return estimator._inputs.rows(samples.max() + 1)[samples]


def integrates_missing(estimator):
    """Whether a fitted estimator integrates over missing values of a query."""
    form, _ = fitted_form(estimator)
    return form is not None and form.by_class and estimator._inputs.missing == "integrate"


def affine(estimator):
    """Center (n_features,) and axes of a fitted estimator whose coordinates are ``(X - center) @ axes``; raises
    ValueError for other coordinates."""
    return estimator._inputs.affine()
