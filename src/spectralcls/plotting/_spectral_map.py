"""Points in the leading eigenvectors of a kernel matrix."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .._estimator import coordinates
from .._utils.from_sklearn import check_matplotlib_support
from .._utils.typing import ArrayLike


class SpectralMapDisplay:
    """Training points, class centers and projected test points in two coordinates of a spectral embedding.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    training_map : ndarray of shape (n_samples, 2)
        The mapped training points, two of their components.
    y : ndarray of shape (n_samples,)
        Classes of the training points.
    test_map : ndarray of shape (n_queries, 2), default=None
        Projected points, drawn hollow.
    y_test : ndarray of shape (n_queries,), default=None
        Their classes; None draws them in grey.
    centers : ndarray of shape (n_classes, 2), default=None
        Class centers, in the order of the sorted classes.
    components : tuple of two ints, default=(0, 1)
        Numbers of the coordinates, for the labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the map.
    figure_ : matplotlib Figure
        Figure that holds them.
    training_ : list of PathCollection
        Training points, one collection a class.
    test_ : list of PathCollection
        Test points, one collection a class (or one for all).
    centers_ : PathCollection or None
        The class means, where they are drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import KernelMap
    >>> from spectralcls.plotting import SpectralMapDisplay
    >>> display = SpectralMapDisplay.from_estimator(KernelMap(2).fit(X), X, y)
    >>> display.training_map.shape
    (150, 2)
    """

    def __init__(self, training_map, y, *, test_map=None, y_test=None, centers=None, components=(0, 1)):
        self.training_map = training_map
        self.y = y
        self.test_map = test_map
        self.y_test = y_test
        self.centers = centers
        self.components = components

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        X_test: ArrayLike | None = None,
        y_test: ArrayLike | None = None,
        components=(0, 1),
        ax=None,
        **scatter_kwargs,
    ) -> Self:
        """Draw the embedding of a fitted `KernelMap`, or of a spectral classifier that decomposed a kernel.

        Parameters
        ----------
        estimator : object
            With `transform`, or with an attribute `map_` that has it; `centers_` are drawn if there are any.
            Training points are drawn where `fit` put them, if the map has a `training_map_` of its own.
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Their classes.
        X_test : array-like of shape (n_queries, n_features), default=None
            Further points to map.
        y_test : array-like of shape (n_queries,), default=None
            Their classes.
        components : tuple of two ints, default=(0, 1)
            Coordinates to draw.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **scatter_kwargs : dict
            Passed on to ``ax.scatter`` for all points.

        Returns
        -------
        display : SpectralMapDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the estimator has no embedding, or fewer components than asked for.
        """
        check_is_fitted(estimator)
        kernel_map = getattr(estimator, "map_", estimator)
        if not hasattr(kernel_map, "transform"):
            raise ValueError(
                f"This {type(estimator).__name__} has no embedding to draw: fit it with n_components=2 or "
                'more (or solver="dense", which decomposes for all components, too), or draw a KernelMap.'
            )
        check_consistent_length(X, y)

        def embedded(X):
            return kernel_map.transform(coordinates(estimator, X) if kernel_map is not estimator else X)

        chosen = list(components)
        fitted = getattr(kernel_map, "training_map_", None)
        training = embedded(X) if fitted is None else fitted
        if len(training) != len(y):
            raise ValueError(f"X has {len(y)} rows, but the estimator was fitted on {len(training)}.")
        if max(chosen) >= training.shape[1]:
            raise ValueError(
                f"components={tuple(components)} asks for more than the {training.shape[1]} that there are."
            )
        training = training[:, chosen]
        test = None if X_test is None else embedded(X_test)[:, chosen]
        centers = getattr(estimator, "centers_", None)
        display = cls(
            training,
            np.asarray(y),
            test_map=test,
            y_test=None if y_test is None else np.asarray(y_test),
            centers=None if centers is None else centers[:, chosen],
            components=components,
        )
        return display.plot(ax=ax, **scatter_kwargs)

    def plot(self, ax=None, **scatter_kwargs) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **scatter_kwargs : dict
            Passed on to ``ax.scatter`` for all points.

        Returns
        -------
        display : SpectralMapDisplay
            The display, drawn.
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        classes = np.unique(self.y)
        colors = [f"C{c % 10}" for c in range(len(classes))]
        style = {"s": 22, "alpha": 0.7, "linewidths": 0.8} | scatter_kwargs
        self.training_ = [
            ax.scatter(*self.training_map[self.y == c].T, color=color, label=f"{c}", **style)
            for c, color in zip(classes, colors, strict=True)
        ]
        self.test_ = []
        if self.test_map is not None:
            groups = [("grey", slice(None))]
            if self.y_test is not None:
                groups = [(color, self.y_test == c) for c, color in zip(classes, colors, strict=True)]
            self.test_ = [
                ax.scatter(*self.test_map[rows].T, facecolors="none", edgecolors=color, **style)
                for color, rows in groups
            ]
            self.test_[0].set_label("test points")
        self.centers_ = None
        if self.centers is not None:
            self.centers_ = ax.scatter(
                *self.centers.T,
                marker="X",
                s=140,
                c=colors,
                edgecolors="black",
                linewidths=1.2,
                zorder=3,
                label="class centers",
            )
        first, second = (component + 1 for component in self.components)
        ax.set(xlabel=f"Coordinate {first}", ylabel=f"Coordinate {second}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
