"""Shared parts of the displays: their constructor, and axes to draw into."""

from dataclasses import dataclass
from typing import dataclass_transform

from .._utils.from_sklearn import check_matplotlib_support


@dataclass_transform(eq_default=False)
class Display:
    """Base class of displays. The annotated names in the body of a subclass become the parameters of its
    constructor.
    """

    def __init_subclass__(cls):
        dataclass(cls, eq=False, repr=False, match_args=False)

    def _axes(self, ax, **figure):
        """Return axes to draw into, new ones unless given, and set `figure_`."""
        check_matplotlib_support(f"{type(self).__name__}.plot")
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(layout="constrained", **figure)[1]
        if not hasattr(ax, "plot"):
            raise ValueError(f"{type(self).__name__} draws into one matplotlib Axes: use matplotlib.pyplot.subplots.")
        self.figure_ = ax.figure
        return ax


def shown(name):
    """A name as text that matplotlib shows literally: not as a formula, and in legends even with a leading
    underscore.
    """
    text = str(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text  # zero-width space
