"""CCDR beside SpectralEmbedding, its errors on satimage, and the route to half a million points.

SPECTRALCLS_DATA names the folder of the data sets; SPECTRALCLS_BENCH_CCDR_N sets the training points of
covertype (20000; 500000 for the whole).
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import KNeighborsClassifier

from bench.measure import peak_gib, side_by_side
from spectralcls.ccdr import CCDR, CCDRClassifier
from spectralcls.dimension import entropic_dimension
from spectralcls.neighbors import knn, knn_graph

FOLDER = Path(os.environ.get("SPECTRALCLS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
N = int(os.environ.get("SPECTRALCLS_BENCH_CCDR_N", 20_000))


def load(name):
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no {path.name}: set SPECTRALCLS_DATA")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def satimage():
    data = load("satimage")
    return [data[key] for key in ("X_train", "y_train", "X_test", "y_test")]


def vote(indices, labels):
    """Majority labels of neighbours, ties to the smallest label."""
    counts = np.zeros((len(indices), labels.max() + 1), dtype=int)
    np.add.at(counts, (np.arange(len(indices))[:, None], labels[indices]), 1)
    return counts.argmax(axis=1)


def test_fit_beside_spectral_embedding(benchmark):
    X, y, _, _ = satimage()
    graph = knn_graph(X, 4, mode="heat").astype(np.float64)
    functions = {
        "CCDR": lambda: CCDR(14).fit(X, y),
        "CCDR of a graph": lambda: CCDR(14, affinity="precomputed").fit(graph, y),
        "SpectralEmbedding of the graph": lambda: SpectralEmbedding(
            14, affinity="precomputed", eigen_solver="arpack", random_state=0
        ).fit(graph),
    }
    times, results = side_by_side(functions, repeats=3)
    whole, given = (results[name].eigenvalues_ for name in ("CCDR", "CCDR of a graph"))
    np.testing.assert_allclose(whole, given, atol=1e-5)
    benchmark.pedantic(functions["CCDR"], rounds=3)
    benchmark.extra_info.update(
        {f"seconds {name}": time[0] for name, time in times.items()}, peak_gib=peak_gib()
    )


def test_table_1(benchmark):
    X, y, T, t = satimage()
    errors = {}
    for beta in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        model = CCDR(14, beta=beta)
        Y, Z = model.fit_transform(X, y), model.transform(T)
        for k in range(1, 16):
            errors["k-NN", beta, k] = 100 * np.mean(KNeighborsClassifier(k).fit(Y, y).predict(Z) != t)
        errors["linear", beta] = 100 * np.mean(RidgeClassifier(alpha=1e-9).fit(Y, y).predict(Z) != t)
    raw = min(100 * np.mean(KNeighborsClassifier(k).fit(X, y).predict(T) != t) for k in range(1, 16))
    best = {
        name: min(value for key, value in errors.items() if key[0] == name) for name in ("k-NN", "linear")
    }
    tuned = benchmark.pedantic(CCDRClassifier(random_state=0).fit, (X, y), rounds=1)
    benchmark.extra_info.update(
        {"raw k-NN (9.65)": raw, "CCDR k-NN (8.1)": best["k-NN"], "CCDR linear (8.95)": best["linear"]},
        **{"CCDRClassifier, tuned by itself": 100 * (1 - tuned.score(T, t))},
    )


def test_shuttle(benchmark):
    data = load("shuttle")
    X, y, T, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    model = CCDRClassifier(n_components=10, beta=0.5)
    benchmark.pedantic(model.fit, (X, y), rounds=1)
    raw = KNeighborsClassifier().fit(X, y).score(T, t)
    benchmark.extra_info.update(n=len(X), accuracy=model.score(T, t), raw_knn=raw, peak_gib=peak_gib())


def test_covertype_by_subsamples(benchmark):
    data = load("covertype")
    order = np.random.default_rng(0).permutation(len(data["X"]))
    train, test = order[:N], order[N : N + min(N // 5, 80_000)]
    X, y = data["X"].astype(np.float32), data["y"]
    model = CCDR(14, max_samples=min(20_000, N // 4), n_subsamples=5, random_state=0)
    embedding = benchmark.pedantic(model.fit_transform, (X[train], y[train]), rounds=1)
    queries = model.transform(X[test])
    accuracy = {}
    for k in (1, 5):
        for name, Q, P in [("raw", X[test], X[train]), ("CCDR", queries, embedding)]:
            accuracy[f"{name} {k}-NN"] = np.mean(vote(knn(Q, P, k)[1], y[train]) == y[test])
    assert accuracy["CCDR 5-NN"] > accuracy["raw 5-NN"] - 0.03
    benchmark.extra_info.update(n=N, peak_gib=peak_gib(), **accuracy)


@pytest.mark.parametrize("graph", ["knn", "mst"])
def test_dimension_beside_scikit_dimension(benchmark, graph):
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
