"""
Kernel regression with a band
=============================

``KernelRegressor`` chooses bandwidth and degree by the exact leave-one-out error. The
band is made to hold 90 percent of new samples; it widens where the noise does, since it
comes from the residuals of the samples around.
"""

import matplotlib.pyplot as plt
import numpy as np

from spectralcls import KernelRegressor
from spectralcls.plotting import RegressionDisplay

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

display = RegressionDisplay.from_estimator(model, X, y)
display.ax_.set_title(
    f"The band follows the noise: it holds {covered:.0f} % of 5000 new samples"
)
plt.show()
