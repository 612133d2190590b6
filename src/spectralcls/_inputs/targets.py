"""Checked targets and weights of samples: training data without coordinates."""

from datetime import date, datetime, timedelta
from numbers import Number

import numpy as np
from sklearn.utils import check_consistent_length

from .._utils.conversion import is_missing, label_array, named_overflow_errors, without_mask, without_na
from .._utils.from_sklearn import check_y
from .._utils.validation import (
    check_class_labels,
    check_column,
    check_sample_weight,
    positive,
    refuse_missing_labels,
    refuse_records,
    with_class_weight,
)
from .training_data import TrainingData


def check_labels(name, y, n, sample_weight=None, *, class_weight=None, classes=None, at_least=2):
    """Training data without coordinates: the classes and weights of n samples.

    Samples of weight zero are left out, as are classes with only such samples unless `classes` are given.

    Parameters
    ----------
    name : str
        Name of the estimator, for messages.
    y : array-like of shape (n,)
    n : int
    sample_weight : array-like of shape (n,), optional
    class_weight : dict, "balanced" or None
        As in scikit-learn; multiplies the sample weights.
    classes : array-like, optional
        All labels that may ever occur; by default, those of y.
    at_least : int
        Smallest number of classes.
    """
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if classes is not None:
        check_class_labels(classes)
        classes = np.unique(classes)
        if len(classes) < at_least:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    y = check_column(y, n)
    weights, kept = positive(with_class_weight(y, sample_weight, class_weight))
    own = y if kept is None else y[kept]
    if classes is None:
        classes, codes = np.unique(own, return_inverse=True)
    else:
        codes = _codes(own, classes)
    if len(classes) < at_least:
        after = " after removing samples of zero weight" if kept is not None else ""
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class{after}")
    return TrainingData(None, codes, classes, weights, kept, y=y)


def check_more_labels(y, n, classes, sample_weight=None, *, class_weight=None, new_classes=False):
    """`check_labels` for further samples of a `partial_fit`; `classes` are those known so far."""
    y = check_column(y, n)
    if isinstance(class_weight, dict):  # some classes may be absent this time
        own = set(y.tolist())
        class_weight = {label: weight for label, weight in class_weight.items() if label in own}
    weights, kept = positive(with_class_weight(y, sample_weight, class_weight))
    y = y if kept is None else y[kept]
    if (y.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        now, before = y.tolist()[0], classes.tolist()[0]
        raise ValueError(f"y has labels of another type than the classes known so far: {now!r} now, {before!r} before.")
    classes = np.union1d(classes, y) if new_classes else classes
    return TrainingData(None, _codes(y, classes), classes, weights, kept)


def check_same_classes(classes, before):
    """Raise unless `partial_fit` is given the same `classes` as before."""
    if not np.array_equal(np.unique(classes), np.unique(before)):
        raise ValueError(f"classes={classes!r} is not the same as in the first call, which had {before!r}.")


def require_answers(name, y):
    """Raise if there is no y."""
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")


def check_answers(name, y, X, **options):
    """y after scikit-learn's checks, with one row for each row of X."""
    require_answers(name, y)
    y = without_mask(without_na(y))
    refuse_missing_labels(y)
    with named_overflow_errors("y"):
        y = check_y(y, estimator=name, **options)
    check_consistent_length(X, y)
    return y


def check_targets(name, y, n, sample_weight=None):
    """`check_labels` for numeric targets, (n,) or (n, k)."""
    require_answers(name, y)
    refuse_records(y)
    y = without_mask(without_na(y))
    refuse_other_than_numbers(name, y)
    y = check_answers(name, y, np.empty(n), multi_output=True, y_numeric=True)
    data = check_weights_of_points(n, sample_weight)
    targets = np.asarray(y, dtype=np.float64).reshape(n, -1)
    return data._replace(targets=targets if data.kept is None else targets[data.kept], y=y)


def refuse_other_than_numbers(name, y):
    """Raise for targets that are dates, texts or other objects, or missing or infinite; the latter are named by row."""
    values = np.atleast_1d(np.asarray(y))
    kinds = {values.dtype.kind} if values.dtype != object else {_kind_of(value) for value in values.flat}
    if kinds & {"M", "m"}:
        raise ValueError(
            f"y holds dates or durations, and {name} predicts numbers: pass the days since some date, such as "
            "(y - y.min()) / np.timedelta64(1, 'D')."
        )
    if kinds & {"U", "S"}:
        place, text = next((place, value) for place, value in enumerate(values.flat) if isinstance(value, str | bytes))
        try:
            values.astype(np.float64)
        except ValueError:
            advice = "AutoClassifier and KernelRidgeClassifier predict classes."
        else:
            advice = "pass y.astype(float)."
        row = place * len(values) // values.size
        raise ValueError(f"y holds text, {str(text)!r} in row {row}, and {name} predicts numbers: {advice}")
    for place, value in enumerate(values.flat) if values.dtype == object else ():
        if not (is_missing(value) or isinstance(value, Number | np.bool_)):
            kind, row = type(value).__name__, place * len(values) // values.size
            raise ValueError(f"y holds objects of type {kind}, as in row {row}, and {name} predicts numbers.")
    if values.dtype.kind == "f" and values.ndim in (1, 2):
        for what, found in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
            if found.any():
                row = found.reshape(len(values), -1).any(axis=1).argmax()
                raise ValueError(f"Input y contains {what}: row {row}. Leave out samples without a target.")


def _kind_of(value):
    """The kind of NumPy dtype for an object in a column, including Python's dates and durations."""
    if is_missing(value):
        return ""
    return {date: "M", datetime: "M", timedelta: "m"}.get(type(value)) or np.asarray(value).dtype.kind


def with_groups(data, groups, n):
    """Training data with the groups of their samples as integers from 0, unless all groups have one sample.

    Parameters
    ----------
    data : TrainingData
    groups : array-like of shape (n,), or None
        Numbers, texts or other values that are equal for samples of a group.
    n : int
    """
    if groups is None:
        return data
    values = np.asarray(label_array(groups))
    values = values.ravel() if values.shape == (n, 1) else values
    if values.shape != (n,):
        raise ValueError(f"groups must be one value for each of the {n} samples, got an array of shape {values.shape}.")
    missing = np.array([is_missing(value) for value in values]) if values.dtype == object else values != values
    if missing.any():
        raise ValueError(f"groups lacks a value in row {missing.argmax()}: give such rows a group of their own.")
    values = values if data.kept is None else values[data.kept]
    if values.dtype == object:
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values.tolist()))}
        codes = np.array([numbers[value] for value in values.tolist()])
    else:
        codes = np.unique(values, return_inverse=True)[1]
    if codes.max() == 0:
        raise ValueError("groups has a single value: at least two groups are needed to leave one out.")
    return data._replace(groups=codes) if codes.max() + 1 < len(codes) else data


def check_weights_of_points(n, sample_weight=None):
    """`check_labels` for samples without targets, which form one class."""
    weights, kept = positive(None if sample_weight is None else check_sample_weight(sample_weight, n))
    n_kept = n if kept is None else np.count_nonzero(kept)
    return TrainingData(None, np.zeros(n_kept, dtype=np.intp), np.zeros(1), weights, kept, y=np.zeros(n))


def _codes(y, classes):
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y has labels {unknown!r} that are not among the classes {classes!r}.")
    return np.searchsorted(classes, y)
