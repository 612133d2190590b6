"""
A million rows on a laptop
==========================

In two dimensions a tolerance turns minutes into about a second, with a guaranteed bound. Here both ways learn growing
samples and label as many queries. Up to 62 500 rows they are compared; a million rows are for the bound alone.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from spectralcls import ParzenClassifier

largest, exact_up_to = 1_000_000, 62_500
sizes = [largest // 32, largest // 16, largest // 8, largest // 4, largest // 2, largest]
X_train, y_train = make_moons(largest, noise=0.2, random_state=0)
X_test, y_test = make_moons(largest, noise=0.2, random_state=1)
h = ParzenClassifier().fit(X_train[:2000], y_train[:2000]).bandwidth_


def seconds(size, tolerance):
    """Time of labeling as many queries as there are training points, and the labels."""
    start = time.perf_counter()
    model = ParzenClassifier(bandwidth=h, tolerance=tolerance).fit(X_train[:size], y_train[:size])
    labels = model.predict(X_test[:size])
    return time.perf_counter() - start, labels


exact = {size: seconds(size, None) for size in sizes if size <= exact_up_to}
bounded = {size: seconds(size, 1e-3) for size in sizes}
different = sum(np.sum(exact[size][1] != bounded[size][1]) for size in exact)

figure, ax = plt.subplots()
ax.loglog(list(exact), [time for time, _ in exact.values()], "s--", label="exact: all pairs")
ax.loglog(list(bounded), [time for time, _ in bounded.values()], "o-", label="tolerance=1e-3")
ax.set(xlabel="training points, and as many queries", ylabel="seconds to fit and predict")
accuracy = 100 * np.mean(bounded[largest][1] == y_test)
ax.set_title(
    f"A million rows and queries: {bounded[largest][0]:.1f} s, {accuracy:.1f} % right.\n"
    f"Up to {exact_up_to} rows {different} labels differ from the exact ones."
)
ax.legend()
plt.show()
