"""
Densities: how likely is what we see
====================================

``ParzenDensity`` chooses its bandwidth by least-squares cross-validation. Waiting times
are positive: a plain estimate extends below zero, but reflection at the bound does not,
and a separate bandwidth for each sample smooths the tail more than the peak.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from spectralcls import ParzenDensity

rng = np.random.default_rng(0)
waiting = rng.exponential(1.0, size=(400, 1))
figure, ax = plt.subplots(figsize=(6, 4))

x = np.linspace(-0.8, 7, 500)
bounded = ParzenDensity(bounds=[[0, None]], adaptive=True).fit(waiting)
for density, style, label in (
    (bounded, "-", "bounded and adaptive"),
    (ParzenDensity().fit(waiting), "--", "plain"),
):
    ax.plot(x, np.exp(density.score_samples(x[:, None])), style, label=label)
ax.plot(x[x >= 0], np.exp(-x[x >= 0]), color="black", linewidth=1, label="truth")
ax.plot(waiting, 0 * waiting - 0.02, "|", color="black", alpha=0.5)
ax.set(
    xlim=(-0.8, 7),
    ylim=(-0.05, 1.05),
    xlabel="Waiting time",
    title="A bound is where the density ends",
)
ax.legend()

# %%
# Two measurements of irises: the contours contain 20 to 95 % of the probability mass.
# Such a contour lies at a quantile of the densities at random samples of the estimate.
iris = load_iris().data[:, [0, 2]]
density = ParzenDensity(covariance_type="diag").fit(iris)
plane = np.meshgrid(np.linspace(3.8, 8.4, 150), np.linspace(0, 8, 150))
heights = np.exp(density.score_samples(np.stack(plane, axis=-1).reshape(-1, 2)))
at_samples = np.exp(density.score_samples(density.sample(10_000, random_state=0)))
levels = [*np.quantile(at_samples, [0.05, 0.2, 0.4, 0.6, 0.8]), 1.01 * heights.max()]
figure, ax = plt.subplots(figsize=(6, 4))
ax.contourf(*plane, heights.reshape(150, 150), levels=levels, cmap="Blues")
ax.scatter(*iris.T, s=4, color="black")
ax.set(
    xlabel="sepal length (cm)",
    ylabel="petal length (cm)",
    title="Two groups without labels",
)
plt.show()
