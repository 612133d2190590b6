"""Log loss of held-out labels, which decides how coordinates are scaled."""

import numpy as np

from ..kernels import kernel_sums, without_own
from .folds import drawn_seed, stratified_subsample
from .grids import default_bandwidths
from .spread import within_reach
from .temperature import LOWEST

STEP = 2  # try every second bandwidth of the grid


class HeldOutLoss:
    """Log losses of the Parzen posterior for samples left out alone or with their group, at the best bandwidth.

    Parameters
    ----------
    data : TrainingData
        Training data, in which copies count as one sample.
    bandwidth : float, array of floats or None
        The only bandwidth to try, or one for each class; None means the default grid.
    most_points, most_validated : int
        Limits on the samples in the sums and on the samples left out. Larger data are thinned by stratified sampling.

    Notes
    -----
    Far values are replaced by the farthest value within reach. Otherwise they alone would decide: depending on the
    scale, either their samples are far from all others, or all other samples are close together.
    """

    def __init__(self, data, bandwidth, *, most_points, most_validated, random_state=0, n_jobs=None):
        data, seed = data.distinct(), drawn_seed(random_state)
        rows = np.arange(len(data.X))
        keys = data.keys(seed) if len(rows) > min(most_points, most_validated) else None
        if len(rows) > most_points:
            rows = stratified_subsample(data.codes, most_points, keys)
        self.weights, self.groups = (None if own is None else own[rows] for own in (data.weights, data.groups))
        self.X, self.codes = within_reach(filled(data)[rows], self.weights), data.codes[rows]
        self.validated = np.arange(len(rows))
        if len(rows) > most_validated:
            self.validated = stratified_subsample(self.codes, most_validated, keys[rows])
        self.bandwidth, self.n_classes, self.n_jobs = bandwidth, data.n_classes, n_jobs

    def bandwidths(self, X):
        """Bandwidths to try for the samples in the coordinates X."""
        if self.bandwidth is not None:
            return np.array([self.bandwidth])
        return default_bandwidths(X, self.weights)[::STEP]

    def __call__(self, X, bandwidths, few=None):
        """Losses (validated,) of the samples in the coordinates X, at the bandwidth that is best for `few` of them, or
        for all if `few` is None.
        """
        if few is not None and few < len(self.validated):
            some = np.linspace(0, len(self.validated) - 1, few).astype(np.intp)
            bandwidths = bandwidths[[self.mean(self._losses(X, bandwidths, some), some).argmin()]]
        losses = self._losses(X, bandwidths)
        return losses[:, self.mean(losses).argmin()]

    def mean(self, losses, some=slice(None)):
        """Weighted mean over the validated samples, or over `some` of them."""
        weights = None if self.weights is None else self.weights[self.validated[some]]
        return np.average(losses, axis=0, weights=weights)

    def _losses(self, X, bandwidths, some=slice(None)):
        rows = self.validated[some]
        sums = kernel_sums(
            X[rows],
            X,
            weights=self.weights,
            labels=self.codes,
            n_labels=self.n_classes,
            log=True,
            bandwidth=bandwidths,
            n_jobs=self.n_jobs,
            **without_own(rows, self.groups),
        ).astype(np.float64)
        own = np.take_along_axis(sums, self.codes[rows, None, None], axis=2)[..., 0]
        with np.errstate(invalid="ignore"):
            log_p = np.nan_to_num(own - np.logaddexp.reduce(sums, axis=2), nan=-np.inf)
        return -np.maximum(log_p, np.log(LOWEST))


def filled(data):
    """The coordinates, with missing values replaced by observed values of the column in turn.

    The order is random but depends only on the rows' values, not on the order of rows or columns. Columns that are
    missing together are taken from one row.
    """
    missing = np.isnan(data.X)
    if not missing.any():
        return data.X
    X, order = np.array(data.X), np.argsort(data.keys(), kind="stable")
    for column, gap in zip(X.T, missing.T, strict=True):
        lacking = gap[order]
        known = column[order[~lacking]]
        column[order[lacking]] = np.resize(known, np.count_nonzero(lacking)) if len(known) else 0.0
    return X
