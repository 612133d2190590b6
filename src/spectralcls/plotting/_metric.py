"""What a learned metric looks at, and how it was learned."""

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted


class MetricDisplay:
    """Weights of the features in a learned metric, and its loss over the steps.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Length of each feature's column in the map: how far a unit of it moves a point.
    feature_names : sequence of str of length n_features
        Names of the features.
    losses : ndarray of shape (n_steps,)
        Loss at each step.
    n_shown : int, default=20
        The features of largest weight are shown.

    Attributes
    ----------
    axes_ : ndarray of 2 matplotlib Axes
        Axes with the weights and with the loss.
    figure_ : matplotlib Figure
        Figure that holds them.
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
    >>> metric = GradientMetric().fit((X - X.mean()) / X.std(), y)
    >>> display = MetricDisplay.from_estimator(metric)
    >>> len(display.bars_)
    13
    """

    def __init__(self, weights, feature_names, losses, *, n_shown=20):
        self.weights = weights
        self.feature_names = feature_names
        self.losses = losses
        self.n_shown = n_shown

    @classmethod
    def from_estimator(cls, metric, *, X=None, n_shown=20, axes=None):
        """Plot a fitted metric.

        Parameters
        ----------
        metric : KernelMetric or GradientMetric
            Or anything with `components_` and `loss_curve_`.
        X : array-like of shape (n_samples, n_features), default=None
            If given, weights are multiplied by the features' standard deviations, so that units do not matter.
        n_shown : int, default=20
            Features to show at most.
        axes : array-like of 2 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : MetricDisplay

        Raises
        ------
        NotFittedError
            If the metric is not fitted.
        """
        check_is_fitted(metric)
        weights = np.linalg.norm(metric.components_, axis=0)
        if X is not None:
            weights = weights * np.asarray(X, dtype=np.float64).std(axis=0)
        names = getattr(metric, "feature_names_in_", [f"x{j}" for j in range(len(weights))])
        return cls(weights, names, np.asarray(metric.loss_curve_), n_shown=n_shown).plot(axes)

    def plot(self, axes=None):
        """Draw weights and loss.

        Parameters
        ----------
        axes : array-like of 2 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : MetricDisplay
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        left, right = axes
        largest = np.argsort(-self.weights, kind="stable")[: self.n_shown][::-1]
        self.bars_ = left.barh([str(self.feature_names[j]) for j in largest], self.weights[largest])
        left.set(xlabel="Weight in the metric")
        (self.line_,) = right.plot(self.losses)
        right.set(xlabel="Step", ylabel="Loss")
        self.axes_, self.figure_ = np.array([left, right]), left.figure
        return self
