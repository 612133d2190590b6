"""Centered kernel matrices, stored as a matrix or a factor of few columns, and their sums under permutations.

Both tests compare two centered matrices A and B by ``T = sum_ij A_ij B_ij``, and compare T with its values after
permutations of the rows and columns of B. In the two-sample test B is ``w w^T`` for weights w of either sign; in the
independence test both are kernel matrices.
"""

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, rfft

from .._expansion.points import blocks
from ..kernels import kernel_matrix
from ..linalg import rpcholesky

TOL = 1e-8  # relative trace residual allowed for a factor of the kernel matrix
SMALL = 128  # up to this many points the matrix is faster than its factor
# largest number of points whose matrix is formed if a factor would need many columns; the matrix takes 32 MiB, and its
# third power takes a second
MOST_PAIRED = 2048
# largest number of columns of a factor if there are more than MOST_PAIRED points; at the median bandwidth, such a
# factor misses 1e-8 of the trace with two features, and .1 with ten
MOST_COLUMNS = 256
MOST_NUMBERS = 1 << 26  # largest number of entries of a factor: 512 MiB, or 67 columns for a million points
CUBED = 16  # up to this many columns, triple products are cheaper to sum than the cubes of pairs


@dataclass(frozen=True)
class Gram:
    """A centered matrix, whose rows add up to zero, stored as ``F F^T`` or in full.

    Attributes
    ----------
    factor : (n, r), or None if `matrix` is given
    matrix : (n, n), or None
    left_out : trace of the part missed by the factor; statistics include the mean of this part over all permutations
    """

    factor: np.ndarray | None = None
    matrix: np.ndarray | None = None
    left_out: float = 0.0

    @classmethod
    def of_kernel(cls, points, kernel, bandwidth, n_jobs=None):
        """Centered matrix of a positive definite kernel; up to `MOST_PAIRED` points exact to `TOL` of its trace.

        With more points the factor ends after `MOST_COLUMNS` columns. It is then the factor of another kernel, which is
        valid for a test because it does not depend on the order of the points.
        """
        n, options = len(points), dict(kernel=kernel, bandwidth=bandwidth, n_jobs=n_jobs)
        exact = n <= MOST_PAIRED
        if n > SMALL:
            order, most = canonical_order(points), n // 8 if exact else min(MOST_COLUMNS, MOST_NUMBERS // n)
            low = rpcholesky(points[order], max(most, 1), tol=TOL, random_state=0, **options)
            if not exact or low.relative_trace_residual <= TOL:
                return cls(_centered(low.factor[np.argsort(order)]), left_out=low.trace_residual * (1 - 1 / n))
        return cls(matrix=_centered(_centered(kernel_matrix(points, points, **options)).T))

    def __len__(self):
        return len(self.matrix if self.factor is None else self.factor)

    def dense(self):
        return self.factor @ self.factor.T if self.matrix is None else self.matrix

    def forms(self, columns):
        """``w^T A w`` for each column w (n, c); the entries of all columns are permutations of those of the first."""
        if self.matrix is None:
            missed = self.left_out * (columns[:, 0] @ columns[:, 0]) / max(len(self) - 1, 1)
            return ((self.factor.T @ columns) ** 2).sum(axis=0) + missed
        return np.einsum("ic,ic->c", columns, self.matrix @ columns)

    @property
    def trace(self):
        return float(np.vdot(self.factor, self.factor) if self.matrix is None else np.trace(self.matrix))

    @property
    def whole_trace(self):
        return self.trace + self.left_out

    def graph_sums(self):
        """Sums over the graphs with two and with three edges, for the matrix ``A - c I + c/n`` whose trace is zero.

        Returns
        -------
        two, three : ndarrays
            In the order of `_permutation_moments.PATTERNS`. Other graphs have sum zero, because the rows and the
            diagonal add up to zero.
        """
        n, trace = len(self), self.trace
        c = trace / max(n - 1, 1)
        if self.factor is None:
            A = self.matrix + c / n
            A[np.diag_indices(n)] -= c
            d, squares = np.diag(A), A**2
            cubes, triangles = np.vdot(squares, A), np.vdot(A @ A, A)
            in_squares, between = squares.sum(axis=1), d @ A @ d
        else:
            F, own = self.factor, np.einsum("ir,ir->i", self.factor, self.factor)
            G = F.T @ F
            d = own - c + c / n
            in_squares = np.concatenate([np.einsum("ir,ir->i", F[rows] @ G, F[rows]) for rows in blocks(n, 8 * len(G))])
            in_squares += c**2 * (1 - 1 / n) - 2 * c * own
            triangles = np.vdot(G @ G, G) - 3 * c * np.vdot(G, G) + 3 * c**2 * trace - c**3 * (n - 1)
            between = ((F.T @ d) ** 2).sum() - c * (d @ d)
            cubes = (d**3).sum() + self._cubes_of_pairs(c / n, own)
        return np.array([d @ d, in_squares.sum()]), np.array([(d**3).sum(), d @ in_squares, between, cubes, triangles])

    def _cubes_of_pairs(self, shift, own):
        """Sum of ``(A_ij + shift)^3`` over i != j; with many columns and points, estimated from a subset of the
        pairs.
        """
        F, (n, r) = self.factor, self.factor.shape
        if r > CUBED:
            rows = np.linspace(0, n - 1, min(n, MOST_PAIRED)).astype(int)
            A = F[rows] @ F[rows].T + shift
            A[np.diag_indices(len(A))] = 0.0
            return np.vdot(A**2, A) * (n * (n - 1) / (len(A) * (len(A) - 1)))
        products = sum((((F * column[:, None]).T @ F) ** 2).sum() for column in F.T)
        squares = ((F.T @ F) ** 2).sum() - own @ own
        return products - (own**3).sum() + 3 * shift * squares - 3 * shift**2 * own.sum() + shift**3 * n * (n - 1)


def inner(A, B):
    """``sum_ij A_ij B_ij`` for two matrices."""
    if A.matrix is None and B.matrix is None:
        return float(((A.factor.T @ B.factor) ** 2).sum()) + _missed(A, B)
    return float(np.vdot(A.dense(), B.dense())) + _missed(A, B)


def mean_of_permutations(A, B):
    """The mean of ``sum_ij A_ij B_p(i)p(j)`` over all permutations p."""
    return A.whole_trace * B.whole_trace / max(len(A) - 1, 1)


def _missed(A, B):
    """The mean over all permutations of the part missed by the factors."""
    return mean_of_permutations(A, B) - A.trace * B.trace / max(len(A) - 1, 1)


def correlations(A, B, orders):
    """``sum_ij A_ij B_p(i)p(j)``, (c * n,), where the permutations p are all cyclic shifts of each of the orders.

    Shift s pairs row i of A, in the first of the ``orders`` (c, n), with row i + s of B in each order. The first value
    belongs to the given pairing of rows, and the first n values to a group of permutations. The sums for all shifts
    form a correlation: of the columns of two factors, or of the diagonals of two matrices.
    """
    n, out = len(A), []
    factored = A.matrix is None and B.matrix is None
    if factored and (n > MOST_PAIRED or A.factor.shape[1] * B.factor.shape[1] < n):
        mine = rfft(A.factor[orders[0]].T)
        for order in orders:
            its, total = rfft(B.factor[order].T), np.zeros(n)
            for column in mine:
                total += (irfft(np.conj(column) * its, n) ** 2).sum(axis=0)
            out.append(total)
        return np.concatenate(out) + _missed(A, B)
    apart = np.arange(n // 2 + 1)[:, None]  # symmetric diagonals have equal correlations
    times = np.where((apart[:, 0] == 0) | (2 * apart[:, 0] == n), 1.0, 2.0)
    around = (np.arange(n) + apart) % n

    def diagonals(matrix, order):
        return rfft(matrix[order, order[around]])

    mine, its = np.conj(diagonals(A.dense(), orders[0])) * times[:, None], B.dense()
    found = [irfft((mine * diagonals(its, order)).sum(axis=0), n) for order in orders]
    return np.concatenate(found) + _missed(A, B)


def _centered(rows):
    """Subtract the mean of the rows, in place."""
    rows -= rows.mean(axis=0)
    return rows


def canonical_order(points):
    """Order of the rows along a fixed random direction, which does not depend on their given order."""
    return np.argsort(points @ np.random.default_rng(0).normal(size=points.shape[1]), kind="stable")
