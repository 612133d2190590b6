"""Missing values of training points, as the other points of their class expect them.

The value of a feature f that a point i lacks is the kernel regression of the feature on those that the point has, over
the points j of its class that have f:

    x_if = sum_j w_j K(i, j) x_jf / sum_j w_j K(i, j),

K a Gaussian in the squared distance of the features that both have, plus the expected one of those that i has and j
lacks. Its bandwidth is half the distance within which a twentieth of the pairs of one class are. The mean of the class
counts as a further point, with little weight; if the class has no value at all, the mean of all points takes its place.
"""

import numpy as np

from .._quantile import weighted_quantile
from ..kernels import kernel_sums
from .incomplete import columns_of, is_incomplete, masked_distance

MOST_DONORS = 250  # points of a class that complete the others
MOST_PAIRS = 20_000  # if there are more, `DRAWN_PAIRS` of them say what is near
DRAWN_PAIRS = 3000
BLOCK = 4096  # points that are completed at a time
NEAR = 0.05  # share of the pairs that are near
OF_MEAN = 1e-5  # weight of the class mean, of that of the class; the kernel at distance 0 is 1


def completed(X, codes, weights=None, features=None, n_jobs=None):
    """X (n, d), its missing values filled in by the points of the same class.

    Parameters
    ----------
    X : ndarray (n, d)
    codes : ndarray (n,)
    weights : ndarray (n,), optional
        A point of weight 0 is completed, and completes none.
    features : ndarray (d,), optional
        Feature of each column, whose values are missing together; None: one column each.
    """
    if not is_incomplete(X):
        return X
    one_fold = np.zeros(len(X), dtype=np.intp)
    return _completed(X, codes, one_fold, weights, features, n_jobs, lambda sums: sums)[0]


def completed_by_folds(X, codes, folds, weights=None, features=None, n_jobs=None):
    """X as the points outside of each fold complete it, (folds, n, d)."""
    return _completed(X, codes, folds, weights, features, n_jobs, _outside)


def _outside(by_fold):
    return np.tensordot(1 - np.eye(len(by_fold)), by_fold, 1)


def _completed(X, codes, folds, weights, features, n_jobs, of_folds):
    """For each fold X, completed by the sums that `of_folds` makes of those over the points of each fold."""
    n_folds = folds.max() + 1
    columns = columns_of(X.shape[1], features)
    which = np.repeat(np.arange(len(columns)), [len(own) for own in columns])  # feature of each column as they follow
    order = np.concatenate(columns)
    weights = np.ones(len(X)) if weights is None else weights.astype(np.float64)
    known = ~np.isnan(X)
    weight = np.where(weights @ known > 0, weights @ known, 1.0)
    center = weights @ np.where(known, X, 0.0) / weight
    Z = np.where(known, X.astype(np.float64) - center, 0.0)
    spread = weights @ Z**2 / weight
    expected = np.stack([(Z[:, own] ** 2 + spread[own]).sum(axis=1) for own in columns], axis=1)
    has = np.stack([known[:, own[0]] for own in columns], axis=1)
    terms = np.column_stack([Z[:, order], has]) * weights[:, None]  # of means: sums of values, and of weights
    overall = of_folds(_by_fold(terms, folds, n_folds))
    A, B, constant = masked_distance(Z, ~has, Z, ~has, columns, expected)
    classes = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    width = _near(A, B, constant, [own[weights[own] > 0] for own in classes], weights)

    out = np.repeat(X[None], n_folds, axis=0)
    for own in classes:
        donors = _some(own[weights[own] > 0], MOST_DONORS)
        if not len(donors):  # the class is none of those that complete
            donors = own
        mean = _means(of_folds(_by_fold(terms[own], folds[own], n_folds)), _means(overall, 0.0, which), which)[:, None]
        prior = OF_MEAN * (weights[own].sum() or 1.0)
        for rows in np.array_split(own, -(-len(own) // BLOCK)):
            log_scale, sums = kernel_sums(
                A[rows], B[donors], weights=terms[donors], labels=folds[donors], n_labels=n_folds, bandwidth=width,
                log="pair", n_jobs=n_jobs,
            )
            log_scale = np.where(sums.any(axis=2), log_scale + constant[rows, None] / (2 * width**2), -np.inf)
            sums = of_folds(np.moveaxis(np.exp(log_scale)[..., None] * sums, 1, 0))
            filled = (sums[..., : len(which)] + prior * mean) / (sums[..., len(which) :][..., which] + prior)
            values = np.empty_like(filled)
            values[..., order] = filled
            out[:, rows] = np.where(known[rows], X[rows], values + center)
    return out


def _some(rows, most):
    """All of the rows, or as many at random, the same in every call."""
    return rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _by_fold(values, folds, n_folds):
    """Sums of the rows of each fold."""
    return (folds == np.arange(n_folds)[:, None]) @ values


def _means(sums, otherwise, which):
    """Means of each column, (folds, columns), from sums of values and of weights."""
    weight = sums[:, len(which) :][:, which]
    return np.where(weight > 0, sums[:, : len(which)] / np.where(weight > 0, weight, 1.0), otherwise)


def _near(A, B, constant, classes, weights):
    """Half the distance within which the share `NEAR` of the different pairs of one class are; 1 if all are equal."""
    sizes = np.array([len(own) for own in classes])
    if (sizes**2).sum() <= MOST_PAIRS:
        pairs = np.concatenate([np.stack(np.meshgrid(own, own)).reshape(2, -1) for own in classes], axis=1)
    else:
        rng = np.random.default_rng(0)
        drawn = rng.choice(len(classes), DRAWN_PAIRS, p=sizes / sizes.sum())
        starts = np.cumsum(sizes) - sizes
        places = starts[drawn] + (rng.random((2, DRAWN_PAIRS)) * sizes[drawn]).astype(np.intp)
        pairs = np.concatenate(classes)[places]
    distances = np.square(A[pairs[0]] - B[pairs[1]]).sum(axis=1) - constant[pairs[0]]
    apart = distances > 1e-9 * distances.max()
    if not apart.any():
        return 1.0
    return float(np.sqrt(weighted_quantile(distances[apart], NEAR, weights[pairs].prod(axis=0)[apart]))) / 2
