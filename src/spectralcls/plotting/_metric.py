"""What a learned metric looks at, how it was learned, and where it puts the points."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._estimator import coordinates
from .._utils.typing import Array, ArrayLike
from ._display import Display


class MetricDisplay(Display):
    """Weights of the features in a learned metric, its loss over the steps, and the plane of its leading directions.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Length of each feature's column in the map: how far a unit of it moves a point.
    feature_names : sequence of str of length n_features
        Names of the features.
    losses : ndarray of shape (n_steps,)
        Loss at each step.
    plane : ndarray of shape (n_samples, 2), default=None
        Points in the two directions in which they spread most once mapped.
    y : array-like of shape (n_samples,), default=None
        Their classes.
    n_shown : int, default=20
        The features of largest weight are shown.

    Attributes
    ----------
    axes_ : ndarray of 2 or 3 matplotlib Axes
        Axes with the weights, with the loss, and with the plane if there is one.
    figure_ : matplotlib Figure
        Figure that holds them.
    bars_ : matplotlib BarContainer
        The weights, the largest on top.
    line_ : matplotlib Line2D
        The loss.
    points_ : list of matplotlib PathCollection
        The points of each class. Only present with a plane.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls.metric import GradientMetric
    >>> from spectralcls.plotting import MetricDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> metric = GradientMetric().fit((X - X.mean()) / X.std(), y)
    >>> display = MetricDisplay.from_estimator(metric)
    >>> len(display.bars_)
    13
    """

    weights: Array
    feature_names: Any
    losses: Array
    _: KW_ONLY
    plane: Array | None = None
    y: ArrayLike | None = None
    n_shown: int = 20

    @classmethod
    def from_estimator(cls, metric, *, X=None, y=None, n_shown=20, axes=None):
        """Plot a fitted metric.

        Parameters
        ----------
        metric : KernelMetric, GradientMetric, or estimator that was fitted with one of them as its `metric`
            Anything with `components_` and `loss_curve_`, or whose `metric_` has them.
        X : array-like of shape (n_samples, n_features), default=None
            If given, weights are multiplied by the features' standard deviations, so that units do not matter.
        y : array-like of shape (n_samples,), default=None
            Classes of the points X, which are then drawn in the plane of the two leading directions.
        n_shown : int, default=20
            Features to show at most.
        axes : array-like of 2 or 3 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : MetricDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            If the metric is not fitted.
        ValueError
            If there are classes without points, and for what has learned no metric.
        """
        check_is_fitted(metric)
        owner, metric = metric, getattr(metric, "metric_", metric)
        if not (hasattr(metric, "components_") and hasattr(metric, "loss_curve_")):
            raise ValueError(
                f"{type(owner).__name__} has learned no metric: fit a KernelMetric or a GradientMetric, or a "
                'classifier with metric="full".'
            )
        weights = np.linalg.norm(metric.components_, axis=0)
        if X is not None and (owner is metric or getattr(owner, "scale_", None) is None):
            weights = weights * np.asarray(X, dtype=np.float64).std(axis=0)  # a classifier has scaled them before
        names = getattr(owner, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
        plane = None
        if y is not None:
            if X is None:
                raise ValueError("y has the classes of points that are not given: pass X, too.")
            check_consistent_length(X, y)
            mapped = metric.transform(X) if owner is metric else coordinates(owner, X)
            mapped = np.asarray(mapped, dtype=np.float64)
            leading = np.argsort(-mapped.var(axis=0), kind="stable")[:2]
            plane = mapped[:, leading] if len(leading) == 2 else np.column_stack([mapped[:, 0], np.zeros(len(mapped))])
        display = cls(weights, names, np.asarray(metric.loss_curve_), plane=plane, y=y, n_shown=n_shown)
        return display.plot(axes)

    def plot(self, axes=None):
        """Draw weights, loss, and the plane if there is one.

        Parameters
        ----------
        axes : array-like of 2 or 3 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : MetricDisplay
            The display, drawn.
        """
        n_axes = 2 if self.plane is None else 3
        self.axes_ = self._axes(axes, n_axes, figsize=(4.5 * n_axes, 4))
        left, right = self.axes_[:2]
        largest = np.argsort(-self.weights, kind="stable")[: self.n_shown][::-1]
        self.bars_ = left.barh([str(self.feature_names[j]) for j in largest], self.weights[largest])
        left.set(xlabel="Weight in the metric")
        (self.line_,) = right.plot(self.losses)
        right.set(xlabel="Step", ylabel="Loss")
        if self.plane is not None:
            labels = np.asarray(self.y)
            self.points_ = [
                self.axes_[2].scatter(*self.plane[labels == label].T, s=10, label=str(label))
                for label in np.unique(labels)
            ]
            self.axes_[2].set(xlabel="First direction", ylabel="Second direction")
            self.axes_[2].legend(title="Class")
        return self
