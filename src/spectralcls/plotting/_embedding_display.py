"""Points in two coordinates of an embedding."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._estimator import coordinates, mapped, within
from .._utils.typing import Array, ArrayLike
from .._utils.validation import class_codes
from ._display import Display, shown

_CLUMPED = 0.1  # least share of an axis that the middle half of the points should take to be seen


class EmbeddingDisplay(Display):
    """Points in two coordinates of an embedding, by class, with class centers and further mapped points.

    Create it with :meth:`from_estimator`. If half of the points take less than a tenth of an axis, as when one class of
    :class:`~spectralcls.CCDR` is far from all others, the axes are scaled by rank, and say so: equal numbers of points
    then take equal lengths, and ticks show the values.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Embedded points.
    class_index : ndarray of shape (n,)
        Class 0 ... n_classes - 1 of each point; unlabeled points (-1) are gray.
    class_names : sequence of str, default=()
        Names of the classes, for the legend.
    centers : ndarray of shape (n_classes, 2) or None, default=None
        Class centers, drawn as rings.
    test_points : ndarray of shape (m, 2), default=None
        Further points, drawn hollow.
    test_index : ndarray of shape (m,), default=None
        Their classes.
    names : tuple of str, default=("component 1", "component 2")
        Labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure containing the axes.
    scatters_ : list of matplotlib PathCollection
        One collection per class, preceded by the unlabeled points if there are any.
    test_ : list of matplotlib PathCollection
        The same for the further points.
    centers_ : matplotlib PathCollection
        The class centers. Only present if centers were given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import CCDR
    >>> from spectralcls.plotting import EmbeddingDisplay
    >>> len(EmbeddingDisplay.from_estimator(CCDR(2).fit(X, y)).scatters_)
    3
    """

    points: Array
    class_index: Array
    _: KW_ONLY
    class_names: Any = ()
    centers: Array | None = None
    test_points: Array | None = None
    test_index: Array | None = None
    names: tuple = ("component 1", "component 2")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        components=(0, 1),
        class_names=None,
        ax=None,
        **kwargs,
    ) -> Self:
        """Draw the embedding of a fitted transformer or spectral classifier, or points under a learned metric.

        Parameters
        ----------
        estimator : object
            Fitted estimator that has a method `transform`, an attribute `map_` with this method, or a `metric_`. Its
            `class_centers_` or `centers_` are drawn if it has them.
        X : array-like of shape (n, n_features) or None, default=None
            Points to embed. None: the training points as `fit` embedded them, if the estimator keeps them.
        y : array-like of shape (n,) or None, default=None
            Their labels. By default, for the training points of `CCDR`, those given to `fit`.
        X_test : array-like of shape (m, n_features), default=None
            Further points to embed, drawn hollow.
        y_test : array-like of shape (m,), default=None
            Their labels.
        components : pair of int, default=(0, 1)
            Positions of the two components.
        class_names : sequence of str or None, default=None
            Names of the sorted classes for the legend.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.scatter`` for all points.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the estimator has no embedding or no such components, or X and y differ in length.
        """
        estimator, steps = within(estimator)
        mapping = estimator if hasattr(estimator, "transform") else getattr(estimator, "map_", None)
        if mapping is None and getattr(estimator, "metric_", None) is None:
            raise ValueError(
                f"This {type(estimator).__name__} has no embedding to draw: fit it with n_components=2 or more (or "
                'solver="dense", which decomposes for all components, too) or with metric="full", or draw a KernelMap.'
            )

        def embedded(X):
            X = mapped(steps, X)
            X = X if mapping is estimator else coordinates(estimator, X)
            return X if mapping is None else mapping.transform(X)

        points = getattr(mapping, "embedding_", getattr(mapping, "training_map_", None)) if X is None else embedded(X)
        if points is None:
            raise ValueError(f"This {type(estimator).__name__} does not keep its training points: pass X.")
        n, chosen = points.shape[1], list(components)
        if len(chosen) != 2 or max(chosen) >= n or min(chosen) < 0:
            raise ValueError(f"components must be two of 0 ... {n - 1}, got {components!r}.")
        classes = getattr(estimator, "classes_", np.unique(np.empty(0) if y is None else np.asarray(y)))

        def coded(y, points):
            codes = np.full(len(points), -1) if y is None else class_codes(np.asarray(y), classes)
            check_consistent_length(points, codes)
            return codes

        own = getattr(estimator, "class_index_", None) if X is None and y is None else None
        centers = getattr(estimator, "class_centers_", getattr(estimator, "centers_", None))
        test = None if X_test is None else embedded(X_test)[:, chosen]
        display = cls(
            points[:, chosen],
            coded(y, points) if own is None else own,
            class_names=classes if class_names is None else class_names,
            centers=None if centers is None else centers[:, chosen],
            test_points=test,
            test_index=None if test is None else coded(y_test, test),
            names=tuple(f"component {c + 1}" for c in chosen),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.scatter`` for all points.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.
        """
        own = ax is None
        self.ax_ = ax = self._axes(ax)
        colors = [f"C{c % 10}" for c in range(len(self.class_names))]
        names = [shown(name) for name in self.names]
        if len(self.points) and np.any(_share_of_middle_half(self.points) < _CLUMPED):
            names = [f"{name}, by rank" for name in names]
            for axis, values in zip("xy", self.points.T.astype(np.float64), strict=True):
                getattr(ax, f"set_{axis}scale")("function", functions=_by_rank(values))
                ticks = np.unique(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
                getattr(ax, f"set_{axis}ticks")(ticks, [f"{tick:.2g}" for tick in ticks])

        def scattered(points, index, hollow):
            groups = [(-1, "unlabeled", "0.75")] if np.any(index < 0) else []
            groups += zip(range(len(colors)), self.class_names, colors, strict=True)
            return [
                ax.scatter(
                    *points[index == c].T,
                    facecolors="none" if hollow else color,
                    edgecolors=color,
                    label=None if hollow else shown(name),
                    **{"s": 12, "alpha": 0.7, "linewidths": 0.8 * hollow} | kwargs,
                )
                for c, name, color in groups
            ]

        self.scatters_, self.test_ = scattered(self.points, self.class_index, False), []
        if self.test_points is not None:
            self.test_ = scattered(self.test_points, self.test_index, True)
            self.test_[0].set_label("test points")
        if self.centers is not None:
            look = {"edgecolors": "black", "linewidths": 1, "zorder": 3, "label": "class centers"}
            self.centers_ = ax.scatter(*self.centers.T, s=90, facecolors="none", **look)  # hides no point
        ax.set(xlabel=names[0], ylabel=names[1])
        ax.legend(**({"loc": "center left", "bbox_to_anchor": (1, 0.5)} if own else {}))  # not over the points
        return self


def _share_of_middle_half(points):
    """Distance of the quartiles relative to the range of each column."""
    low, first, third, high = np.quantile(points, [0, 0.25, 0.75, 1], axis=0)
    return (third - first) / np.maximum(high - low, np.finfo(np.float64).tiny)


def _by_rank(values):
    """Functions from values to their place among all values, in [0, 1], and back; linear between values."""
    places, counts = np.unique(values, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2) / len(values)
    reach = max(places[-1] - places[0], np.finfo(np.float64).tiny)  # values outside of the range lie at the margins
    places = np.concatenate([[places[0] - reach], places, [places[-1] + reach]])
    ranks = np.concatenate([[ranks[0] - 0.1], ranks, [ranks[-1] + 0.1]])
    return (lambda x: np.interp(x, places, ranks)), (lambda rank: np.interp(rank, ranks, places))
