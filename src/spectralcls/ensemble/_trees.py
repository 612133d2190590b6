"""Boosted trees of bounded size, learned in one thread and evaluated together."""

from functools import cache, partial
from itertools import zip_longest

import numpy as np
import threadpoolctl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from .._core import compiled
from .._core.threads import effective_n_threads
from .._tuning import stratified_subsample
from .._tuning.temperature import log_loss, softmax
from .._utils.bases import BaseEstimator, ClassifierMixin, RegressorMixin
from .._utils.cached import cached_property
from .._utils.copies import random_keys
from .._utils.from_sklearn import LabelsChecked, TreeNodes, boosted_trees

ITERATIONS, RATE, LEAVES = 30, 0.16, 8
# In regression, trees are added until the loss on unseen points stops falling: after 13 to more than 400 iterations on
# 34 tables of at most 600 rows. On 17 of them, the error was 4 % larger with all columns at each split and leaves of at
# least 8 points. On the other 17, it was 1 % larger with 16 leaves per tree, 3 % larger with a fifth of the columns at
# each split, and the same with half of them.
OF_NUMBERS = {"rate": 0.07, "leaf": 4, "columns": 0.3}
FIRST, MOST = 100, 800  # iterations; doubled from scikit-learn's default while the best is among the last
AMONG_THE_LAST = 0.75  # iterations beyond this fraction of all are the last ones
MOST_TREES = 240  # limit for all classes together; if there are fewer iterations, each takes a larger step
_HIGHEST_RATE = 0.3
_MOST_POINTS = 30_000  # more points do not help trees with so few leaves
# Trees with few leaves split on only a few columns, and each column costs 0.15 ms. For 10 000 words of 150 to 1000
# Reuters texts, 25 000 indicators and 8000 numbers, a choice of 500 to 4000 columns gave the same log loss on unseen
# points up to noise (on the texts, 0 to 4 % less than all columns); 125 columns gave up to 15 % more.
MOST_COLUMNS = 1000
_BLOCK = 1 << 20  # numbers of a block of columns
# Grown trees have the defaults of scikit-learn's boosting; their number is the best on unseen points.
GROWN_RATE, GROWN_LEAVES = 0.1, 31
# Limit over all classes: up to 30 classes get the default of 100 iterations. The 26 classes of letter get 115; the log
# loss on unseen rows is least after 52 with 3000 training rows, and after 74 with 8000.
MOST_GROWN_TREES = 3000
_MOST_BINS = 255  # limit of scikit-learn's boosting, and its default
_MOST_LEVELS = 255  # most levels of a category in scikit-learn's boosting; a category with more is treated as a number


class _Boosting(LabelsChecked, HistGradientBoostingClassifier):
    pass


class _Trees(BaseEstimator):
    """Boosted trees of scikit-learn, learned in one thread and evaluated by the core.

    More OpenMP threads would spin between the histograms of few points, and sums would depend on the number of threads.

    The core walks all trees in one call. scikit-learn calls a function for each tree, which on one row would add a
    fifth to two thirds to the time of a vote (docs/measured/auto.md). What is stored is `TreeNodes`, plain arrays that
    the core checks before it walks them, and no random generator: NumPy 1 cannot read one that NumPy 2 has written.
    """

    def _keep(self, nodes, start, columns):
        """Store trees of chosen columns as trees on all columns; the trees belong to the k outputs in turn and add to
        the scores `start` (1, k)."""
        nodes = nodes._replace(features=columns[nodes.features].astype(np.int32))
        self.nodes_, self.start_, self.n_trees_ = dict(nodes._asdict()), start, len(nodes.roots)

    @cached_property
    def _forest(self):
        return compiled.forest(**self.nodes_)

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "_forest"}

    def _all_scores(self, X):
        """Sums of the trees, (n, k)."""
        out = np.tile(np.asarray(self.start_), (len(X), 1))
        compiled.tree_sums(self._forest, np.ascontiguousarray(X, dtype=np.float64), out, effective_n_threads())
        return out


class _Classifier(ClassifierMixin, _Trees):
    """Boosted trees for classification."""

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        scores = self._all_scores(X)
        if scores.shape[1] == 1:  # score of the second class; the first has 0
            scores = np.hstack([np.zeros_like(scores), scores])
        return softmax(scores)


class BoostedTrees(_Classifier):
    """A small :class:`~sklearn.ensemble.HistGradientBoostingClassifier` with a bounded number of trees and points."""

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n, d) without missing values, y (n,), positive weights (n,)."""
        X, y, sample_weight = _some(X, y, y, sample_weight)
        self.n_points_ = len(X)
        self.classes_ = np.unique(y)
        model, columns = small_boosting(X, y, self.classes_, sample_weight)
        self._keep(*boosted_trees(model), columns)
        return self


def small_boosting(X, y, classes, weights=None):
    """The fitted model of scikit-learn that :class:`BoostedTrees` evaluates, and the columns of X that it was given, in
    their order.
    """
    columns = _telling(X, y[:, None] == classes, weights)
    X = X[:, columns]
    iterations = max(1, min(ITERATIONS, MOST_TREES // len(classes)))
    model = _Boosting(
        learning_rate=min(RATE * ITERATIONS / iterations, _HIGHEST_RATE),
        max_iter=iterations,
        max_leaf_nodes=LEAVES,
        max_bins=_bins(X),
        early_stopping=False,
        random_state=0,
    )
    with _openmp().limit(limits=1):
        return model.fit(X, y, weights), columns


class GrownTrees(_Classifier):
    """A :class:`~sklearn.ensemble.HistGradientBoostingClassifier` fitted to all points, with as many trees as reduce
    the loss.

    Parameters
    ----------
    iterations : int, default=None
        Number of iterations. None: determined by `unseen` points; 100 without them, fewer with more than 30 classes.
    categorical : ndarray of shape (d,) of bool, default=None
        Columns that hold categories.

    Attributes
    ----------
    iterations_ : int
    levels_ : list of ndarray or None, for each column
    empty_ : ndarray of shape (d,) of bool, columns without any value
    order_ : ndarray of shape (d,), columns in the order in which the trees receive them
    """

    def __init__(self, iterations=None, categorical=None):
        self.iterations = iterations
        self.categorical = categorical

    def fit(self, X, y, sample_weight=None, unseen=None):
        """Fit to X (n, d), NaN if a value is missing, y (n,), positive weights (n,).

        If `unseen` (points, codes, and weights or None) is given, iterate until the log loss on them stops falling.
        """
        self.classes_ = np.unique(y)
        categorical = np.zeros(X.shape[1], dtype=bool) if self.categorical is None else self.categorical
        levels = [np.unique(x[~np.isnan(x)]) if named else None for x, named in zip(X.T, categorical, strict=True)]
        self.levels_ = [None if own is None or not 0 < len(own) <= _MOST_LEVELS else own for own in levels]
        self.empty_ = np.isnan(X).all(axis=0)
        coded = self._coded(X)
        shares = _shares(coded, y[:, None] == self.classes_, sample_weight)
        self.order_ = np.lexsort((-shares, [own is None for own in self.levels_]))  # categories first
        most = max(1, MOST_GROWN_TREES // (1 if len(self.classes_) == 2 else len(self.classes_)))
        first = min(FIRST, most)
        training = coded[:, self.order_], y, sample_weight
        model = _Boosting(
            learning_rate=min(GROWN_RATE * FIRST / first, _HIGHEST_RATE),
            max_iter=first if self.iterations is None else int(self.iterations),
            max_leaf_nodes=GROWN_LEAVES,
            max_bins=_bins(training[0]),
            categorical_features=np.sort([own is not None for own in self.levels_])[::-1],
            early_stopping=False,
            warm_start=True,
            random_state=0,
        )
        with _openmp().limit(limits=1):
            known = np.zeros(0, bool) if unseen is None else np.isin(unseen[1], self.classes_)
            if not known.any():
                self.iterations_ = model.fit(*training).max_iter
            else:
                Q, codes = (
                    self._coded(unseen[0][known])[:, self.order_],
                    np.searchsorted(self.classes_, unseen[1][known]),
                )
                weights = None if unseen[2] is None else unseen[2][known]
                losses = partial(_log_losses, model, Q, codes, weights)
                self.iterations_ = _grow(model, training, losses, first, min(MOST, most))
        self._keep(*boosted_trees(model, self.iterations_), self.order_)
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        return super().predict_proba(self._coded(X))

    def _coded(self, X):
        """X with positions of levels in categorical columns; unknown values become missing."""
        out = np.array(X, dtype=np.float64, order="F")
        out[:, self.empty_] = 0.0
        for j, levels in enumerate(self.levels_):
            if levels is not None:
                place = np.minimum(np.searchsorted(levels, out[:, j]), len(levels) - 1)
                out[:, j] = np.where(levels[place] == out[:, j], place, np.nan)
        return out


class BoostedRegression(RegressorMixin, _Trees):
    """Boosted trees for numeric targets, with separate trees for each output.

    Parameters
    ----------
    iterations : sequence of int, default=None
        Number of iterations for each output. None: determined by `unseen` points; 200 without them.
    leaves : int, default=8
        Maximum number of leaves of a tree.

    Attributes
    ----------
    iterations_ : ndarray of int, for each output
    """

    def __init__(self, iterations=None, leaves=LEAVES):
        self.iterations = iterations
        self.leaves = leaves

    def fit(self, X, y, sample_weight=None, unseen=None):
        """Fit to X (n, d) without missing values, y (n,) or (n, k), positive weights (n,).

        If `unseen` (points, targets, and weights or None) is given, iterate until the squared error on them stops
        falling.
        """
        Y, bins, trees = y.reshape(len(y), -1), _bins(X), []
        for j, column in enumerate(Y.T):
            model = HistGradientBoostingRegressor(
                learning_rate=OF_NUMBERS["rate"],
                max_iter=2 * FIRST if self.iterations is None else int(self.iterations[j]),
                max_leaf_nodes=self.leaves,
                max_bins=bins,
                min_samples_leaf=OF_NUMBERS["leaf"],
                max_features=OF_NUMBERS["columns"],
                early_stopping=False,
                warm_start=True,
                random_state=0,
            )
            order = _by_correlation(X, column, sample_weight)
            with _openmp().limit(limits=1):
                if unseen is None:
                    kept = model.fit(X[:, order], column, sample_weight).max_iter
                else:
                    Q, truth, weights = unseen
                    errors = partial(_squared_errors, model, Q[:, order], truth.reshape(len(Q), -1)[:, j], weights)
                    kept = _grow(model, (X[:, order], column, sample_weight), errors)
            nodes, start = boosted_trees(model, kept)
            trees.append((nodes._replace(features=order[nodes.features]), start))
        self.iterations_ = np.array([len(nodes.roots) for nodes, _ in trees])
        nodes, starts = zip(*trees, strict=True)
        self._keep(_in_turns(nodes), np.reshape(starts, (1, -1)), np.arange(X.shape[1]))
        return self

    def predict(self, X):
        """Predictions, (n, k)."""
        return self._all_scores(X)


def _bins(X):
    """As many bins as the column with the most distinct values needs. Histograms have this width in every column: with
    255 bins, those of 25 000 indicators would take 150 MB per leaf."""
    fewest = 2
    for start in range(0, X.shape[1], step := max(1, _BLOCK // len(X))):
        ordered = np.sort(X[:, start : start + step], axis=0)
        fewest = max(fewest, 1 + np.count_nonzero(ordered[1:] != ordered[:-1], axis=0).max())
        if fewest >= _MOST_BINS:
            return _MOST_BINS
    return int(fewest)


def _grow(model, training, losses, first=FIRST, most=MOST):
    """Grow a model with warm starts, and return the number of iterations with the least loss; ``losses()`` returns the
    losses of all iterations so far.
    """
    model.max_iter = first
    while True:
        model.fit(*training)
        best = int(np.argmin(losses())) + 1
        if best <= AMONG_THE_LAST * model.max_iter or model.max_iter >= most:
            return best
        model.max_iter = min(2 * model.max_iter, most)


def _squared_errors(model, Q, truth, weights):
    return [np.average((predicted - truth) ** 2, weights=weights) for predicted in model.staged_predict(Q)]


def _log_losses(model, Q, codes, weights):
    return [log_loss(probability, codes, weights) for probability in model.staged_predict_proba(Q)]


def _some(X, codes, y, weights):
    """At most `_MOST_POINTS` of the points, their answers and weights."""
    if len(X) <= _MOST_POINTS:
        return X, y, weights
    some = stratified_subsample(codes, _MOST_POINTS, random_keys(X))
    return X[some], y[some], None if weights is None else weights[some]


def _in_turns(forests):
    """The trees of forests without categories in turns, with trees of value zero in place of missing ones."""
    nothing = TreeNodes(np.zeros(1, np.uint8), *(np.zeros(1, kind) for kind in "ifi"), np.zeros(0, "i"), None)
    shift = np.cumsum([0, *(len(nodes.kinds) for nodes in forests)], dtype=np.int32)
    roots = zip_longest(*map(np.add, (nodes.roots for nodes in forests), shift), fillvalue=shift[-1])
    shifted = [nodes._replace(rights=nodes.rights + by) for nodes, by in zip((*forests, nothing), shift, strict=True)]
    kinds, features, numbers, rights = map(np.concatenate, list(zip(*shifted, strict=True))[:4])
    return TreeNodes(kinds, features, numbers, rights, np.ravel(list(roots)), forests[0].levels)


@cache
def _openmp():
    """The OpenMP libraries, searched for once because the search takes milliseconds."""
    return threadpoolctl.ThreadpoolController().select(user_api="openmp")


def _by_correlation(X, y, weights):
    """Order of the columns by correlation with y, so that the random columns of a split do not depend on their given
    order; at most the `MOST_COLUMNS` with the largest absolute correlation.
    """
    columns = _telling(X, y[:, None], weights)
    X = X[:, columns]
    centered = X - X.mean(axis=0)
    spread = np.sqrt(np.mean(centered**2, axis=0))
    return columns[np.argsort(centered.T @ (y - y.mean()) / np.where(spread > 0, spread, 1.0), kind="stable")]


def _telling(X, answers, weights):
    """At most `MOST_COLUMNS` columns of X (n, d), those most correlated with the answers (n, k) first.

    Of two equally good splits a tree takes that of the first column, so this order must not depend on the given one.
    """
    return np.argsort(-_shares(X, answers, weights), kind="stable")[:MOST_COLUMNS]


def _shares(X, answers, weights):
    """Sum of the squared correlations of each column of X (n, d) with the answers (n, k), up to a factor for each
    answer. Missing values count as the mean of their column.
    """
    weights = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    answers = (answers - weights @ answers) * weights[:, None]
    out = np.zeros(X.shape[1])
    for start in range(0, X.shape[1], step := max(1, _BLOCK // len(X))):
        known = ~np.isnan(X[:, start : start + step])
        values = np.where(known, X[:, start : start + step], 0.0)
        of_known = weights @ known
        mean = np.divide(weights @ values, of_known, out=np.zeros(len(of_known)), where=of_known > 0)
        centered = np.where(known, values - mean, 0.0)
        square = weights @ centered**2
        shared = np.sum((centered.T @ answers) ** 2, axis=1)
        np.divide(shared, square, out=out[start : start + step], where=square > 0)
    return out
