"""The weights of a learned metric, and its learning curve."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from .._estimator import mapped, within
from .._utils.typing import Array, ArrayLike
from ._display import Display, shown


class MetricDisplay(Display):
    """Weights of the features in a learned metric, and its loss over the steps.

    Create it with :meth:`from_estimator`; :class:`EmbeddingDisplay` shows the mapped points.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Norm of each feature's column in the map: the distance that a point moves per unit of the feature.
    feature_names : sequence of str of length n_features
        Names of the features.
    losses : ndarray of shape (n_steps,)
        Loss at each step.
    n_shown : int, default=20
        Number of features to show, those with the largest weights.

    Attributes
    ----------
    axes_ : ndarray of 2 matplotlib Axes
        Axes with the weights, and with the loss.
    figure_ : matplotlib Figure
        Figure containing the axes.
    bars_ : matplotlib BarContainer
        The weights, the largest on top.
    line_ : matplotlib Line2D
        The loss.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls.metric import GradientMetric
    >>> from spectralcls.plotting import MetricDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> metric = GradientMetric().fit(X, y)
    >>> display = MetricDisplay.from_estimator(metric)
    >>> len(display.bars_)
    13
    """

    weights: Array
    feature_names: Any
    losses: Array
    _: KW_ONLY
    n_shown: int = 20

    @classmethod
    def from_estimator(cls, metric: Any, *, X: ArrayLike | None = None, n_shown: int = 20, axes: Any = None) -> Self:
        """Plot a fitted metric.

        Parameters
        ----------
        metric : KernelMetric, GradientMetric, or estimator that was fitted with one of them as its `metric`
            A fitted object with `components_` and `loss_curve_`, or with a `metric_` that has them.
        X : array-like of shape (n_samples, n_features), default=None
            If given, weights are multiplied by the features' standard deviations, so that units do not matter.
        n_shown : int, default=20
            Maximum number of features to show.
        axes : array-like of 2 matplotlib Axes, default=None
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
            If no metric was learned.
        """
        metric, steps = within(metric)
        owner, metric = metric, getattr(metric, "metric_", metric)
        if not (hasattr(metric, "components_") and hasattr(metric, "loss_curve_")):
            raise ValueError(
                f"{type(owner).__name__} did not learn a metric: fit a KernelMetric or a GradientMetric, or a "
                'classifier with metric="full".'
            )
        weights = np.linalg.norm(metric.components_, axis=0)
        if X is not None and getattr(owner, "scale_", None) is None:
            spread = np.asarray(mapped(steps, X), dtype=np.float64).std(axis=0)
            weights = weights * spread  # with a `scale_`, weights already refer to scaled features
        names = getattr(owner, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
        return cls(weights, names, np.asarray(metric.loss_curve_), n_shown=n_shown).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw weights and loss.

        Parameters
        ----------
        axes : array-like of 2 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : MetricDisplay
            The display, drawn.
        """
        self.axes_ = left, right = self._axes(axes, 2, figsize=(9, 4))
        largest = np.argsort(-self.weights, kind="stable")[: self.n_shown][::-1]
        self.bars_ = left.barh([shown(self.feature_names[j]) for j in largest], self.weights[largest])
        left.set(xlabel="Weight in the metric")
        (self.line_,) = right.plot(self.losses)
        right.set(xlabel="Step", ylabel="Loss")
        return self
