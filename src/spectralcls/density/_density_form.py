"""The fitted density: a mixture of kernels in coordinates in which they are radial."""

from dataclasses import dataclass

import numpy as np

from .._inputs.missing import is_incomplete
from .._utils.copies import matching_rows
from .._utils.validation import sum_of_others
from ..kernels import kernel_sums, log_normalizer, without_own
from ._marginals import marginal
from ._whitening import Space

FEW_FEATURES = 2  # so few features that sums over a grid make one call per bandwidth faster than a call for all


@dataclass(frozen=True)
class DensityForm:
    """f(x) = sum_ib W[i, b] k((x - x_i) / h_b), where k is a normalized kernel in the coordinates of `space`.

    Attributes
    ----------
    space : Space
    X : (n, d) centers of the kernels in these coordinates
    weights : (n, B) weight of each center's kernel of each bandwidth; all together add up to one
    widths : (B,) bandwidths
    kernel : str
    tolerance : relative error allowed in sums, or None
    n_jobs : int or None
    groups : (n,) what is left out together; None: each sample
    """

    space: Space
    X: np.ndarray
    weights: np.ndarray
    widths: np.ndarray
    kernel: str
    tolerance: float | None = None
    n_jobs: int | None = None
    groups: np.ndarray | None = None

    def log_density(self, Q):
        """log f, (m,) float64; -inf out of reach. Missing values of a query are integrated out."""
        if is_incomplete(Q):
            return self._of_known(Q)
        return self._normalized(self.log_sums(self.space.enter(Q), self.tolerance))

    def log_sums(self, Z, tolerance=None, **without):
        """log sum_i W[i, b] k((z - x_i) / h_b), (m, B) float64, with kernels that are 1 at their centers."""
        options = {"kernel": self.kernel, "log": True, "n_jobs": self.n_jobs} | without
        if len(self.widths) > 1 and self.X.shape[1] > FEW_FEATURES and tolerance is None:
            sums = kernel_sums(Z, self.X, weights=self.weights[:, :, None], bandwidth=self.widths, **options)
            return sums[:, :, 0].astype(np.float64)
        options["rtol"] = tolerance or 0.0
        each = [
            kernel_sums(Z, self.X, weights=weights.copy(), bandwidth=width, **options)
            for weights, width in zip(self.weights.T, self.widths, strict=True)
        ]
        return np.stack(each, axis=1).astype(np.float64)

    def _normalized(self, log_sums):
        constants = log_normalizer(self.kernel, self.X.shape[1], self.widths)
        return np.logaddexp.reduce(log_sums - constants, axis=1) - self.space.log_volume

    def _of_known(self, Q):
        """log f of queries with missing values: the marginal densities of their known features."""
        if self.kernel != "gaussian":
            row = int(np.flatnonzero(np.isnan(Q).any(axis=1))[0])
            raise ValueError(
                f'X has missing values in row {row}: fill them, or use kernel="gaussian", which integrates them out. '
                "Other kernels have marginal densities of another kind."
            )
        out = np.zeros(len(Q))
        patterns, pattern = np.unique(~np.isnan(Q), axis=0, return_inverse=True)
        for number, known in enumerate(patterns):
            rows, features = np.flatnonzero(pattern == number), np.flatnonzero(known)
            if len(features):
                form = self if known.all() else marginal(self, features)
                out[rows] = form.log_density(Q[np.ix_(rows, features)])
        return out

    def of_others(self, Q):
        """log f (m,) at queries; one sample is left out at a center for each query that is equal to it."""
        out, place = self.log_density(Q), matching_rows(self.space.enter(Q), self.X)
        known = np.flatnonzero(place >= 0)
        if len(known):
            place, totals = place[known], self.weights.sum(axis=1)
            out[known] = self.leave_one_out(place, totals[place] / np.bincount(place)[place])
        return out

    def leave_one_out(self, place, one):
        """log f (m,) at samples by the others, including their copies, or by the other groups. `place` is the center of
        each sample and `one` its weight."""
        totals = self.weights.sum(axis=1)
        left, others = np.maximum(totals[place] - one, 0.0), sum_of_others(totals)
        if self.groups is not None:
            left, others = 0.0 * left, sum_of_others(np.bincount(self.groups, totals))[self.groups]
        some, back = np.unique(place, return_inverse=True)
        sums = self.log_sums(self.X[some], **without_own(some, self.groups))[back]
        with np.errstate(divide="ignore"):  # the logarithm of any kernel at its center is 0
            sums = np.logaddexp(sums, np.log(self.weights[place]) + np.log(left / totals[place])[:, None])
            others = np.log(others[place] + left)
        if np.isneginf(others).any():
            raise ValueError("Leaving one sample out needs at least two samples, got n_samples=1.")
        return self._normalized(sums) - others


def density_form(estimator):
    """The `DensityForm` of a fitted density."""
    return estimator._form
