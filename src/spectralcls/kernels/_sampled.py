"""Kernel sums from a random sample of the points, whose error stays below a bound with a stated probability."""

from dataclasses import dataclass

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads

# The square of a kernel value is the value at a bandwidth divided by this, so that variances come in the same pass.
SQUARES = {"gaussian": np.sqrt(2.0), "laplace": 2.0}
SEED = 0  # the same points for the same call, whatever the queries and the number of threads
FIRST = 2048  # points drawn in the first round; each round doubles the sample
FEWEST_POINTS = 16 * FIRST
LARGEST_SHARE = 1 / 8  # of the points: beyond, all of them are summed
LEAST_DRAWS = 256  # of a label
PILOT = 256  # queries that decide whether to sample at all
PILOT_SHARE = 1 / 4  # of them have to be worth it


@dataclass
class Stratum:
    """The points of a label, drawn in proportion to the largest of their absolute weights."""

    rows: np.ndarray
    weights: np.ndarray  # (n, c), relative to the largest of the point
    total: float  # of the largest
    cumulative: np.ndarray | None  # None: all alike

    @classmethod
    def of(cls, rows, W):
        if W is None:
            return cls(rows, np.ones((len(rows), 1)), float(len(rows)), None)
        W = W[rows].astype(np.float64)
        size = np.abs(W).max(axis=1, initial=0.0)
        rows, W, size = rows[size > 0], W[size > 0], size[size > 0]
        cumulative = np.cumsum(size)
        alike = len(size) == 0 or size.min() == size.max()
        return cls(rows, W / size[:, None], float(size.sum()), None if alike else cumulative)

    def draw(self, rng, n):
        """Places of n points, with replacement."""
        if self.cumulative is None:
            return rng.integers(len(self.rows), size=n)
        places = np.searchsorted(self.cumulative, rng.random(n) * self.cumulative[-1], side="right")
        return np.minimum(places, len(self.rows) - 1)

    def everything(self):
        """Weights of all points with which they are as if each had been drawn once."""
        if self.cumulative is None:
            return self.weights
        size = np.diff(self.cumulative, prepend=0.0)
        return self.weights * (size * (len(size) / self.total))[:, None]


class SampledSums:
    """Sums of one bandwidth over a growing sample, stratified by label.

    With m draws of values in an interval of length R whose sample variance is V, the mean is off by more than
    ``sqrt(2 V log(4 / p) / m) + 7 R log(4 / p) / (3 (m - 1))`` with a probability of at most p [1]_. The probability
    that `confidence` leaves is shared out among rounds, labels and columns.

    References
    ----------
    .. [1] Maurer, A. and Pontil, M. (2009). Empirical Bernstein bounds and sample variance penalization. COLT.
       https://arxiv.org/abs/0907.3740
    """

    def __init__(self, Q, X, strata, n_columns, kernel, bandwidth, rtol, confidence, known, n_threads):
        self.Q, self.X, self.strata, self.kernel, self.n_threads = Q, X, strata, kernel, n_threads
        self.rtol, self.known = rtol, known
        self.signed = any((s.weights < 0).any() for s in strata)
        self.n_columns = n_columns
        self.limit = LARGEST_SHARE * len(X)
        self.n_rounds = 1 + int(np.ceil(np.log2(self.limit / FIRST)))
        self.widths = np.stack([bandwidth, bandwidth / SQUARES[kernel]])
        p = (1 - confidence) / (self.n_rounds * len(strata) * n_columns * (2 if self.signed else 1))
        self.log_p = np.log(4 / p)
        # Of sums of squares less the square of a sum.
        self.rounding = 64 * np.finfo(X.dtype).eps

    def run(self, rows):
        """Sums (m, L, c) of the queries `rows`, and which of them are certain."""
        rng = np.random.default_rng(SEED)
        shape = (len(rows), len(self.strata), self.n_columns)
        result, certain = np.zeros(shape), np.zeros(len(rows), dtype=bool)
        sums, absolute, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        n_drawn, complete = np.zeros(len(self.strata), dtype=np.intp), np.zeros(len(self.strata), dtype=bool)
        active = np.arange(len(rows))
        for turn in range(self.n_rounds):
            size = FIRST * 2**turn
            parts = self._parts(rng, size, n_drawn, complete)
            found = self._evaluate(rows[active], parts)
            replaced = [label for label, _, whole in parts if whole]
            for total, more in zip((sums, absolute, squares), found, strict=True):
                total[:, replaced] = 0
                total += more
            for label, places, whole in parts:
                n_drawn[label] = len(places) + (0 if whole else n_drawn[label])
                complete[label] |= whole
            estimate, slack, share = self._bounds(rows[active], sums, absolute, squares, n_drawn, complete)
            done, hopeless = slack <= 0, size * share > self.limit
            result[active[done]], certain[active[done]] = estimate[done], True
            left = ~(done | hopeless)
            active = active[left]
            if not len(active):
                break
            sums, absolute, squares = sums[left], absolute[left], squares[left]
        return result, certain

    def _parts(self, rng, size, n_drawn, complete):
        """(label, places of points, whether these are all of them) to be added to the sample."""
        total, parts = sum(s.total for s in self.strata), []
        for label, stratum in enumerate(self.strata):
            if complete[label] or not len(stratum.rows):
                continue
            n = max(LEAST_DRAWS, int(np.ceil(size * stratum.total / total)))
            whole = n >= len(stratum.rows)
            places = np.arange(len(stratum.rows)) if whole else stratum.draw(rng, n - n_drawn[label])
            parts.append((label, places, whole))
        return parts

    def _evaluate(self, rows, parts):
        """Sums over points of their terms, absolute terms and squares, (m, L, c) each."""
        shape = (len(rows), len(self.strata), self.n_columns)
        if not parts:
            return np.zeros(shape), np.zeros(shape), np.zeros(shape)
        points = np.concatenate([self.strata[label].rows[places] for label, places, _ in parts])
        labels = np.repeat([label for label, _, _ in parts], [len(places) for _, places, _ in parts])
        factors = np.concatenate(
            [
                self.strata[label].everything() if whole else self.strata[label].weights[places]
                for label, places, whole in parts
            ]
        )
        columns = None
        if self.signed or (factors != 1).any():
            first, second = [factors], [factors**2]
            if self.signed:
                first, second = [*first, np.abs(factors)], [*second, np.zeros_like(factors)]
            columns = np.stack([np.hstack(first), np.hstack(second)], axis=1).astype(self.X.dtype)
        sums = compiled.kernel_sums(
            self.Q[rows],
            self.X[points],
            columns,
            labels.astype(np.int64),
            len(self.strata),
            self.kernel,
            self.widths,
            None,
            None,
            None,
            1,
            0.0,
            "plain",
            self.n_threads,
        ).astype(np.float64)  # (m, 2, L, c or 2 c)
        terms, squares = sums[:, 0, :, : self.n_columns], sums[:, 1, :, : self.n_columns]
        return terms, sums[:, 0, :, self.n_columns :] if self.signed else terms, squares

    def _bounds(self, rows, sums, absolute, squares, n_drawn, complete):
        """Estimates (m, L, c), by how much their bound exceeds what is allowed (m,), and how many times as many draws
        are going to be enough (m,)."""
        n = np.maximum(n_drawn, 1)[:, None].astype(np.float64)
        others = np.maximum(n - 1, 1)
        totals = np.array([s.total for s in self.strata])[:, None]
        sampled = np.where(complete[:, None] | (n_drawn == 0)[:, None], 0.0, totals)
        length = np.array([1.0 + (s.weights.min(initial=0.0) < 0) for s in self.strata])[:, None]

        def spread(part):
            variance = np.maximum(squares - part**2 / n, 0.0) / others + self.rounding * squares / n
            return sampled * np.sqrt(2 * variance * self.log_p / n)

        by_range = np.broadcast_to(sampled * length * 7 * self.log_p / (3 * others), sums.shape)
        by_variance = spread(sums)
        estimate, size = totals * sums / n, totals * absolute / n
        uncertain = spread(absolute) + by_range
        if self.known is not None:  # the terms that queries leave out: exact
            labels, terms = self.known
            places = np.arange(len(rows)), np.maximum(labels[rows], 0)
            estimate[places] -= terms[rows]
            size[places] -= np.abs(terms[rows])
        if not self.signed:
            estimate, size = np.maximum(estimate, 0.0), np.maximum(size, 0.0)
        allowed = self.rtol * (size - uncertain).sum(axis=1)  # (m, c)
        v, r = by_variance.sum(axis=1), by_range.sum(axis=1)
        slack = (v + r - allowed).max(axis=1)
        target = self.rtol * size.sum(axis=1) / (1 + self.rtol)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (np.sqrt(v**2 + 4 * r * np.maximum(target, 0.0)) - v) / (2 * r)
            times = np.where(target > 0, np.where(r > 0, 1 / root**2, 1.0), np.inf).max(axis=1).clip(max=self.limit)
        return estimate, slack, times


def sampled_sums(
    Q,
    X,
    *,
    weights,
    labels,
    n_labels,
    kernel,
    bandwidths,
    rtol,
    confidence,
    excluded,
    n_jobs,
):
    """Plain sums that are within ``rtol`` with the probability `confidence`, where a sample is enough.

    Parameters
    ----------
    Q, X : ndarray of shape (m, d) and (n, d)
    weights : ndarray of shape (n, c) or None
    labels : int64 ndarray of shape (n,) or None
    n_labels : int
    kernel : str
    bandwidths : ndarray of shape (b,) or (b, n_labels)
    rtol, confidence : float
    excluded : int64 ndarray of shape (m,) or None
    n_jobs : int or None

    Returns
    -------
    sums : float64 ndarray of shape (m, b, n_labels, c)
    certain : bool ndarray of shape (m,)
        The queries whose sums they are. None instead of both where sampling is predicted to cost more than it saves.
    """
    if kernel not in SQUARES or len(X) < FEWEST_POINTS or not len(Q):
        return None
    kept = np.zeros(len(X), dtype=np.int64) if labels is None else labels
    strata = [Stratum.of(np.flatnonzero(kept == label), weights) for label in range(n_labels)]
    n_columns = 1 if weights is None else weights.shape[1]
    n_threads = effective_n_threads(n_jobs)
    rows, parts, certain = np.arange(len(Q)), [], np.ones(len(Q), dtype=bool)
    pilot = rows[:: -(-len(rows) // PILOT)]
    for widths in bandwidths:
        known = None if excluded is None else _left_out(Q, X, weights, kept, kernel, widths, excluded)
        of_width = SampledSums(
            Q, X, strata, n_columns, kernel, widths, rtol, 1 - (1 - confidence) / len(bandwidths), known, n_threads
        )
        if np.mean(of_width.run(pilot)[1]) < PILOT_SHARE:
            return None
        sums, enough = of_width.run(rows)
        parts.append(sums)
        certain &= enough
    return np.stack(parts, axis=1), certain


def _left_out(Q, X, weights, labels, kernel, widths, excluded):
    """Labels (m,) and terms (m, c) of the points that queries leave out; nothing where they leave out none."""
    point = np.maximum(excluded, 0)
    label = np.where(excluded >= 0, labels[point], -1)
    h = np.broadcast_to(widths, (labels.max(initial=0) + 1,)) if np.ndim(widths) == 0 else widths
    squared = ((Q.astype(np.float64) - X[point]) ** 2).sum(axis=1) / h[np.maximum(label, 0)] ** 2
    value = np.exp(-squared / 2) if kernel == "gaussian" else np.exp(-np.sqrt(squared))
    terms = value[:, None] * (1.0 if weights is None else weights[point])
    return label, np.where(label[:, None] >= 0, terms, 0.0)
