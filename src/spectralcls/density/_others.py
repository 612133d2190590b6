"""Kernel sums at held-out points of a sample, over the points of the other folds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._expansion.points import blocks
from .._tuning import TuningSample
from .._utils.validation import sum_of_others
from ..kernels import kernel_sums, log_normalizer
from ._whitening import Space, mirrors


@dataclass(frozen=True)
class Others:
    """The validated points of a sample, with kernel sums over the other points.

    At bandwidth h, the kernel at point j has the width ``h factors[codes[j]]``. Between a pair of points (`of_pairs`),
    the width is the root of the sum of both squared widths, because the integral of the product of two Gaussian kernels
    is a kernel of this width.

    Attributes
    ----------
    sample : TuningSample
    space : Space
        Coordinates of the points.
    factors : (C,)
    kernel : str
    bounds : (d, 2), or None
    n_jobs : int or None
    constant : callable
        Logarithm of the kernels' integral for widths (b, C); by default, the integral over R^d.
    """

    sample: TuningSample
    space: Space
    factors: np.ndarray
    kernel: str
    bounds: np.ndarray | None
    n_jobs: int | None
    constant: Callable | None = None

    def log_sums(self, bandwidths, of_pairs=False):
        """log of the sum of w_j k(x_i, x_j) over the other points, (v, b); -inf out of reach."""
        sample, several = self.sample, len(self.factors) > 1
        rows = sample.rows
        out = np.full((len(rows), len(bandwidths)), -np.inf)
        labels = {"labels": sample.codes, "n_labels": len(self.factors)} if several else {}
        for group, widths in self._widths(bandwidths, of_pairs):
            constants = self._constants(widths)
            for mirror in self._mirrors(widths):
                wide = np.flatnonzero(widths.max(axis=1) > (0.0 if mirror is None else mirror.least))
                for block in blocks(len(group), 24 * widths.size):
                    own = rows[group[block]]
                    logs = kernel_sums(
                        self._image(mirror, own),
                        sample.X,
                        weights=sample.weights,
                        kernel=self.kernel,
                        bandwidth=widths[wide] if several else widths[wide, 0],
                        log=True,
                        n_jobs=self.n_jobs,
                        **labels,
                        **self._left_out(own),
                    )
                    logs = logs.astype(np.float64).reshape(len(own), len(wide), -1) - constants[wide]
                    at = np.ix_(group[block], wide)
                    out[at] = np.logaddexp(out[at], np.logaddexp.reduce(logs, axis=2))
        return out - self.space.log_volume

    def log_own(self, bandwidths, of_pairs=False):
        """log of k(x_i, x_i), (v, b): the term of a copy of the point."""
        rows = self.sample.rows
        out = np.full((len(rows), len(bandwidths)), -np.inf)
        codes = self.sample.codes[rows]
        for group, widths in self._widths(bandwidths, of_pairs):
            own, constants = widths[:, codes[group]].T, self._constants(widths)[:, codes[group]].T
            for mirror in self._mirrors(widths):
                apart = np.linalg.norm(self._image(mirror, rows[group]) - self.sample.X[rows[group]], axis=1)
                relative = np.ascontiguousarray((apart[:, None] / own).reshape(-1, 1), dtype=np.float64)
                logs = kernel_sums(relative, np.zeros((1, 1)), kernel=self.kernel, bandwidth=1.0, log=True)
                out[group] = np.logaddexp(out[group], logs.reshape(own.shape) - constants)
        return out - self.space.log_volume

    @property
    def weight(self):
        """Total weight of the other points for each validated point, (v,)."""
        sample = self.sample
        if sample.folds is None:
            return sum_of_others(sample.weights)[sample.rows]
        return sum_of_others(np.bincount(sample.folds, sample.weights))[sample.folds[sample.rows]]

    def _widths(self, bandwidths, of_pairs):
        """Positions of validated points grouped by kernel, and the widths (b, C) of the kernels for each group."""
        codes = self.sample.codes[self.sample.rows]
        if not of_pairs:
            yield np.arange(len(codes)), bandwidths[:, None] * self.factors
            return
        for code in np.unique(codes):
            yield np.flatnonzero(codes == code), bandwidths[:, None] * np.hypot(self.factors[code], self.factors)

    def _constants(self, widths):
        if self.constant is not None:
            return self.constant(widths)
        return log_normalizer(self.kernel, self.sample.X.shape[1], widths)

    def _mirrors(self, widths):
        scales = self.space.scales(self.sample.X.shape[1])
        return mirrors(self.bounds, self.kernel, scales, widths.max())

    def _image(self, mirror, rows):
        X = self.sample.X[rows]
        if mirror is None:
            return X
        return self.space.enter(mirror.of(self.space.leave(X))).astype(X.dtype, copy=False)

    def _left_out(self, rows):
        folds = self.sample.folds
        return {"exclude_self": rows} if folds is None else {"exclude_groups": (folds[rows], folds)}
