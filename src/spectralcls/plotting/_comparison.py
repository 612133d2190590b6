"""Accuracy and time of several classifiers, side by side."""

from typing import Self

import numpy as np

_OURS, _BASELINE = "#1f5fa8", "#8a8a8a"


class ComparisonDisplay:
    """Accuracy with its standard deviation, and time to tune, fit and predict, one line per classifier.

    Parameters
    ----------
    records : list of dict
        As ``spectralcls compare --json`` writes them; those without an accuracy are left out.
    baselines : collection of str, default=()
        Names of the classifiers that are drawn in grey.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure that holds the axes.
    axes_ : ndarray of two matplotlib Axes
        Accuracy on the left, time on the right.

    Examples
    --------
    >>> from spectralcls.plotting import ComparisonDisplay
    >>> record = {"classifier": "a", "accuracy_mean": 0.9, "accuracy_std": 0.1, "fit_seconds": 1.0,
    ...           "predict_seconds": 0.1, "bandwidth": None, "n_train": 100, "n_test": 50}
    >>> ComparisonDisplay([record]).plot().axes_.shape
    (2,)
    """

    def __init__(self, records, *, baselines=()):
        self.records = records
        self.baselines = baselines

    def plot(self, axes=None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Where to draw, sharing their y axis; None makes a new figure with pyplot.

        Returns
        -------
        display : ComparisonDisplay
            The display, drawn.
        """
        from matplotlib.ticker import EngFormatter

        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.subplots(1, 2, sharey=True, layout="constrained")[1]
        accuracy, time = axes
        records = [record for record in self.records if record["accuracy_mean"] is not None]
        rows = np.arange(len(records))
        names = [record["classifier"] for record in records]
        colors = [_BASELINE if name in self.baselines else _OURS for name in names]

        mean = 100 * np.array([record["accuracy_mean"] for record in records])
        deviation = 100 * np.array([record["accuracy_std"] or 0.0 for record in records])  # None: one split
        accuracy.hlines(rows, mean - deviation, mean + deviation, colors=colors, linewidth=2.5, alpha=0.45)
        accuracy.scatter(mean, rows, c=colors, s=45, zorder=3)
        for row, value, reach in zip(rows, mean, deviation, strict=True):
            accuracy.annotate(
                f"{value:.1f}",
                (value + reach, row),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        accuracy.margins(x=0.15)
        accuracy.set_yticks(rows, names)
        accuracy.set_ylim(len(rows) - 0.5, -0.5)  # the first on top
        accuracy.set_xlabel("accuracy, % (bar: one standard deviation)")

        fit = np.array([record["fit_seconds"] for record in records])
        predict = np.array([record["predict_seconds"] for record in records])
        time.scatter(fit, rows, c=colors, s=45, marker="o")
        time.scatter(predict, rows, facecolors="white", edgecolors=colors, s=45, marker="o")
        time.hlines(rows, np.minimum(fit, predict), np.maximum(fit, predict), colors=colors, alpha=0.3, zorder=0)
        time.set_xscale("log")
        time.xaxis.set_major_formatter(EngFormatter(unit="s"))
        time.set_xlabel("time (filled: tune + fit, hollow: predict)")

        for ax in axes:
            ax.grid(axis="both", alpha=0.25)
            ax.set_axisbelow(True)
            ax.spines[["top", "right"]].set_visible(False)
        self.figure_, self.axes_ = accuracy.figure, np.asarray(axes)
        return self
