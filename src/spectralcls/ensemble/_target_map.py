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

KINDS = ("none", "log", "ranks")
ERRORS = 2.0  # required reduction of the loss by a transformation, in standard errors
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


def chosen_map(Z, targets, weights, loss, rng):
    """The `TargetMap` under which kernel ridge regression has the least leave-one-out loss, or "none" if no other is
    clearly better.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Points, encoded.
    targets : ndarray of shape (n, k)
    weights : ndarray of shape (n,) or None
    loss : {"squared", "absolute", "huber"}
    rng : RandomState

    Notes
    -----
    Takes two Cholesky factors of at most `MOST` points; the transformations are columns of one system.
    """
    kinds = [kind for kind in KINDS if kind != "log" or (targets > 0).all()]
    if len(np.unique(targets[:, 0])) < 3:
        kinds = ["none"]
    maps = [TargetMap.of(kind, targets, weights) for kind in kinds]
    if len(maps) > 1 and len(Z) > 1:
        rows = np.argsort(random_keys(Z, int(rng.randint(np.iinfo(np.int32).max))), kind="stable")[:MOST]
        Z, truth = Z[rows].astype(np.float64), targets[rows]
        w = np.ones(len(rows)) if weights is None else weights[rows] / weights[rows].mean()
        k, plain = targets.shape[1], maps[0]
        Y = np.concatenate([each.to(truth) for each in maps], axis=1)
        K = kernel_matrix(Z, kernel="laplace", bandwidth=WIDTH * median_distance(Z, rng))
        best, judged = [None] * len(maps), None
        for alpha in ALPHAS:
            held_out = solve(K.copy(), Y, alpha, w).held_out
            for i, each in enumerate(maps):
                own = held_out[:, i * k : (i + 1) * k]
                residuals = None
                if i and loss == "squared":
                    residuals = residual_quantiles(Y[:, i * k : (i + 1) * k] - own, w)
                errors = plain.to(each.back(own, residuals)) - plain.to(truth)
                judged = judged or Loss.of(loss, errors)
                losses = judged(errors)
                if best[i] is None or w @ losses < w @ best[i]:
                    best[i] = losses
        gains = [np.average(best[0] - own, weights=w) for own in best]
        spreads = [np.average((best[0] - own - gain) ** 2, weights=w) for own, gain in zip(best, gains, strict=True)]
        clear = np.array(gains) > ERRORS * np.sqrt(np.array(spreads) / len(w))
        return maps[int(np.where(clear, gains, 0.0).argmax())]
    return maps[0]
