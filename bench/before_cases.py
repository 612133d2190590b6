"""What bench/before.py compares between two checkouts: calls of the core, and accuracies of the defaults.

As a script it reads the name of a case, or a data set and a number of splits, and prints JSON. It runs against
whichever spectralcls is on the path, so it uses only what both sides have.
"""

import json
import sys
import time
import warnings
from functools import partial
from inspect import signature

import numpy as np
import scipy.sparse as sp

from spectralcls import knn, top_eigenpairs
from spectralcls.kernels import kernel_matrix, kernel_sums
from spectralcls.neighbors import reverse_knn

try:
    from spectralcls.linalg import KernelOperator
except ImportError:  # commits that have not gathered linear algebra
    from spectralcls.eigen import KernelOperator

CASES = {}


def case(name, *arguments):
    def register(make):
        CASES[name.format(*arguments)] = partial(make, *arguments)
        return make

    return register


def normal(n, d, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def classes(n, count=3):
    return np.random.default_rng(1).integers(0, count, n)


def class_sums(d, dtype, n=3000, **options):
    X = normal(n, d, dtype)
    options = dict(bandwidth=0.35 * np.sqrt(d), n_jobs=1) | options
    return lambda: kernel_sums(X, X, labels=classes(n), **options)


for dtype in ("float32", "float64"):
    for d in (2, 3, 4, 8, 16, 64, 256):
        case("class sums, {1}, d = {0}", d, dtype)(class_sums)
    case("logarithms of class sums, {1}, d = {0}", 16, dtype)(partial(class_sums, log=True))
    case("class sums of a compact kernel, {1}, d = {0}", 8, dtype)(partial(class_sums, kernel="epanechnikov"))
    case("16 bandwidths, {1}, d = {0}", 16, dtype)(
        partial(class_sums, bandwidth=2.0 ** (np.arange(16) / 2 - 3), log=True)
    )


@case("weights in {} columns, {}", 1, "float32")
@case("weights in {} columns, {}", 4, "float32")
@case("weights in {} columns, {}", 32, "float32")
@case("weights in {} columns, {}", 32, "float64")
def weighted_sums(columns, dtype):
    X, W = normal(2500, 16, dtype), normal(2500, columns, dtype, 1)
    return lambda: kernel_sums(X, X, weights=W, bandwidth=1.4, n_jobs=1)


@case("held-out folds of {} points, 16 bandwidths, {}", 1500, "float32")
@case("held-out folds of {} points, 16 bandwidths, {}", 1500, "float64")
@case("held-out folds of {} points, 16 bandwidths, {}", 4500, "float32")
def folds(n, dtype):
    X, groups = normal(n, 16, dtype), np.random.default_rng(2).integers(0, 5, n)
    grid = 2.0 ** (np.arange(16) / 3 - 2)
    return lambda: kernel_sums(
        X, X, labels=classes(n), exclude_groups=(groups, groups), bandwidth=grid, log=True, n_jobs=1
    )


@case("sums within 1e-6, d = 2")
def tolerance_sums():
    X = normal(30_000, 2, "float64")
    return lambda: kernel_sums(X, X, bandwidth=0.2, rtol=1e-6, n_jobs=1)


@case("kernel matrix, {}, {}", "float32", "symmetric")
@case("kernel matrix, {}, {}", "float32", "rectangular")
@case("kernel matrix, {}, {}", "float64", "symmetric")
@case("kernel matrix, {}, {}", "float64", "rectangular")
def matrix(dtype, form):
    X = normal(2500, 16, dtype)
    out = np.zeros((2500, 2500), dtype)
    return lambda: kernel_matrix(X, None if form == "symmetric" else X.copy(), bandwidth=1.4, out=out, n_jobs=1)


for dtype in ("float32", "float64"):
    for d in (4, 16, 64):

        @case("10 nearest neighbors, {1}, d = {0}", d, dtype)
        def nearest(d, dtype, n=4000):
            X = normal(n, d, dtype)
            return lambda: knn(X, X, 10, algorithm="brute", n_jobs=1)


case("10 nearest neighbors of 12000 points, {1}, d = {0}", 4, "float64")(partial(nearest, n=12_000))


@case("reverse neighbors, {}", "float32")
@case("reverse neighbors, {}", "float64")
def reverse(dtype):
    X = normal(4000, 8, dtype)
    return lambda: reverse_knn(X, X, np.full(4000, 1.0, dtype), n_jobs=1)


@case("eigenpairs, dense, {}", "float32")
@case("eigenpairs, dense, {}", "float64")
def dense_pairs(dtype):
    K = kernel_matrix(normal(1500, 8, dtype), bandwidth=2.0, n_jobs=1)
    return lambda: top_eigenpairs(K, 10, solver="lanczos", n_jobs=1)


@case("eigenpairs, sparse, {}", "float64")
def sparse_pairs(dtype):
    rng = np.random.default_rng(0)
    A = sp.random_array((20_000, 20_000), density=5e-4, rng=rng, format="csr", dtype=dtype)
    A = sp.csr_array(A + A.T)
    return lambda: top_eigenpairs(A, 6, tol=1e-4, n_jobs=1)


@case("eigenpairs, kernel of {} points, {}", 1200, "float32")
@case("eigenpairs, kernel of {} points, {}", 5000, "float32")
@case("eigenpairs, kernel of {} points, {}", 5000, "float64")
def kernel_pairs(n, dtype):
    X = normal(n, 16, dtype)
    names = signature(KernelOperator).parameters
    degrees = {"weighting" if "weighting" in names else "normalization": "sum"}  # older commits have the other word
    return lambda: top_eigenpairs(KernelOperator(X, bandwidth=2.5, **degrees, n_jobs=1), 10, tol=1e-4, n_jobs=1)


@case("one row against {} points", 10_000)
@case("one row against {} points", 100_000)
def one_row(n):
    from spectralcls.kernel_mean import ParzenClassifier

    raw = {"scale": None} if "scale" in ParzenClassifier().get_params() else {}  # older commits do not know it
    model = ParzenClassifier(bandwidth=1.4, n_jobs=1, **raw).fit(normal(n, 16), classes(n))
    row = normal(1, 16, seed=3)
    return lambda: model.predict(row)


def accuracies(data, splits):
    """{"sizes": of a split, classifier: accuracies in per cent} of all classifiers with their defaults."""
    from sklearn.preprocessing import StandardScaler

    from bench.classifiers import OURS
    from bench.data import folder
    from bench.reproduce.data import MissingData, Source, parts

    try:
        X, y, rows = parts(Source(folder()), data, splits)
    except MissingData:
        return {}
    found = {}
    for train, test in rows:
        found["sizes"] = [len(train), len(test)]
        scaler = StandardScaler().fit(X[train])
        for name, kind in OURS.items():
            model = kind(n_jobs=1).fit(scaler.transform(X[train]), y[train])
            found.setdefault(name, []).append(100 * model.score(scaler.transform(X[test]), y[test]))
    return found


KINDS = (
    "ISE CauchySchwarz LaplacianISE Parzen SpectralISE SpectralLaplacianISE LaplacianSpectral SpectralKernel PerTurbo "
    "KernelRidge Auto"
).split()


def answers(place):
    """{classifier: [labels of Q, probabilities of its classes or None, is one class the answer for all of X]}."""
    import spectralcls
    from spectralcls import spectral

    with np.load(place) as file:
        X, y, Q = (file[key] for key in "XyQ")
    found = {}
    for kind in KINDS:
        name = f"{kind}Classifier"
        model = (getattr(spectralcls, name, None) or getattr(spectral, name))(n_jobs=1).fit(X, y)
        shares = model.predict_proba(Q).tolist() if hasattr(model, "predict_proba") else None
        found[kind] = model.predict(Q).tolist(), shares, len(np.unique(model.predict(X))) == 1
    return found


def seconds(call):
    """CPU seconds of one call, the mean of as many as take 20 ms."""
    begin, count = time.process_time(), 0
    while count == 0 or time.process_time() - begin < 0.02:
        call()
        count += 1
    return (time.process_time() - begin) / count


def main():
    warnings.simplefilter("ignore")
    calls = {}
    for line in sys.stdin:
        name, _, argument = line.rstrip("\n").partition("|")
        if name == "answers":
            print(json.dumps(answers(argument)), flush=True)
            continue
        if argument:
            print(json.dumps(accuracies(name, int(argument))), flush=True)
            continue
        if name not in calls:
            calls[name] = CASES[name]()
            calls[name]()  # the first one does not count
        print(seconds(calls[name]), flush=True)


if __name__ == "__main__":
    main()
