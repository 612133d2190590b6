"""The sample weights 1/f that a classifier has learned."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.from_sklearn import check_matplotlib_support
from .._utils.typing import ArrayLike


class SampleWeightsDisplay:
    """The weights 1/f(x_i) of the training points: one by one, and where the largest of them lie.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,)
        The weights, positive.
    y : ndarray of shape (n_samples,)
        Classes; the points are drawn class by class.
    X : ndarray of shape (n_samples, 2), default=None
        Two features, for the second panel.
    n_largest : int, default=10
        How many of the largest weights to mark.
    feature_names : tuple of two str, default=("Feature 1", "Feature 2")
        Labels of the axes of the second panel.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    axes_ : ndarray of matplotlib Axes
        Weights by sample; and the points in the plane, where there are features.
    stems_ : list of LineCollection
        Weights, one collection a class.
    largest_ : PathCollection or None
        The points of largest weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import LaplacianISEClassifier
    >>> from spectralcls.plotting import SampleWeightsDisplay
    >>> display = SampleWeightsDisplay.from_estimator(LaplacianISEClassifier(1.0).fit(X, y), X, y)
    >>> display.weights.shape
    (150,)
    """

    def __init__(self, weights, y, *, X=None, n_largest=10, feature_names=("Feature 1", "Feature 2")):
        self.weights = weights
        self.y = y
        self.X = X
        self.n_largest = n_largest
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        features: ArrayLike = (0, 1),
        n_largest=10,
        axes=None,
    ) -> Self:
        """Draw the weights of a fitted classifier that weights its samples by 1/f.

        Parameters
        ----------
        estimator : object
            With `inverse_density_`.
        X : array-like of shape (n_samples, n_features)
            Its training points.
        y : array-like of shape (n_samples,)
            Their classes.
        features : tuple of two ints or None, default=(0, 1)
            Features of the second panel; None, or data of one feature: no second panel.
        n_largest : int, default=10
            How many of the largest weights to mark.
        axes : sequence of matplotlib Axes, default=None
            Two axes (one without second panel) to draw into; by default new ones.

        Returns
        -------
        display : SampleWeightsDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the classifier has no such weights, or X are not its training points.
        """
        check_is_fitted(estimator)
        weights = getattr(estimator, "inverse_density_", None)
        if weights is None:
            raise ValueError(f"This {type(estimator).__name__} does not weight its samples.")
        y = np.asarray(y)
        if len(weights) != len(y):
            raise ValueError(f"X has {len(y)} rows, but the classifier was fitted on {len(weights)}.")
        names = getattr(estimator, "feature_names_in_", None)
        X = np.asarray(X)
        plane = None if features is None or X.shape[1] < 2 else X[:, list(features)]
        labels = tuple(f"Feature {j + 1}" if names is None else str(names[j]) for j in features or ())
        display = cls(weights, y, X=plane, n_largest=n_largest, feature_names=labels)
        return display.plot(axes=axes)

    def plot(self, axes=None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            Two axes (one without features) to draw into; by default new ones.

        Returns
        -------
        display : SampleWeightsDisplay
            The display, drawn.
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        panels = 1 if self.X is None else 2
        if axes is None:
            _, axes = plt.subplots(1, panels, squeeze=False, layout="constrained", figsize=(5 * panels, 4))
        axes = np.ravel(axes)
        classes, start = np.unique(self.y), 0
        weights = self.weights / np.mean(self.weights)
        self.stems_ = []
        for c, label in enumerate(classes):
            own = weights[self.y == label]
            positions = start + np.arange(len(own))
            self.stems_.append(axes[0].vlines(positions, 0, own, color=f"C{c % 10}", linewidth=1, label=f"{label}"))
            start += len(own)
        axes[0].set(xlabel="Sample, class by class", ylabel="Weight 1/f over its mean", xlim=(-1, start))
        axes[0].set_ylim(bottom=0)
        axes[0].legend(frameon=False)
        self.largest_ = None
        if self.X is not None:
            for c, label in enumerate(classes):
                own = self.X[self.y == label]
                axes[1].scatter(*own.T, s=14, color=f"C{c % 10}", alpha=0.6, label=f"{label}")
            largest = np.argsort(-weights, kind="stable")[: self.n_largest]
            self.largest_ = axes[1].scatter(
                *self.X[largest].T,
                marker="*",
                s=110,
                color="black",
                zorder=3,
                label=f"{len(largest)} largest weights",
            )
            axes[1].set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
            axes[1].legend(handles=[self.largest_], loc="lower right", bbox_to_anchor=(1, 1))  # off the points
        for ax in axes[:panels]:
            ax.spines[["top", "right"]].set_visible(False)
        self.figure_, self.axes_ = axes[0].figure, axes
        return self
