"""Adam on the leave-one-out likelihood: batches, schedule and early stopping."""

from typing import NamedTuple

import numpy as np

from .._tuning import group_folds
from ._likelihood import loss, loss_and_gradient

RIDGE = 1e-3  # penalty on the squared distance from the start
MIN_BATCH = 1000  # queries per step; a twentieth of the references if that is more. Larger batches are no better
MAX_REFERENCES = 50_000  # largest number of points with which the queries of a step are compared
HELD_OUT, MAX_VALIDATED = 0.15, 2000  # share and maximum number of the points for early stopping
PATIENCE = 6  # evaluations without improvement before the descent ends
_EVALUATED_EVERY = 4  # steps between evaluations; three times as many with more than `MAX_REFERENCES` points
_DENSER = 2.0 ** (-np.arange(5) / 2)  # relative bandwidths for validation, where points are denser than in a step


class Learned(NamedTuple):
    A: np.ndarray
    n_steps: int
    best_step: int  # 0: initial map
    training: list  # loss of each step, with the penalty
    validation: list  # loss at the start, and then every few steps


class Adam:
    """Moments of the gradient (Kingma and Ba, ICLR 2015)."""

    def __init__(self, shape):
        self.first, self.second, self.t = np.zeros(shape), np.zeros(shape), 0

    def step(self, gradient, rate):
        self.t += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        return -rate * (self.first / (1 - 0.9**self.t)) / (np.sqrt(self.second / (1 - 0.999**self.t)) + 1e-8)


def descend(metric, sample, start, rng, step_done):
    """Descend from `start` and keep the map with the least validation loss.

    Parameters
    ----------
    metric : KernelMetric
        With ``kind="diagonal"`` only the diagonal is learned; `max_iter` limits the steps.
    sample : TrainingData
    start : ndarray of shape (q, p)
    rng : RandomState
    step_done : callable
        Called before each step with the text to show.

    Returns
    -------
    Learned

    Notes
    -----
    A step compares a random half of the training rows with itself; with more than 2 `MIN_BATCH` rows it compares
    `MIN_BATCH` queries (or a twentieth of the references, if more) with up to `MAX_REFERENCES` rows.
    """
    held_out, training = _split(sample, rng)
    rate = min(0.03, 0.1 / np.sqrt(len(start)))
    denser = len(training) > MAX_REFERENCES
    grid, every = (_DENSER[::-1], 3 * _EVALUATED_EVERY) if denser else (np.ones(1), _EVALUATED_EVERY)

    def validated(A):
        return loss(sample, A, held_out, training, grid, metric.n_jobs).min()

    A, best, best_step = start.copy(), start, 0
    curve, evaluated = [], [validated(start)]
    descent = Adam(start.shape)
    waited = 0
    for t in range(metric.max_iter):
        step_done(f"loss {curve[-1]:.4f}" if curve else "")
        queries, references = _batch(training, rng)
        value, gradient = loss_and_gradient(sample, A, queries, references, metric.n_jobs)
        curve.append(value + RIDGE * np.sum((A - start) ** 2))
        gradient += 2 * RIDGE * (A - start)
        if metric.kind == "diagonal":
            gradient = np.diag(np.diag(gradient))
        A = A + descent.step(gradient, rate * (1 + np.cos(np.pi * t / metric.max_iter)) / 2)
        if (t + 1) % every and t + 1 < metric.max_iter:
            continue
        evaluated.append(validated(A))
        if evaluated[-1] < min(evaluated[:-1]):
            best, best_step, waited = A, t + 1, 0
        else:
            waited += 1
            if waited >= PATIENCE:
                break
    return Learned(best, len(curve), best_step, curve, evaluated)


def _split(sample, rng):
    """Rows for early stopping, and the others; a group is on one side."""
    n = len(sample.X)
    order = rng.permutation(n)
    n_held_out = min(max(round(HELD_OUT * n), min(10, n // 3), 1), MAX_VALIDATED, n - 1)
    if sample.groups is None:
        return np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
    inside = group_folds(sample, max(2, round(n / n_held_out)), 0) > 0
    return np.flatnonzero(~inside)[:MAX_VALIDATED], np.flatnonzero(inside)


def _batch(training, rng):
    n, n_references = len(training), min(len(training), MAX_REFERENCES)
    if n <= 2 * MIN_BATCH:
        half = np.sort(rng.choice(training, max(n // 2, min(n, 2)), replace=False))
        return half, half
    queries = np.sort(rng.choice(training, max(MIN_BATCH, n_references // 20), replace=False))
    if n == n_references:
        return queries, training
    return queries, np.sort(rng.choice(training, n_references, replace=False))
