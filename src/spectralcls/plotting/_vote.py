"""Who votes with what weight, and how good each is."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.typing import Array
from ._display import Display


class VoteDisplay(Display):
    """Weights of the members of a vote next to their log losses on points that they had not seen.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    names : sequence of str of length n_members
        Names of the members.
    weights : ndarray of shape (n_members,)
        Their weights, which add up to 1.
    losses : ndarray of shape (n_members,)
        Their log losses.
    loss : float
        That of the vote.

    Attributes
    ----------
    axes_ : ndarray of 2 matplotlib Axes
        Axes with the weights and with the losses.
    figure_ : matplotlib Figure
        Figure that holds them.
    bars_ : matplotlib BarContainer
        The weights, the first member on top.
    loss_bars_ : matplotlib BarContainer
        The losses.
    line_ : matplotlib Line2D
        Loss of the vote.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spectralcls import AutoClassifier
    >>> from spectralcls.plotting import VoteDisplay
    >>> model = AutoClassifier().fit(*load_wine(return_X_y=True))
    >>> len(VoteDisplay.from_estimator(model).bars_) == len(model.members_)
    True
    """

    names: Any
    weights: Array
    losses: Array
    loss: float

    @classmethod
    def from_estimator(cls, estimator, *, axes=None):
        """Plot the vote of a fitted classifier.

        Parameters
        ----------
        estimator : AutoClassifier
            Or anything with `members_`, `weights_`, `losses_` and `loss_`.
        axes : array-like of 2 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : VoteDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        """
        check_is_fitted(estimator)
        names = [name for name, _ in estimator.members_]
        return cls(names, estimator.weights_, estimator.losses_, estimator.loss_).plot(axes)

    def plot(self, axes=None):
        """Draw weights and losses.

        Parameters
        ----------
        axes : array-like of 2 matplotlib Axes, default=None
            Axes to draw into; by default new ones.

        Returns
        -------
        display : VoteDisplay
            The display, drawn.
        """
        self.axes_ = self._axes(axes, 2, figsize=(9, 1 + 0.4 * len(self.names)), sharey=True)
        left, right = self.axes_
        names = list(self.names)[::-1]
        self.bars_ = left.barh(names, np.asarray(self.weights)[::-1])
        left.set(xlabel="Weight in the vote")
        self.loss_bars_ = right.barh(names, np.asarray(self.losses)[::-1])
        self.line_ = right.axvline(self.loss, color="black", label="vote")
        right.set(xlabel="Log loss on unseen points")
        right.legend()
        return self
