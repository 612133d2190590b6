"""Checks that several estimators share; the messages are scikit-learn's wherever it has one."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from .conversion import held_by_floats

_LARGEST_WEIGHT = 2.0**400  # of all; its inverse is the least that the largest may be


class TrainingData(NamedTuple):
    """Checked training data without the samples of weight zero."""

    X: np.ndarray  # (n, d) float32 or float64
    codes: np.ndarray  # (n,) class of each row, 0 ... C - 1
    classes: np.ndarray  # (C,) labels, sorted
    weights: np.ndarray | None  # (n,) positive weights; None where all are one
    kept: np.ndarray | None  # (n_given,) rows that remained; None where all did
    features: np.ndarray | None = None  # (d,) feature of each column of a table that was encoded

    @property
    def class_weight(self):
        """Sum of the sample weights of each class, (C,)."""
        return np.bincount(self.codes, self.weights, minlength=len(self.classes)).astype(np.float64)

    def joined(self, more):
        """These and `more` of the same classes."""
        weights = None
        if self.weights is not None or more.weights is not None:
            parts = [np.ones(len(part.X)) if part.weights is None else part.weights for part in (self, more)]
            weights = np.concatenate(parts)
        X, codes = np.concatenate([self.X, more.X]), np.concatenate([self.codes, more.codes])
        return TrainingData(X, codes, self.classes, weights, None, self.features)


def check_class_labels(y):
    """As scikit-learn's ``check_classification_targets``, and labels have to have an order."""
    labels = np.asarray(y)
    if labels.dtype == object and any(isinstance(label, str) for label in labels.flat):
        others = sorted({type(label).__name__ for label in labels.flat if not isinstance(label, str)})
        if others:
            raise TypeError(f"y mixes str with {', '.join(others)}: class labels must be all strings or all numbers.")
    check_classification_targets(y)


def check_training_data(estimator, X, y, sample_weight=None, *, at_least=2, dtype=(np.float64, np.float32), check=None):
    """Validate `X`, `y` and `sample_weight` of a classifier's `fit`; sets `n_features_in_` and the like.

    A sample of weight zero is removed, and a class that only has such samples does not exist. There have to be
    `at_least` classes. Features are checked by `check`, which takes what `validate_data` takes; None: they have to be
    complete numbers.
    """
    X, y = (check or type(estimator)._check_numbers)(estimator, X, y, dtype=dtype, ensure_min_samples=at_least)
    check_class_labels(y)
    weights = kept = None
    if sample_weight is not None:
        weights = check_sample_weight(sample_weight, X, y)
        if not weights.all():
            kept = weights > 0
            X, y, weights = X[kept], y[kept], weights[kept]
        if np.all(weights == 1):
            weights = None
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < at_least:
        after = " after removing samples of zero weight" if kept is not None else ""
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class{after}")
    return TrainingData(X, codes, classes, weights, kept)


def weights_of_rows(sample_weight, X):
    """One number per row of X that is finite and not negative, of whatever size, as float64 (n,)."""
    with held_by_floats("sample_weight"):
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def check_sample_weight(sample_weight, X, y=None):
    """Checked weights of the rows of X, float64 (n,); zero for what is too small beside the largest to be seen in sums.

    Raises
    ------
    ValueError
        For weights that are negative or not finite, for a largest weight with which sums would overflow or vanish, and
        if so the last sample of one of the labels y would be lost.
    """
    weights = weights_of_rows(sample_weight, X)
    largest = weights.max()
    if largest > _LARGEST_WEIGHT or 0 < largest < 1 / _LARGEST_WEIGHT:
        raise ValueError(
            f"The largest sample weight is {largest:g}, but has to lie between {1 / _LARGEST_WEIGHT:.1g} and "
            f"{_LARGEST_WEIGHT:.1g}: multiply all weights by the same number."
        )
    dtype = getattr(X, "dtype", None)
    if y is not None:
        check_no_class_vanishes(weights, dtype, y)
    return np.where(weights >= _least_share(dtype) * largest, weights, 0.0)


def check_no_class_vanishes(weights, dtype, y):
    """Raise if all weights of a label, not zero, are too small beside the largest to be seen in sums of the dtype."""
    share = _least_share(dtype)
    seen = weights >= share * weights.max(initial=0.0)
    if not seen.all():
        lost = np.setdiff1d(y[weights > 0], y[seen & (weights > 0)])
        if len(lost):
            raise ValueError(
                f"All sample weights of class {lost.tolist()[0]!r} are below {share:.1g} of the largest, which is too "
                "little to be seen in sums: enlarge them, or leave the class out by weights of zero."
            )


def _least_share(dtype):
    return 2.0**-100 if dtype == np.float32 else 2.0**-400


class RegressionData(NamedTuple):
    """Checked training data of a regressor without the samples of weight zero."""

    X: np.ndarray  # (n, d) float32 or float64
    targets: np.ndarray  # (n, k) float64
    weights: np.ndarray | None  # (n,) positive weights; None where all are one
    kept: np.ndarray | None  # (n_given,) rows that remained; None where all did
    one_output: bool  # whether y had one dimension


def check_regression_data(estimator, X, y, sample_weight=None):
    """Validate `X`, `y` of one or several outputs, and `sample_weight` of a regressor's `fit`."""
    X, y = estimator._check_numbers(X, y, multi_output=True, y_numeric=True)
    targets = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
    X, weights, kept = positive_weight(X, sample_weight)
    return RegressionData(X, targets if kept is None else targets[kept], weights, kept, y.ndim == 1)


def check_samples(estimator, X, sample_weight=None):
    """Validate `X` and `sample_weight` of a `fit` without labels: training data of one class."""
    X = estimator._check_numbers(X)
    X, weights, kept = positive_weight(X, sample_weight)
    return TrainingData(X, np.zeros(len(X), dtype=np.intp), np.zeros(1), weights, kept)


def positive_weight(X, sample_weight, y=None):
    """The rows of positive weight, their weights (None if all are one), and which they are (None if all)."""
    if sample_weight is None:
        return X, None, None
    weights, kept = check_sample_weight(sample_weight, X, y), None
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")  # as newer scikit-learn
    if not weights.all():
        kept = weights > 0
        X, weights = X[kept], weights[kept]
    return X, None if np.all(weights == 1) else weights, kept


def with_left_out(estimator, X, data, values, answer):
    """The `values` of the training samples, and ``answer(queries)`` for those of weight zero: one for each given."""
    if data.kept is None:
        return values
    out = np.empty((len(data.kept), *values.shape[1:]), values.dtype)
    out[data.kept] = values
    out[~data.kept] = answer(estimator._check_numbers(X, dtype=data.X.dtype, reset=False)[~data.kept])
    return out


def check_more_data(estimator, X, y, classes, sample_weight, before, check):
    """Further samples for the training data `before`; None before the first, which needs the `classes`.

    Raises
    ------
    ValueError
        For invalid data, and for labels that are not among the classes.
    """
    if before is None:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        check_class_labels(classes)
        classes = np.unique(classes)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    elif classes is not None and not np.array_equal(np.unique(classes), before.classes):
        raise ValueError(f"classes={classes!r} is not the same as in the first call, which had {before.classes!r}.")
    else:
        classes = before.classes
    X, y = check(estimator, X, y, dtype=[np.float64, np.float32], reset=before is None)
    check_class_labels(y)
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y has labels {unknown!r} that are not among the classes {classes!r}.")
    codes = np.searchsorted(classes, y)
    weights = None
    if sample_weight is not None:
        weights = check_sample_weight(sample_weight, X, y)
        kept = weights > 0
        X, codes, weights = X[kept], codes[kept], weights[kept]
    return TrainingData(X, codes, classes, weights, None)


def encode(y, classes):
    """Position of every label in the sorted `classes`, -1 where it is not among them."""
    if not len(classes):
        return np.full(len(y), -1)
    position = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[position] == y, position, -1)


def check_bandwidth(bandwidth, n_classes):
    """A bandwidth as a float, or as a float64 array with one positive value per class."""
    values = np.asarray(bandwidth)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"bandwidth must be numeric, got an array of dtype {values.dtype}.")
    values = values.astype(np.float64)
    if values.ndim == 1 and len(values) != n_classes:
        raise ValueError(
            f"bandwidth must be one value or one value per class: got {len(values)} values for {n_classes} classes."
        )
    if values.ndim > 1:
        raise ValueError(f"bandwidth must be a number or one-dimensional, got shape {values.shape}.")
    check_positive(values, "bandwidth")
    return values if values.ndim else float(values)


def check_positive(values, name):
    """Raise unless all values are positive and finite."""
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(f"{name} must be positive and finite, got {np.extract(wrong, values)[0]}.")


def check_priors(priors, n_classes):
    """Given class priors as float64 (C,); the words are those of GaussianNB."""
    with held_by_floats("priors"):
        priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(f"Number of priors must match number of classes: got shape {priors.shape} for {n_classes}.")
    if not np.all(priors >= 0):
        raise ValueError("Priors must be non-negative.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    return priors / priors.sum()


def sum_of_others(weights):
    """Sum of all weights but one, for each of them, (n,)."""
    others = weights.sum() - weights
    heaviest = weights.argmax()  # the only one beside which all others may be lost
    others[heaviest] = np.delete(weights, heaviest).sum()
    return others


def unit_scale(weights):
    """Weights divided by the power of two that brings the largest into [1/2, 1): exact, safe in float32."""
    return np.ldexp(weights, -np.frexp(weights.max())[1])
