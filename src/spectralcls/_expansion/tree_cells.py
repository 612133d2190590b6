"""Random trees that cut points into cells of neighbors."""

from dataclasses import dataclass

import numpy as np

from .points import blocks

# From this many points on, cells replace the whole: in ridge regression, in learning a metric, and in choosing the
# encoding before it. Log losses of ridge regression (cells, conjugate gradients; tuned on 3000): 10 000 rows of
# covertype .571 and .575, 20 000 .430 and .454, of skin .0040 and .0039; 10 000 and 30 000 of a mixture in 10
# dimensions .349 and .352, .347 and .353; but 10 000 of letter .134 and .108, 16 000 .095 and .069. Cells took a half
# to a fifth of the time, which grows with n and not with its square.
MANY = 20_000
_SEEN = 500  # points from which a node's principal directions are computed
_MIDDLE = 0.25  # smallest share of points on a side of a cut, unless ties forbid it
_RESOLVED = 1e-12  # relative to the largest coordinate: rounding may swap values closer than this


@dataclass(frozen=True)
class TreeCells:
    """A partition of points into cells, and of space: a binary tree of hyperplanes.

    A node cuts at the median along a random mixture of the principal directions of its points. Cuts by rank fix the
    sizes of the cells. If the middle half has different values, the cut lies between two of them, so that queries equal
    to a point reach the point's cell.

    Attributes
    ----------
    center : (d,) subtracted from points
    directions : (nodes, d)
    thresholds : (nodes,) smaller values go to the first child
    children : (nodes, 2) number of a node, or ~cell
    order : (n,) the points, cell by cell
    starts : (n_cells + 1,) start of each cell in this order
    """

    center: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, X, most, rng):
        """Grow a tree whose cells have at most `most` points, and about the same number each.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        most : int
        rng : numpy.random.RandomState

        Notes
        -----
        O(n d log(n / most)) multiply-adds. Neither rotations nor the order of the columns change the cells.
        """
        center = X.mean(axis=0, dtype=np.float64)
        nodes, order, sizes = [], np.arange(len(X)), []

        def grow(start, stop):
            rows, n_cells = order[start:stop], -(-(stop - start) // most)
            if n_cells == 1:
                sizes.append(len(rows))
                return ~(len(sizes) - 1)
            direction = _direction(X[rng.choice(rows, min(len(rows), _SEEN), replace=False)] - center, rng)
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
        """A list of the points of some cells, chosen evenly among all of them; all cells if there are no more."""
        chosen = np.linspace(0, len(self) - 1, min(len(self), n_cells)).round().astype(int)
        return [self.rows(cell) for cell in chosen]

    def rows(self, cell):
        """The points of a cell."""
        return self.order[self.starts[cell] : self.starts[cell + 1]]

    def of_queries(self, Q):
        """Pairs of a cell and the rows of the queries (m, d) in it; each row is in one cell."""
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


def _direction(S, rng):
    """A random vector whose component along each principal direction of S (m, d) grows with the variance there."""
    S = S - S.mean(axis=0)
    S /= np.abs(S).max() or 1.0
    direction = S.T @ (S @ (S.T @ rng.standard_normal(len(S))))
    return direction / (np.linalg.norm(direction) or 1.0)


def _projected(X, rows, center, direction):
    """Coordinates (m,) of rows of X along a direction, float64."""
    out = np.empty(len(rows))
    for block in blocks(len(rows), 16 * X.shape[1]):
        out[block] = (X[rows[block]] - center) @ direction
    return out


def _cut(values, middle):
    """The position nearest to `middle` at which ascending values (m,) can be cut between different values."""
    reach = np.abs(values).max()
    between = np.flatnonzero(np.diff(values) > _RESOLVED * reach) + 1
    least = _MIDDLE * len(values)
    between = between[(between >= least) & (between <= len(values) - least)]
    return int(between[np.abs(between - middle).argmin()]) if len(between) else middle
