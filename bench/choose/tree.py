"""The decision tree of the page "Choose", drawn like scikit-learn's estimator map."""

from pathlib import Path

import matplotlib.pyplot as plt

QUESTION, ANSWER = "#56B4E9", "#009E73"
STYLE = "spectralcls.plotting.spectralcls"

# (question, what answers yes: a class). The first yes decides; the last line has no question.
STEPS = [
    ("Text, or other\nsparse counts?", "SpectralKernelClassifier"),
    ("Do many samples\nlack a label?", "CCDRClassifier"),
    ("Do you need densities\nor your own priors?", "ParzenClassifier"),
    ("More than 1e4 samples a class,\nor milliseconds count?", "CauchySchwarzClassifier"),
    ("Do samples or labels arrive\none by one? Novelty?", "PerTurboClassifier"),
    ("None of these: accuracy\nand probabilities count", "AutoClassifier"),
]


def draw(facts, path):
    """Draw the questions from top to bottom, and at each yes the class with what was measured.

    Parameters
    ----------
    facts : dict of class name to one line of text
    path : Path of the picture
    """
    with plt.style.context(STYLE):
        figure, ax = plt.subplots(figsize=(8.2, 1.2 * len(STEPS)))
        ax.set(xlim=(0, 10), ylim=(-len(STEPS) + 0.4, 0.6))
        ax.set_axis_off()
        for i, (question, name) in enumerate(STEPS):
            last = i == len(STEPS) - 1
            _box(ax, 2.3, -i, question, QUESTION)
            _box(ax, 7.6, -i, f"{name}\n{facts.get(name, '')}", ANSWER)
            _arrow(ax, (4.25, -i), (5.35, -i), "" if last else "yes", above=True)
            if not last:
                _arrow(ax, (2.3, -i - 0.3), (2.3, -i - 0.7), "no", above=False)
        Path(path).parent.mkdir(exist_ok=True)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def _box(ax, x, y, text, color):
    first, _, rest = text.partition("\n")
    style = {"boxstyle": "round,pad=0.6", "facecolor": color, "alpha": 0.22, "linewidth": 1, "edgecolor": color}
    if color == ANSWER:
        ax.text(x, y, f"{first}\n{rest}", ha="center", va="center", fontsize=10, color="none", bbox=style)
        ax.text(x, y + 0.1, first, ha="center", va="center", fontsize=10.5, weight="bold")
        ax.text(x, y - 0.11, rest, ha="center", va="center", fontsize=8.5)
    else:
        ax.text(x, y, text, ha="center", va="center", fontsize=10, bbox=style)


def _arrow(ax, start, end, label, above):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#404040", "linewidth": 1.2})
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    offset = (0, 4) if above else (10, 0)
    ax.annotate(
        label, (x, y), offset, textcoords="offset points", ha="center", va="bottom" if above else "center", fontsize=9
    )
