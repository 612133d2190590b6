"""CCDR against SpectralEmbedding, its errors on satimage, and the route to half a million points.

SPECTRALCLS_DATA names the folder of the data sets; SPECTRALCLS_BENCH_CCDR_N sets the training points of
covertype (20000; 500000 for the whole).
"""

import os
import time
import warnings
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import KNeighborsClassifier

from bench.data import load
from bench.measure import gib_beyond, peak_gib, side_by_side
from spectralcls.ccdr import CCDR, CCDRClassifier
from spectralcls.information._dimension import entropic_dimension
from spectralcls.neighbors import knn, knn_graph

N = int(os.environ.get("SPECTRALCLS_BENCH_CCDR_N", 20_000))


def satimage():
    data = load("satimage")
    return [data[key] for key in ("X_train", "y_train", "X_test", "y_test")]


def vote(indices, labels):
    """Majority labels of neighbors, ties to the smallest label."""
    counts = np.zeros((len(indices), labels.max() + 1), dtype=int)
    np.add.at(counts, (np.arange(len(indices))[:, None], labels[indices]), 1)
    return counts.argmax(axis=1)


def test_fit_against_spectral_embedding(benchmark):
    """Satimage, 4 435 points, 4 neighbors, 14 components: CCDR from the points and from their graph, against
    `SpectralEmbedding` of the same graph with each of its solvers. Medians in turns."""
    X, y, _, _ = satimage()
    graph = knn_graph(X, 4, mode="heat").astype(np.float64)

    def peer(solver):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of LOBPCG's convergence, and that the graph is not connected
            embedding = SpectralEmbedding(14, affinity="precomputed", eigen_solver=solver, random_state=0)
            return embedding.fit(graph)

    functions = {
        "CCDR": lambda: CCDR(14).fit(X, y),
        "CCDR of the graph": lambda: CCDR(14, affinity="precomputed").fit(graph, y),
        "SpectralEmbedding, arpack": lambda: peer("arpack"),
        "SpectralEmbedding, lobpcg": lambda: peer("lobpcg"),
    }
    times, results = side_by_side(functions, repeats=7)
    whole, given = (results[name].eigenvalues_ for name in ("CCDR", "CCDR of the graph"))
    np.testing.assert_allclose(whole, given, atol=1e-5)
    benchmark.pedantic(functions["CCDR"], rounds=7)
    benchmark.extra_info.update({f"seconds of {name}": time[0] for name, time in times.items()})


def test_table_1_of_the_paper(benchmark):
    """Test errors on satimage in per cent, the paper's in brackets; as there the best over the grid (beta, and 1 to 15
    neighbors). Last the error of `CCDRClassifier()`, which chooses for itself without the test set."""
    X, y, T, t = satimage()
    errors = {}
    for beta in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        model = CCDR(14, beta=beta)
        Y, Z = model.fit_transform(X, y), model.transform(T)
        for k in range(1, 16):
            errors["k-NN", beta, k] = 100 * np.mean(KNeighborsClassifier(k).fit(Y, y).predict(Z) != t)
        errors["linear", beta] = 100 * np.mean(RidgeClassifier(alpha=1e-9).fit(Y, y).predict(Z) != t)
    raw = min(100 * np.mean(KNeighborsClassifier(k).fit(X, y).predict(T) != t) for k in range(1, 16))
    best = {name: min(value for key, value in errors.items() if key[0] == name) for name in ("k-NN", "linear")}
    tuned = benchmark.pedantic(CCDRClassifier(random_state=0).fit, (X, y), rounds=1)
    benchmark.extra_info.update(
        {"raw k-NN (9.65)": raw, "CCDR k-NN (8.1)": best["k-NN"], "CCDR linear (8.95)": best["linear"]},
        **{"CCDRClassifier, tuned by itself": 100 * (1 - tuned.score(T, t))},
    )


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_few_labels(benchmark, share, repeats=10):
    """Satimage with labels for a share of the training pixels, ten draws: test error in per cent of the fit to all
    pixels, of the same classifier fitted to the labeled ones alone, and of k-NN on the raw labeled ones; then the
    gain with its standard error, and in how many draws there was one."""
    X, y, T, t = satimage()
    model, errors = CCDRClassifier(n_components=14, beta=5.0, unlabeled=-1), []

    def one(seed):
        labels = np.full(len(y), -1)
        keep = np.random.default_rng(seed).permutation(len(y))[: int(share * len(y))]
        labels[keep] = y[keep]
        alone = clone(model).fit(X[keep], y[keep]), KNeighborsClassifier().fit(X[keep], y[keep])
        return [100 * (1 - m.score(T, t)) for m in (clone(model).fit(X, labels), *alone)]

    errors = np.array(benchmark.pedantic(lambda: [one(seed) for seed in range(repeats)], rounds=1))
    gains = errors[:, 1] - errors[:, 0]
    benchmark.extra_info.update(
        dict(zip(("all pixels", "labeled alone", "raw k-NN, labeled alone"), errors.mean(axis=0), strict=True))
        | {
            "gain": gains.mean(),
            "standard error": gains.std(ddof=1) / np.sqrt(repeats),
            "draws with a gain": f"{np.sum(gains > 0)} of {repeats}",
        }
    )


def test_shuttle(benchmark):
    """43 500 training points with 9 features, one fit to all of them; accuracy on 14 500 in per cent."""
    data = load("shuttle")
    X, y, T, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    model = CCDRClassifier(n_components=10, beta=0.5)
    benchmark.pedantic(model.fit, (X, y), rounds=1)
    raw = KNeighborsClassifier().fit(X, y).score(T, t)
    benchmark.extra_info.update(
        {"n": len(X), "accuracy, %": 100 * model.score(T, t), "accuracy of raw k-NN, %": 100 * raw}
    )


def covertype_fit(n):
    """Seconds of one fit to n points of covertype, and MiB of the process beyond what it had before."""
    data = load("covertype")
    rows = np.random.default_rng(0).permutation(len(data["X"]))[:n]
    X, y = data["X"][rows].astype(np.float32), data["y"][rows]
    del data
    CCDR(14).fit(X[:1000], y[:1000])
    start = time.perf_counter()
    _, gib = gib_beyond(lambda: CCDR(14).fit(X, y))
    return time.perf_counter() - start, gib * 1024


@pytest.mark.parametrize("n", [25_000, 50_000, 100_000])
def test_memory_grows_with_n(benchmark, n):
    """One fit to n points of covertype (54 features), 4 neighbors, 14 components, in a process of its own: the peak of
    its memory beyond the data, and that in float64 numbers a point."""
    with get_context("spawn").Pool(1) as pool:
        taken, mib = benchmark.pedantic(pool.apply, (covertype_fit, (n,)), rounds=1)
    benchmark.extra_info.update(
        {"seconds of the fit": taken, "MiB beyond the data": mib, "numbers a point": mib * 2**17 / n}
    )


def test_covertype_by_subsamples(benchmark):
    """Embeddings of five subsamples, extended to all points, aligned and averaged; then 5-NN among all embedded points,
    against 5-NN on the raw features. Accuracies in per cent; the seconds are those of the fit."""
    data = load("covertype")
    order = np.random.default_rng(0).permutation(len(data["X"]))
    train, test = order[:N], order[N : N + min(N // 5, 80_000)]
    X, y = data["X"].astype(np.float32), data["y"]
    model = CCDR(14, max_samples=min(20_000, N // 4), n_subsamples=5, random_state=0)
    embedding = benchmark.pedantic(model.fit_transform, (X[train], y[train]), rounds=1)
    start = time.perf_counter()
    queries = model.transform(X[test])
    taken, accuracy = time.perf_counter() - start, {}
    for name, Q, P in [("raw", X[test], X[train]), ("CCDR", queries, embedding)]:
        nearest = knn(Q, P, 5)[1]
        for k in (1, 5):
            accuracy[f"{name} {k}-NN"] = 100 * np.mean(vote(nearest[:, :k], y[train]) == y[test])
    assert accuracy["CCDR 5-NN"] > accuracy["raw 5-NN"] - 3
    benchmark.extra_info.update(
        {"n": N, "queries": len(test), "seconds to embed the queries": taken, "GiB of the process": peak_gib()}
        | accuracy
    )


@pytest.mark.parametrize("graph", ["knn", "mst"])
def test_dimension_against_scikit_dimension(benchmark, graph):
    """A sphere of five dimensions turned into twenty, 1 000 points: the estimate and its spread over resamples, against
    two estimators of scikit-dimension."""
    skdim = pytest.importorskip("skdim")
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((1000, 6))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)  # five dimensions
    X = sphere @ np.linalg.qr(rng.standard_normal((20, 20)))[0][:6]
    ours = lambda: entropic_dimension(X, graph=graph, n_resamples=5, random_state=0)  # noqa: E731

    def peer(estimator):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(X).dimension_

    functions = {"ours": ours, "KNN": lambda: peer(skdim.id.KNN()), "lPCA": lambda: peer(skdim.id.lPCA())}
    times, results = side_by_side(functions, repeats=1)
    assert abs(results["ours"].dimension - 5) < 0.7
    benchmark.pedantic(ours, rounds=1)
    benchmark.extra_info.update(
        dimension=results["ours"].dimension,
        spread=results["ours"].spread,
        **{f"skdim {name}": float(results[name]) for name in ("KNN", "lPCA")},
        **{f"seconds {name}": time[0] for name, time in times.items()},
    )
