"""Hot spots, each of which takes at most a few seconds: ``pytest bench --benchmark-only``.

Use ``--benchmark-autosave`` before a change and ``--benchmark-compare`` after it. All run on one thread and measure
processor time, which other work on the machine disturbs little; compare the minimum over the rounds. Comparisons with
other libraries are in the other files, which measure in turns.
"""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from bench.classifiers import OURS
from spectralcls import ParzenClassifier, knn, top_eigenpairs
from spectralcls._utils.copies import equal_rows
from spectralcls.ensemble._trees import GrownTrees
from spectralcls.kernels import kernel_matrix, kernel_sums
from spectralcls.linalg import KernelOperator, rpcholesky
from spectralcls.neighbors import knn_graph

pytestmark = [
    pytest.mark.benchmark(timer=time.process_time, min_rounds=3, max_time=0.5),
    pytest.mark.filterwarnings("ignore"),  # of defaults on arbitrary data
]
SIZES = (200, 1000)  # training points of the classifiers
FITTED = {}
both = pytest.mark.parametrize("dtype", ["float32", "float64"])


def normal(n, d, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def classes(n, count=3):
    return np.random.default_rng(1).integers(0, count, n)


def sums(benchmark, n, d, dtype, **options):
    X = normal(n, d, dtype)
    return benchmark(kernel_sums, X, X, **({"bandwidth": 0.35 * np.sqrt(d), "n_jobs": 1} | options))


# Kernel sums


@both
def test_plain_sums(benchmark, dtype):
    sums(benchmark, 3000, 16, dtype)


@both
@pytest.mark.parametrize("d", [2, 16, 64, 256])
def test_class_sums(benchmark, d, dtype):
    sums(benchmark, 3000, d, dtype, labels=classes(3000))


def test_class_sums_of_a_compact_kernel(benchmark):
    sums(benchmark, 3000, 8, "float32", labels=classes(3000), kernel="epanechnikov")


@both
@pytest.mark.parametrize("columns", [1, 32])
def test_weighted_sums(benchmark, columns, dtype):
    sums(benchmark, 3000, 16, dtype, weights=normal(3000, columns, dtype, 1))


@both
def test_logarithms_of_class_sums(benchmark, dtype):
    sums(benchmark, 3000, 16, dtype, labels=classes(3000), log=True)


@both
def test_held_out_sums_over_bandwidths(benchmark, dtype):
    folds = classes(1500, 5)
    options = {"labels": classes(1500), "exclude_groups": (folds, folds), "log": True}
    sums(benchmark, 1500, 16, dtype, bandwidth=2.0 ** (np.arange(16) / 3 - 2), **options)


def test_sums_within_a_tolerance(benchmark):
    sums(benchmark, 30_000, 2, "float64", bandwidth=0.2, rtol=1e-6)


# Matrix, neighbors, eigenpairs, low rank


@both
@pytest.mark.parametrize("form", ["symmetric", "rectangular"])
def test_kernel_matrix(benchmark, form, dtype):
    X, out = normal(2500, 16, dtype), np.empty((2500, 2500), dtype)
    other = None if form == "symmetric" else X.copy()
    benchmark(kernel_matrix, X, other, bandwidth=1.4, out=out, n_jobs=1)


@both
@pytest.mark.parametrize("d", [3, 16, 64])
def test_nearest_neighbors(benchmark, d, dtype):
    X = normal(4000, d, dtype)
    benchmark(knn, X, X, 10, n_jobs=1)


def test_graph_of_neighbors(benchmark):
    benchmark(knn_graph, normal(4000, 16), 10, mode="heat", symmetrize="or", n_jobs=1)


@both
def test_eigenpairs_of_a_dense_matrix(benchmark, dtype):
    K = kernel_matrix(normal(1500, 8, dtype), bandwidth=2.0, n_jobs=1)
    benchmark(top_eigenpairs, K, 10, solver="lanczos", n_jobs=1)


def test_eigenpairs_of_a_sparse_matrix(benchmark):
    A = sp.random_array((20_000, 20_000), density=5e-4, rng=np.random.default_rng(0), format="csr")
    benchmark(top_eigenpairs, sp.csr_array(A + A.T), 6, tol=1e-4, n_jobs=1)


@both
def test_eigenpairs_of_a_matrix_that_is_never_formed(benchmark, dtype):
    K = KernelOperator(normal(3000, 16, dtype), bandwidth=2.5, weighting="sum", n_jobs=1)
    benchmark(top_eigenpairs, K, 10, tol=1e-4, n_jobs=1)


@both
def test_randomly_pivoted_cholesky(benchmark, dtype):
    benchmark(rpcholesky, normal(10_000, 8, dtype), 200, bandwidth=2.0, random_state=0, n_jobs=1)


# Loops over rows


@both
@pytest.mark.parametrize("copies", [1, 4])
def test_equal_rows(benchmark, copies, dtype):
    benchmark(equal_rows, np.tile(normal(100_000 // copies, 10, dtype), (copies, 1)))


@both
@pytest.mark.parametrize("method", ["predict_set", "conformal_p_values"])
def test_conformal_ranks(benchmark, method, dtype):
    X, y = problem(2000)
    model = ParzenClassifier(bandwidth=0.5, n_jobs=1).fit(X.astype(dtype), y)
    benchmark(getattr(model, method), normal(1000, 8, dtype, 7))


@pytest.mark.parametrize("m", [1, 4000])
def test_boosted_trees(benchmark, m):
    X, y = problem(2000)
    benchmark(GrownTrees(iterations=100).fit(X, y).predict_proba, normal(m, 8, "float64"))


# Classifiers, including their tuning


def problem(n):
    """Three overlapping classes with eight features; a curve in two of these largely determines the class."""
    X = normal(n, 8, "float64", n)
    return X, np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * X[:, 2], [0.3, 1.2])


def fit(name, n):
    return OURS[name](n_jobs=1).fit(*problem(n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", OURS)
def test_fit(benchmark, name, n):
    FITTED[name, n] = benchmark(fit, name, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", OURS)
def test_predict(benchmark, name, n):
    model = FITTED[name, n] if (name, n) in FITTED else fit(name, n)
    benchmark(model.predict, normal(1000, 8, "float64", 7))


@pytest.mark.parametrize("name", ["ParzenClassifier", "AutoClassifier"])
def test_predict_one_row(benchmark, name):
    model = FITTED[name, SIZES[-1]] if (name, SIZES[-1]) in FITTED else fit(name, SIZES[-1])
    benchmark(model.predict, normal(1, 8, "float64", 7))
