"""
A million rows on a laptop
==========================

With two features, a fast Gauss transform labels a million queries from a million rows
in seconds, and the labels are exact. Exact probabilities take longer; a tolerance makes
them fast, too, with a guaranteed bound of their error.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from spectralcls import ParzenClassifier

largest, exact_up_to = 1_000_000, 250_000
sizes = [largest // 2**halvings for halvings in (5, 4, 3, 2, 1, 0)]
X_train, y_train = make_moons(largest, noise=0.2, random_state=0)
X_test, y_test = make_moons(largest, noise=0.2, random_state=1)
h = ParzenClassifier().fit(X_train[:2000], y_train[:2000]).bandwidth_


def seconds(size, method, tolerance=None):
    """Time to fit and to predict as many queries as training points, and the result."""
    start = time.perf_counter()
    model = ParzenClassifier(bandwidth=h, tolerance=tolerance)
    model.fit(X_train[:size], y_train[:size])
    result = getattr(model, method)(X_test[:size])
    return time.perf_counter() - start, result


labels = {size: seconds(size, "predict") for size in sizes}
exact = {size: seconds(size, "predict_proba") for size in sizes if size <= exact_up_to}
bounded = {size: seconds(size, "predict_proba", 1e-3) for size in sizes}
error = max(np.abs(exact[size][1] - bounded[size][1]).max() for size in exact)

figure, ax = plt.subplots()
for label, found, style in (
    ("labels", labels, "^:"),
    ("probabilities", exact, "s--"),
    ("probabilities, tolerance=1e-3", bounded, "o-"),
):
    ax.loglog(list(found), [time for time, _ in found.values()], style, label=label)
ax.set(
    xlabel="training points, and as many queries", ylabel="seconds to fit and predict"
)
took, predicted = labels[largest]
accuracy = 100 * np.mean(predicted == y_test)
ax.set_title(
    f"A million rows and queries: {took:.1f} s, {accuracy:.1f} % right.\n"
    f"With the tolerance, probabilities change by at most {error:.0e}."
)
ax.legend()
plt.show()
