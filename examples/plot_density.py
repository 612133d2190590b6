"""
Densities: how likely is what we see
====================================

``ParzenDensity`` chooses its bandwidth by least-squares cross-validation. Left: waiting
times are positive. A plain estimate extends below zero, but reflection at the bound
does not, and a separate bandwidth for each sample smooths the tail more than the peak.
Right: two measurements of irises; the contours contain 20 to 95 % of the probability
mass.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from spectralcls import ParzenDensity
from spectralcls.plotting import DensityDisplay

rng = np.random.default_rng(0)
waiting = rng.exponential(1.0, size=(400, 1))
figure, axes = plt.subplots(1, 2, figsize=(10, 4))

bounded = ParzenDensity(bounds=[[0, None]], adaptive=True).fit(waiting)
DensityDisplay.from_estimator(
    bounded, waiting, ax=axes[0], label="bounded and adaptive", margin=0.1
)
x = np.linspace(-0.8, 7, 500)
axes[0].plot(
    x,
    np.exp(ParzenDensity().fit(waiting).score_samples(x[:, None])),
    label="plain",
    linestyle="--",
)
axes[0].plot(x[x >= 0], np.exp(-x[x >= 0]), color="black", linewidth=1, label="truth")
axes[0].set(
    xlim=(-0.8, 7),
    ylim=(0, 1.05),
    xlabel="Waiting time",
    title="A bound is where the density ends",
)
axes[0].legend()

iris = load_iris(as_frame=True).data[["sepal length (cm)", "petal length (cm)"]]
density = ParzenDensity(covariance_type="diag").fit(iris)
DensityDisplay.from_estimator(density, iris, ax=axes[1])
axes[1].set_title("Two groups without labels")
plt.show()
