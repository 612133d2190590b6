"""Transformation of the targets for the members: none, the logarithm, or normal quantiles of ranks."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .._expansion.ridge_targets import Standardization
from .._tuning import median_distance
from .._utils.copies import random_keys
from .._utils.quantile import weighted_quantile
from ..kernels import kernel_matrix
from ..linalg.ridge import solve
from ._loss import Loss

ERRORS = 2.0  # required gain of a transformation, in standard errors
MOST = 1000  # points used to choose
ALPHAS = (0.01, 0.1)
WIDTH = 6.0  # bandwidth of the Laplace kernel, in multiples of the median distance
QUANTILES = 100  # number of residual quantiles over which predictions are averaged


class TargetMap(NamedTuple):
    """Map of targets (n, k) to transformed ones with mean zero and variance one, and back."""

    kind: str
    standardization: Standardization
    curves: tuple = ()  # distinct values of each output, and their quantiles

    @classmethod
    def of(cls, kind, targets, weights):
        curves = tuple(_curve(column, weights) for column in targets.T) if kind == "ranks" else ()
        found = cls(kind, None, curves)
        return found._replace(standardization=Standardization.of(found._transformed(targets), weights))

    def to(self, targets):
        return self.standardization.to(self._transformed(targets))

    def back(self, Z, residuals=None):
        """Targets from transformed predictions (n, k); if residuals (r, k) are given, the mean over predictions plus
        each residual.

        Back-transformed predictions, of a logarithm for example, are medians; averaged over residuals they are means
        (Duan's smearing estimate).
        """
        if residuals is None:
            return self._back(Z)
        return np.mean([self._back(Z + residual) for residual in residuals], axis=0)

    def log_loss(self, predicted, targets, weights):
        """Negative log density (n,) of targets, averaged over the outputs, if they scatter around transformed
        predictions (n, k) by Laplace's law. Not for ranks, whose slope is not known.
        """
        errors = np.abs(self.to(targets) - predicted)
        spread = np.maximum(np.average(errors, axis=0, weights=weights), np.finfo(np.float64).tiny)
        slope = np.log(targets) if self.kind == "log" else 0.0
        return (np.log(spread) + errors / spread + self.standardization.log_spread + slope).mean(axis=1)

    def _transformed(self, targets):
        if self.kind == "ranks":
            return np.stack([np.interp(y, *curve) for y, curve in zip(targets.T, self.curves, strict=True)], axis=1)
        return np.log(targets) if self.kind == "log" else targets

    def _back(self, Z):
        Z = self.standardization.back(Z)
        if self.kind == "ranks":
            return np.stack([np.interp(z, *curve[::-1]) for z, curve in zip(Z.T, self.curves, strict=True)], axis=1)
        return np.exp(np.minimum(Z, _LARGEST)) if self.kind == "log" else Z


_LARGEST = float(np.log(np.finfo(np.float64).max)) - 1


def _curve(values, weights):
    values, group = np.unique(values, return_inverse=True)
    counts = np.bincount(group, weights)
    return values, ndtri((np.cumsum(counts) - counts / 2) / counts.sum())


def residual_quantiles(residuals, weights=None):
    """Residuals (n, k) summarized by `QUANTILES` rows."""
    return weighted_quantile(residuals, (np.arange(QUANTILES) + 0.5) / QUANTILES, weights)


def chosen_map(Z, targets, weights, loss, rng, groups=None):
    """The `TargetMap` that suits kernel ridge regression best, judged by leaving out each point, or each group.

    The logarithm is taken if it makes held-out targets clearly more likely (Laplace densities of the targets, which two
    large ones cannot dominate as they dominate squared errors); ranks, if they clearly reduce the loss.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Points, encoded.
    targets : ndarray of shape (n, k)
    weights : ndarray of shape (n,) or None
    loss : {"squared", "absolute", "huber"}
    rng : RandomState
    groups : ndarray of shape (n,), optional

    Notes
    -----
    Takes two Cholesky factors of at most `MOST` points; the transformations are columns of one system.
    """
    plain = TargetMap.of("none", targets, weights)
    if len(np.unique(targets[:, 0])) < 3:
        return plain
    rows = np.argsort(random_keys(Z, int(rng.randint(np.iinfo(np.int32).max))), kind="stable")[:MOST]
    Z, truth = Z[rows].astype(np.float64), targets[rows]
    w = np.ones(len(rows)) if weights is None else weights[rows] / weights[rows].mean()
    kinds = ["ranks", "log"] if (targets > 0).all() else ["ranks"]
    maps = [plain, *(TargetMap.of(kind, targets, weights) for kind in kinds)]
    Y = np.concatenate([each.to(truth) for each in maps], axis=1)
    K = kernel_matrix(Z, kernel="laplace", bandwidth=WIDTH * median_distance(Z, rng))
    units = None if groups is None else groups[rows]
    found = [solve(K.copy(), Y, alpha, w, units=units).held_out for alpha in ALPHAS]
    held_out = [np.split(each, len(maps), axis=1) for each in found]
    by_map = list(zip(*held_out, strict=True))  # predictions (n, k) with each ridge

    def least(losses):
        return min(losses, key=lambda own: w @ own)

    if "log" in kinds and _clearly_less(
        least([maps[2].log_loss(own, truth, w) for own in by_map[2]]),
        least([plain.log_loss(own, truth, w) for own in by_map[0]]),
        w,
    ):
        return maps[2]
    goal = plain.to(truth)
    judged = Loss.of(loss, by_map[0][0] - goal)
    ranks, losses = maps[1], []
    for own in by_map[1]:
        residuals = residual_quantiles(ranks.to(truth) - own, w) if loss == "squared" else None
        losses.append(judged(plain.to(ranks.back(own, residuals)) - goal))
    return ranks if _clearly_less(least(losses), least([judged(own - goal) for own in by_map[0]]), w) else plain


def _clearly_less(losses, others, weights):
    """Whether the mean loss is less by `ERRORS` standard errors of the differences."""
    gains = others - losses
    gain = np.average(gains, weights=weights)
    return gain > ERRORS * np.sqrt(np.average((gains - gain) ** 2, weights=weights) / len(gains))
