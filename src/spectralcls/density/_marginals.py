"""Marginal and conditional densities of a fitted density, random points, and surprises."""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from .._utils.copies import random_keys
from .._utils.quantile import weighted_quantile
from ..kernels import PROFILES
from ._whitening import Space


def like(estimator, form, features):
    """A copy of an estimator with another fitted form, and with the parameters for these features."""
    other = clone(estimator)
    other._form, other.bandwidth_, other._inputs = form, estimator.bandwidth_, estimator._inputs.of_features(features)
    if not isinstance(estimator.covariance_type, str):
        covariance = form.space.covariance
        other.covariance_type = np.diag(covariance) if form.space.root is None else covariance
    return other


def check_features(estimator, features):
    """The features as an int array of distinct columns."""
    check_is_fitted(estimator)
    d, features = estimator.n_features_in_, np.atleast_1d(np.asarray(features))
    wrong = features.ndim != 1 or features.dtype.kind not in "iu" or not len(features)
    if wrong or features.min() < 0 or features.max() >= d or len(np.unique(features)) < len(features):
        raise ValueError(f"features must be distinct columns, 0 to {d - 1}, got {features!r}.")
    if estimator._form.kernel != "gaussian" and len(features) < d:
        raise ValueError(f'Marginal and conditional densities need kernel="gaussian", not {estimator.kernel!r}.')
    return features


def only_feature(estimator):
    form = estimator._form
    if form.X.shape[1] > 1:
        raise ValueError(
            f"The density has {form.X.shape[1]} features, but cdf and quantile need one. Use marginal([k]) first."
        )
    if form.kernel != "gaussian":
        raise ValueError(f'cdf and quantile need kernel="gaussian", not {estimator.kernel!r}.')
    return form


def marginal(form, features):
    return _at(form, form.space.of_features(features), form.space.leave(form.X)[:, features], form.weights)


def conditional(form, given, rest, values):
    values = np.asarray(values, dtype=np.float64)
    if values.shape != given.shape or not np.isfinite(values).all():
        raise ValueError(f"values must be {len(given)} finite numbers, one for each of the features, got {values!r}.")
    if not len(rest):
        raise ValueError("All features are given, but at least one must be left.")
    g, order = len(given), np.append(given, rest)
    space, X = form.space.of_features(order), form.space.leave(form.X)[:, order]
    Z, at = space.enter(X), space.enter(np.append(values, X[0, g:])[None])[0, :g]  # of `given` alone
    with np.errstate(over="ignore", divide="ignore"):
        offset = (at - Z[:, :g])[:, :, None] / form.widths
        log_weights = np.log(form.weights) - 0.5 * (offset**2).sum(axis=1) - g * np.log(form.widths)
    largest = log_weights.max()
    if np.isneginf(largest):
        raise ValueError(f"values {values!r} are too far from all samples: no kernel reaches them.")
    weights = np.exp(log_weights - largest)
    kept = weights.any(axis=1)
    Z[:, :g] = at
    moved, last = space.leave(Z[kept])[:, g:], Space(space.center[g:], space.units[g:])
    if space.root is not None:
        C = space.root[g:, g:]
        last = Space.of_covariance(C @ C.T, last.center, last.units)
    return _at(form, last, moved, weights[kept] / weights.sum())


def _at(form, space, X, weights):
    """The form with its kernels at other points X, given in the units of the features, in other coordinates."""
    entered = np.ascontiguousarray(space.enter(X), dtype=form.X.dtype)
    groups = form.groups if len(weights) == len(form.weights) else None  # a conditional density leaves nothing out
    return replace(form, space=space, X=entered, weights=weights, groups=groups)


def drawn(form, n_samples, rng):
    """Random points (n_samples, d), from a kernel drawn by weight, a radius drawn from its profile, and a random
    direction."""
    check_scalar(n_samples, "n_samples", Integral, min_val=0)
    total = np.cumsum(form.weights)
    chosen = np.minimum(np.searchsorted(total, rng.uniform(0, total[-1], n_samples)), len(total) - 1)
    center, width = np.divmod(chosen, len(form.widths))
    direction = rng.normal(size=(n_samples, form.X.shape[1]))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radius = PROFILES[form.kernel].radius(rng, form.X.shape[1], n_samples) * form.widths[width]
    return form.space.leave(form.X[center]) + form.space.stretch(radius[:, None] * direction)


def surprises(log_density, form, columns, n_columns):
    """-log p(x_c | all other columns), (m, n_columns), of a Gaussian form.

    Parameters
    ----------
    log_density : callable
        ``log_density(form, features)`` returns the log densities (m,) of the queries' features.
    form : DensityForm
    columns : ndarray (d,)
        Column of each coordinate. The result is 0 for a column without coordinates.
    n_columns : int
    """
    whole = log_density(form, np.arange(len(columns)))
    out = np.zeros((len(whole), n_columns))
    for c in np.unique(columns):
        rest = np.flatnonzero(columns != c)
        out[:, c] = (log_density(marginal(form, rest), rest) if len(rest) else 0.0) - whole
    return out


def usual_surprises(form, columns, n_columns, share, n_points=1000):
    """Median leave-one-out surprise of each column over random samples, (n_columns,); `share` is the weight of one
    sample."""
    some, weights = np.argsort(random_keys(form.X), kind="stable")[:n_points], form.weights.sum(axis=1)
    one = np.minimum(weights[some], share)
    found = surprises(lambda form, _: form.leave_one_out(some, one), form, columns, n_columns)
    return weighted_quantile(found, 0.5, weights[some])
