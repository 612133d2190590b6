"""The matrix of targets of kernel ridge regression, and the loss of its predictions.

A regression uses the targets `Y` (n, k), which have weighted mean zero, the `weights` (n,), and the method `judged`.
Only this module distinguishes class indicators from numbers.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._tuning.temperature import best_temperature, log_losses, softmax
from .._utils.target_units import TargetUnits


class Judged(NamedTuple):
    scores: np.ndarray  # (n, k) predictions; for classes, with the class proportions added
    losses: np.ndarray  # (n,)
    temperature: float | None  # the one with the least mean loss; None for numbers


@dataclass(frozen=True)
class ClassTargets:
    """Class indicators minus the class proportions `center` (k,), judged by the log loss."""

    Y: np.ndarray
    center: np.ndarray
    weights: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, codes, n_classes, weights):
        Y = np.zeros((len(codes), n_classes))
        Y[np.arange(len(codes)), codes] = 1.0
        shares = weights @ Y / weights.sum()
        return cls(Y - shares, shares, weights, codes)

    def take(self, rows):
        """The targets of some of the points."""
        return replace(self, Y=self.Y[rows], weights=self.weights[rows], codes=self.codes[rows])

    def judged(self, predicted):
        """Log losses, at the best temperature, of predictions (n, k) in which each row of Y is predicted from the other
        points.
        """
        scores = predicted + self.center
        temperature = best_temperature(scores, self.codes, self.weights)
        return Judged(scores, log_losses(softmax(scores / temperature), self.codes), temperature)


class Standardization(NamedTuple):
    """Maps numbers (n, k) to numbers with mean zero and variance one, without overflow in any units."""

    units: TargetUnits
    center: np.ndarray  # (k,) mean of the targets after `units` has scaled them
    spread: np.ndarray  # (k,) their standard deviation; 1 for a constant

    @classmethod
    def of(cls, targets, weights):
        units = TargetUnits.of(targets)
        Z = units.to(targets)
        center = np.average(Z, axis=0, weights=weights)
        spread = np.sqrt(np.average((Z - center) ** 2, axis=0, weights=weights))
        return cls(units, center, np.where(spread > 0, spread, 1.0))

    def to(self, targets):
        return (self.units.to(targets) - self.center) / self.spread

    @property
    def log_spread(self):
        """Logarithms (k,) of the standard deviations of the targets; 0 for a constant."""
        return np.log(self.spread) + np.log(2.0) * (self.units.exponent + self.units.extent)

    def back(self, Z):
        """Standardized numbers (..., k) as targets."""
        return self.units.back(Z * self.spread + self.center)


@dataclass(frozen=True)
class NumberTargets:
    """Numbers of mean zero and variance one, judged by the squared error averaged over the outputs."""

    Y: np.ndarray
    weights: np.ndarray
    standardization: Standardization

    @classmethod
    def of(cls, targets, weights):
        standardization = Standardization.of(targets, weights)
        return cls(standardization.to(targets), weights, standardization)

    def take(self, rows):
        """The targets of some of the points."""
        return replace(self, Y=self.Y[rows], weights=self.weights[rows])

    def judged(self, predicted):
        """Squared errors of predictions (n, k) in which each row of Y is predicted from the other points."""
        return Judged(predicted, ((self.Y - predicted) ** 2).mean(axis=1), None)


def targets_of(data):
    """Targets of a regression from weighted `TrainingData`: numbers, or class indicators."""
    if data.targets is not None:
        return NumberTargets.of(data.targets, data.weights)
    return ClassTargets.of(data.codes, data.n_classes, data.weights)
