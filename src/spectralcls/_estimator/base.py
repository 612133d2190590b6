"""Base classes of the estimators, and the transaction that every fit is."""

import functools
from numbers import Real
from typing import Any, Self

from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._expansion import Expansion
from .._inputs import Inputs
from .._tuning import search
from .._tuning.temperature import finite_scores
from .._utils.advice import advise
from .._utils.from_sklearn import fit_context
from .._utils.typing import Array, ArrayLike
from .parameters import constraints
from .prediction_sets import PredictionSets
from .probabilities import Probabilities
from .state import DERIVED, Versioned


def transactional(method=None, *, keep=False, nested_validation=False):
    """Decorator of `fit` and its kin: the estimator changes as a whole when they succeed, and otherwise not at all.

    The method works on a copy of the estimator, which the estimator becomes in one assignment at the end. Whatever
    ends it early, invalid data or Ctrl-C, therefore leaves the estimator as it was.

    Parameters
    ----------
    method : callable
        ``method(self, ...)`` may set attributes on `self` as it likes, and returns `self` or something else.
    keep : bool, default=False
        Whether the copy starts with what was learned before, as `partial_fit` needs it. Otherwise it starts with the
        parameters and what other code has set on it, so that no attribute of the last fit survives. Arrays are not
        copied: a method that keeps them must not write into them.
    nested_validation : bool, default=False
        Whether estimators and functions that the method calls validate their own parameters, as those have to that a
        user hands in.
    """
    if method is None:
        return functools.partial(transactional, keep=keep, nested_validation=nested_validation)
    validated = fit_context(prefer_skip_nested_validation=not nested_validation)(method)

    @functools.wraps(method)
    def whole(self, *args, **kwargs):
        trial = object.__new__(type(self))
        before = _without_learned(self)
        vars(trial).update({name: v for name, v in (vars(self) if keep else before).items() if name not in DERIVED})
        result = validated(trial, *args, **kwargs)
        vars(trial)["_learned_names"] = sorted(vars(trial).keys() - before.keys())
        self.__dict__ = vars(trial)
        return self if result is trial else result

    return whole


def _without_learned(estimator):
    """The estimator's state without the attributes that its last `fit` set."""
    state, learned = dict(vars(estimator)), vars(estimator).get("_learned_names", ())
    return {name: value for name, value in state.items() if name not in learned and name != "_learned_names"}


class Estimator(Versioned):
    """An estimator whose parameters of shared names have the shared meaning, and whose X passes through `Inputs`.

    A subclass inherits the constraint of each parameter of its constructor that `CONSTRAINTS` lists; its own
    `_parameter_constraints` come first. What the user hands over becomes coordinates by the object that
    `_make_inputs` gives, which a fitted estimator keeps as `_inputs`.
    """

    _inputs: Inputs

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._parameter_constraints = constraints(cls)

    def _make_inputs(self, **options):
        """New `Inputs` with the parameters of the estimator that concern them."""
        shared = {
            "scale": getattr(self, "scale", None),
            "categories": getattr(self, "categorical_features", "from_dtype"),
            "class_weight": getattr(self, "class_weight", None),
            "random_state": getattr(self, "random_state", 0),
            "n_jobs": getattr(self, "n_jobs", None),
        }
        bandwidth = getattr(self, "bandwidth", None)
        shared["bandwidth"] = bandwidth if isinstance(bandwidth, Real) else None
        shared["tuned"] = self._is_tuned("bandwidth")
        return Inputs(type(self).__name__, **shared | options)

    def _is_tuned(self, name):
        value = getattr(self, name, None)
        return isinstance(value, str) and value == "cv"

    def _queries(self, X):
        return coordinates(self, X)

    def _search(self, sample, candidates, score):
        """The best candidates, see `search`; what was tried is kept as attributes.

        A winner that may disappoint is warned of, unless the caller is to be quiet.
        """
        own_grid = "bandwidth" in candidates and getattr(self, "bandwidth_grid", ()) is None
        found = search(sample, candidates, score, growing="bandwidth" if own_grid else None)
        self._note(found, sample.n_samples)
        if found.predicts_one_class:
            advise(_one_class(self), stacklevel=4)
        elif found.at_end is not None:
            advise(_at_end(self, found), stacklevel=4)
        return found

    def _note(self, found, n_samples):
        self.cv_results_, self.best_score_, self.n_tuning_samples_ = found.cv_results, found.best_score, n_samples
        if found.temperature is not None:
            self.temperature_ = found.temperature

    @property
    def n_features_in_(self):
        """Number of features seen during `fit`."""
        return self._of_inputs("n_features_in_")

    @property
    def feature_names_in_(self):
        """Names of the features seen during `fit`, if X had string names."""
        return self._of_inputs("feature_names_in_")

    @property
    def scale_(self):
        """ "each" or "shared": whether numbers were divided by a scale for each column or by one; None: as they are."""
        inputs = vars(self).get("_inputs")
        if inputs is None or not hasattr(self, "scale"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'scale_'")
        return inputs.scale_

    def _of_inputs(self, name):
        inputs = vars(self).get("_inputs")
        if inputs is None or name not in inputs.seen:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return inputs.seen[name]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _one_class(estimator):
    ways = {"class_weight": '"balanced"', "scoring": '"balanced_accuracy"'}
    known = " or ".join(f"{way}={value}" for way, value in ways.items() if hasattr(estimator, way))
    return (
        f"{type(estimator).__name__} predicts the same class for every held-out sample: the features tell little about "
        "the other classes, or these are rare." + (f" {known} gives rare classes more weight." if known else "")
    )


def _at_end(estimator, found):
    tried = found.cv_results["param_bandwidth"]
    return (
        f"{type(estimator).__name__}: the best bandwidth is the {found.at_end} of all that were tried, from "
        f"{tried.min():.3g} to {tried.max():.3g}. Look at cv_results_, or give a bandwidth_grid that goes on."
    )


def coordinates(estimator, X):
    """Queries (m, d) as a fitted estimator sees them."""
    check_is_fitted(estimator)
    return estimator._inputs(X)


def fitted_form(estimator):
    """The `Expansion` behind a fitted estimator, None if there is none, and the point there of each training sample."""
    check_is_fitted(estimator)
    form = getattr(estimator, "_model", None)
    return (form if isinstance(form, Expansion) else None), vars(estimator).get("_order")


def integrates_missing(estimator):
    """Whether a fitted estimator integrates out what a query lacks."""
    form, _ = fitted_form(estimator)
    return form is not None and form.by_class and estimator._inputs.missing == "integrate"


class Classifier(Probabilities, PredictionSets, ClassifierMixin, Estimator):
    """A classifier by scores of the classes, larger wins.

    Subclasses learn from checked data in ``_learn(data)`` and score coordinates in ``_scores(X)``, an array (m, C) in
    which -inf means that a class is out of reach.
    """

    classes_: Any  # (C,)
    _fewest_classes = 2

    @transactional
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points, or a data frame; float32 stays float32, all other numbers become float64.
        y : array-like of shape (n_samples,)
            Class labels, two classes at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k equals giving the sample k times, weight 0 leaving it out.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid data, one class only, or parameters that do not fit the data. A fitted classifier stays as it
            was.
        """
        self._inputs = self._make_inputs()
        data = self._inputs.fit(X, y, sample_weight, at_least=self._fewest_classes)
        self.classes_ = data.classes
        self._learn(data)
        return self

    def _learn(self, data):
        raise NotImplementedError

    def _scores(self, X):
        raise NotImplementedError

    def _evidence(self, X):
        """Finite scores of the classes for queries as the user has them."""
        return finite_scores(self._scores(self._queries(X)))

    def _winners(self, X):
        """The best class of each query, (m,): that of the largest score."""
        return self._scores(X).argmax(axis=1)

    def decision_function(self, X: Any) -> Array:
        """Score the classes, larger wins.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes), float64
            With two classes the score of ``classes_[1]`` less that of ``classes_[0]``. Always finite:
            logarithmic scores of classes out of reach are placed below all others.

        Raises
        ------
        ValueError
            For queries with NaN or infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        One pass over the n_queries x n_samples pairs: O(n_queries n_samples n_features) time, O(n_queries) memory.
        """
        scores = self._evidence(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Predict the best class of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Labels, in the dtype of `classes_`. Where no kernel reaches (compact kernels) and the rule compares nothing
            else, the class of the nearest training point, among the classes of positive prior probability.

        Raises
        ------
        ValueError
            For queries with NaN or infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        At most the cost of `decision_function`.
        """
        best = self._winners(self._queries(X))
        return self.classes_[best]


def log_posterior(log_joint):
    """Log posterior probabilities (m, C). Less the largest first: far away a log joint may be 1e40."""
    relative = log_joint - log_joint.max(axis=1, keepdims=True)
    return relative - logsumexp(relative, axis=1, keepdims=True)
