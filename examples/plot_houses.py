"""
Prices of houses, with intervals
================================

``AutoRegressor`` takes a table as it is. Here 900 homes are drawn from a formula, with
prices that scatter more where they are high. The intervals are made to hold 90 percent
of new homes, and they are wide where the prices scatter.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from spectralcls import AutoRegressor

rng = np.random.default_rng(0)
n = 900
homes = pd.DataFrame(
    {
        "area": rng.gamma(6, 20, n),
        "age": rng.uniform(0, 90, n),
        "km to the center": rng.gamma(2, 4, n),
        "district": pd.Categorical(rng.choice(["harbor", "hill", "mill"], n)),
    }
)
place = np.exp(-homes["km to the center"] / 8)
price = homes["area"] * (1.5 + 2.5 * place) * (1 - homes["age"] / 200)
price *= np.where(homes["district"] == "hill", 1.3, 1)
price *= np.exp(0.12 * rng.normal(size=n))

model = AutoRegressor().fit(homes[:500], price[:500])
new, truth = homes[500:], price[500:]
low, high = model.predict_interval(new, coverage=0.9).T
predicted = model.predict(new)
inside = (low <= truth) & (truth <= high)

figure, ax = plt.subplots(layout="constrained")
order = np.argsort(predicted)
ax.fill_between(
    predicted[order],
    low[order],
    high[order],
    color="C0",
    alpha=0.2,
    linewidth=0,
    label="90 % intervals",
)
ax.scatter(predicted[inside], truth[inside], s=8, color="0.4", linewidths=0)
ax.scatter(predicted[~inside], truth[~inside], s=14, color="C1", label="outside")
ax.axline((0, 0), slope=1, color="C0", linewidth=1)
ax.set(xlabel="predicted price", ylabel="price")
ax.set_title(
    f"R2 {model.score(new, truth):.2f}; the intervals hold "
    f"{100 * inside.mean():.0f} % of {len(new)} new homes"
)
ax.legend(loc="upper left")
plt.show()
