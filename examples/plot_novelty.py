"""
Novelty: unlike anything seen before
====================================

``score_samples`` measures how well the training set explains a query. A threshold from
held-out samples rejects novelties: here digits above 5, which the classifier has never
seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from spectralcls import PerTurboClassifier

X, y = load_digits(return_X_y=True)
known, novel = y <= 5, X[y > 5]
X_train, X_test, y_train, _ = train_test_split(X[known], y[known], random_state=0)
X_train, X_held, y_train, _ = train_test_split(X_train, y_train, random_state=0)

model = PerTurboClassifier().fit(X_train, y_train)
threshold = np.quantile(model.score_samples(X_held), 0.05)
scores = {
    "digits 0 to 5, as in training": model.score_samples(X_test),
    "digits 6 to 9, never seen": model.score_samples(novel),
}
area = roc_auc_score(
    [0] * len(X_test) + [1] * len(novel), -np.concatenate(list(scores.values()))
)

figure, ax = plt.subplots()
lowest = np.quantile(np.concatenate(list(scores.values())), 0.02)
bins = np.linspace(lowest, 0, 40)  # the 2 % below stand in the first bin
styles = {"alpha": 0.7}, {"histtype": "step", "linewidth": 2}
for (name, values), style in zip(scores.items(), styles, strict=True):
    label = f"{name}: {100 * np.mean(values < threshold):.0f} % rejected"
    ax.hist(np.maximum(values, lowest), bins, density=True, label=label, **style)
ax.axvline(threshold, color="black", linestyle="--", linewidth=1)
ax.annotate(
    "threshold: 5 % of held-out\nsamples lie below",
    (threshold, 0.97),
    (-6, 0),
    textcoords="offset points",
    xycoords=("data", "axes fraction"),
    ha="right",
    va="top",
    fontsize=8.5,
)
ax.set(
    xlabel="score_samples",
    ylabel="density",
    title=f"New classes stand out: area under the ROC curve {area:.2f}",
)
ax.legend(loc="upper left", bbox_to_anchor=(0, 0.8))
plt.show()
