"""Learning curves of labeling strategies, scored on what is left of the pool and on a fixed test set."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state, check_X_y

from .._utils.from_sklearn import HasMethods, Interval, validate_params
from .._utils.progress import progress as show_progress
from .._utils.typing import ArrayLike, RandomState
from .._utils.validation import check_class_labels
from ._classifier import PerTurboClassifier
from ._pool import ActivePool

STRATEGIES = ("boundary", "random")


@dataclass(frozen=True)
class LearningCurves:
    """Accuracies while labels come in.

    Parameters
    ----------
    n_labels : ndarray of shape (t,)
        Labeled samples at each measurement.
    pool : dict of str to ndarray of shape (n_repeats, t)
        Accuracy on the remaining pool, for each strategy.
    test : dict of str to ndarray of shape (n_repeats, t)
        Accuracy on the test set, for each strategy.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.perturbo import LearningCurves
    >>> test = {"boundary": np.array([[0.75, 1.0]]), "random": np.array([[0.75, 0.75]])}
    >>> mean, deviation = LearningCurves(np.array([6, 7]), test, test).gain("test")
    >>> float(mean)
    0.25
    """

    n_labels: np.ndarray
    pool: dict
    test: dict

    def gain(self, scored_on: str, at=-1) -> tuple[float, float]:
        """Mean and standard deviation over the repeats of "boundary" minus "random", at a measurement.

        Parameters
        ----------
        scored_on : {"pool", "test"}
            Which accuracies to compare.
        at : int, default=-1
            Position of the measurement in `n_labels`; the last one by default.

        Returns
        -------
        mean : float
            Mean gain in accuracy.
        deviation : float
            Its standard deviation (divisor n_repeats - 1); 0 with a single repeat.
        """
        scores = getattr(self, scored_on)
        difference = (scores["boundary"] - scores["random"])[:, at]
        return difference.mean(), difference.std(ddof=1) if len(difference) > 1 else 0.0


@validate_params(
    {
        "estimator": [HasMethods(["fit", "predict"])],
        "X": ["array-like"],
        "y": ["array-like"],
        "query": [HasMethods(["perturbation"]), None],
        "n_initial": [Interval(Integral, 2, None, closed="left"), None],
        "n_queries": [Interval(Integral, 1, None, closed="left"), None],
        "test_size": [Interval(Real, 0, 1, closed="neither")],
        "fraction": [Interval(Real, 0, 1, closed="right")],
        "retune": [Interval(Integral, 1, None, closed="left"), None],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "strategies": ["array-like"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "progress": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def simulate(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    query: Any = None,
    n_initial: int | None = None,
    n_queries: int | None = None,
    test_size: float = 1 / 3,
    fraction: float = 0.10,
    retune: int | None = 10,
    n_repeats: int = 10,
    strategies: Sequence[str] = STRATEGIES,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> LearningCurves:
    """Label a pool one sample at a time and record how a classifier improves: section 4.2 of [1]_.

    Each repeat splits the data at random into a fixed test set and a pool, and labels a few samples of the
    pool; every strategy starts from these. Then a sample is labeled, the classifier trained, and scored
    twice: on the rest of the pool, as the paper does, and on the test set. The two say different things: a
    strategy that labels the difficult samples leaves an easy pool behind, whether or not the classifier
    became better.

    Parameters
    ----------
    estimator : classifier
        Cloned. A PerTurboClassifier grows by its `partial_fit`; any other is refitted at each label.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their labels.
    query : PerTurboClassifier, default=None
        It measures the border for "boundary". None: the estimator if it is a PerTurboClassifier, otherwise
        one with the default parameters.
    n_initial : int, default=None
        Labeled samples at the start, one of each class in the pool (as far as it goes) and then random ones.
        None: two a class.
    n_queries : int, default=None
        Labels asked for. None: nine tenths of the pool.
    test_size : float in (0, 1), default=1/3
        Share of the samples in the test set.
    fraction : float in (0, 1], default=0.10
        Of the pool nearest the border, from which the sample to label is drawn.
    retune : int or None, default=10
        A PerTurboClassifier is fitted anew, and so chooses its bandwidth and alpha, after this many labels.
        None: only at the start.
    n_repeats : int, default=10
        Number of random splits.
    strategies : sequence of {"boundary", "random"}, default=("boundary", "random")
        Ways to choose the next sample to label: by `query_boundary`, or at random.
    random_state : int, RandomState instance or None, default=0
        Draws splits, first labels and queries; both strategies see the same splits.
    n_jobs : int, default=None
        Processes over the repeats, as in joblib.
    progress : bool, default=True
        Show how many repeats are finished.

    Returns
    -------
    curves : LearningCurves
        Accuracies of every strategy, repeat and measurement.

    Raises
    ------
    ValueError
        For unknown strategies, a single class, or a pool too small for ``n_initial`` and ``n_queries``.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import PerTurboClassifier
    >>> from spectralcls.perturbo import simulate
    >>> curves = simulate(PerTurboClassifier(1.0, alpha=1e-2), X, y, n_queries=5, n_repeats=2, progress=False)
    >>> curves.n_labels
    array([ 6,  7,  8,  9, 10, 11])
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    check_class_labels(y)
    if not len(strategies) or not all(isinstance(name, str) and name in STRATEGIES for name in strategies):
        raise ValueError(f"strategies must be some of {STRATEGIES}, got {list(strategies)}.")
    n_classes = len(np.unique(y))
    if n_classes < 2:
        raise ValueError("The data have a single class: there is no border to query.")
    n_pool = len(X) - int(np.ceil(test_size * len(X)))
    n_initial = 2 * n_classes if n_initial is None else n_initial
    n_queries = int(0.9 * (n_pool - n_initial)) if n_queries is None else n_queries
    if n_queries < 1 or n_initial + n_queries >= n_pool:
        raise ValueError(
            f"The pool has {n_pool} samples: too few to start from {n_initial}, label {n_queries} and keep "
            "one to score."
        )
    if query is None:
        query = estimator if isinstance(estimator, PerTurboClassifier) else PerTurboClassifier(scale=None)
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_repeats)
    with show_progress("repeats", n_repeats, silent=not progress) as step:

        def jobs():
            for seed in seeds:
                step("")
                yield delayed(_repeat)(
                    estimator, query, X, y, n_pool, n_initial, n_queries, fraction, retune, strategies, seed
                )

        repeats = Parallel(n_jobs=n_jobs and min(n_jobs, n_repeats))(jobs())  # a process more has nothing to do
    scores = np.array(repeats)  # (repeat, strategy, pool or test, t)
    pool, test = ({name: scores[:, s, kind] for s, name in enumerate(strategies)} for kind in (0, 1))
    return LearningCurves(n_initial + np.arange(n_queries + 1), pool, test)


def _repeat(estimator, query, X, y, n_pool, n_initial, n_queries, fraction, retune, strategies, seed):
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(X))
    pool, test = order[:n_pool], order[n_pool:]
    _, first = np.unique(y[pool], return_index=True)  # of a random order: one random sample of each class
    start = np.concatenate([first, np.setdiff1d(np.arange(n_pool), first)])[:n_initial]
    if len(np.unique(y[pool[start]])) < 2:
        raise ValueError("The pool of a repeat has a single class: use more samples.")
    return [
        _curve(
            estimator,
            query,
            X,
            y,
            pool,
            test,
            start,
            n_queries,
            fraction,
            retune,
            strategy,
            np.random.RandomState(seed),
        )
        for strategy in strategies
    ]


def _curve(estimator, query, X, y, pool, test, start, n_queries, fraction, retune, strategy, rng):
    """Accuracies (2, n_queries + 1) on the remaining pool and on the test set."""
    X_pool, y_pool = X[pool], y[pool]
    unlabeled = np.ones(len(pool), dtype=bool)
    unlabeled[start] = False
    own = estimator is query  # the classifier measures the border itself
    scores = np.empty((2, n_queries + 1))
    for t in range(n_queries + 1):
        labeled = np.flatnonzero(~unlabeled)
        if t == 0 or (retune is not None and t % retune == 0):
            border = clone(query).fit(X_pool[labeled], y_pool[labeled])
            active = ActivePool(border, X_pool)
            active.leave_out(labeled)
        classifier = border if own else clone(estimator).fit(X_pool[labeled], y_pool[labeled])
        scores[0, t] = np.mean(classifier.predict(X_pool[unlabeled]) == y_pool[unlabeled])
        scores[1, t] = np.mean(classifier.predict(X[test]) == y[test])
        if t < n_queries:
            chosen = active.query(1, fraction, rng) if strategy == "boundary" else [rng.choice(active.remaining)]
            active.label(chosen, y_pool[chosen])
            unlabeled[chosen] = False
    return scores
