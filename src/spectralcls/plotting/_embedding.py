"""Embeddings and what their parameters do to the error."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .._utils.from_sklearn import check_matplotlib_support
from .._utils.typing import ArrayLike
from .._utils.validation import encode


class EmbeddingDisplay:
    """Scatter plot of two components of an embedding, by class, with the class centers.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Embedded points.
    class_index : ndarray of shape (n,)
        Class 0 ... n_classes - 1 of every point; -1, unlabeled, is drawn in grey.
    class_names : sequence of str, default=()
        For the legend, one per class.
    centers : ndarray of shape (n_classes, 2) or None, default=None
        Class centers.
    names : tuple of str, default=("component 1", "component 2")
        Labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that holds them.
    scatters_ : list of matplotlib PathCollection
        One per class, unlabeled points first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import CCDR
    >>> from spectralcls.plotting import EmbeddingDisplay
    >>> len(EmbeddingDisplay.from_estimator(CCDR(2).fit(X, y)).scatters_)
    3
    """

    def __init__(self, points, class_index, *, class_names=(), centers=None, names=("component 1", "component 2")):
        self.points = points
        self.class_index = class_index
        self.class_names = class_names
        self.centers = centers
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        components=(0, 1),
        class_names=None,
        ax=None,
        **kwargs,
    ) -> Self:
        """Plot the training embedding of a fitted `CCDR`, or of other points.

        Parameters
        ----------
        estimator : CCDR
            Fitted, with two components or more.
        X : array-like of shape (m, n_features) or None, default=None
            Points to embed with ``estimator.transform``; None: the training points.
        y : array-like of shape (m,) or None, default=None
            Their labels; for the training points the ones that `fit` saw.
        components : pair of int, default=(0, 1)
            Which two components, counted from 0.
        class_names : sequence of str or None, default=None
            Names of ``estimator.classes_`` for the legend.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If it has no such components, or X and y differ in length.
        """
        check_is_fitted(estimator)
        chosen = list(components)
        if len(chosen) != 2 or max(chosen) >= estimator.n_components_ or min(chosen) < 0:
            raise ValueError(f"components must be two of 0 ... {estimator.n_components_ - 1}, got {components!r}.")
        points = estimator.embedding_ if X is None else estimator.transform(X)
        if y is not None:
            class_index = encode(np.asarray(y), estimator.classes_)
        else:
            class_index = estimator.class_index_ if X is None else np.full(len(points), -1)
        check_consistent_length(points, class_index)
        display = cls(
            points[:, chosen],
            class_index,
            class_names=estimator.classes_ if class_names is None else class_names,
            centers=estimator.class_centers_[:, chosen],
            names=tuple(f"component {c + 1}" for c in chosen),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.scatter``.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        style = {"s": 8, "alpha": 0.7, "linewidths": 0} | kwargs
        colors = plt.get_cmap("tab10" if len(self.class_names) <= 10 else "tab20").colors  # type: ignore[attr-defined]
        self.scatters_ = []
        unlabeled = self.points[self.class_index < 0]
        if len(unlabeled):
            self.scatters_.append(ax.scatter(*unlabeled.T, color="0.75", label="unlabeled", **style))
        for i, name in enumerate(self.class_names):
            color = colors[i % len(colors)]
            inside = self.points[self.class_index == i]
            self.scatters_.append(ax.scatter(*inside.T, color=[color], label=str(name), **style))
            if self.centers is not None:
                marker = {"marker": "X", "s": 90, "edgecolors": "black", "linewidths": 1, "zorder": 3}
                ax.scatter(*self.centers[i], color=[color], **marker)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.legend(markerscale=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self
