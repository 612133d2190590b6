"""Random trees that partition points into cells of neighbors."""

from dataclasses import dataclass

import numpy as np

from .points import blocks

# From this many points on, ridge regression, metric learning and the choice of a metric's encoding work in cells, not
# on all points at once. The log losses of ridge regression in cells and, after the slash, by conjugate gradients on all
# points (tuned on 3000 points) are: with 5000 rows, letter .289 / .236, twonorm .077 / .063, satimage .230 / .227; with
# 10 000 rows, covertype .535 / .541, shuttle .0135 / .0146, skin .0083 / .0085, but letter .161 / .128; with 16 000
# rows, covertype .519 / .556, shuttle .0081 / .0086, skin .0063 / .0067, letter .122 / .094; with 30 000 rows, a
# mixture in 10 dimensions .347 / .353. Cells took .4 to .8 of the time of conjugate gradients. Their time grows in
# proportion to n, that of conjugate gradients in proportion to n^2.
MANY = 20_000
# Points from which a node's principal directions are estimated. The number is not critical: in 5 to 784 dimensions, the
# sum of squares within cells is at most 1 % larger with 60 points than with all points. With all points, a tree takes
# twice as long.
_SEEN = 500
_MIDDLE = 0.25  # smallest fraction of points on either side of a cut, unless ties prevent it
_RESOLVED = 1e-12  # rounding may swap values closer than this fraction of the largest coordinate in the middle
_PIVOTS, _NEAR = 5, 1 / 8  # rows that are tried as a center, and the fraction of all others that are near the right one
# Before principal directions are estimated, rows farther from the center than this multiple of its distances from near
# rows move nearer: numbers that stand for missing ones would determine the directions.
_FAR = 100.0


@dataclass(frozen=True)
class TreeCells:
    """A partition of points and of space into cells by a binary tree of hyperplanes.

    Each node projects its points onto a random mixture of their principal directions and cuts at a rank that makes the
    cells about equally large. Unless all projections in the middle half are equal, the cut lies between two different
    ones, so that a query equal to a point reaches the point's cell.

    Attributes
    ----------
    center : (d,) subtracted from points
    directions : (nodes, d)
    thresholds : (nodes,) smaller values go to the first child
    children : (nodes, 2) index of a node, or ~cell
    order : (n,) indices of the points, cell by cell
    starts : (n_cells + 1,) start of each cell in `order`
    """

    center: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, X, most, rng):
        """Grow a tree of cells with about equal numbers of points, at most `most` each.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        most : int
        rng : numpy.random.RandomState

        Notes
        -----
        O(n d log(n / most)) multiply-adds. Neither rotations nor the order of the columns change the cells.
        """
        center = near_row(X)[0]
        nodes, order, sizes = [], np.arange(len(X)), []

        def grow(start, stop):
            rows, n_cells = order[start:stop], -(-(stop - start) // most)
            if n_cells == 1:
                sizes.append(len(rows))
                return ~(len(sizes) - 1)
            seen = rng.choice(rows, min(len(rows), _SEEN), replace=False)
            direction = _direction(np.asarray(X[seen], dtype=np.float64), rng)
            values = _projected(X, rows, center, direction)
            by_value = np.argsort(values, kind="stable")
            order[start:stop], values = rows[by_value], values[by_value]
            cut = _cut(values, round(len(rows) * (n_cells // 2) / n_cells))
            node = len(nodes)
            nodes.append((direction, values[cut - 1] / 2 + values[cut] / 2, None))
            nodes[node] = (*nodes[node][:2], (grow(start, start + cut), grow(start + cut, stop)))
            return node

        grow(0, len(X))
        directions, thresholds, children = zip(*nodes, strict=True) if nodes else ([], [], [])
        return cls(
            center,
            np.array(directions).reshape(-1, X.shape[1]),
            np.array(thresholds),
            np.array(children, dtype=np.intp).reshape(-1, 2),
            order,
            np.append(0, np.cumsum(sizes)),
        )

    def __len__(self):
        return len(self.starts) - 1

    @property
    def parts(self):
        """The points of each cell, a list."""
        return np.split(self.order, self.starts[1:-1])

    def spread(self, n_cells):
        """The points of up to `n_cells` evenly spaced cells, a list."""
        chosen = np.linspace(0, len(self) - 1, min(len(self), n_cells)).round().astype(int)
        return [self.rows(cell) for cell in chosen]

    def rows(self, cell):
        """The points of a cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def of_queries(self, Q):
        """Pairs of a cell and the rows of the queries Q (m, d) that lie in it."""
        found = []

        def descend(node, rows):
            if not len(rows):
                return
            if node < 0:
                found.append((~node, rows))
                return
            low = _projected(Q, rows, self.center, self.directions[node]) < self.thresholds[node]
            descend(self.children[node, 0], rows[low])
            descend(self.children[node, 1], rows[~low])

        descend(0 if len(self.children) else ~0, np.arange(len(Q)))
        return found


def near_row(X):
    """A row of X (n, d) that has near rows, (d,), float64, and the distance of the near ones, 0 if all rows are equal.

    As a center, it needs no majority: most rows may be far, or equal.
    """
    sample = np.asarray(X[:: -(-len(X) // _SEEN)], dtype=np.float64)
    row, _, near = _surroundings(sample)
    return sample[row], 2 * near if near < np.inf else 0.0


def _surroundings(S):
    """A row of S (m, d) with near rows, the distances (m,) of all rows from it, halved, and that of the near ones."""
    best, rows = (0, np.zeros(len(S)), np.inf), range(0, len(S), -(-len(S) // _PIVOTS))
    for row in rows:
        distances = np.abs(S / 2 - S[row] / 2).max(axis=1)
        others = distances[distances > 0]
        near = np.quantile(others, _NEAR, method="lower") if len(others) else np.inf
        if near < best[2]:
            best = row, distances, near
    return best


def _direction(S, rng):
    """A random vector whose component along each principal direction of S (m, d) grows with the variance along it."""
    row, distances, near = _surroundings(S)
    S = (S / 2 - S[row] / 2) / np.maximum(distances / (_FAR * near), 1.0)[:, None]
    S = S - S.mean(axis=0)
    S /= np.abs(S).max() or 1.0
    direction = S.T @ (S @ (S.T @ rng.standard_normal(len(S))))
    return direction / (np.linalg.norm(direction) or 1.0)


def _projected(X, rows, center, direction):
    """Coordinates (m,) of rows of X along `direction`, float64."""
    out = np.empty(len(rows))
    for block in blocks(len(rows), 16 * X.shape[1]):
        out[block] = (X[rows[block]] - center) @ direction
    return out


def _cut(values, middle):
    """The position nearest to `middle` between two different ascending values (m,); `middle` if there is none.

    At least the fraction `_MIDDLE` of the values lies on each side.
    """
    least = _MIDDLE * len(values)
    reach = np.abs(values[[int(least), -1 - int(least)]]).max()
    between = np.flatnonzero(np.diff(values) > _RESOLVED * reach) + 1
    between = between[(between >= least) & (between <= len(values) - least)]
    return int(between[np.abs(between - middle).argmin()]) if len(between) else middle
