"""A regression of one feature with its intervals."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from .._utils.typing import Array, ArrayLike
from ._display import Display, like

GRID = 300


class RegressionDisplay(Display):
    """Prediction of one feature as a line, the intervals of new samples as a band, and the samples.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Places, ascending.
    prediction : ndarray of shape (n,)
        Predictions there.
    interval : ndarray of shape (n, 2), default=None
        Lower and upper ends of the band.
    X, y : ndarray of shape (n_samples,), default=None
        Samples to mark.
    coverage : float, default=None
        Of the band, for the legend.
    estimator_name : str, default=None
        Name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the line.
    figure_ : matplotlib Figure
        Figure that holds them.
    line_ : matplotlib Line2D
        The predictions.
    band_ : matplotlib artist
        Only present if there are intervals.
    marks_ : matplotlib artist
        Only present if there are samples.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import KernelRegressor
    >>> from spectralcls.plotting import RegressionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=200)
    >>> display = RegressionDisplay.from_estimator(KernelRegressor().fit(X, y), X, y)
    >>> display.line_.get_label()
    'KernelRegressor'
    """

    x: Array
    prediction: Array
    interval: Array | None = None
    X: Array | None = None
    y: Array | None = None
    _: KW_ONLY
    coverage: float | None = None
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        coverage: float | None = 0.9,
        name: str | None = None,
        ax=None,
        **line_kwargs,
    ) -> Self:
        """Plot a fitted regression of one feature and one output.

        Parameters
        ----------
        estimator : object
            With `predict` and, for the band, `predict_interval`.
        X : array-like of shape (n_samples, 1)
            Samples to mark; the picture covers them.
        y : array-like of shape (n_samples,)
            Their targets.
        coverage : float or None, default=0.9
            Of the band; None for no band.
        name : str, default=None
            Name in the legend; by default the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **line_kwargs : dict
            Passed on to ``ax.plot`` for the line.

        Returns
        -------
        display : RegressionDisplay
            What was drawn.

        Raises
        ------
        ValueError
            If there is more than one feature.
        """
        check_is_fitted(estimator)
        frame, X = X, check_array(X, dtype=np.float64)
        if X.shape[1] > 1:
            raise ValueError(f"A picture of a regression has one feature, got {X.shape[1]}.")
        x = np.linspace(X.min(), X.max(), GRID)
        places = like(x[:, None], frame)
        interval = None if coverage is None else estimator.predict_interval(places, coverage=coverage)
        display = cls(
            x,
            estimator.predict(places),
            interval,
            X[:, 0],
            np.asarray(y),
            coverage=coverage,
            estimator_name=type(estimator).__name__ if name is None else name,
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax=None, **line_kwargs) -> Self:
        """Draw the regression.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **line_kwargs : dict
            Passed on to ``ax.plot`` for the line.

        Returns
        -------
        display : RegressionDisplay
            What was drawn.
        """
        self.ax_ = ax = self._axes(ax)[0]
        if self.X is not None:
            self.marks_ = ax.scatter(self.X, self.y, s=8, color="0.45", alpha=0.6, linewidths=0)
        (self.line_,) = ax.plot(self.x, self.prediction, **({"label": self.estimator_name} | line_kwargs))
        if self.interval is not None:
            share = "" if self.coverage is None else f"{100 * self.coverage:.0f} % of new samples"
            self.band_ = ax.fill_between(
                self.x, *self.interval.T, color=self.line_.get_color(), alpha=0.18, linewidth=0, label=share
            )
        ax.set(xlabel="x", ylabel="y")
        ax.legend()
        return self
