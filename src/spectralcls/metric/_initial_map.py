"""Initial maps for learning a metric: the identity, and the inverse root of the within-class covariance."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from .._tuning import default_bandwidths, has_spread
from ._descent import MAX_REFERENCES, MAX_VALIDATED
from ._likelihood import loss

SHRINKAGES = (1e-4, 0.01, 0.1, 0.4)


class Start(NamedTuple):
    """A map to coordinates in which a Gaussian of bandwidth 1 classifies best, and its loss there."""

    name: str
    W: np.ndarray  # (d, q)
    loss: float


def _class_means(sample):
    """Weight (C,) and mean (C, q) of each class."""
    mass = np.bincount(sample.codes, sample.weights, minlength=sample.n_classes)
    members = csr_array(
        (sample.weights, (sample.codes, np.arange(len(sample.codes)))), (sample.n_classes, len(sample.codes))
    )
    return mass, members @ sample.X / np.maximum(mass, np.finfo(float).tiny)[:, None]


def within_class_covariance(sample):
    """Weighted covariance of the points around the means of their classes, (q, q) float64."""
    _, means = _class_means(sample)
    deviations = sample.X - means[sample.codes].astype(np.float32)
    deviations *= np.sqrt(sample.weights / sample.weights.sum())[:, None].astype(np.float32)
    return (deviations.T @ deviations).astype(np.float64)


def candidates(sample, kind):
    """Yield names and maps; for "diagonal", only maps without rotation."""
    q = sample.X.shape[1]
    covariance = within_class_covariance(sample)
    scale = np.trace(covariance) / q or 1.0
    yield "identity", np.eye(q)
    if kind == "diagonal":
        yield "within-class scales", np.diag(1 / np.sqrt(np.diag(covariance) + 0.01 * scale))
        return
    values, vectors = eigh(covariance)
    values = np.maximum(values, 0.0)
    for shrinkage in SHRINKAGES:
        yield (
            f"within-class whitening, shrinkage {shrinkage:g}",
            (vectors / np.sqrt((1 - shrinkage) * values + shrinkage * scale)) @ vectors.T,
        )


def absorb_bandwidth(sample, W, rng, n_jobs, most_references=None):
    """W divided by the bandwidth with the least leave-one-out loss on a sample, and this loss."""
    n = len(sample.X)
    mapped = sample._replace(X=sample.X @ W.astype(np.float32))
    if not has_spread(mapped.X):
        return W, np.inf
    queries, references = (
        np.arange(n) if most is None or n <= most else np.sort(rng.choice(n, most, replace=False))
        for most in (MAX_VALIDATED, most_references)
    )
    grid = default_bandwidths(mapped.X, mapped.weights)
    losses = loss(mapped, np.eye(W.shape[1]), queries, references, grid, n_jobs)
    best = losses.argmin()
    return W / grid[best], float(losses[best])


def best_start(sample, kind, seed, n_jobs):
    """The candidate with the least leave-one-out loss. Each is scored at its best bandwidth on the same points, with as
    many references as in a step of the descent.
    """
    starts = []
    for name, W in candidates(sample, kind):
        W, value = absorb_bandwidth(sample, W, np.random.RandomState(seed), n_jobs, MAX_REFERENCES)
        starts.append(Start(name, W, value))
    return min(starts, key=lambda start: start.loss)


def leading_directions(sample, n_components):
    """Orthonormal (q, p): the directions between class means, then the other directions in order of decreasing
    variance."""
    mass, means = _class_means(sample)
    between = np.sqrt(mass / mass.sum())[:, None] * (means - mass @ means / mass.sum())
    covariance = (sample.X.T * (sample.weights / sample.weights.sum()).astype(np.float32)) @ sample.X
    basis = np.linalg.svd(between, full_matrices=False)[2][: sample.n_classes - 1].T
    rest = np.eye(sample.X.shape[1]) - basis @ basis.T
    others = eigh(rest @ covariance.astype(np.float64) @ rest)[1][:, ::-1]
    return np.linalg.qr(np.hstack([basis, others]))[0][:, :n_components]
