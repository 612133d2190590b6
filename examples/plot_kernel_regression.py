"""
Kernel regression with a band
=============================

``KernelRegressor`` chooses bandwidth and degree by the exact leave-one-out error. The
band should contain 90 % of new samples. It widens with the noise, since it comes from
the residuals of nearby samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from spectralcls import KernelRegressor

rng = np.random.default_rng(0)
X = rng.uniform(0, 10, size=(600, 1))


def measured(X):
    return (
        np.sin(X[:, 0]) + X[:, 0] / 4 + (0.1 + 0.06 * X[:, 0]) * rng.normal(size=len(X))
    )


y = measured(X)
model = KernelRegressor().fit(X, y)
new = rng.uniform(0, 10, size=(5000, 1))
low, high = model.predict_interval(new, coverage=0.9).T
covered = 100 * np.mean((low <= (target := measured(new))) & (target <= high))

x = np.linspace(0, 10, 300)[:, None]
figure, ax = plt.subplots(layout="constrained")
ax.scatter(X, y, s=8, color="0.45", alpha=0.6, linewidths=0)
ax.plot(x, model.predict(x), label="KernelRegressor")
ax.fill_between(
    x[:, 0],
    *model.predict_interval(x, coverage=0.9).T,
    color="C0",
    alpha=0.18,
    linewidth=0,
    label="90 % of new samples",
)
ax.set(xlabel="x", ylabel="y")
ax.set_title(
    f"The band follows the noise: it contains {covered:.0f} % of 5000 new samples"
)
ax.legend()
plt.show()
