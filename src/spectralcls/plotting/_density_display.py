"""A density of one or two features, with its data."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from .._inputs.frames import like
from .._utils.typing import Array, ArrayLike
from ._display import Display

GRID = {1: 400, 2: 100}  # equidistant grid points along each feature
MARKED = {1: 200, 2: 60}  # samples added to the grid, so that no narrow peak is missed
DRAWN = 10_000  # random points used to estimate the mass above a level
LARGEST_LOG = 700.0  # densities with larger logarithms are scaled, because exp overflows at 709
SHARES = (0.95, 0.8, 0.6, 0.4, 0.2)
_FEWER_MARKS = 300  # with at least this many samples, their marks are fainter


class DensityDisplay(Display):
    """A density of one feature as a curve, or of two features as filled contours.

    Samples are marked; contours enclose shares of the mass. Create it with :meth:`from_estimator`.

    Parameters
    ----------
    grid : list of one or two ndarrays
        Grid points along each feature.
    density : ndarray of shape (n,) or (n_1, n_2)
        Density at the grid points, relative to the largest if that is out of the range of floats.
    X : ndarray of shape (n_samples, 1 or 2), default=None
        Samples to mark.
    levels : ndarray of shape (5,), default=None
        For two features, densities above which 95, 80, 60, 40 and 20 % of the mass lies.
    feature_names : list of str, default=None
        Labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the density.
    figure_ : matplotlib Figure
        Figure containing the axes.
    curve_ : matplotlib Line2D or QuadContourSet
        The density.
    marks_ : matplotlib artist
        The samples. Only present if samples were passed.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import ParzenDensity
    >>> from spectralcls.plotting import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> display = DensityDisplay.from_estimator(ParzenDensity().fit(X), X)
    >>> display.ax_.get_ylabel()
    'Density'
    """

    grid: list
    density: Array
    X: Array | None = None
    _: KW_ONLY
    levels: Array | None = None
    feature_names: Any | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, *, margin: float = 0.15, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot a fitted density of one or two features.

        Parameters
        ----------
        estimator : object
            An estimator with `score_samples`, fitted to one or two features. Shares of the mass are estimated from its
            random samples if it has `sample`, otherwise from the densities at X.
        X : array-like of shape (n_samples, 1 or 2)
            Samples to mark; the plot covers their range.
        margin : float, default=0.15
            Margin of the plot, as a fraction of the samples' range.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.plot`` or ``ax.contourf``.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there are more than two features.
        """
        check_is_fitted(estimator)
        names = getattr(estimator, "feature_names_in_", None)
        frame, X = X, check_array(X, dtype=np.float64)
        if X.shape[1] > 2:
            raise ValueError(f"A plot shows one or two features, got {X.shape[1]}: take marginal([j, k]) first.")
        drawn = estimator.sample(DRAWN, random_state=0) if hasattr(estimator, "sample") else X
        reach = margin * np.ptp(X, axis=0)
        reach = np.where(reach > 0, reach, np.maximum(np.ptp(drawn, axis=0), 1e-9))
        some = X[np.argsort(X[:, 0])[np.linspace(0, len(X) - 1, MARKED[X.shape[1]]).astype(np.intp)]]
        ends = zip(X.min(axis=0) - reach, X.max(axis=0) + reach, some.T, strict=True)
        grid = [np.unique([*np.linspace(low, high, GRID[X.shape[1]]), *own]) for low, high, own in ends]
        places = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1).reshape(-1, X.shape[1])

        logs, own = (estimator.score_samples(like(points, frame)) for points in (places, drawn))
        largest = max(logs.max(), own.max())
        unit = largest if abs(largest) > LARGEST_LOG else 0.0
        found = np.exp(logs - unit).reshape([len(side) for side in grid])
        levels = np.quantile(np.exp(own - unit), 1 - np.array(SHARES)) if X.shape[1] == 2 else None
        display = cls(grid, found, X, levels=levels, feature_names=None if names is None else list(names))
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the density.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **kwargs : dict
            Passed on to ``ax.plot`` or ``ax.contourf``.

        Returns
        -------
        display : DensityDisplay
            The display, drawn.
        """
        self.ax_ = ax = self._axes(ax)[0]
        draw = self._draw_curve if len(self.grid) == 1 else self._draw_contours
        draw(ax, kwargs)
        return self

    def _names(self):
        return self.feature_names or [f"Feature {k}" for k in range(len(self.grid))]

    def _draw_curve(self, ax, kwargs):
        (self.curve_,) = ax.plot(self.grid[0], self.density, **kwargs)
        ax.fill_between(self.grid[0], self.density, color=self.curve_.get_color(), alpha=0.15, linewidth=0)
        if self.X is not None:
            self.marks_ = ax.plot(
                self.X[:, 0],
                np.zeros(len(self.X)),
                "|",
                color="black",
                markersize=8,
                alpha=_alpha(len(self.X)),
                transform=ax.get_xaxis_transform(),
            )[0]
        ax.set(xlabel=self._names()[0], ylabel="Density", ylim=(0, None), xlim=self.grid[0][[0, -1]])

    def _draw_contours(self, ax, kwargs):
        # A plateau at a level counts as above it.
        levels = np.unique([*(self.levels * (1 - 1e-6)), max(self.density.max(), self.levels.max()) * (1 + 1e-6)])
        options = {"cmap": "Blues", "extend": "neither"} | kwargs
        self.curve_ = ax.contourf(*self.grid, self.density.T, levels=levels, **options)
        lines = levels[(levels > self.density.min()) & (levels < self.density.max())]
        if len(lines):
            ax.contour(*self.grid, self.density.T, levels=lines, colors="white", linewidths=0.6)
        if self.X is not None:
            self.marks_ = ax.scatter(*self.X.T, s=4, color="black", alpha=_alpha(len(self.X)), linewidths=0)
        ax.set(xlabel=self._names()[0], ylabel=self._names()[1])


def _alpha(n):
    return max(0.15, min(0.8, _FEWER_MARKS / n))
