"""
A million rows on a laptop
==========================

In two dimensions a tolerance turns minutes into about a second, with a guaranteed bound. This example measures
both ways on growing samples, and labels the largest with the bound alone. Run it with the argument ``--full``
for a million rows.
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from spectralcls import ParzenClassifier

largest = 1_000_000 if "--full" in sys.argv else 100_000
sizes = [largest // 32, largest // 16, largest // 8, largest // 4, largest // 2, largest]
exact_up_to = largest // 4 if largest <= 100_000 else largest // 16
X, y = make_moons(largest, noise=0.2, random_state=0)
Q, u = make_moons(largest, noise=0.2, random_state=1)
h = ParzenClassifier().fit(X[:2000], y[:2000]).bandwidth_


def seconds(size, tolerance):
    """Time of labeling as many queries as there are training points, and the labels."""
    start = time.perf_counter()
    labels = ParzenClassifier(bandwidth=h, tolerance=tolerance).fit(X[:size], y[:size]).predict(Q[:size])
    return time.perf_counter() - start, labels


exact = {size: seconds(size, None) for size in sizes if size <= exact_up_to}
bounded = {size: seconds(size, 1e-3) for size in sizes}
different = sum(np.sum(exact[size][1] != bounded[size][1]) for size in exact)

figure, ax = plt.subplots()
ax.loglog(list(exact), [time for time, _ in exact.values()], "s--", label="exact: all pairs")
ax.loglog(list(bounded), [time for time, _ in bounded.values()], "o-", label="tolerance=1e-3")
ax.set(
    xlabel="training points, and as many queries",
    ylabel="seconds to fit and predict",
    title=f"A bounded error makes it nearly linear; {different} labels differ",
)
accuracy = np.mean(bounded[largest][1] == u)
words = f"{100 * accuracy:.1f} % right"
ax.annotate(words, (largest, bounded[largest][0]), (-8, -16), textcoords="offset points", ha="right")
ax.legend()
plt.show()
