"""Figures of paper 002."""

import matplotlib.pyplot as plt
import numpy as np


def _axes(title):
    figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    ax.set(xlabel="number of eigenvectors k", ylabel=title)
    ax.grid(alpha=0.25)
    return figure, ax


def medline(source, found):
    figure, ax = _axes("F1, %")
    for name, color in (("unit rows", "#1f5fa8"), ("plain", "#c44e1b")):
        ks = [k for k in found[name] if k != "linear"]
        mean, deviation = np.transpose([found[name][k]["mean"] for k in ks])
        ax.plot(list(map(int, ks)), mean, "o-", color=color, label=name, markersize=4)
        ax.fill_between(list(map(int, ks)), mean - deviation, mean + deviation, color=color, alpha=0.15)
    linear = found["unit rows"]["linear"]["mean"][0]
    ax.axhline(linear, color="0.4", linestyle="--", label="linear kernel")
    ax.legend(frameon=False)
    return (
        figure,
        f"Best mean {found['best mean'][0]:.1f}, best single split {found['best split']:.1f}, linear "
        f"{linear:.1f}.",
    )


def reuters(source, found):
    figure, ax = _axes("F1, %")
    ks = [k for k in found if k != "linear"]
    for average, color in (("micro", "#1f5fa8"), ("macro", "#c44e1b")):
        ax.plot(
            list(map(int, ks)),
            [found[k][average] for k in ks],
            "o-",
            color=color,
            label=average,
            markersize=4,
        )
        ax.axhline(
            found["linear"][average], color=color, linestyle="--", linewidth=1, label=f"{average}, linear"
        )
    ax.legend(frameon=False, ncols=2)
    best = max(ks, key=lambda k: found[k]["micro"])
    return figure, (
        f"Best micro average {found[best]['micro']:.1f} at k = {best}, linear kernel "
        f"{found['linear']['micro']:.1f}."
    )
