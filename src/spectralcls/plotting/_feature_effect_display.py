"""Effects of the features of one query on the probability of its predicted class, or on its predicted number."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from .._estimator import columns, mapped, within
from .._inputs.frames import NUMBER
from .._utils.typing import ArrayLike
from ..inspection import FeatureEffect, feature_effect
from ._display import Display, shown


class FeatureEffectDisplay(Display):
    """Change of the predicted class's probability, or of a predicted number, due to each feature, the largest on top.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    effect : FeatureEffect
        Effects for one query; see :func:`~spectralcls.inspection.feature_effect`.
    predicted : label or float
        The predicted class, one of ``effect.classes``, or the predicted number.
    values : sequence of str, default=()
        Values of the query, shown in the labels unless empty.
    n_shown : int, default=10
        Number of features to show, those with the largest effects.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure containing the axes.
    ax_ : matplotlib Axes
        Axes with the bars.
    bars_ : matplotlib BarContainer
        The features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import KernelRidgeClassifier
    >>> from spectralcls.plotting import FeatureEffectDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = FeatureEffectDisplay.from_estimator(KernelRidgeClassifier().fit(X, y), X[70:71])
    >>> display.ax_.get_xlabel()
    'Change of the probability of 1'
    """

    effect: FeatureEffect
    predicted: Any
    _: KW_ONLY
    values: Any = ()
    n_shown: int = 10

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, n_shown: int = 10, ax: Any = None) -> Self:
        """Draw the effects for one query.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier, or regressor of one output, that :func:`~spectralcls.inspection.feature_effect` takes.
        X : array-like or data frame of shape (1, n_features)
            The query.
        n_shown : int, default=10
            Maximum number of features to show.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : FeatureEffectDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If X is not one query.
        """
        effect = feature_effect(estimator, X)
        if len(effect.values) != 1:
            raise ValueError(f"X must be one query, got {len(effect.values)}.")
        model, steps = within(estimator)
        values = [_as_text(column) for column in columns(model, mapped(steps, X))]
        return cls(effect, estimator.predict(X)[0], values=values, n_shown=n_shown).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : FeatureEffectDisplay
            The display, drawn.
        """
        effects = self.effect.values[0]
        if self.effect.classes is None:
            what = f"the prediction {self.predicted:.4g}"
        else:
            effects = effects[:, np.flatnonzero(self.effect.classes == self.predicted)[0]]
            what = f"the probability of {shown(self.predicted)}"
        largest = np.argsort(-np.abs(effects), kind="stable")[: self.n_shown]
        self.ax_ = ax = self._axes(ax, figsize=(6, 1.2 + 0.3 * len(largest)))
        names = [str(name) for name in self.effect.features]
        if len(self.values):
            names = [f"{name} = {value}" for name, value in zip(names, self.values, strict=True)]
        rows = np.arange(len(largest))[::-1]
        colors = ["C0" if effect >= 0 else "C1" for effect in effects[largest]]
        self.bars_ = ax.barh(rows, effects[largest], color=colors)
        ax.set_yticks(rows, [shown(names[j]) for j in largest])
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(xlabel=f"Change of {what}")
        return self


def _as_text(column):
    """The single value of a column, as text."""
    if column.missing[0]:
        return "missing"
    return f"{column.example:.4g}" if column.kind == NUMBER else str(column.example)
