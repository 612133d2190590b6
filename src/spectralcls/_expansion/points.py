"""Training points with classes and weights, and the kernel sums over them.

Points in memory are one block. If X is a Dask array, `spectralcls.dask` adds up the sums over its blocks.
"""

from dataclasses import dataclass, fields
from functools import partial, singledispatch

import numpy as np

from .._inputs.completion import completed
from .._inputs.training_data import TrainingData
from .._utils.blocks import by_rows, kept
from .._utils.validation import unit_scale
from ..kernels import PackedPoints, certain_labels, checked_sums, kernel_sums
from .incomplete import factors_of, incomplete_class_log_sums, split_by_missing
from .nearest import nearest_codes

BLOCK_BYTES = 1 << 26


def blocks(n_rows, bytes_per_row, limit=BLOCK_BYTES):
    """Slices of the rows, each with results of at most `limit` bytes."""
    rows = max(1, int(limit // max(bytes_per_row, 1)))
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def class_rows(codes, n_classes):
    """Row numbers of each class."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_classes)))


@dataclass(frozen=True)
class TrainingPoints:
    """Points with their classes and weights, in memory or on workers.

    Attributes
    ----------
    X : (n, d)
    codes : (n,) class of each point, 0 ... C - 1
    class_weight : (C,) sum of the weights of each class
    weights : (n,) positive sample weights; None for ones
    weight_scale : a power of two; its product with `weights` gives the weights of the training data
    tolerance : allowed error of the sums (see `class_log_sums`); None for exact sums
    features : (d,) feature of each column; the columns of a feature are missing together. None: one column per feature
    given : (n, d) the points with missing values, if X holds completed points
    groups : (n,) what is left out together, as in the training data
    """

    X: np.ndarray
    codes: np.ndarray
    class_weight: np.ndarray
    weights: np.ndarray | None = None
    weight_scale: float = 1.0
    tolerance: float | None = None
    n_jobs: int | None = None
    features: np.ndarray | None = None
    given: np.ndarray | None = None
    groups: np.ndarray | None = None

    @classmethod
    def of(cls, data, tolerance=None, n_jobs=None):
        """The points of training data, with missing values filled from the points of the same class.

        Weights are scaled by a power of two, so that they stay in the range of float32.
        """
        weights, exponent = unit_scale(data.weights)
        data = data._replace(weights=None if weights is None else kept(data.X, weights)[0])
        X, given = data.X, None
        if data.incomplete:
            X, given = completed(data, n_jobs)[0], X
        class_weight, weights, scale = data.class_weight, data.weights, 2.0**exponent
        return cls(X, data.codes, class_weight, weights, scale, tolerance, n_jobs, data.features, given, data.groups)

    def data(self, classes):
        """The training data of these points."""
        X = self.X if self.given is None else self.given
        weights = None if self.weights is None else self.weights * self.weight_scale
        return TrainingData(X, self.codes, classes, weights, features=self.features, groups=self.groups)

    @property
    def n_classes(self):
        return len(self.class_weight)

    def class_log_sums(self, Q, columns, kernel, bandwidth, all_pairs=False):
        """log sum_{j in c} w_j k(q, x_j) as float64 (m, C, k), with one bandwidth or one for each class.

        With a tolerance, the errors of a query's class sums add up, in each column, to at most `tolerance` times the
        total of the sums. Missing values of a query are integrated out. With `all_pairs`, no grid is used.
        """
        n_columns = 1 if np.ndim(columns) < 2 else columns.shape[1]
        widths = bandwidth if np.ndim(bandwidth) == 0 else bandwidth[None]

        def complete(Q):
            sums = checked_sums(
                Q,
                self._packed_points(columns, True),
                kernel=kernel,
                bandwidth=widths,
                log=True,
                rtol=self.tolerance or 0.0,
                all_pairs=all_pairs,
                n_jobs=self.n_jobs,
            )
            return [sums.reshape(len(Q), self.n_classes, n_columns)]

        def incomplete(Q):
            log_sums = incomplete_class_log_sums(
                Q,
                self.X,
                self.codes,
                self.n_classes,
                np.broadcast_to(widths, (1, self.n_classes)),
                self.weights,
                factors_of(columns, self.weights),
                self.features,
                self.n_jobs,
            )
            return [log_sums[:, 0]]

        return split_by_missing(Q, complete, incomplete)[0]

    def certain_labels(self, Q, columns, kernel, bandwidth, tolerance, rule):
        """`kernels.certain_labels` of these points with the weights `columns`."""
        widths = bandwidth if np.ndim(bandwidth) == 0 else bandwidth[None]
        return certain_labels(Q, self._packed_points(columns, True), kernel, widths, tolerance, rule, self.n_jobs)

    def pairs(self, Q, columns, kernel, bandwidth, log_scale, rtol=0.0):
        """log_scale (m, 1) and values (m, k) with ``exp(log_scale) * values`` = k(q) A, for columns A of either sign.

        With bandwidths by class, the sums over the points of a class are multiplied by exp(log_scale), (C,). `rtol` is
        the allowed relative error, which may be positive only if no column is negative.
        """
        by_class = np.ndim(bandwidth) > 0
        shift, sums = kernel_sums(
            Q,
            self._packed_points(columns, by_class),
            kernel=kernel,
            bandwidth=bandwidth[None] if by_class else bandwidth,
            log="pair",
            rtol=rtol,
            n_jobs=self.n_jobs,
        )
        shift, sums = shift.astype(np.float64), sums.astype(np.float64)
        if not by_class:
            return shift[:, None], sums
        shift, sums = shift[:, 0] + log_scale, sums[:, 0]
        shift = np.where(sums.any(axis=2), shift, -np.inf)  # a sum of zeros has no scale
        largest = shift.max(axis=1, keepdims=True)
        largest[np.isneginf(largest)] = 0.0
        return largest, np.einsum("mc,mck->mk", np.exp(shift - largest), sums)

    def _packed_points(self, columns, by_class):
        """The points in the core's layout with these columns as weights, labeled by class if `by_class`.

        The last result is cached, because all queries of a fitted form use it. It is not pickled.
        """
        last = vars(self).get("_last_packed")
        if last is None or last[0] is not columns or last[1] != by_class:
            labels = {"labels": self.codes, "n_labels": self.n_classes} if by_class else {}
            last = (columns, by_class, PackedPoints(self.X, weights=columns, **labels))
            vars(self)["_last_packed"] = last
        return last[2]

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def log_density(self, kernel, bandwidth, log_share):
        """log f at the training points, (n,)."""
        sums = partial(TrainingPoints.class_log_sums, kernel=kernel, bandwidth=bandwidth)
        log_f = over_points(self.X, self, self.weights, self.X, sums, partial(_log_total, log_share=log_share), 0)
        return kept(self.X, log_f)[0]

    def potentials(self, weights, kernel, bandwidths):
        """sum_ij w_i w_j k(x_i, x_j) over the pairs of each class, including i = j, (C,), with bandwidths (C,)."""
        return potentials(self.X, self, weights, partial(potentials_between, kernel=kernel, bandwidths=bandwidths))

    def grown_potentials(self, before, sums, kernel, bandwidths):
        """`potentials` with the sample weights, updated from the `sums` over the first points, which are those of
        `before`.
        """
        weights = np.ones(len(self.X)) if self.weights is None else self.weights
        out = sums * (before.weight_scale / self.weight_scale) ** 2
        options = dict(kernel=kernel, n_jobs=self.n_jobs)
        for c in np.unique(self.codes[len(before.X) :]):
            own = np.flatnonzero(self.codes == c)
            old, new = np.split(own, [np.searchsorted(own, len(before.X))])
            for others in (old, own):  # a pair of an old and a new point counts twice
                if len(others):
                    found = kernel_sums(
                        self.X[new], self.X[others], weights=weights[others], bandwidth=bandwidths[c], **options
                    )
                    out[c] += weights[new] @ found.astype(np.float64)
        return out

    def scaled_by_class(self, columns, log_scale):
        """Columns and log scale after the class factors are moved into the columns, so that the tolerance applies to
        k(y) A.
        """
        relative = np.exp(log_scale - log_scale.max())
        if np.all(relative == 1):
            return columns, log_scale
        factors = self.broadcast_by_class(relative)
        (columns,) = kept(self.X, factors if columns is None else columns * factors)
        return columns, np.full_like(log_scale, log_scale.max())

    def broadcast_by_class(self, values):
        """The value of each point's class, (n,)."""
        return by_rows(self.codes, values.take, dtype=np.float64)

    def with_sample_weights(self, columns):
        """The columns with the sample weights as a second column, for the density at a query."""
        second = np.ones_like(self.codes, dtype=np.float64) if self.weights is None else self.weights
        return kept(self.X, np.stack([second if columns is None else columns, second], axis=1))[0]


def plain_points(X, n_jobs=None):
    """Complete points without classes and weights."""
    codes = TrainingData.points(X).codes
    return TrainingPoints(X, codes, np.array([float(X.shape[0])]), n_jobs=n_jobs)


@singledispatch
def over_points(X, points, columns, Q, sums, finish, width, n_sums=0):
    """``finish(sums(points, q, columns), q)`` for blocks q of the queries, (m, width), or (m,) if width is 0.

    X are the points. `sums` is `TrainingPoints.class_log_sums` or `TrainingPoints.pairs` with all further arguments;
    `n_sums` is the number of sums of a query, if it is larger than `width`.
    """
    out = np.empty((len(Q), width) if width else len(Q))
    for block in blocks(len(Q), 24 * max(width, n_sums, 1)):
        out[block] = finish(sums(points, Q[block], columns), Q[block])
    return out


@singledispatch
def potentials(X, points, weights, between):
    """`potentials_between` the points X and themselves, with weights (n,)."""
    return between(points, weights, points, weights)


def potentials_between(points, weights, others, their_weights, kernel, bandwidths):
    """sum_ij w_i w_j k(x_i, x_j) over the pairs of a point and one of the others in each class, (C,)."""
    out = np.zeros(points.n_classes)
    weights = np.ones(len(points.X)) if weights is None else weights
    their_weights = np.ones(len(others.X)) if their_weights is None else their_weights
    given = their_weights.astype(others.X.dtype)  # only once: for small classes, it takes longer than the sums
    rows = class_rows(points.codes, len(out))
    columns = rows if others is points else class_rows(others.codes, len(out))
    for c, (own, theirs) in enumerate(zip(rows, columns, strict=True)):
        if len(own) and len(theirs):
            Q = points.X[own]
            sums = kernel_sums(
                Q,
                Q if others is points else others.X[theirs],
                weights=given[theirs],
                kernel=kernel,
                bandwidth=bandwidths[c],
                rtol=points.tolerance or 0.0,
                n_jobs=points.n_jobs,
            )
            out[c] = weights[own] @ sums.astype(np.float64)
    return out


@singledispatch
def nearest_if_lost(X, points, scores, Q, candidates, compact):
    """For queries that no kernel reaches, set the score of the class of the nearest point of X to 0; only classes in
    the mask `candidates` (C,) count. Kernels that are not compact reach every query.
    """
    rows = np.flatnonzero(np.isneginf(scores.max(axis=1)))
    if len(rows):
        own = candidates[points.codes]
        scores[rows, nearest_codes(Q[rows], X[own], points.codes[own], points.n_jobs)] = 0.0
    return scores


def _log_total(log_sums, _, log_share):
    """log f (m,) from the logarithms of the class sums (m, C, 1) of the sample weights."""
    return np.logaddexp.reduce(log_sums[..., 0] + log_share, axis=1)
