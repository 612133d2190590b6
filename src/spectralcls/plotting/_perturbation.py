"""PerTurbo's perturbation fields, the region of its queries, and learning curves."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_array

from .._utils.typing import Array, ArrayLike
from ._display import Display, like


class PerturbationDisplay(Display):
    """Perturbation tau of every class over a plane, the predicted classes, and the region near their borders.

    Make one with `from_estimator`.

    Parameters
    ----------
    x, y : ndarray of shape (g,)
        Coordinates of the grid.
    tau : ndarray of shape (g, g, n_classes)
        Perturbation at (y, x).
    winner : ndarray of shape (g, g)
        Position in ``classes`` of the predicted class.
    classes : array-like of shape (n_classes,)
        Labels of the classes.
    samples, codes : ndarray of shape (n, 2) and (n,), or None
        Points to draw, and the positions of their labels in ``classes``.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    axes_ : ndarray of matplotlib Axes
        One for each class, and one for the borders.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import PerTurboClassifier
    >>> from spectralcls.plotting import PerturbationDisplay
    >>> model = PerTurboClassifier(1.0, alpha=1e-2).fit(X[:, :2], y)
    >>> PerturbationDisplay.from_estimator(model, X[:, :2], y, grid_resolution=20).tau.shape
    (20, 20, 3)
    """

    x: Array
    y: Array
    tau: Array
    winner: Array
    classes: Any
    samples: Array | None = None
    codes: Array | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        grid_resolution=200,
        margin=0.1,
        axes=None,
        **plot_parameters,
    ) -> Self:
        """Evaluate a PerTurbo of two features on a grid around ``X``, and plot.

        Parameters
        ----------
        estimator : PerTurboClassifier
            Fitted to two features.
        X : array-like of shape (n, 2)
            Samples that are drawn, and that the grid covers.
        y : array-like of shape (n,), default=None
            Their labels; None: the predicted ones.
        grid_resolution : int, default=200
            Points along each side.
        margin : float, default=0.1
            Room around the samples, relative to their extent.
        axes : sequence of n_classes + 1 matplotlib Axes, default=None
            Where to draw. None makes a new figure with pyplot.
        **plot_parameters : dict
            Passed on to `plot`.

        Returns
        -------
        display : PerturbationDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If X does not have two features, or y a label that the estimator does not know.

        Notes
        -----
        Evaluates the perturbation of ``grid_resolution**2`` points.
        """
        frame, X = X, check_array(X, dtype=np.float64)
        if X.shape[1] != 2:
            raise ValueError(f"A plane has two features, but X has {X.shape[1]}.")
        low, high = X.min(axis=0), X.max(axis=0)
        room = margin * (high - low) + (high == low)
        x_line, y_line = (np.linspace(low[i] - room[i], high[i] + room[i], grid_resolution) for i in range(2))
        grid = np.stack(np.meshgrid(x_line, y_line), axis=-1)
        grid, square = like(grid.reshape(-1, 2), frame), (grid_resolution, grid_resolution)
        tau = estimator.perturbation(grid).reshape(*square, -1)
        winner = np.searchsorted(estimator.classes_, estimator.predict(grid)).reshape(square)
        labels = estimator.predict(frame) if y is None else np.asarray(y)
        unknown = np.setdiff1d(labels, estimator.classes_)
        if len(unknown):
            raise ValueError(f"The estimator does not know the labels {unknown.tolist()}.")
        codes = np.searchsorted(estimator.classes_, labels)
        display = cls(x_line, y_line, tau, winner, estimator.classes_, X, codes)
        return display.plot(axes, **plot_parameters)

    def plot(self, axes=None, *, gamma: float = 0.1, cmap="viridis") -> Self:
        """Draw a panel for each class, and one with the predicted classes and the region of the queries.

        Parameters
        ----------
        axes : sequence of n_classes + 1 matplotlib Axes, default=None
            Where to draw. None makes a new figure with pyplot.
        gamma : float, default=0.1
            The region is where the margin is below gamma (equation 13): near the borders, and far from all
            samples, where every tau is 1.
        cmap : str or matplotlib Colormap, default="viridis"
            Colors of tau.

        Returns
        -------
        display : object
            The display, drawn.
        """
        n_classes = len(self.classes)
        size = (3.1 * (n_classes + 1) + 0.6, 3.2)
        self.axes_ = axes = self._axes(axes, n_classes + 1, figsize=size, sharex=True, sharey=True)
        if len(axes) != n_classes + 1:
            raise ValueError(f"{n_classes + 1} axes are needed, got {len(axes)}.")
        look = {"vmin": 0, "vmax": 1, "cmap": cmap, "shading": "gouraud", "rasterized": True}
        for c, ax in enumerate(axes[:n_classes]):
            image = ax.pcolormesh(self.x, self.y, self.tau[:, :, c], **look)
            self._scatter(ax, only=c)
            ax.set_title(rf"$\tau$ of class {self.classes[c]}")
        self.figure_.colorbar(image, ax=list(axes[:n_classes]), shrink=0.9)
        if n_classes > 1:
            self._plot_borders(axes[-1], gamma)
        else:
            axes[-1].set_axis_off()
        return self

    def _plot_borders(self, ax, gamma):
        least = np.sort(self.tau, axis=2)
        margins = least[:, :, 1] - least[:, :, 0]
        image = _colors(self.winner)
        image[..., 3] = 0.3
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
        if margins.min() < gamma < margins.max():
            ax.contourf(self.x, self.y, margins, levels=[-1, gamma], colors=["#222222"], alpha=0.45)
        self._scatter(ax)
        ax.set_title(rf"query region, margin < {gamma:g}")

    def _scatter(self, ax, only=None):
        if self.samples is not None:
            shown = slice(None) if only is None else self.codes == only
            style = {"s": 14, "edgecolors": "white", "linewidths": 0.4}
            ax.scatter(*self.samples[shown].T, c=_colors(self.codes[shown]), **style)


def _colors(codes):
    import matplotlib as mpl

    return mpl.colormaps["tab10"](codes % 10)
