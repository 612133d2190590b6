"""
Clusters by the angle
=====================

By the Cauchy-Schwarz divergence, two clusters are far apart if their means in the space
of the kernel are orthogonal. To find such clusters, map the points to the leading
eigenvectors, normalize them to length one, and let k-means compare directions. Unlike
scikit-learn's ``SpectralClustering``, the pipeline has ``predict`` for new points, and
with ``rank`` it handles a million rows.
"""

import time

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from spectralcls import KernelMap

h = 0.075
largest, all_pairs_up_to = 1_000_000, 4_000
X, y = make_circles(largest, noise=0.06, factor=0.5, random_state=0)
X_new, y_new = make_circles(10_000, noise=0.06, factor=0.5, random_state=1)


def by_angle(rank=None):
    to_eigenvectors = KernelMap(
        2, weighting="symmetric", bandwidth=h, rank=rank, scale=None
    )
    return make_pipeline(
        to_eigenvectors, Normalizer(), KMeans(2, n_init=10, random_state=0)
    )


def theirs():
    return SpectralClustering(2, gamma=1 / (2 * h**2), random_state=0)


few, many, took = by_angle(), by_angle(200), {}
sizes = [1_000, 2_000, 4_000, 16_000, 64_000, 250_000, largest]
for label, model, most in [
    ("SpectralClustering", theirs(), all_pairs_up_to),
    ("by angle, all pairs", by_angle(), all_pairs_up_to),
    ("by angle, rank=200", many, largest),
]:
    took[label] = {}
    for n in [n for n in sizes if n <= most]:
        start = time.perf_counter()
        model.fit(X[:n])  # the last fit is the one that is kept
        took[label][n] = time.perf_counter() - start

few.fit(X[:1000])
same = adjusted_rand_score(few.predict(X[:1000]), theirs().fit_predict(X[:1000]))
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
found = many.predict(X_new)
for c, marker in enumerate("o^"):
    left.scatter(*X_new[found == c][:500].T, s=14, marker=marker, label=f"{c}")
left.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
left.set_title(
    f"New points: agreement with the rings {adjusted_rand_score(found, y_new):.2f};\n"
    f"of a thousand points with SpectralClustering {same:.2f}"
)
left.legend(title="cluster")
for (label, times), style in zip(took.items(), ("s--", "^-.", "o-"), strict=True):
    right.loglog(list(times), list(times.values()), style, label=label)
right.set(xlabel="points", ylabel="seconds of a fit")
right.set_title(f"A million points: {took['by angle, rank=200'][largest]:.1f} s")
right.legend()
plt.show()
