"""
Labels are expensive: ask near the boundary
===========================================

This example compares forty labels near the boundary between classes with forty random
labels. Scores on the remaining pool favor queries near the boundary, since these remove
the difficult samples; only the test set on the right shows the true accuracy. There the
queries near the boundary are ahead only with few labels: if classes overlap, samples
near the boundary have nearly random labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from spectralcls import PerTurboClassifier
from spectralcls.perturbo import ActivePool

X, y = make_blobs(
    300, centers=[[0, 0], [3, 0], [1.5, 2.5]], cluster_std=0.9, random_state=0
)
N_QUERIES, N_REPEATS = 40, 5


def learning_curve(near_border, seed):
    """Accuracy on what remains of the pool and on the test set, after each label."""
    rng = np.random.RandomState(seed)
    X_pool, X_test, y_pool, y_test = train_test_split(
        X, y, test_size=1 / 3, random_state=seed
    )
    start = np.concatenate([np.flatnonzero(y_pool == c)[:2] for c in range(3)])
    model = PerTurboClassifier(1.0, alpha=0.1).fit(X_pool[start], y_pool[start])
    pool = ActivePool(model, X_pool)
    pool.leave_out(start)
    scores = []
    for _ in range(N_QUERIES + 1):
        rest = pool.remaining
        scores.append(
            (model.score(X_pool[rest], y_pool[rest]), model.score(X_test, y_test))
        )
        chosen = pool.query(random_state=rng) if near_border else [rng.choice(rest)]
        pool.label(chosen, y_pool[chosen])
    return scores


figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
n_labels = 6 + np.arange(N_QUERIES + 1)
for near_border, name in ((True, "near the boundary"), (False, "at random")):
    color = "C0" if near_border else "C1"
    curves = 100 * np.array([learning_curve(near_border, s) for s in range(N_REPEATS)])
    means, spreads = curves.mean(axis=0).T, curves.std(axis=0).T
    for ax, mean, spread in zip(axes, means, spreads, strict=True):
        ax.plot(n_labels, mean, color=color, label=name)
        ax.fill_between(n_labels, mean - spread, mean + spread, color=color, alpha=0.15)
for ax, title in zip(axes, ("remaining pool", "fixed test set"), strict=True):
    ax.set(title=title, xlabel="labeled samples")
axes[0].set_ylabel("accuracy, %")
axes[0].legend(loc="lower right")
figure.suptitle("Boundary queries gain on the pool, but hardly on new samples")
plt.show()
