"""Two literal readings of the truncated PerTurbo in paper 003, which are not offered to users."""

from dataclasses import dataclass

import numpy as np

from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._span import Regularization, largest


@dataclass(frozen=True)
class LargestOfTheInverse(Regularization):
    """Keep the largest eigenvalues of K^-1, as the text of the paper says. They contain the noise."""

    def kept(self, values, sound):
        size = np.divide(1.0, values, out=np.zeros_like(values), where=sound)
        cumulative = np.cumsum(np.sort(size)[::-1])
        return largest(size, 1 + int(np.searchsorted(cumulative, self.retained * cumulative[-1] * (1 - 1e-15))))


@dataclass(frozen=True)
class ShareOfTheirNumber(Regularization):
    """Keep a fraction of the number of eigenvalues, as in the caption of figure 3."""

    def kept(self, values, sound):
        return largest(np.where(sound, values, 0.0), int(np.ceil(self.retained * len(values))))


class PerTurboByInverse(PerTurboClassifier):
    """Truncated by `LargestOfTheInverse`."""

    _regularization_type = LargestOfTheInverse


class PerTurboByNumber(PerTurboClassifier):
    """Truncated by `ShareOfTheirNumber`."""

    _regularization_type = ShareOfTheirNumber
