"""
Densities: how likely is what we see
====================================

``ParzenDensity`` chooses a bandwidth by least-squares cross-validation, and wider
kernels for isolated samples. So a narrow peak stays narrow and the tails are smooth; a
single bandwidth cannot do both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from spectralcls import ParzenDensity

rng = np.random.default_rng(0)
waiting = rng.lognormal(sigma=1.2, size=(400, 1))
search = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 5, 15)})
x = np.geomspace(0.02, 60, 500)
truth = np.exp(-((np.log(x) / 1.2) ** 2) / 2) / (1.2 * x * np.sqrt(2 * np.pi))
figure, ax = plt.subplots(figsize=(6, 4))
for density, style, label in (
    (ParzenDensity().fit(waiting), "-", "ParzenDensity"),
    (search.fit(waiting).best_estimator_, "--", "one bandwidth, by likelihood"),
):
    ax.loglog(x, np.exp(density.score_samples(x[:, None])), style, label=label)
ax.loglog(x, truth, color="black", linewidth=1, label="truth")
ax.loglog(waiting, 0 * waiting + 2e-5, "|", color="black", alpha=0.5)
ax.set(ylim=(1e-5, 1.5), xlabel="Waiting time", title="A peak and its tail")
ax.legend()

# %%
# Two measurements of irises: the contours contain 20 to 95 % of the probability mass.
# Such a contour lies at a quantile of the densities at random samples of the estimate.
iris = load_iris().data[:, [0, 2]]
density = ParzenDensity().fit(iris)
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
