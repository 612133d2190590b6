"""Learning curves with one new label at a time, near the boundary or at random: section 4.2 of the PerTurbo paper."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from spectralcls.perturbo import ActivePool, PerTurboClassifier

STRATEGIES = ("boundary", "random")


def learning_curves(model, X, y, *, n_queries, retune, n_repeats, n_jobs=None):
    """Labels at each measurement, and the accuracies (repeats, strategies, pool or test set, measurements).

    A third of the samples is the test set. The others are the pool, in which two samples of each class are labeled at
    the start. A PerTurboClassifier, which also finds the boundary for other models, is tuned again after every `retune`
    labels.
    """
    seeds = check_random_state(0).randint(np.iinfo(np.int32).max, size=n_repeats)
    border = model if isinstance(model, PerTurboClassifier) else PerTurboClassifier(scale=None)
    one = delayed(_repeat)
    scores = Parallel(n_jobs=n_jobs)(one(model, border, X, y, n_queries, retune, seed) for seed in seeds)
    return 2 * len(np.unique(y)) + np.arange(n_queries + 1), np.array(scores)


def gain(scores, scored_on, at=-1):
    """Accuracy with boundary queries minus that with random labels: mean and standard deviation over the repeats."""
    near, random = scores[:, :, ("pool", "test").index(scored_on), at].T
    return np.mean(near - random), np.std(near - random, ddof=1)


def _repeat(model, border, X, y, n_queries, retune, seed):
    order = np.random.RandomState(seed).permutation(len(X))
    pool, test = np.split(order, [len(X) - -(-len(X) // 3)])
    _, first = np.unique(
        y[pool], return_index=True
    )  # the order is random, so these are random samples, one of each class
    start = np.concatenate([first, np.setdiff1d(np.arange(len(pool)), first)])[: 2 * len(np.unique(y))]
    parts = X[pool], y[pool], X[test], y[test]
    return [_curve(model, border, *parts, start, n_queries, retune, s, np.random.RandomState(seed)) for s in STRATEGIES]


def _curve(model, border, X, y, T, t, start, n_queries, retune, strategy, rng):
    unlabeled = np.ones(len(X), dtype=bool)
    unlabeled[start] = False
    scores = np.empty((2, n_queries + 1))
    for step in range(n_queries + 1):
        labeled = np.flatnonzero(~unlabeled)
        if step % (retune or n_queries + 1) == 0:
            query = clone(border).fit(X[labeled], y[labeled])
            active = ActivePool(query, X)
            active.leave_out(labeled)
        fitted = query if model is border else clone(model).fit(X[labeled], y[labeled])
        scores[:, step] = fitted.score(X[unlabeled], y[unlabeled]), fitted.score(T, t)
        if step < n_queries:
            chosen = active.query(1, 0.1, rng) if strategy == "boundary" else [rng.choice(active.remaining)]
            active.label(chosen, y[chosen])
            unlabeled[chosen] = False
    return scores
