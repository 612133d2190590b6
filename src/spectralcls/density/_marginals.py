"""Marginal and conditional densities of a fitted density, random points, and surprises."""

from dataclasses import replace
from numbers import Integral

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from .._expansion.held_out import CACHE_BYTES
from .._expansion.points import blocks
from .._utils.copies import random_keys
from .._utils.quantile import weighted_quantile
from ..kernels import PROFILES
from ._whitening import Space


def like(estimator, form, features):
    """A copy of an estimator with another fitted form, and with the parameters for these features."""
    other = clone(estimator)
    other._form, other.bandwidth_, other._inputs = form, estimator.bandwidth_, estimator._inputs.of_features(features)
    if not isinstance(estimator.covariance_type, str):
        covariance = form.space.covariance(len(features))
        other.covariance_type = np.diag(covariance) if form.space.root.ndim == 1 else covariance
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
    known, X = marginal(form, given), form.space.leave(form.X)
    with np.errstate(over="ignore", divide="ignore"):
        offset = (known.space.enter(values[None]) - known.X)[:, :, None] / form.widths
        log_weights = np.log(form.weights) - 0.5 * (offset**2).sum(axis=1) - len(given) * np.log(form.widths)
    largest = log_weights.max()
    if np.isneginf(largest):
        raise ValueError(f"values {values!r} are too far from all samples: no kernel reaches them.")
    weights = np.exp(log_weights - largest)
    space, moved = form.space.of_features(rest), X[:, rest]
    if np.ndim(form.space.root) == 2:
        d = X.shape[1]
        C, scales = form.space.correlation(d), form.space.scales(d)
        slope = np.linalg.solve(C[np.ix_(given, given)], C[np.ix_(given, rest)])
        moved = moved + (values - X[:, given]) / scales[given] @ slope * scales[rest]
        left = C[np.ix_(rest, rest)] - C[np.ix_(rest, given)] @ slope
        space = Space.of_covariance(left, form.space.center[rest], scales[rest])
    kept = weights.any(axis=1)
    return _at(form, space, moved[kept], weights[kept] / weights.sum())


def _at(form, space, X, weights):
    """The form with its kernels at other points X, given in the units of the features, in other coordinates."""
    entered = np.ascontiguousarray(space.enter(X), dtype=form.X.dtype)
    return replace(form, space=space, X=entered, weights=weights)


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


def surprises(form, Q, columns, n_columns, own=None):
    """-log p(x_c | all other columns), (m, n_columns), of a Gaussian form, in one pass over the pairs.

    Let P be the inverse of the kernels' covariance and delta = x - x_i. Leaving out the coordinates c subtracts
    ``(P delta)_c' P_cc^-1 (P delta)_c`` from the squared distance, and divides the volume by det(P_cc)^1/2.

    Parameters
    ----------
    form : DensityForm
    Q : ndarray (m, d)
    columns : ndarray (d,)
        Column of each coordinate. The result is 0 for a column without coordinates.
    n_columns : int
    own : tuple of ndarray (m,), optional
        Index of the point equal to each query, and the fraction of its weight that remains without the query.
    """
    unit = 2.0 ** np.floor(np.log2(form.widths.max()))  # keeps squared distances in range
    d, X, widths = form.X.shape[1], form.X.astype(np.float64) / unit, form.widths / unit
    Z, root = form.space.enter(Q).astype(np.float64) / unit, form.space.root
    inverse = np.eye(d) if root is None else np.diag(1 / root) if root.ndim == 1 else None
    if inverse is None:
        scales = form.space.scales(d)
        inverse = solve_triangular(root / scales[:, None], np.eye(d), lower=True) / scales
    with np.errstate(divide="ignore"):
        log_weight, log_width = np.log(form.weights), np.log(widths)
        log_left = np.zeros(len(Z)) if own is None else np.log(own[1])
    left_out, constants = {}, np.zeros(n_columns)
    for c in np.unique(columns):
        some = inverse[:, columns == c]  # P_cc = some' some
        size = np.abs(some).max()
        some = some / size
        factor = cholesky(some.T @ some, lower=True)
        left_out[c] = [solve_triangular(factor, (points @ some).T, lower=True).T for points in (Z, X)]
        constants[c] = len(factor) * np.log(np.sqrt(2 * np.pi) * unit / size) - np.log(np.diag(factor)).sum()
    out = np.zeros((len(Q), n_columns))
    for rows in blocks(len(Q), 24 * len(X), CACHE_BYTES):
        squared = cdist(Z[rows], X, "sqeuclidean")

        def total(less, n_out, rows=rows, squared=squared):
            """log of the density when n_out coordinates with squared distances `less` are left out."""
            parts = []
            for weight, log_h, h in zip(log_weight.T, log_width, widths, strict=True):
                logs = weight - (d - n_out) * log_h + (squared - less) / (-2 * h**2)
                if own is not None:
                    logs[np.arange(len(logs)), own[0][rows]] += log_left[rows]
                parts.append(np.logaddexp.reduce(logs, axis=1))
            return np.logaddexp.reduce(parts, axis=0)

        whole = total(0.0, 0)
        for c, (of_queries, of_points) in left_out.items():
            out[rows, c] = total(cdist(of_queries[rows], of_points, "sqeuclidean"), of_queries.shape[1]) - whole
    return out + constants


def usual_surprises(form, columns, n_columns, share, n_points=1000):
    """Median leave-one-out surprise of each column over random samples, (n_columns,); `share` is the weight of one
    sample."""
    some = np.argsort(random_keys(form.X), kind="stable")[:n_points]
    weights = form.weights[some].sum(axis=1)
    left = np.maximum(weights - share, 0.0) / weights
    Q = form.space.leave(form.X[some]).astype(form.X.dtype)
    found = surprises(form, Q, columns, n_columns, (some, left))
    return weighted_quantile(found, 0.5, weights)
