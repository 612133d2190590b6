"""A pool of unlabeled samples whose perturbations are updated label by label."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import check_is_fitted

from .._estimator import fitted_in_memory
from .._inputs.frames import Columns, of_numbers
from .._inputs.inputs import take
from .._inputs.read import is_table
from .._utils.advice import advise
from .._utils.conversion import is_missing, label_array
from .._utils.typing import Array, ArrayLike, RandomState
from ._perturbo_classifier import PerTurboClassifier
from ._query import complete_pool, draw, margin_of, refuse_missing


class ActivePool:
    """Unlabeled samples with scores that are updated after each label.

    For every class with a Cholesky factor that can grow, K_l + alpha I = U^T U, the pool keeps the solve B = U^-T
    K(X_l, pool). A label of that class adds one row, ``v = (k(s, pool) - c^T B) / u`` with (c, u) the new column of U,
    and subtracts v^2 from tau. This reads B once (n_l numbers per pool sample), whereas a new solve takes n_l^2
    operations per pool sample. c itself is a column of B, so the factor also grows without a solve.

    Parameters
    ----------
    estimator : fitted PerTurboClassifier
        Fitted classifier, which `label` trains further. Call `refresh` if other code trains it. Since its own samples
        are few, scales and levels of categories are learned again from its samples and the pool together, and tuning is
        repeated. For a table with categories, distances between levels are learned again whenever the number of labels
        has doubled; `refresh` learns them, and tunes, from all labels.
    X_pool : array-like or data frame of shape (m, d)
        Unlabeled samples; float32 becomes float64.

    Attributes
    ----------
    estimator : PerTurboClassifier
        The classifier.
    X : ndarray of shape (m, d)
        The pool, including labeled samples; float64, or objects for a table.
    remaining : ndarray of shape (n_remaining,), intp
        Positions in ``X`` that have not been labeled, ascending.
    perturbation : ndarray of shape (n_remaining, n_classes)
        tau of the remaining samples for each class, in [0, 1].
    margin : ndarray of shape (n_remaining,)
        Difference between the two smallest perturbations of each remaining sample; 0 on a border.

    Notes
    -----
    Memory: 8 m n bytes for n labeled samples, in buffers whose capacity doubles. Truncated classes and classes
    represented by nearest samples cannot be updated this way; they are scored again when they change.

    References
    ----------
    .. [1] N. Courty, T. Burger, J. Laurent, "PerTurbo: a new classification algorithm based on the spectrum
       perturbations of the Laplace-Beltrami operator", ECML PKDD 2011, LNCS 6911, pp. 359-374.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import PerTurboClassifier
    >>> from spectralcls.perturbo import ActivePool
    >>> pool = ActivePool(PerTurboClassifier(1.0, alpha=1e-2).fit(X[::5], y[::5]), X)
    >>> position = pool.query(random_state=0)
    >>> pool.label(position, y[position]).remaining.shape
    (149,)
    """

    def __init__(self, estimator, X_pool):
        if not isinstance(estimator, PerTurboClassifier):
            raise TypeError(f"estimator must be a PerTurboClassifier, got {type(estimator).__name__}.")
        check_is_fitted(estimator)
        fitted_in_memory(estimator)
        self.estimator = estimator
        refuse_missing(estimator._inputs.read(X_pool))
        self.X = check_array(X_pool, dtype=None if is_table(X_pool) else np.float64, ensure_all_finite=False)
        samples, names = estimator._inputs.read(X_pool), estimator._inputs.seen.get("feature_names_in_")
        if names is not None and not isinstance(samples, Columns):
            samples = Columns(map(of_numbers, names, samples.T))
        self._samples = samples
        self._unlabeled = np.ones(len(self.X), dtype=bool)
        self._inputs, self._classes, self._n_learned = None, [], 0
        self.refresh()

    @property
    def remaining(self) -> Array:
        """Positions in ``X`` that have not been labeled, ascending."""
        return np.flatnonzero(self._unlabeled)

    @property
    def perturbation(self) -> Array:
        """Perturbation tau, in [0, 1], of the remaining samples for each class: (n_remaining, n_classes)."""
        tau = np.ones((self._unlabeled.sum(), len(self.estimator.classes_)))
        tau[:, self.estimator.class_counts_ > 0] -= np.stack(
            [state.explained[self._unlabeled] for state in self._classes], axis=1
        )
        return np.clip(tau, 0.0, 1.0, out=tau)

    @property
    def margin(self) -> Array:
        """Difference between the two smallest perturbations of each remaining sample (the paper's equations 12, 13).

        It is small near borders, and also far from all samples, where every tau is 1.
        """
        return margin_of(self.perturbation)

    def refresh(self) -> Self:
        """Update the pool from the classifier and, if it has new labels, tune it again.

        Returns
        -------
        self : object
            The pool. Its classifier equals that of a new pool with a classifier fitted to the same labels.

        Notes
        -----
        If anything is tuned, a map is learned, or the pool is a table with categories or missing values, this refits
        the classifier and scores all classes again, in O(m n_l^2) operations each; `label` therefore does not tune.
        Otherwise a class that grew by one sample takes O(m n_l) operations.
        """
        return self._follow(self._decided_by_labels and self._n_labels > self._n_learned)

    def _follow(self, again):
        """Update classes that grew and rescore classes that changed otherwise; if `again`, refit the classifier
        first.
        """
        if self.estimator._inputs is not self._inputs or again:
            self._share_scales()
        states = []
        known = {id(state.model.lineage): state for state in self._classes}
        for model in self.estimator._models:
            state = known.get(id(model.lineage))
            if state is None or not state.follow(model, self._points, self.estimator.n_jobs):
                state = _ScoredClass(model, self._points, self.estimator.n_jobs)
            states.append(state)
        self._classes = states
        return self

    @property
    def _decided_by_labels(self):
        """Whether a label affects classes other than its own."""
        inputs = self.estimator._inputs
        table = inputs.table is not None and (inputs.table.has_categories or bool(inputs.table.gaps))
        return (
            table
            or inputs.step is not None
            or any(map(self.estimator._is_tuned, self.estimator.get_params(deep=False)))
        )

    @property
    def _outgrown(self):
        """Whether the number of labels has doubled since the distances between levels were learned."""
        table = self.estimator._inputs.table
        return table is not None and table.has_categories and self._n_labels >= 2 * self._n_learned

    @property
    def _n_labels(self):
        return self.estimator.class_counts_.sum()

    def _share_scales(self):
        """Have the classifier learn its scales and levels from the pool, too."""
        if self.estimator._inputs.table is not None or self._decided_by_labels:
            if "_samples" in vars(self.estimator):
                self.estimator._see(take(self._samples, self._unlabeled))
            elif not self._n_learned:
                advise(
                    "The classifier was loaded from a file, which does not contain its samples: scales and levels stay "
                    "unchanged. Refit it to learn those of the pool."
                )
        self._inputs, self._points = self.estimator._inputs, complete_pool(self.estimator, self._samples)
        self._n_learned = self._n_labels

    def query(self, n: int = 1, fraction: float = 0.10, random_state: RandomState = None) -> Array:
        """Choose samples to label next, at random among those nearest to a border (section 4.2 of the paper).

        A batch avoids near-duplicates: each further sample is drawn with a probability proportional to its perturbation
        of the samples already drawn.

        Parameters
        ----------
        n : int, default=1
            Number of samples.
        fraction : float in (0, 1], default=0.10
            Fraction of the remaining samples, nearest to a border, that may be chosen; at least 2 n samples.
        random_state : int, RandomState instance or None, default=None
            Draws among the eligible samples.

        Returns
        -------
        positions : ndarray of shape (n,), intp
            Distinct positions in ``X``.

        Raises
        ------
        ValueError
            If fewer than n samples remain, or for a fraction outside (0, 1].
        """
        check_scalar(n, "n", Integral, min_val=1)
        if not 0 < fraction <= 1:
            raise ValueError(f"fraction must be in (0, 1], got {fraction!r}.")
        remaining = self.remaining
        if len(remaining) < n:
            raise ValueError(f"{len(remaining)} samples remain in the pool, but {n} were asked for.")
        kernel, h = self.estimator.kernel, float(np.mean(self.estimator.bandwidth_))
        return remaining[draw(self.margin, self._points[remaining], n, fraction, kernel, h, random_state)]

    def leave_out(self, positions: ArrayLike) -> Self:
        """Take samples out of the pool without labeling them.

        Parameters
        ----------
        positions : int or array-like of int of shape (k,)
            Positions in ``X``.

        Returns
        -------
        self : object
            The pool.

        Raises
        ------
        ValueError
            If a position is not an integer from 0 to m - 1.
        """
        self._unlabeled[self._checked(positions)] = False
        return self

    def label(self, positions: ArrayLike, y: Any) -> Self:
        """Label samples: they leave the pool and train the classifier.

        Parameters
        ----------
        positions : int or array-like of int of shape (k,)
            Positions in ``X``.
        y : label or array-like of shape (k,)
            Their labels; new ones become classes. A missing one (None, NaN, pandas' NA) means that the label cannot be
            determined: the sample only leaves the pool.

        Returns
        -------
        self : object
            The pool, scored with the new labels.

        Raises
        ------
        ValueError
            For positions that are not in the pool, labeled before or given twice, and for invalid labels.

        Notes
        -----
        This is `partial_fit` of these samples. Their weights come from ``class_weight``; "balanced" uses the labels of
        this call. Each new label of a class of n_l samples takes O(m n_l) operations.
        """
        positions, y = self._checked(positions), np.atleast_1d(label_array(y))
        if y.shape != positions.shape:
            raise ValueError(f"{len(positions)} positions, but labels of shape {y.shape}.")
        if len(np.unique(positions)) < len(positions) or not self._unlabeled[positions].all():
            raise ValueError("Some of the positions were labeled before, or are given twice.")
        told = np.array([not is_missing(label) for label in y], dtype=bool)
        if told.any():
            self._label(positions[told], y if told.all() else self._whole(np.array(y[told].tolist())))
        return self.leave_out(positions)._follow(self._outgrown)

    def _whole(self, y):
        """Convert labels to integers if the classes are integers and the labels are floats only because some are
        missing.
        """
        whole = y.dtype.kind == "f" and self.estimator.classes_.dtype.kind in "iu" and np.all(y == np.round(y))
        return y.astype(self.estimator.classes_.dtype) if whole else y

    def _label(self, positions, y):
        whitened = None
        labels = np.unique(y) if y.dtype.kind == self.estimator.classes_.dtype.kind else ()
        if len(labels) == 1 and np.isin(labels, self.estimator._seen)[0]:
            whitened = self._classes[np.searchsorted(self.estimator._seen, labels[0])].columns(positions)
        self.estimator._label(take(self._samples, positions), y, whitened=whitened)

    def _checked(self, positions):
        """Check positions (k,) in ``X``. Negative ones are refused, so that each sample has one position."""
        given = np.atleast_1d(positions)
        if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
            raise ValueError(f"positions must be integers, got shape {given.shape} and dtype {given.dtype}.")
        wrong = (given < 0) | (given >= len(self.X))
        if wrong.any():
            raise ValueError(f"positions must be 0 ... {len(self.X) - 1}, got {given[wrong][0]}.")
        return given.astype(np.intp)


class _ScoredClass:
    """1 - tau of all pool samples for one class, with the solve B (n_l, m) if the class has one."""

    def __init__(self, model, X, n_jobs):
        self.model, self._order = model, 0
        if not model.grows:
            self._B, self.explained = None, model.explained(X, n_jobs)
            return
        self._order = len(model.points)
        self._B = model.whiten(model.kernel(X, n_jobs=n_jobs))
        self.explained = np.einsum("ij,ij->j", self._B, self._B)

    def columns(self, positions):
        """The whitened kernel values of pool samples, or None if they are not available."""
        return None if self._B is None else self._B[: self._order, positions]

    def follow(self, model, X, n_jobs):
        """Adopt a model that equals or extends the present one; return False if it does neither."""
        if model is self.model:
            return True
        if self._B is None or not model.grows or len(model.points) < self._order:
            return False
        new = len(model.points) - self._order
        if new:
            columns, corner = np.split(model.triangle[:, self._order :], [self._order])
            rows = model.kernel(X, self._order, n_jobs=n_jobs)
            rows -= columns.T @ self._B[: self._order]
            rows = solve_triangular(corner, rows, trans=1, check_finite=False)
            self._reserve(self._order + new)
            self._B[self._order : self._order + new] = rows
            self.explained += np.einsum("ij,ij->j", rows, rows)
        self.model, self._order = model, self._order + new
        return True

    def _reserve(self, order):
        if len(self._B) < order:
            grown = np.empty((2 * order, self._B.shape[1]))
            grown[: self._order] = self._B[: self._order]
            self._B = grown
