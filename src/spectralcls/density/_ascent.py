"""Mean shift: points climb the gradient of a density, all together, to its modes.

With the kernel k(u) of the density and g(u) = -k'(u) / u, the gradient vanishes where x is the mean of the points with
weights ``w_j g(|x - x_j| / h)``; stepping to that mean never goes down. The mean is d + 1 columns of a kernel sum.
"""

import numpy as np
from scipy.spatial.distance import cdist

from .._expansion.points import blocks

SHADOWS = {  # kernel of the density: kernel of the means
    "gaussian": "gaussian",
    "epanechnikov": "uniform",
    "quartic": "epanechnikov",
    "triweight": "quartic",
}
CELL = 1e-3  # bandwidths: climbers this close together go on as one


def climb(Q, points, kernel, bandwidth, tol, max_iter):
    """Where the climbers Q (m, d) arrive, the number of steps of the slowest, and whether all have arrived.

    Climbers that meet go on as one, and each stops when a step is shorter than `tol` bandwidths.

    Returns
    -------
    modes : (m, d) float64; NaN where no point is within reach of the start
    n_iter : int
    arrived : bool
    """
    X = points.X
    origin = X.mean(axis=0, dtype=np.float64)
    columns = np.column_stack([np.ones(len(X)), X - origin])
    columns = columns if points.weights is None else columns * points.weights[:, None]
    columns = np.ascontiguousarray(columns, dtype=X.dtype)
    modes = Q.astype(np.float64)
    places = modes.copy()  # of the climbers that are left
    owner = np.arange(len(Q))  # the climber that each query follows, among those that are left
    for n_iter in range(1, max_iter + 1):
        moved = _means(places, points, columns, SHADOWS[kernel], bandwidth) + origin
        length = np.linalg.norm(moved - places, axis=1)
        arrived = ~(length > tol * bandwidth)  # NaN has nowhere to go
        done = owner >= 0
        done[done] = arrived[owner[done]]
        modes[done] = moved[owner[done]]
        followers = np.flatnonzero((owner >= 0) & ~done)
        if not len(followers):
            return modes, n_iter, True
        left = np.flatnonzero(~arrived)
        first, group = equal_rows(np.round((moved[left] - origin) / (CELL * bandwidth)))
        new_number = np.full(len(places), -1)
        new_number[left] = group
        owner = np.where((owner >= 0) & ~done, new_number[np.maximum(owner, 0)], -1)
        places = moved[left[first]]
    modes[followers] = places[owner[followers]]
    return modes, max_iter, False


def equal_rows(cells):
    """(first row of each group of equal ones, group of each row), by their bytes, which is faster than by columns."""
    rows = np.ascontiguousarray(cells + 0.0)  # no -0.0
    rows = rows.view(np.dtype((np.void, rows[0].nbytes)))[:, 0]
    return np.unique(rows, return_index=True, return_inverse=True)[1:]


def _means(Q, points, columns, kernel, bandwidth):
    """Weighted means about the queries, less the origin of the columns; NaN where no kernel reaches."""
    out = np.empty(Q.shape)
    for block in blocks(len(Q), 24 * columns.shape[1]):
        _, sums = points.pairs(Q[block].astype(points.X.dtype), columns, kernel, bandwidth, 0.0)
        with np.errstate(invalid="ignore"):
            out[block] = sums[:, 1:] / np.where(sums[:, :1] > 0, sums[:, :1], np.nan)
    return out


def distinct_modes(modes, log_density, distance):
    """Of modes closer than `distance` the highest, by descending density: row numbers."""
    order = np.argsort(-log_density, kind="stable")
    kept = []
    left = np.ones(len(modes), dtype=bool)
    for row in order:
        if left[row]:
            kept.append(row)
            left &= np.linalg.norm(modes - modes[row], axis=1) > distance
    return np.array(kept)


def absorbed_by(modes, centers, distance):
    """Which center, the highest first, each mode belongs to: the highest within `distance`, else the nearest."""
    out = np.empty(len(modes), dtype=np.intp)
    for block in blocks(len(modes), 16 * len(centers)):
        apart = cdist(modes[block], centers)
        within = apart <= distance
        out[block] = np.where(within.any(axis=1), within.argmax(axis=1), apart.argmin(axis=1))
    return out
