"""Cross-validated score against bandwidth."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags

from .._estimator import within
from .._utils.typing import Array
from ._display import Display, shown


class BandwidthPathDisplay(Display):
    """Cross-validated score of each bandwidth, and the best one.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    bandwidths : ndarray of shape (n_bandwidths,)
        Bandwidths tried, ascending.
    scores : ndarray of shape (n_bandwidths,)
        Cross-validated scores.
    best_bandwidth : float
        Bandwidth with the best score.
    estimator_name : str, default=None
        Name in the legend.
    score_name : str, default="Cross-validated accuracy"
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure containing the axes.
    line_ : matplotlib Line2D
        The curve.
    best_line_ : matplotlib Line2D
        Vertical line at the best bandwidth.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.plotting import BandwidthPathDisplay
    >>> display = BandwidthPathDisplay.from_estimator(ParzenClassifier().fit(X, y))
    >>> display.ax_.get_xscale()
    'log'
    """

    bandwidths: Array
    scores: Array
    best_bandwidth: float
    _: KW_ONLY
    estimator_name: str | None = None
    score_name: str = "Cross-validated accuracy"

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **line_kwargs: Any) -> Self:
        """Plot the path of an estimator fitted with ``bandwidth="cv"``.

        Parameters
        ----------
        estimator : object
            An estimator with `cv_results_` over bandwidths, or a :class:`sklearn.model_selection.GridSearchCV` over
            `bandwidth`. The best score over further tuned parameters is drawn.
        name : str, default=None
            Name in the legend; by default the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        **line_kwargs : dict
            Passed on to ``ax.plot`` for the curve.

        Returns
        -------
        display : BandwidthPathDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If no bandwidth was tuned.
        """
        if "param_bandwidth" not in getattr(estimator, "cv_results_", {}):
            estimator = within(estimator)[0]
        results = getattr(estimator, "cv_results_", {})
        if "param_bandwidth" not in results:
            raise ValueError(
                f"{type(estimator).__name__} tuned no bandwidth, so there is no path to draw: fit an estimator with "
                'bandwidth="cv".'
            )
        bandwidths, scores = _path(results)
        display = cls(
            bandwidths,
            scores,
            _best(estimator),
            estimator_name=type(estimator).__name__ if name is None else name,
            score_name=_score_name(estimator),
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **line_kwargs: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw into; by default new ones.
        name : str, default=None
            Name in the legend; by default `estimator_name`.
        **line_kwargs : dict
            Passed on to ``ax.plot`` for the curve.

        Returns
        -------
        display : BandwidthPathDisplay
            The display, drawn.
        """
        self.ax_ = ax = self._axes(ax)
        name = self.estimator_name if name is None else name
        (self.line_,) = ax.plot(
            self.bandwidths, self.scores, **({"marker": "o", "markersize": 4, "label": shown(name)} | line_kwargs)
        )
        self.best_line_ = ax.axvline(
            self.best_bandwidth,
            color=self.line_.get_color(),
            linestyle="--",
            linewidth=1,
            label=f"h = {self.best_bandwidth:.3g}",
        )
        ax.set(xscale="log", xlabel="Bandwidth h", ylabel=self.score_name)
        ax.legend()
        return self


def _best(estimator):
    if hasattr(estimator, "best_params_"):  # a search of scikit-learn
        return estimator.best_params_["bandwidth"]
    # class-wise bandwidths are tuned by a common factor
    return getattr(estimator, "overall_bandwidth_", estimator.bandwidth_)


def _score_name(estimator):
    if hasattr(estimator, "loss_"):  # loss of its probabilities
        return "Held-out log likelihood"
    if isinstance(getattr(estimator, "scoring", None), str):
        scorings = {"neg_log_loss": "Held-out log likelihood", "balanced_accuracy": "Cross-validated balanced accuracy"}
        return scorings.get(estimator.scoring, "Cross-validated accuracy")
    if hasattr(estimator, "scoring"):
        return "Held-out score"
    kinds = {"regressor": "Held-out R²", "density_estimator": "Held-out fit of the density"}
    kinds["outlier_detector"] = kinds["density_estimator"]
    return kinds.get(get_tags(estimator).estimator_type, "Cross-validated accuracy")


def _path(results):
    """Bandwidths tried, ascending, and the best mean score for each."""
    bandwidths, position = np.unique(np.asarray(results["param_bandwidth"], dtype=np.float64), return_inverse=True)
    scores = np.full(len(bandwidths), np.nan)
    np.fmax.at(scores, position, results["mean_test_score"])
    return bandwidths, scores
