"""
A million rows on a laptop
==========================

In two dimensions a tolerance turns minutes into about a second, with a guaranteed
bound. Here both ways learn growing samples and label as many queries. Up to 62 500 rows
they are compared; a million rows are for the bound alone.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from spectralcls import ParzenClassifier

largest, exact_up_to = 1_000_000, 62_500
sizes = [largest // 2**halvings for halvings in (5, 4, 3, 2, 1, 0)]
X_train, y_train = make_moons(largest, noise=0.2, random_state=0)
X_test, y_test = make_moons(largest, noise=0.2, random_state=1)
h = ParzenClassifier().fit(X_train[:2000], y_train[:2000]).bandwidth_


def seconds(size, tolerance):
    """Time of labeling as many queries as there are training points, and the labels."""
    start = time.perf_counter()
    model = ParzenClassifier(bandwidth=h, tolerance=tolerance)
    labels = model.fit(X_train[:size], y_train[:size]).predict(X_test[:size])
    return time.perf_counter() - start, labels


exact = {size: seconds(size, None) for size in sizes if size <= exact_up_to}
bounded = {size: seconds(size, 1e-3) for size in sizes}
different = sum(np.sum(exact[size][1] != bounded[size][1]) for size in exact)

figure, ax = plt.subplots()
for label, found, style in (
    ("exact: all pairs", exact, "s--"),
    ("tolerance=1e-3", bounded, "o-"),
):
    ax.loglog(list(found), [time for time, _ in found.values()], style, label=label)
ax.set(
    xlabel="training points, and as many queries", ylabel="seconds to fit and predict"
)
took, predicted = bounded[largest]
accuracy = 100 * np.mean(predicted == y_test)
ax.set_title(
    f"A million rows and queries: {took:.1f} s, {accuracy:.1f} % right.\n"
    f"Up to {exact_up_to} rows {different} labels differ from the exact ones."
)
ax.legend()
plt.show()
