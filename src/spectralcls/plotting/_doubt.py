"""How far probabilities and sets can be relied on, doubtful labels, and the training points that decide a query."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from .._utils.typing import Array, ArrayLike
from ..inspection import Influence, influence, label_quality
from ._display import Display


class ReliabilityDisplay(Display):
    """Share of queries that are classified right at a given probability, and share whose class is in the set.

    Queries are grouped by the probability of their most probable class. On the diagonal the probabilities are what they
    say; the sets hold their class about as often as `coverage` says over all groups together, not in each.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    probability : ndarray of shape (n_groups,)
        Mean probability of the most probable class.
    accuracy : ndarray of shape (n_groups,)
        Share of queries whose most probable class is right.
    covered : ndarray of shape (n_groups,)
        Share of queries whose class is in the set.
    size : ndarray of shape (n_groups,)
        Mean number of classes in a set.
    coverage : float
        The coverage asked for.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    ax_ : matplotlib Axes
        Axes with the curves.
    lines_ : list of 2 matplotlib Line2D
        Accuracy and coverage.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.plotting import ReliabilityDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ParzenClassifier().fit(X[:500], y[:500])
    >>> len(ReliabilityDisplay.from_estimator(model, X[500:], y[500:]).lines_)
    2
    """

    probability: Array
    accuracy: Array
    covered: Array
    size: Array
    coverage: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, coverage: float = 0.9, n_groups: int = 8, ax: Any = None
    ) -> Self:
        """Draw the reliability of a fitted classifier on queries whose classes are known.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier that has `predict_proba` and `predict_set`.
        X : array-like of shape (n_queries, n_features)
            Queries, not the training samples.
        y : array-like of shape (n_queries,)
            Their classes.
        coverage : float, default=0.9
            Coverage of the sets.
        n_groups : int, default=8
            Groups of equally many queries.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If y has a label that the classifier has not seen, or not one for each query.
        """
        p, members, y = estimator.predict_proba(X), estimator.predict_set(X, coverage), np.asarray(y)
        if y.shape != (len(p),) or not np.isin(y, estimator.classes_).all():
            raise ValueError(f"y must hold one of {estimator.classes_.tolist()} for each of the {len(p)} queries.")
        codes, each = np.searchsorted(estimator.classes_, y), np.arange(len(y))
        figures = np.stack([p.max(axis=1), p.argmax(axis=1) == codes, members[each, codes], members.sum(axis=1)])
        groups = np.array_split(np.argsort(figures[0], kind="stable"), min(n_groups, len(y)))
        probability, accuracy, covered, size = np.stack([figures[:, rows].mean(axis=1) for rows in groups], axis=1)
        return cls(probability, accuracy, covered, size, coverage).plot(ax)

    def plot(self, ax=None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : ReliabilityDisplay
            The display, drawn.
        """
        self.ax_ = ax = self._axes(ax)[0]
        low = min(self.probability.min(), self.accuracy.min())
        ax.plot([low, 1], [low, 1], color="0.6", linestyle="--", linewidth=0.8)
        ax.axhline(self.coverage, color="0.6", linestyle=":", linewidth=0.8)
        right = ax.plot(self.probability, self.accuracy, marker="o", label="Most probable class is right")
        covered = ax.plot(self.probability, self.covered, marker="s", label="Class is in the set; mean size")
        for place, height, size in zip(self.probability, self.covered, self.size, strict=True):
            above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center", "fontsize": "small"}
            ax.annotate(f"{size:.1f}", (place, height), **above)
        ax.set(xlabel="Probability of the most probable class", ylabel="Share of queries")
        ax.legend(frameon=False, loc="lower right")
        self.lines_ = [*right, *covered]
        return self


class LabelQualityDisplay(Display):
    """Probability of each training label by all other points, class by class; the most doubtful ones are numbered.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    quality : ndarray of shape (n_samples,)
        See :func:`~spectralcls.inspection.label_quality`.
    y : ndarray of shape (n_samples,)
        The labels.
    n_doubtful : int, default=10
        How many of the least probable labels to number.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    ax_ : matplotlib Axes
        Axes with the points.
    points_ : list of PathCollection
        Samples of each class.
    doubtful_ : ndarray of int
        The numbered samples, the most doubtful one first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.plotting import LabelQualityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> len(LabelQualityDisplay.from_estimator(ParzenClassifier().fit(X, y), y).doubtful_)
    10
    """

    quality: Array
    y: Array
    _: KW_ONLY
    n_doubtful: int = 10

    @classmethod
    def from_estimator(cls, estimator: Any, y: ArrayLike, *, n_doubtful: int = 10, ax: Any = None) -> Self:
        """Draw the quality of the labels that a classifier was fitted to.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier that has `predict_set`.
        y : array-like of shape (n_samples,)
            Its training labels.
        n_doubtful : int, default=10
            How many of the least probable labels to number.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : LabelQualityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If y has not one label for each training sample.
        """
        quality, y = label_quality(estimator), np.asarray(y)
        if len(quality) != len(y):
            raise ValueError(f"y has {len(y)} labels, but the classifier was fitted on {len(quality)}.")
        return cls(quality, y, n_doubtful=n_doubtful).plot(ax)

    def plot(self, ax=None) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : LabelQualityDisplay
            The display, drawn.
        """
        self.ax_ = ax = self._axes(ax)[0]
        classes, codes = np.unique(self.y, return_inverse=True)
        position = np.empty(len(codes), dtype=int)
        position[np.argsort(codes, kind="stable")] = np.arange(len(codes))
        self.points_ = [
            ax.scatter(position[codes == c], self.quality[codes == c], s=12, color=f"C{c % 10}", label=f"{label}")
            for c, label in enumerate(classes)
        ]
        known = np.count_nonzero(~np.isnan(self.quality))
        self.doubtful_ = np.argsort(self.quality, kind="stable")[: min(self.n_doubtful, known)]
        for i in self.doubtful_:
            offset = {"xytext": (3, 3), "textcoords": "offset points", "fontsize": 7}
            ax.annotate(f"{i}", (position[i], self.quality[i]), **offset)
        ax.set(xlabel="Sample, class by class", ylabel="Probability of its label by all others", ylim=(-0.03, 1.05))
        ax.legend(frameon=False)
        return self


class InfluenceDisplay(Display):
    """What the training samples add to the margin of a query's best class over the second.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    influence : Influence
        Of one query, see :func:`~spectralcls.inspection.influence`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    ax_ : matplotlib Axes
        Axes with the bars.
    bars_ : matplotlib BarContainer
        The samples, the largest share on top, then all others and the baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.plotting import InfluenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ParzenClassifier(bandwidth=0.5).fit(X[1:], y[1:])
    >>> len(InfluenceDisplay.from_estimator(model, X[:1]).bars_)
    12
    """

    influence: Influence

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, n_points: int = 10, ax: Any = None) -> Self:
        """Draw the samples that decide a query.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier that :func:`~spectralcls.inspection.influence` takes.
        X : array-like of shape (1, n_features)
            The query.
        n_points : int, default=10
            Training samples to show.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : InfluenceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If X is not one query.
        """
        found = influence(estimator, X, n_points)
        if len(found.margin) != 1:
            raise ValueError(f"X must be one query, got {len(found.margin)}.")
        return cls(found).plot(ax)

    def plot(self, ax=None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : InfluenceDisplay
            The display, drawn.
        """
        found = self.influence
        self.ax_ = ax = self._axes(ax, figsize=(6, 1.5 + 0.25 * found.points.shape[1]))[0]
        names = [f"sample {i}" for i in found.points[0]] + ["all others", "baseline"]
        values = [*found.shares[0], found.rest[0], found.baseline[0]]
        best, second = found.classes[0]
        rows = np.arange(len(names))[::-1]
        self.bars_ = ax.barh(rows, values, color=["C0" if value >= 0 else "C1" for value in values])
        ax.set_yticks(rows, names)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(xlabel=f"For {best} (right), for {second} (left); together {found.margin[0]:.3g}")
        return self
