"""Losses of a regression: squared, absolute, or Huber's, which is squared up to a threshold."""

from typing import NamedTuple

import numpy as np

from .._utils.quantile import weighted_quantile

KINDS = ("squared", "absolute", "huber")
HUBER = 1.345  # the loss is quadratic up to this many robust spreads, which is 95 % efficient for normal residuals
NORMAL = 1.4826  # ratio of the standard deviation of a normal variable to its median absolute deviation
LEAST = 1e-6  # smaller residuals, in standard deviations of the targets, get equal weight


class Loss(NamedTuple):
    kind: str
    elbow: float = np.inf

    @classmethod
    def of(cls, kind, errors):
        """The loss with a threshold that suits the errors (n, k)."""
        if kind != "huber":
            return cls(kind)
        return cls(kind, max(HUBER * NORMAL * float(np.median(np.abs(errors))), LEAST))

    def __call__(self, errors):
        """Loss (n,) of each row of errors (n, k): the mean of the losses of the outputs."""
        if self.kind == "squared":
            return (errors**2).mean(axis=1)
        sizes = np.abs(errors)
        if self.kind == "huber":
            sizes = np.where(sizes < self.elbow, sizes**2 / 2, self.elbow * (sizes - self.elbow / 2))
        return sizes.mean(axis=1)

    def importance(self, errors):
        """Weights for which squared errors approximate the loss near these errors, up to a constant."""
        if self.kind == "squared":
            return np.ones(errors.shape)
        sizes = np.maximum(np.abs(errors), LEAST)
        return 1 / sizes if self.kind == "absolute" else np.minimum(1.0, self.elbow / sizes)

    def center(self, targets, weights):
        """The constants (k,) with (nearly) the least loss."""
        if self.kind == "squared":
            return np.average(targets, axis=0, weights=weights)
        return weighted_quantile(targets, 0.5, weights)
