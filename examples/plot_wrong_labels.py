"""
Which of my labels are wrong?
=============================

One label in ten of scikit-learn's handwritten digits is changed. Which ones?
``label_quality`` is the probability of each label given all other points, in closed
form, after a single fit. The usual method, as in cleanlab, fits a classifier to folds
and ranks labels by their out-of-fold probability. This page uses cleanlab's score
"self_confidence" if cleanlab is installed (``pip install "spectralcls[examples]"``),
and otherwise this probability, which is the same number.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from spectralcls import KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier
from spectralcls.inspection import label_quality

try:
    from cleanlab.rank import get_label_quality_scores

    rival = "random forest and cleanlab"
except ImportError:
    rival = "random forest, out of fold"

    def get_label_quality_scores(labels, pred_probs, method):
        return pred_probs[np.arange(len(labels)), labels]


X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
wrong = np.zeros(len(X), dtype=bool)
wrong[rng.choice(len(X), len(X) // 10, replace=False)] = True
y = np.where(wrong, (truth + rng.integers(1, 10, len(X))) % 10, truth)


def forest_quality():
    forest = RandomForestClassifier(n_estimators=300, random_state=0)
    probabilities = cross_val_predict(forest, X, y, cv=5, method="predict_proba")
    return get_label_quality_scores(y, probabilities, method="self_confidence")


def our_quality(model):
    return lambda: label_quality(model.fit(X, y))


# %%
# Each method ranks all labels, the most doubtful first. The area under the ROC curve is
# the probability that a changed label ranks before a correct one. "Found" is the share
# of changed labels among the same number of most doubtful labels.
ways = {
    "ParzenClassifier": our_quality(ParzenClassifier()),
    "KernelRidgeClassifier": our_quality(KernelRidgeClassifier()),
    "PerTurboClassifier": our_quality(PerTurboClassifier()),
    rival: forest_quality,
}
quality, seconds = {}, {}
print(f"{len(X)} digits, {wrong.sum()} labels changed\n")
print(f"{'':28s}{'area':>8s}{'found':>9s}{'CPU s':>8s}")
for name, way in ways.items():
    start = process_time()
    quality[name] = way()
    seconds[name] = process_time() - start
    area = roc_auc_score(wrong, -quality[name])
    found = wrong[np.argsort(quality[name])[: wrong.sum()]].mean()
    print(f"{name:28s}{area:8.4f}{100 * found:7.1f} %{seconds[name]:8.2f}")

# %%
# How many labels must be checked to find nine in ten changed ones, or all? The gray
# line is the best possible ranking.
figure, ax = plt.subplots()
for name, values in quality.items():
    found = np.cumsum(wrong[np.argsort(values)])
    ax.plot(found, label=f"{name}, {seconds[name]:.1f} s")
ideal = np.minimum(np.arange(len(X)), wrong.sum())
ax.plot(ideal, color="0.6", linestyle="--", label="the best possible")
ax.set(xlabel="Labels looked at again", ylabel="Exchanged labels found")
ax.set_xlim(0, 2.5 * wrong.sum())
ax.set_title("How soon the changed labels are found")
ax.legend()
plt.show()

# %%
# The most doubtful labels that were *not* changed belong to digits that are hard to
# read, or are errors in the data set.
order = np.argsort(quality["KernelRidgeClassifier"])
figure, axes = plt.subplots(2, 6, figsize=(8, 3.4))
kinds = {"Changed": order[wrong[order]], "Not changed": order[~wrong[order]]}
for row, (title, chosen) in zip(axes, kinds.items(), strict=True):
    for ax, i in zip(row, chosen[:6], strict=True):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"labeled {y[i]}", fontsize=9)
    row[0].set_ylabel(title)
figure.suptitle("The labels to check first")
plt.show()

# %%
# Our recommendation: rank the labels with the kernel classifier that is most accurate
# on your table, check them in order of increasing quality, and stop when most of them
# are correct. Here labels were changed at random, which makes the task easy for every
# method. Human errors are more often between similar classes, and are harder to find.
