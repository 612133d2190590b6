"""Shared parts of the displays: their constructor, and axes to draw into."""

from dataclasses import dataclass
from typing import dataclass_transform

import numpy as np

from .._utils.from_sklearn import check_matplotlib_support


@dataclass_transform(eq_default=False)
class Display:
    """Base class of displays. The annotated names in the body of a subclass become the parameters of its
    constructor.
    """

    def __init_subclass__(cls):
        dataclass(cls, eq=False, repr=False, match_args=False)

    def _axes(self, axes, n=1, **figure):
        """Return a row of axes to draw into, new ones unless given, and set `figure_`."""
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        if axes is None:
            axes = plt.subplots(1, n, layout="constrained", **figure)[1]
        axes = np.ravel(axes)
        if len(axes) != n or not all(hasattr(ax, "plot") for ax in axes):
            what = f"an array of {n} matplotlib Axes" if n > 1 else "one matplotlib Axes"
            raise ValueError(
                f"{type(self).__name__} draws into {what}, got {len(axes)}: use matplotlib.pyplot.subplots."
            )
        self.figure_ = axes[0].figure
        return axes


def shown(name):
    """A name as text that matplotlib shows literally: not as a formula, and in legends even with a leading
    underscore.
    """
    text = str(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text  # zero-width space
