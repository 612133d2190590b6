"""Embeddings and what their parameters do to the error."""

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
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


class EmbeddingErrorDisplay:
    """Test error of classifiers against one parameter of an embedding.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    values : ndarray of shape (n_values,)
        What it was set to.
    errors : dict of name to ndarray of shape (n_values,)
        Error rate of every classifier; NaN where the embedding has fewer components.
    n_test : int
        Test points, for the confidence band.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that holds them.
    lines_ : dict of name to matplotlib Line2D
        The curve of each classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from spectralcls import CCDR
    >>> from spectralcls.plotting import EmbeddingErrorDisplay
    >>> display = EmbeddingErrorDisplay.from_estimator(
    ...     CCDR(), {"5-NN": KNeighborsClassifier()}, X[::2], y[::2], X[1::2], y[1::2],
    ...     parameter="n_components", values=[1, 2],
    ... )
    >>> len(display.errors["5-NN"])
    2
    """

    def __init__(self, parameter, values, errors, n_test):
        self.parameter = parameter
        self.values = values
        self.errors = errors
        self.n_test = n_test

    @classmethod
    def from_estimator(
        cls,
        embedding,
        classifiers,
        X: Any,
        y: ArrayLike,
        X_test: ArrayLike,
        y_test: ArrayLike,
        *,
        parameter: str,
        values: ArrayLike,
        ax=None,
    ) -> Self:
        """Fit an embedding for every value, every classifier on it, and plot the error on test points.

        Parameters
        ----------
        embedding : CCDR
            Cloned for every value; for ``parameter="n_components"`` one fit serves all values.
        classifiers : dict of str to classifier
            Classifiers by the names of the legend; cloned.
        X : array-like of shape (n, n_features)
            Training points.
        y : array-like of shape (n,)
            Their labels.
        X_test : array-like of shape (m, n_features)
            Test points, embedded out of sample.
        y_test : array-like of shape (m,)
            Their labels.
        parameter : str
            "beta", "n_neighbors", "n_components" or another parameter of the embedding.
        values : sequence
            Values of the parameter, one fit each.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : EmbeddingErrorDisplay
            The display, drawn.
        """
        y, y_test, values = np.asarray(y), np.asarray(y_test), np.asarray(values)
        nested = parameter == "n_components"
        errors = {name: np.full(len(values), np.nan) for name in classifiers}
        for i, value in enumerate(values.tolist()):
            if i == 0 or not nested:
                fitted = clone(embedding).set_params(**{parameter: int(values.max()) if nested else value})
                Y, Z = fitted.fit_transform(X, y), fitted.transform(X_test)
            m = value if nested else Y.shape[1]
            if m > Y.shape[1]:
                continue
            for name, classifier in classifiers.items():
                predicted = clone(classifier).fit(Y[:, :m], y).predict(Z[:, :m])
                errors[name][i] = np.mean(predicted != y_test)
        return cls(parameter, values, errors, len(y_test)).plot(ax=ax)

    def plot(self, ax=None, *, confidence=0.8) -> Self:
        """Draw the curves with a band of pointwise binomial confidence.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        confidence : float, default=0.8
            Level of the band (normal approximation), as in the paper.

        Returns
        -------
        display : EmbeddingErrorDisplay
            The display, drawn.
        """
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots()
        self.lines_ = {}
        for name, errors in self.errors.items():
            (line,) = ax.plot(self.values, errors, marker="o", markersize=4, label=name)
            half = norm.ppf((1 + confidence) / 2) * np.sqrt(errors * (1 - errors) / self.n_test)
            ax.fill_between(self.values, errors - half, errors + half, color=line.get_color(), alpha=0.15)
            self.lines_[name] = line
        if self.parameter == "beta" and np.min(self.values) > 0:
            ax.set_xscale("log")
        elif np.asarray(self.values).dtype.kind in "iu":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set(xlabel=self.parameter, ylabel="Test error")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
