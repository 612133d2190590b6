"""Figures of paper 002."""

import matplotlib.pyplot as plt
import numpy as np

from bench.pages import listed

from .registry_002 import QUERIES

BLUE, ORANGE = "#1f5fa8", "#c44e1b"
LATENT = {"markersize": 4, "label": "latent semantic kernel"}


def medline(source, *found):
    figure, axes = plt.subplots(1, len(found), figsize=(10, 3.8), layout="constrained", sharey=True)
    sentences = []
    for ax, query, curves in zip(axes, QUERIES, found, strict=True):
        for name, color in (("unit rows", BLUE), ("plain", ORANGE)):
            ks = [k for k in curves[name] if k != "linear"]
            mean, deviation = np.transpose([curves[name][k]["mean"] for k in ks])
            ax.plot(list(map(int, ks)), mean, "o-", color=color, label=name, markersize=4)
            ax.fill_between(list(map(int, ks)), mean - deviation, mean + deviation, color=color, alpha=0.15)
        linear, unit, plain = curves["unit rows"]["linear"], curves["best"]["unit rows"], curves["best"]["plain"]
        ax.axhline(linear["mean"][0], color="0.4", linestyle="--", label="linear kernel")
        ax.set(title=f"query {query}", xlabel="number of eigenvectors k")
        ax.grid(alpha=0.25)
        sentences.append(
            f"Query {query}: with unit rows, the mean over the splits is {unit['mean'][0]:.1f} at k = {unit['k']}, and "
            f"the best single split has {unit['split']:.1f}. Without unit rows, as in the text, these numbers are "
            f"{plain['mean'][0]:.1f} and {plain['split']:.1f}, and with the linear kernel {linear['mean'][0]:.1f} and "
            f"{linear['best']:.1f}."
        )
    axes[0].set_ylabel("F1, %")
    axes[0].legend(frameon=False, fontsize=8)
    return figure, " ".join(sentences)


def reuters(source, found, automatic, latent):
    ks = [k for k in found if k != "linear"]
    names = list(found["linear"])
    figure, axes = plt.subplots(3, 4, figsize=(13, 8), layout="constrained", sharex=True)
    for ax, name in zip(axes.flat, names, strict=True):
        ax.plot(list(map(int, ks)), [found[k][name] for k in ks], "o-", color=BLUE, markersize=4, label="spectral")
        ax.axhline(found["linear"][name], color="0.4", linestyle="--", label="linear kernel")
        ax.axhline(automatic["F1"][name], color=ORANGE, linestyle=":", label="k by cross-validation")
        ax.plot(list(map(int, latent["F1"])), [of[name] for of in latent["F1"].values()], "s:", color="0.6", **LATENT)
        ax.set_title(name if name in automatic["n_components"] else f"{name} average", fontsize=10)
        ax.grid(alpha=0.25)
    for ax in axes[:, 0]:
        ax.set_ylabel("F1, %")
    for ax in axes[-1]:
        ax.set_xlabel("number of eigenvectors k")
    axes.flat[0].legend(frameon=False, fontsize=8)
    best = max(ks, key=lambda k: found[k]["micro"])
    chosen = ", ".join(f"{name} {k}" for name, k in automatic["n_components"].items())
    averages, seconds = automatic["F1"], latent["seconds"]
    rival = listed([f"{of['micro']:.1f} and {of['macro']:.1f} at k = {k}" for k, of in latent["F1"].items()])
    return figure, (
        f"The best micro average is {found[best]['micro']:.1f}, at k = {best}; the linear kernel has "
        f"{found['linear']['micro']:.1f}. If k is chosen for each category by cross-validation on the training "
        f"documents ({chosen}), the micro average is {averages['micro']:.1f} and the macro average "
        f"{averages['macro']:.1f}. The micro and macro averages of the latent semantic kernel are {rival}. Training "
        f"ten linear SVMs and predicting with them takes {seconds['terms']:.2f} processor seconds on the terms and "
        f"{seconds['coordinates']:.2f} on {seconds['k']} coordinates; computing these takes "
        f"{seconds['embedding']:.2f}. The paper says that its kernel speeds up classification; with this solver, which "
        "is made for sparse terms, it does not."
    )
