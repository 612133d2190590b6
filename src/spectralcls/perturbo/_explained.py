"""Share of each query's image that each class explains, correctly ordered at any distance and with missing values.

Each class completes a query with the regression that completes its own points. The functions take a list of arrays (m,
d): the queries as completed by each class.
"""

import numpy as np

from .._inputs.completion import Completion
from .._inputs.missing import is_incomplete
from ._class_model import together
from ._span import LOWEST

_MANY = 2048  # from this many queries on, float32 is tried
_TRIAL = 128  # queries of the trial, which takes at most 6 % of the time of `_MANY` queries
_WORTH = 0.6  # least fraction of queries that float32 must decide to repay its pass
_UNDERFLOW = 1e-80  # explained shares below this are recomputed with shifted exponents


def seen_by_classes(Q, models, completion=None, features=None, n_jobs=None):
    """Queries (m, d), completed by each class.

    Parameters
    ----------
    completion : Completion, optional
        Completion learned from incomplete points. If None, it is learned from the models' points if a query has missing
        values.
    features : ndarray (d,), optional
        Feature of each column; the columns of a feature are missing together.
    """
    if not is_incomplete(Q):
        return [Q] * len(models)
    if completion is None:
        completion = Completion.learned(*together(models), features)
    lacking = np.isnan(Q).any(axis=1)
    seen = []
    for c in range(len(models)):
        seen.append(Q.copy())
        seen[c][lacking] = completion.of_class(Q[lacking], c, n_jobs)[0]
    return seen


def log_explained(models, seen, n_jobs=None, relative=True):
    """log(1 - tau) of every query (rows) and class (columns), finite and correctly ordered within each row.

    If tau has reached its limit alpha / (n_l + alpha), up to rounding, for all classes and ``relative`` is true, the
    smallest limit is subtracted from the tau of the row, so that the differences are not lost.
    """
    pairs = list(zip(models, seen, strict=True))
    with np.errstate(divide="ignore"):
        out = np.log(np.stack([model.explained(Q, n_jobs) for model, Q in pairs], axis=1))
    for column, (model, Q) in zip(out.T, pairs, strict=True):
        far = np.flatnonzero(column < np.log(_UNDERFLOW))
        if len(far):
            column[far] = model.log_explained_far(Q[far])
    limits = [model.flat_limit(Q) for model, Q in pairs]
    flat = np.logical_and.reduce([limit[2] for limit in limits])
    if flat.any():
        smallest = min(limit[0] for limit in limits) if relative else 0.0
        for column, (constant, excess, _) in zip(out.T, limits, strict=True):
            column[flat] = np.log1p(-(constant - smallest) - excess[flat])
    return out


def deciding(models, seen, n_jobs=None):
    """Scores (m, C) whose largest entry in each row is in the same column as in `log_explained`; faster for many
    queries.

    Shares in float32 take half the time. They decide a query if the largest exceeds the others by more than the errors;
    the other queries get `log_explained`. So do all queries if float32 decides too few of the first ones.
    """
    singles = [model.single for model in models] if len(seen[0]) >= _MANY else [None]
    if any(single is None for single in singles):
        return log_explained(models, seen, n_jobs)
    out = np.empty((len(seen[0]), len(models)))
    for rows in (slice(0, _TRIAL), slice(_TRIAL, None)):
        asked = [Q[rows] for Q in seen]
        shares = np.stack([single.explained(Q, n_jobs) for single, Q in zip(singles, asked, strict=True)], axis=1)
        errors = np.stack([single.single_error(s) for single, s in zip(singles, shares.T, strict=True)], axis=1)
        least, most, best = shares - errors, shares + errors, shares.argmax(axis=1)[:, None]
        np.put_along_axis(most, best, 0.0, axis=1)
        decided = np.take_along_axis(least, best, axis=1)[:, 0] > most.max(axis=1)
        if rows.start == 0 and decided.mean() < _WORTH:
            return log_explained(models, seen, n_jobs)
        with np.errstate(divide="ignore"):
            out[rows] = np.log(shares)
        if not decided.all():
            open_ = np.flatnonzero(~decided)
            out[rows][open_] = log_explained(models, [Q[open_] for Q in asked], n_jobs)
    return out


def among_classes(function, has_samples, models, *arguments):
    """``function(models, ...)`` with further columns for classes without samples, which explain less than any other."""
    found = function(models, *arguments)
    out = np.full((len(found), len(has_samples)), 1.0 if function is perturbation else 2 * LOWEST)
    out[:, has_samples] = found
    return out


def perturbation(models, seen, n_jobs=None):
    """tau (m, C), in [0, 1]."""
    tau = np.stack([1 - model.explained(Q, n_jobs) for model, Q in zip(models, seen, strict=True)], axis=1)
    return np.clip(tau, 0.0, 1.0, out=tau)
