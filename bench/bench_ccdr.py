"""CCDR: time against SpectralEmbedding, errors, few labels, memory, and half a million points

Seconds are compared on one thread. For satimage, 14 components are used, the dimension that the paper estimates.
"""

import time
import warnings
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from bench.data import load
from bench.measure import QUICK, compare, gib_beyond
from spectralcls.ccdr import CCDR, CCDRClassifier
from spectralcls.information import entropic_dimension
from spectralcls.neighbors import knn_graph

N, SIZES = (2000, [2000]) if QUICK else (500_000, [25_000, 50_000, 100_000])


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LOBPCG does not converge, and the graph is not connected
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


def test_table_1_of_the_paper(record):
    """The table gives the test errors on satimage in percent, with the paper's in parentheses. As in the paper, these
    are the lowest test errors over 1 to 15 neighbors (for k-NN) and over a grid of beta (for CCDR). The last value is
    the error of `CCDRClassifier()`, which chooses without the test set.
    """
    X, y, T, t = satimage()
    best, neighbors = {"k-NN": 100.0, "linear": 100.0}, (1, 5) if QUICK else range(1, 16)
    error = lambda model, Z, Q: 100 * float(np.mean(model.fit(Z, y).predict(Q) != t))  # noqa: E731
    for beta in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        model = CCDR(14, beta=beta, scale=None)
        Z, Q = model.fit_transform(X, y), model.transform(T)
        best["k-NN"] = min(best["k-NN"], *(error(KNeighborsClassifier(k), Z, Q) for k in neighbors))
        best["linear"] = min(best["linear"], error(RidgeClassifier(alpha=1e-9), Z, Q))
    raw = min(error(KNeighborsClassifier(k), X, T) for k in neighbors)
    tuned = error(CCDRClassifier(random_state=0), X, T)
    row = {"raw k-NN (9.65)": raw, "CCDR k-NN (8.1)": best["k-NN"], "CCDR linear (8.95)": best["linear"]}
    record(row | {"CCDRClassifier()": tuned})


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


def test_shuttle(record):
    """The table gives the time of one fit to all 43 500 training points with 9 features, and the accuracy on the 14 500
    test points in percent."""
    data, kept = load("shuttle"), slice(0, 3000 if QUICK else None)
    X, y, T, t = (data[key][kept] for key in ("X_train", "y_train", "X_test", "y_test"))
    row, found = compare({"CCDR": lambda: CCDRClassifier(n_components=10, beta=0.5).fit(X, y)}, threads=2, repeats=3)
    raw = KNeighborsClassifier().fit(X, y).score(T, t)
    record({"n": len(X)} | row | {"accuracy": 100 * found["CCDR"].score(T, t), "raw k-NN": 100 * raw})


def covertype_fit(n):
    """Seconds of one fit to n points of covertype, and MiB by which the process grew."""
    data = load("covertype")
    rows = np.random.default_rng(0).permutation(len(data["X"]))[:n]
    X, y = data["X"][rows].astype(np.float32), data["y"][rows]
    del data
    CCDR(14, scale=None).fit(X[:1000], y[:1000])
    start = time.process_time()
    _, gib = gib_beyond(lambda: CCDR(14, scale=None).fit(X, y))
    return time.process_time() - start, gib * 1024


@pytest.mark.parametrize("n", SIZES)
def test_memory(record, n):
    """A separate process fits n points of covertype (54 features) with 4 neighbors and 14 components. The table gives
    processor seconds, and the peak memory beyond the data, in MiB and in float64 numbers per point.
    """
    with get_context("spawn").Pool(1) as pool:
        taken, mib = pool.apply(covertype_fit, (n,))
    record({"fit, s": taken, "MiB beyond the data": mib, "numbers a point": mib * 2**17 / n})


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


@pytest.mark.parametrize("graph", ["knn", "mst"])
def test_dimension(record, graph):
    """The table gives the dimension of 1 000 points on a five-dimensional sphere in twenty dimensions: our estimate
    with its spread over resamples, and the estimates of `KNN` and `lPCA` of scikit-dimension, with their times relative
    to ours (a value below 1 means that they are faster).
    """
    skdim = pytest.importorskip("skdim")
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((300 if QUICK else 1000, 6))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    X = sphere @ np.linalg.qr(rng.standard_normal((20, 20)))[0][:6]

    def peer(kind):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind().fit(X).dimension_

    functions = {
        "ours": lambda: entropic_dimension(X, graph=graph, n_resamples=5, random_state=0, n_jobs=1),
        "skdim KNN": lambda: peer(skdim.id.KNN),
        "skdim lPCA": lambda: peer(skdim.id.lPCA),
    }
    row, found = compare(functions, repeats=3)
    row |= {"dimension": found["ours"].dimension, "spread": found["ours"].spread}
    record(row | {name: float(found[name]) for name in ("skdim KNN", "skdim lPCA")})
