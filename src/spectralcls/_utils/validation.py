"""Checks shared by several estimators, with scikit-learn's messages where it has them."""

import numpy as np
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from .advice import advise
from .conversion import as_array, is_missing, label_array, named_overflow_errors, without_mask
from .from_sklearn import check_weights

LARGEST_WEIGHT = 2.0**100  # upper limit of the largest weight; its inverse is the lower limit
LEAST_SHARE = 2.0**-100  # weights below this fraction of the largest would vanish in float32 sums; they count as zero
WEIGHT_BITS = 49  # bits kept of the 53 of a float64; the last ones depend on the order of operations


def check_class_labels(y):
    """Call scikit-learn's ``check_classification_targets``, without its warning of many classes; labels must also be
    sortable. Returns the classes, unless the labels are objects."""
    labels = np.asarray(y)
    if labels.dtype == object and any(isinstance(label, str) for label in labels.flat):
        others = sorted({type(label).__name__ for label in labels.flat if not isinstance(label, str)})
        if others:
            raise TypeError(f"y mixes str with {', '.join(others)}: class labels must be all strings or all numbers.")
    classes = np.unique(labels) if labels.dtype.kind in "biufUS" else None
    try:
        check_classification_targets(np.repeat(labels if classes is None else classes, 3))
    except ValueError as error:
        advice = " AutoRegressor predicts numbers." if labels.dtype.kind == "f" else ""
        raise ValueError(f"{error}{advice}") from None
    return classes


def refuse_records(y):
    """Raise for a structured array, such as times and events of survival analysis."""
    if names := getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError(
            f"y holds records with the fields {', '.join(map(repr, names))}: pass one field, such as "
            f"y[{names[-1]!r}]. No estimator of this package learns survival times."
        )


def check_column(y, n):
    """Checked class labels as an array (n,)."""
    refuse_records(y)
    with named_overflow_errors("y"):
        y = np.asarray(column_or_1d(label_array(y), warn=True))
    check_consistent_length(np.empty(n), y)
    refuse_missing_labels(y)
    y = _plain_numbers(y)
    assert_all_finite(y, input_name="y", estimator_name=None)
    classes = check_class_labels(y)
    if classes is not None and 20 < n < 2 * len(classes):
        advise(f"y has {len(classes)} classes in {n} samples; if they are amounts, AutoRegressor predicts them.")
    return y


def _plain_numbers(y):
    """Convert an object array of only numbers or only booleans, as from a mixed table, to a dtype of that kind."""
    if y.dtype == object and not any(isinstance(label, str) for label in y.flat):
        plain = np.array(y.tolist())
        if plain.dtype.kind in "biuf":
            return plain
    return y


def refuse_missing_labels(y, first_row=0):
    """Raise for the first missing value in an array of objects; rows count from `first_row`."""
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1:
        row = next((row for row, label in enumerate(y) if is_missing(label)), None)
        if row is not None:
            raise ValueError(f"Input y contains NaN: row {first_row + row}. Leave out samples without a label.")


def with_class_weight(y, sample_weight, class_weight):
    """Checked sample weights times the weights of their classes, float64 (n,); None if neither is given."""
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(y)) if sample_weight is None else check_sample_weight(sample_weight, len(y), y)
    if isinstance(class_weight, str):
        kept = weights > 0
        weights[kept] *= _balancing(y[kept], weights[kept])
    elif class_weight is not None:
        weights *= _importances(compute_sample_weight(class_weight, y))
    return weights


def _balancing(y, weights):
    """Factors that give all classes equal total weight, for positive weights; multiplied over the outputs of y."""
    factors = np.ones(len(weights))
    for output in np.atleast_2d(y.T):
        classes, codes = np.unique(output, return_inverse=True)
        factors *= weights_of_classes("balanced", classes, np.bincount(codes, weights))[codes]
    return factors


def _importances(factors):
    """Class weights, checked to be finite and not negative."""
    wrong = ~(np.isfinite(factors) & (factors >= 0))
    if wrong.any():
        raise ValueError(f"class_weight must be finite and not negative, got {factors[wrong][0]}.")
    return factors


def positive(weights):
    """The positive weights (None if all are one) and the mask of their samples (None if all are positive)."""
    if weights is None:
        return None, None
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")  # newer scikit-learn's text
    kept = None
    if not weights.all():
        kept = weights > 0
        weights = weights[kept]
    return None if np.all(weights == 1) else weights, kept


def nonnegative_weights(sample_weight, n):
    """Weights of n samples, checked to be finite and not negative, float64 (n,)."""
    with named_overflow_errors("sample_weight"):
        return check_weights(without_mask(sample_weight), np.empty(n), dtype=np.float64, ensure_non_negative=True)


def mean_one(weights):
    """Positive weights divided by their mean, and the mean.

    The quotients are rounded to `WEIGHT_BITS` bits, so that they stay the same if all weights are multiplied by a
    number.
    """
    exponent = np.frexp(weights.max())[1]  # sums of the weights themselves may overflow
    unit = float(np.ldexp(np.ldexp(weights, -exponent).mean(), exponent))
    return rounded(weights / unit), unit


def rounded(weights):
    """Weights with `WEIGHT_BITS` bits."""
    mantissas, exponents = np.frexp(weights)
    return np.ldexp(np.round(np.ldexp(mantissas, WEIGHT_BITS)), exponents - WEIGHT_BITS)


def relative_weights(sample_weight, n):
    """Weights divided by the mean of those large enough to affect sums, and this mean; None and 1.0 without weights."""
    if sample_weight is None:
        return None, 1.0
    weights = nonnegative_weights(sample_weight, n)
    counts = (weights > 0) & (weights >= LEAST_SHARE * weights.max(initial=0.0))
    if not counts.any():
        return weights, 1.0
    some, unit = mean_one(weights[counts])
    weights = weights / unit
    weights[counts] = 1.0 if np.ptp(some) == 0 else some
    return weights, unit


def check_sample_weight(sample_weight, n, y=None):
    """Checked weights of n samples, float64 (n,); weights negligible relative to the largest become zero.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, if the largest weight would make sums overflow or underflow, or if a
        label of y would lose its last sample.
    """
    weights = nonnegative_weights(sample_weight, n)
    largest = weights.max(initial=0.0)
    if largest > LARGEST_WEIGHT or 0 < largest < 1 / LARGEST_WEIGHT:
        raise ValueError(
            f"The largest sample weight is {largest:g}, but has to lie between {1 / LARGEST_WEIGHT:.1g} and "
            f"{LARGEST_WEIGHT:.1g}: multiply all weights by the same number."
        )
    if y is not None:
        check_no_class_vanishes(weights, y)
    return np.where(weights >= LEAST_SHARE * largest, weights, 0.0)


def check_no_class_vanishes(weights, y):
    """Raise if all positive weights of a label are negligible relative to the largest weight."""
    counts = weights >= LEAST_SHARE * weights.max(initial=0.0)
    if not counts.all():
        lost = np.setdiff1d(y[weights > 0], y[counts & (weights > 0)])
        if len(lost):
            raise ValueError(
                f"All sample weights of class {lost.tolist()[0]!r} are below {LEAST_SHARE:.1g} of the largest, too "
                "little to count in sums: enlarge them, or set them to zero to leave the class out."
            )


def positive_weight(X, sample_weight, y=None):
    """The rows of positive weight, their weights (None if all are one), and their mask (None if all are positive)."""
    weights, kept = positive(None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0], y))
    return X if kept is None else X[kept], weights, kept


def with_left_out(data, values, answer):
    """The `values` of the training samples, completed by ``answer(mask)`` for the samples of weight zero."""
    if data.kept is None:
        return values
    out = np.empty((len(data.kept), *values.shape[1:]), values.dtype)
    out[data.kept], out[~data.kept] = values, answer(~data.kept)
    return out


def class_codes(y, classes):
    """Position of every label in the sorted `classes`; -1 for a label that is not among them."""
    if not len(classes):
        return np.full(len(y), -1)
    position = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[position] == y, position, -1)


def of_labels(numbers, classes, name):
    """The values of a dict {label: number}, in the order of the classes."""
    labels = np.asarray(classes).tolist()
    wrong = sorted(map(repr, set(numbers) ^ set(labels)))
    if wrong:
        raise ValueError(f"{name} must have a number for each class and no other label, see {', '.join(wrong)}.")
    return [numbers[label] for label in labels]


def check_bandwidth(bandwidth, classes):
    """A positive bandwidth as a float, or a dict by label as a float64 array with one value for each class."""
    given = bandwidth
    if isinstance(given, dict):
        given = of_labels(given, classes, "bandwidth")
    elif np.ndim(given):
        raise ValueError(
            "bandwidth must be a number, or a dict {label: number} with one for each class: an array does not say "
            f"whether its numbers belong to classes or to features, got {bandwidth!r}."
        )
    values = as_array(given, "bandwidth")
    if values.dtype.kind not in "iuf" or values.ndim > 1:
        raise ValueError(f"bandwidth must be numeric, got {bandwidth!r}.")
    values = values.astype(np.float64)
    check_positive(values, "bandwidth")
    return values if values.ndim else float(values)


def check_positive(values, name):
    """Raise unless all values are positive and finite."""
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(f"{name} must be positive and finite, got {np.extract(wrong, values)[0]}.")


def weights_of_classes(class_weight, classes, counts):
    """Weight of each class, (C,), from a dict, or inversely proportional to its count if "balanced"."""
    if isinstance(class_weight, str):
        return counts.sum() / (len(classes) * np.maximum(counts, np.finfo(np.float64).tiny))
    return _importances(compute_class_weight(class_weight, classes=classes, y=classes))


def check_priors(priors, classes):
    """Given class priors, an array or a dict by label, as float64 (C,), with the messages of GaussianNB."""
    n_classes = len(classes)
    if isinstance(priors, dict):
        priors = of_labels(priors, classes, "priors")
    with named_overflow_errors("priors"):
        priors = as_array(priors, "priors", np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(f"Number of priors must match number of classes: got shape {priors.shape} for {n_classes}.")
    if not np.all(priors >= 0):
        raise ValueError("Priors must be non-negative.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    return priors / priors.sum()


def sum_of_others(weights):
    """For each weight, the sum of all others, (n,)."""
    others = weights.sum() - weights
    heaviest = weights.argmax()  # only here may the subtraction cancel
    others[heaviest] = np.delete(weights, heaviest).sum()
    return others


def within_groups(weights, groups):
    """Weights (n,) divided by the total weight of their group; unchanged without groups.

    A row of a new group has weight one: if groups are exchangeable, so are random rows of each, and ranks hold for the
    new row (hierarchical conformal prediction: Y. Lee, R. F. Barber, R. Willett, "Distribution-free inference with
    hierarchical data", 2023, arXiv:2306.06342).
    """
    return weights if groups is None else weights / np.bincount(groups, weights)[groups]


def unit_scale(weights):
    """Weights divided by a power of two, which is exact, so that the largest lies in [1/2, 1); and the exponent.

    None (all ones) is returned as None.
    """
    if weights is None:
        return None, 0
    exponent = np.frexp(weights.max())[1]
    return np.ldexp(weights, -exponent), exponent


def units_of(codes, weights, n_classes, by_class):
    """Mean weight of a sample of each class, (n_classes,), if weights include class weights; otherwise ones."""
    if not by_class:
        return np.ones(n_classes)
    return np.bincount(codes, weights, n_classes) / np.bincount(codes, minlength=n_classes)
