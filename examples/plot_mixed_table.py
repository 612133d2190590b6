"""
A raw table: categories, gaps and units as they are
===================================================

The table has numbers in different units, categories, an ordered category, and missing
values everywhere. One line fits a tuned classifier: it scales the numbers, chooses the
weight of each category together with the bandwidth, and integrates out missing values.
Boosted trees get the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance

from spectralcls import ParzenClassifier

rng = np.random.default_rng(0)
n = 900
risk = rng.integers(0, 3, n)  # the class: low, middle, high
unsure = rng.random(n) < 0.4
frame = pd.DataFrame(
    {
        "income": 30_000 + 8_000 * (2 - risk) + 9_000 * rng.normal(size=n),
        "age": rng.uniform(18, 80, n),
        "trade": pd.Categorical.from_codes(
            np.where(unsure, rng.integers(0, 6, n), 2 * risk + rng.integers(0, 2, n)),
            ["farm", "office", "sea", "shop", "stage", "mine"],
        ),
        "rating": pd.Categorical.from_codes(
            np.clip(risk + rng.integers(0, 3, n), 0, 4), list("ABCDE"), ordered=True
        ),
        "town": rng.choice(["Ayr", "Bath", "Cork", "Deal"], n),
        "member": rng.random(n) < 0.5,
    }
)
frame = frame.mask(rng.random(frame.shape) < 0.15)
train, test = slice(0, 600), slice(600, None)

model = ParzenClassifier().fit(frame[train], risk[train])
accuracy = 100 * model.score(frame[test], risk[test])
coded = frame.astype({"town": "category", "member": "category"})  # trees ask for it
trees = HistGradientBoostingClassifier(random_state=0).fit(coded[train], risk[train])
most = np.bincount(risk[train]).argmax()
print(frame.head(3).to_string())
of_trees = 100 * trees.score(coded[test], risk[test])
print(f"right: {accuracy:.0f} %, boosted trees {of_trees:.0f} %,", end=" ")
print(f"always the most frequent class {100 * np.mean(risk[test] == most):.0f} %")

# %%
# The importance of a column is the loss of accuracy if its values are shuffled.
found = permutation_importance(
    model, frame[test], risk[test], n_repeats=10, random_state=0
)
order = np.argsort(found.importances_mean)
figure, ax = plt.subplots(figsize=(6.5, 3.4))
ax.barh(
    frame.columns[order],
    100 * found.importances_mean[order],
    xerr=100 * found.importances_std[order],
)
ax.set(
    xlabel="Accuracy lost if the column is shuffled, %", title="What each column adds"
)
plt.show()
