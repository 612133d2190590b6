"""CCDR: time against SpectralEmbedding, few labels, and half a million points

Seconds are compared on one thread. For satimage, 14 components are used, the dimension that the paper estimates.
"""

import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from bench.data import load
from bench.measure import QUICK, compare
from spectralcls.ccdr import CCDR, CCDRClassifier
from spectralcls.neighbors import knn_graph

N = 2000 if QUICK else 500_000


def satimage():
    data, kept = load("satimage"), slice(0, 600 if QUICK else None)
    return [data[key][kept] for key in ("X_train", "y_train", "X_test", "y_test")]


def test_fit(record):
    """The table gives the time in seconds that CCDR takes to embed a precomputed graph of satimage (4 435 points, 4
    neighbors, 14 components). Relative to that, it gives the time of CCDR from the points, and of
    `SpectralEmbedding` from the same graph with each of its solvers."""
    X, y, _, _ = satimage()
    graph = knn_graph(X, 4, mode="heat", symmetrize="or").astype(np.float64)

    def peer(solver):
        embedding = SpectralEmbedding(14, affinity="precomputed", eigen_solver=solver, random_state=0)
        return embedding.fit(graph)

    functions = {
        "CCDR of the graph": lambda: CCDR(14, affinity="precomputed", n_jobs=1, scale=None).fit(graph, y),
        "CCDR of the points": lambda: CCDR(14, n_jobs=1, scale=None).fit(X, y),
        "SpectralEmbedding, ARPACK": lambda: peer("arpack"),
        "SpectralEmbedding, LOBPCG": lambda: peer("lobpcg"),
    }
    row, results = compare(functions)
    given, whole = (results[f"CCDR of the {what}"].eigenvalues_ for what in ("graph", "points"))
    np.testing.assert_allclose(whole, given, atol=1e-5)
    record(row)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_few_labels(record, share):
    """The pixels of satimage are split at random ten times, with two thirds for training; a share of the training
    pixels is labeled. The columns give the mean test errors, in percent, of a fit to all pixels, of the same classifier
    fitted to the labeled pixels only, and of k-NN on the labeled pixels. The last two columns give the gain from the
    unlabeled pixels, with its standard error over the splits, and the number of splits with a gain.
    """
    X, y, T, t = satimage()
    X, y, errors = np.concatenate([X, T]), np.concatenate([y, t]), []
    model = CCDRClassifier(n_components=14, beta=5.0, unlabeled=-1)
    for train, test in ShuffleSplit(2 if QUICK else 10, test_size=1 / 3, random_state=0).split(X):
        keep = train[: max(int(share * len(train)), 20)]
        labels = np.full(len(y), -1)
        labels[keep] = y[keep]
        fits = clone(model).fit(X[train], labels[train]), clone(model).fit(X[keep], y[keep])
        fits = *fits, KNeighborsClassifier().fit(X[keep], y[keep])
        errors.append([100 * (1 - fit.score(X[test], y[test])) for fit in fits])
    errors = np.array(errors)
    gains = errors[:, 1] - errors[:, 0]
    row = dict(zip(("all pixels", "labeled alone", "raw k-NN"), errors.mean(axis=0).tolist(), strict=True))
    error = f"{gains.mean():.2f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.2f}"
    record(row | {"gain": error, "splits with a gain": f"{np.sum(gains > 0)} of {len(gains)}"})


def test_subsamples(record):
    """On covertype, embeddings of five subsamples are extended to all points, aligned and averaged; then k-NN among all
    embedded points is compared with k-NN on the raw features. Accuracies are in percent; seconds of the fit and of the
    queries are on the clock.
    """
    data = load("covertype")
    order = np.random.default_rng(0).permutation(len(data["X"]))
    train, test = order[:N], order[N : N + min(N // 5, 80_000)]
    X, y = data["X"].astype(np.float32), data["y"]
    model = CCDR(14, max_samples=min(20_000, N // 4), random_state=0, scale=None)
    begin = time.perf_counter()
    embedded = model.fit_transform(X[train], y[train])
    fitted = time.perf_counter()
    queries = model.transform(X[test])
    row = {"n": N, "queries": len(test), "fit, s": fitted - begin, "embed, s": time.perf_counter() - fitted}
    for name, Q, P in [("raw", X[test], X[train]), ("CCDR", queries, embedded)]:
        for k in (1, 5):
            row[f"{name} {k}-NN"] = 100 * KNeighborsClassifier(k).fit(P, y[train]).score(Q, y[test])
    record(row)
