"""Gaussian kernel sums over points and queries with missing values, which are NaN.

The kernel is a product of one factor for each feature. A feature that a query lacks is integrated out: it takes the
factor sqrt(2 pi) h for each of its columns. A feature that a point of class c lacks, but the query q has, takes the
marginal of the class, ``m_c(q_f)``, the mean of ``k(q_f, x_jf)`` over the points j of the class that have it.

Queries are grouped by their pattern of missing features. If there are too many patterns, or points lack features, the
masks take part in the distance: with o = 1 for what is observed and 0 otherwise, and L = -2 h^2 log m_c(q_f),

    o_q o_x (q - x)^2 + o_q (1 - o_x) L = o_x [o_q (q^2 - L)] - 2 (o_x x) (o_q q) + (o_x x^2) o_q + o_q L

is an inner product of columns that depend on the point alone with columns that depend on the query alone, and
``2 a.b = |a|^2 + |b|^2 - |a - b|^2`` makes a squared distance of it. One pass of the core then serves all patterns.
"""

from dataclasses import dataclass

import numpy as np

from ..kernels import kernel_sums

QUERIES_PER_PATTERN = 64  # fewer on average, and masks are faster
RTOL = 1e-9  # of the sums behind marginals, of one feature each
LOG_ROOT = np.log(2 * np.pi) / 2


def is_incomplete(X):
    """Whether a value is missing."""
    return bool(np.isnan(X).any())


def by_pattern(missing):
    """(pattern, rows) for each different row of a boolean array."""
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1])
    return list(zip(patterns, rows, strict=True))


@dataclass(frozen=True)
class Excluded:
    """What each query leaves out: one point, or the points of its group."""

    points: np.ndarray | None = None  # (m,), -1 for none
    groups: tuple | None = None  # (m,) of the queries and (n,) of the points

    def options(self, queries, points, n):
        """The arguments of `kernel_sums` for some of the queries (a selection) and of the n points (row numbers)."""
        if self.points is not None:
            place = np.full(n + 1, -1)
            place[points] = np.arange(len(points))
            return {"exclude_self": place[self.points[queries]]}
        if self.groups is not None:
            return {"exclude_groups": (self.groups[0][queries], self.groups[1][points])}
        return {}


class IncompletePoints:
    """Points with missing values, by class.

    Parameters
    ----------
    X : ndarray (n, d)
    codes : ndarray (n,)
    n_classes : int
    weights : ndarray (n,), optional
    features : ndarray (d,), optional
        Feature of each column, 0, 1, ...; the columns of a feature are missing together. None: one column each.
    n_jobs : int, optional
    """

    def __init__(self, X, codes, n_classes, weights=None, features=None, n_jobs=None):
        self.codes, self.n_classes, self.n_jobs = codes, n_classes, n_jobs
        self.features = np.unique(np.arange(X.shape[1]) if features is None else features, return_inverse=True)[1]
        self.columns = [np.flatnonzero(self.features == f) for f in range(self.features.max() + 1)]
        self.first = np.array([columns[0] for columns in self.columns])
        self.missing = np.isnan(X[:, self.first])
        observed = np.maximum(np.count_nonzero(~np.isnan(X), axis=0), 1)
        self.center = np.nansum(X, axis=0, dtype=np.float64) / observed
        self.X = X.astype(np.float64) - self.center
        self.weights = np.ones(len(X)) if weights is None else weights.astype(np.float64)

    def log_sums(self, Q, widths, excluded=None, weights=None):
        """log sum_{j in c} w_j k(q, x_j), float64 (m, b, C), for bandwidths (b,), or (b, C) of each class.

        Other `weights` than the sample weights do not change the marginals.
        """
        excluded = excluded or Excluded()
        weights = self.weights if weights is None else weights.astype(np.float64)
        widths = np.asarray(widths, dtype=np.float64)
        Q = Q.astype(np.float64) - self.center
        missing = np.isnan(Q[:, self.first])
        if self.missing.any():
            out = self._masked_by_class(Q, missing, widths, excluded, weights)
        else:
            groups = by_pattern(missing)
            if len(groups) * QUERIES_PER_PATTERN <= len(Q) or len(groups) == 1:
                out = np.empty((len(Q), len(widths), self.n_classes))
                for pattern, rows in groups:
                    out[rows] = self._observed(Q, rows, ~pattern[self.features], widths, excluded, weights)
            else:
                out = self._masked(Q, missing, np.arange(len(self.X)), None, widths, excluded, weights)
        by_class = widths if widths.ndim == 2 else widths[:, None]
        n_integrated = missing[:, self.features].sum(axis=1)
        return out + n_integrated[:, None, None] * (np.log(by_class) + LOG_ROOT)

    def potentials(self, widths, weights=None):
        """sum_ij w_i w_j k(x_i, x_j) over each class, the bandwidths (C,)."""
        weights = self.weights if weights is None else weights.astype(np.float64)
        out = np.zeros(self.n_classes)
        for c, width in enumerate(widths):
            own = np.flatnonzero(self.codes == c)
            if len(own):
                out[c] = weights[own] @ np.exp(self._log_sums_between(c, c, width, weights))
        return out

    def log_sums_at_points(self, bandwidth):
        """log sum_{j in c} w_j k(x_i, x_j) at the points themselves, (n, C), one bandwidth or one of each class."""
        widths = np.broadcast_to(bandwidth, self.n_classes)
        out = np.full((len(self.X), self.n_classes), -np.inf)
        for a in range(self.n_classes):
            for c in range(self.n_classes):
                own = self.codes == a
                if own.any() and np.any(self.codes == c):
                    out[own, c] = self._log_sums_between(a, c, widths[c], self.weights)
        return out

    def _log_sums_between(self, a, c, width, weights):
        """log of the sums over the points of class c, at those of class a.

        Both stand for the distribution of their completions: of a feature that one point lacks the marginal of its
        class counts at the other's value, of one that both lack the mean of the one marginal under the other.
        """
        at, own = np.flatnonzero(self.codes == a), np.flatnonzero(self.codes == c)
        lengths = self._lengths(at, c, width)
        others = lengths if a == c else self._lengths(own, a, width)
        known = np.where(self.missing[at], 0.0, self.weights[at, None])
        log_known = np.where(known > 0, -lengths / (2 * width**2), -np.inf)
        top = np.maximum(log_known.max(axis=0), -np.finfo(float).max)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.log((known * np.exp(log_known - top)).sum(axis=0) / known.sum(axis=0)) + top
        both = np.where(known.any(axis=0), -2 * width**2 * mean, 0.0)
        A, B, constant = masked_distance(
            self.X[at], self.missing[at], self.X[own], self.missing[own], self.columns, lengths, (others, both)
        )
        sums = kernel_sums(A, B, weights=weights[own], bandwidth=width, log=True, n_jobs=self.n_jobs)
        return sums + constant / (2 * width**2)

    def _lengths(self, rows, c, width):
        """L of the marginals of class c at the values of some of the points, (len(rows), features)."""
        log_m = self._log_marginals(self.X[rows], self.missing[rows], c, np.array([width]), Excluded(), every=True)
        return -2 * width**2 * log_m[:, :, 0]

    def _observed(self, Q, rows, columns, widths, excluded, weights):
        """Over complete points, on the columns that these queries have."""
        everything = np.arange(len(self.X))
        points, queries = (self.X[:, columns], Q[rows][:, columns]) if columns.any() else (
            np.zeros((len(self.X), 1)), np.zeros((len(rows), 1))  # the kernel is 1: the sums are weights
        )
        return kernel_sums(
            queries, points, weights=weights, labels=self.codes, n_labels=self.n_classes, bandwidth=widths,
            log=True, n_jobs=self.n_jobs, **excluded.options(rows, everything, len(self.X)),
        )

    def _masked(self, Q, missing, own, lengths, widths, excluded, weights):
        """Over the points `own`, of one class if there are lengths, otherwise by class."""
        A, B, constant = masked_distance(Q, missing, self.X[own], self.missing[own], self.columns, lengths)
        labels = self.codes[own] if lengths is None else np.zeros(len(own), dtype=np.intp)
        log_sums = kernel_sums(
            A, B, weights=weights[own], labels=labels, n_labels=self.n_classes if lengths is None else 1,
            bandwidth=widths, log=True, n_jobs=self.n_jobs, **excluded.options(slice(None), own, len(self.X)),
        )
        by_class = widths if widths.ndim == 2 else widths[:, None]
        return log_sums + constant[:, None, None] / (2 * by_class**2)

    def _masked_by_class(self, Q, missing, widths, excluded, weights):
        """Marginals depend on class and bandwidth, hence a pass over the points of a class for each bandwidth."""
        out = np.full((len(Q), len(widths), self.n_classes), -np.inf)
        for c in range(self.n_classes):
            own = np.flatnonzero(self.codes == c)
            if not len(own):
                continue
            of_class = widths[:, c] if widths.ndim == 2 else widths
            log_m = self._log_marginals(Q, missing, c, of_class, excluded)
            for b, width in enumerate(of_class):
                lengths = -2 * width**2 * log_m[:, :, b]
                found = self._masked(Q, missing, own, lengths, np.array([width]), excluded, weights)
                out[:, b, c] = found[:, 0, 0]
        return out

    def _log_marginals(self, Q, missing, c, widths, excluded, every=False):
        """log m_c at the queries' values, (m, features, b); 0 if the query lacks the feature, or no point of the class
        does; with `every` no point at all."""
        out = np.zeros((len(Q), len(self.columns), len(widths)))
        own = self.codes == c
        for f in np.flatnonzero(self.missing[slice(None) if every else own].any(axis=0)):
            rows = np.flatnonzero(~missing[:, f])
            has = ~self.missing[:, f]
            log_m = self._log_means(Q, rows, self.columns[f], np.flatnonzero(own & has), widths, excluded)
            nothing = np.isnan(log_m).any(axis=1)  # no point of the class has it: those of all classes
            if nothing.any():
                log_m[nothing] = self._log_means(
                    Q, rows[nothing], self.columns[f], np.flatnonzero(has), widths, excluded
                )
            out[rows, f] = np.nan_to_num(log_m, nan=0.0)
        return out

    def _log_means(self, Q, rows, columns, points, widths, excluded):
        """log of the weighted means of one feature's kernel values, (len(rows), b); NaN of nothing."""
        out = np.full((len(rows), len(widths)), np.nan)
        if excluded.groups is None:
            parts = [(np.arange(len(rows)), points)]
        else:  # the points of other groups: sums of one feature within a tolerance go without groups
            own, others = excluded.groups[0][rows], excluded.groups[1][points]
            parts = [(np.flatnonzero(own == g), points[others != g]) for g in np.unique(own)]
        for some, kept in parts:
            if not len(kept) or not len(some):
                continue
            weights = self.weights[kept]
            total = np.full(len(some), weights.sum())
            options = {}
            if excluded.points is not None:
                options = excluded.options(rows[some], kept, len(self.X))
                left_out = options["exclude_self"]
                total -= np.where(left_out >= 0, weights[left_out], 0.0)
            sums = kernel_sums(
                Q[rows[some]][:, columns], self.X[kept][:, columns], weights=weights, bandwidth=widths, log=True,
                rtol=RTOL, n_jobs=self.n_jobs, **options,
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                out[some] = sums - np.log(total)[:, None]
        return out


def masked_distance(Q, queries_lack, X, points_lack, columns, lengths=None, of_pairs=None):
    """Squared distances of the features that both have, and lengths for the others, as distances of new columns.

    Parameters
    ----------
    Q, X : ndarray (m, d) and (n, d)
    queries_lack, points_lack : ndarray (m, F) and (n, F) of bool
    columns : list of F arrays
        Columns of each feature.
    lengths : ndarray (m, F), optional
        L of the features that a query has and a point lacks.
    of_pairs : tuple of ndarrays (n, F) and (F,), optional
        L of the features that a point has and a query lacks, and of those that both lack; None: 0.

    Returns
    -------
    A, B : ndarray (m, D) and (n, D)
    constant : ndarray (m,)
        What the squared distances of A and B exceed those asked for by.
    """
    plain, factors = [], []  # columns whose differences count; pairs of columns whose products do
    common, summand = np.zeros(len(Q)), np.zeros(len(X))  # what depends on the query alone, and on the point alone
    for f, own in enumerate(columns):
        if not (queries_lack[:, f].any() or points_lack[:, f].any()):
            plain.extend(own)
            continue
        has_q, has_x = ~queries_lack[:, f] * 1.0, ~points_lack[:, f] * 1.0
        q, x = np.nan_to_num(Q[:, own]), np.nan_to_num(X[:, own])
        length = 0.0 if lengths is None else has_q * lengths[:, f]
        common += length
        own_square = (q**2).sum(axis=1) - length
        if has_x.all():
            common += own_square
        else:
            factors.append((own_square, has_x))
        factors.extend((-2 * q[:, i], x[:, i]) for i in range(len(own)))
        if has_q.all():
            summand += (x**2).sum(axis=1)
        else:
            factors.append((has_q, (x**2).sum(axis=1)))
        if of_pairs is not None and not has_q.all():
            of_point, of_both = of_pairs[0][:, f], of_pairs[1][f]
            common += (1 - has_q) * of_both
            factors.append((1 - has_q, has_x * (of_point - of_both)))
    if summand.any():
        factors.append((np.ones(len(Q)), summand))
    A, B = np.empty((len(Q), len(factors))), np.empty((len(X), len(factors)))
    for i, (u, v) in enumerate(factors):  # u v is -2 a b; both of one size
        balance = np.sqrt(np.abs(u).max() / 2 / (np.abs(v).max() or 1.0)) or 1.0
        A[:, i], B[:, i] = -u / (2 * balance), v * balance
    squares = np.einsum("ij,ij->i", B, B)
    radius = squares.max(initial=0.0)
    A = np.column_stack([Q[:, plain], A, np.zeros(len(Q))])
    B = np.column_stack([X[:, plain], B, np.sqrt(radius - squares)])
    return A, B, np.einsum("ij,ij->i", A[:, len(plain) :], A[:, len(plain) :]) + radius - common
