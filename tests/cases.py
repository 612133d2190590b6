"""Random calls of every public function and estimator, each against slow truth: what `fuzz` draws from.

A target takes a random generator, makes one call and returns nothing: it raises `AssertionError` for a wrong answer,
`Refused` for an error that names what was wrong with the input, and lets every other exception through.
"""

import tempfile
from pathlib import Path

import estimators
import numpy as np
import reference
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

import spectralcls
from spectralcls import bandwidth as bandwidths
from spectralcls import information
from spectralcls.cli import models
from spectralcls.cli.data import read
from spectralcls.cli.errors import CommandError
from spectralcls.neighbors import reverse_knn

TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}  # of sums, relative to the sums of moduli


class Refused(Exception):
    """The call was refused; the cause is the error."""


# Data


def points(rng, n, d, dtype, joint_scale=True):
    """Samples of one of the kinds that real tables are made of, or that break things."""
    X = rng.standard_normal((n, d))
    kind = rng.integers(6)
    if kind == 1:
        X = np.round(X)  # ties and duplicates
    elif kind == 2:
        X = X[rng.integers(0, max(1, n // 3), n)]  # many copies of few
    elif kind == 3:
        X += 10.0 ** rng.integers(0, 7)  # far from the origin
    elif kind == 4:
        X[:, rng.integers(d)] = 3.0  # a constant feature
    elif kind == 5:
        X *= 10.0 ** rng.uniform(-3, 3, d)  # features in different units
    return X.astype(dtype)


def shape(rng):
    """(m, n, d): mostly small, sometimes many features or more points than a block of the core."""
    kind = rng.integers(10)
    if kind == 0:
        return int(rng.integers(1, 5)), int(rng.integers(1, 8)), int(rng.integers(300, 1500))
    if kind == 1:
        return int(rng.integers(1, 40)), int(rng.integers(500, 2500)), int(rng.integers(1, 9))
    return int(rng.integers(1, 40)), int(rng.integers(1, 60)), int(rng.integers(1, 20))


def laid_out(rng, A):
    """The same numbers another way in memory."""
    kind = rng.integers(8)
    if kind == 1:
        return np.asfortranarray(A)
    if kind == 2:
        return np.repeat(A, 2, axis=0)[::2]
    if kind == 3:
        return np.ascontiguousarray(A[::-1])[::-1]
    if kind == 4:
        A = A.copy()
        A.setflags(write=False)
    if kind == 5:
        shifted = np.zeros(A.nbytes + 1, np.uint8)[1:].view(A.dtype).reshape(A.shape)
        shifted[...] = A
        return shifted
    if kind == 6 and A.dtype == np.float64:  # of other numbers scikit-learn makes float64
        return A.astype(A.dtype.newbyteorder())
    return A


def spread(Q, X):
    """A length that distances between these points are of."""
    D = reference.distances(Q[:30], X[:30])
    return float(np.median(D[D > 0])) if (D > 0).any() else 1.0


def codes(rng, n, n_labels):
    """Labels of one of the integer types, some points with none."""
    kind = rng.choice(["i1", "i4", "i8", "u1", "u2", "u8"])
    labels = rng.integers(0, n_labels, n)
    if kind[0] == "i" and rng.random() < 0.3:
        labels[rng.random(n) < 0.2] = -1
    return labels.astype(kind)


# Primitives against truth


def sums_arguments(rng):
    """(Q, X, options) that `kernel_sums` takes."""
    m, n, d = shape(rng)
    dtype = rng.choice([np.float32, np.float64])
    X = points(rng, n, d, dtype)
    Q = X if rng.random() < 0.3 else points(rng, m, d, dtype)
    m = len(Q)
    unit = spread(Q, X)
    options = {"kernel": str(rng.choice(sorted(reference.PROFILES)))}
    if options["kernel"] == "laplace_derivative":
        options["kernel"] = "laplace"  # singular: its relative error grows as points meet
    if rng.random() < 0.5:
        options["bandwidth"] = unit * float(rng.uniform(0.2, 5))
    else:
        options["bandwidth"] = unit * np.sort(rng.uniform(0.2, 5, rng.integers(1, 6)))
    if rng.random() < 0.5:
        options["log"] = True
    if rng.random() < 0.5:
        options["labels"] = codes(rng, n, rng.integers(1, 6))
        options["n_labels"] = int(max(options["labels"].max(), 0)) + 1 + int(rng.integers(3))
    if rng.random() < 0.5:
        W = rng.standard_normal((n, rng.integers(1, 5)) if rng.random() < 0.5 else n)
        options["weights"] = (np.abs(W) if options.get("log") else W).astype(dtype)
    if Q is X and rng.random() < 0.5:
        options["exclude_self"] = True
    elif rng.random() < 0.3:
        options["exclude_self"] = rng.integers(-1, n, m)
    if rng.random() < 0.3:
        options["exclude_groups"] = rng.integers(0, 4, m), rng.integers(0, 4, n)
    if rng.random() < 0.5:
        options["n_jobs"] = int(rng.integers(1, 5))
    return Q, X, options


def check_sums(found, Q, X, options):
    """Sums to their tolerance, relative to the sums of the moduli: cancellation is the caller's."""
    options = {key: value for key, value in options.items() if key != "n_jobs"}
    truth = reference.kernel_sums(Q, X, **options)
    assert found.shape == truth.shape and found.dtype == X.dtype, (found.shape, truth.shape, found.dtype)
    moduli = dict(options)
    if "weights" in moduli:
        moduli["weights"] = np.abs(moduli["weights"])
    tolerance = TOLERANCE[X.dtype]
    if options.get("log"):
        # Far terms: the exponent's own rounding, in units of its size; below the smallest numbers anything is right.
        assert np.array_equal(np.isneginf(found), np.isneginf(truth)) or "weights" in options
        finite = np.isfinite(found) & np.isfinite(truth)
        error = np.abs(found[finite].astype(np.float64) - truth[finite])
        assert np.all(error <= tolerance * (1 + np.abs(truth[finite]))), f"log sums off by {error.max():.3g}"
    else:
        scale = reference.kernel_sums(Q, X, **moduli)
        error = np.abs(found - truth)
        bound = tolerance * scale + np.finfo(X.dtype).tiny * len(X)
        if options.get("kernel") in reference.COMPACT:  # at the edge a rounding of u is all that a small value is
            W = np.abs(options.get("weights", np.ones(1))).max()
            bound = bound + 8 * np.finfo(X.dtype).eps * W * len(X)
        assert np.all(error <= bound), f"sums off by {np.max(error / bound):.3g} times the bound"


def kernel_sums(rng):
    Q, X, options = sums_arguments(rng)
    same = Q is X
    X_given = laid_out(rng, X)
    found = spectralcls.kernel_sums(X_given if same else laid_out(rng, Q), X_given, **options)
    check_sums(found, Q, X, options)


def distant_sums(rng):
    """Points that are nearly one for the queries, which are far from them; bandwidths of very different size."""
    dtype = np.dtype(rng.choice([np.float32, np.float64]))
    lowest = -140 if dtype == np.float64 else -30
    d = int(rng.integers(1, 6))
    X = (rng.standard_normal((rng.integers(1, 20), d)) * 10.0 ** rng.uniform(lowest, 0)).astype(dtype)
    Q = (rng.standard_normal((rng.integers(1, 20), d)) * 10.0 ** rng.uniform(-3, 2)).astype(dtype)
    kernel = str(rng.choice(["gaussian", "laplace", "epanechnikov", "cosine"]))
    exponents = rng.uniform(-8, 8, 3) if rng.random() < 0.5 else rng.uniform(0, 1, 3)
    options = {"kernel": kernel, "bandwidth": np.sort(10.0**exponents)}
    if rng.random() < 0.5 and kernel in ("gaussian", "laplace"):
        options["log"] = True
    check_sums(spectralcls.kernel_sums(Q, X, **options), Q, X, options)


def kernel_matrix(rng):
    m, n, d = shape(rng)
    dtype = np.dtype(rng.choice([np.float32, np.float64]))
    X, Q = points(rng, n, d, dtype), points(rng, m, d, dtype)
    kernel, h = str(rng.choice(sorted(reference.COMPACT) + ["gaussian", "laplace"])), spread(Q, X) * rng.uniform(0.2, 5)
    found = spectralcls.kernel_matrix(laid_out(rng, Q), laid_out(rng, X), kernel=kernel, bandwidth=float(h))
    np.testing.assert_allclose(found, reference.kernel_matrix(Q, X, kernel, h), rtol=0, atol=TOLERANCE[dtype])
    own = spectralcls.kernel_matrix(laid_out(rng, X), kernel=kernel, bandwidth=float(h))
    assert np.all(own.diagonal() == 1) and np.array_equal(own, own.T)


def knn(rng):
    m, n, d = shape(rng)
    dtype = np.dtype(rng.choice([np.float32, np.float64]))
    X = points(rng, n, d, dtype)
    Q = X if rng.random() < 0.3 else points(rng, m, d, dtype)
    unit = dtype.type(2.0 ** rng.integers(*((-900, 900) if dtype == np.float64 else (-90, 90))))
    k = int(rng.integers(1, n + 1))
    algorithm = str(rng.choice(["auto", "brute", "kd_tree"])) if d < 12 else "auto"
    distances, indices = spectralcls.knn(laid_out(rng, Q * unit), laid_out(rng, X * unit), k, algorithm=algorithm)
    D = reference.distances(Q, X)
    scale = np.abs(np.r_[Q.ravel(), X.ravel()]).max() if dtype == np.float32 else 0
    truth = np.sort(D, axis=1)[:, :k]
    assert distances.shape == indices.shape == (len(Q), k) and distances.dtype == dtype
    assert indices.min() >= 0 and indices.max() < n
    assert all(len(set(row)) == k for row in indices)
    rtol, atol = 20 * np.finfo(dtype).eps, 1e-30 * scale
    np.testing.assert_allclose(distances.astype(np.float64) / float(unit), truth, rtol=rtol, atol=atol)
    np.testing.assert_allclose(np.take_along_axis(D, indices, 1), truth, rtol=rtol, atol=atol)


def reverse_neighbors(rng):
    m, n, d = shape(rng)
    X, Q = points(rng, n, d, np.float64), points(rng, m, d, np.float64)
    D = reference.distances(Q, X)
    radii = np.median(D) * rng.uniform(0.1, 2, n) if D.size else np.ones(n)
    found = reverse_knn(laid_out(rng, Q), laid_out(rng, X), radii).toarray()
    certain = np.abs(D - radii) > 1e-9 * radii
    np.testing.assert_allclose(found[certain], np.where(D < radii, D, 0)[certain], rtol=1e-12)


def knn_graph(rng):
    _, n, d = shape(rng)
    n = max(n, 3)
    X = points(rng, n, d, np.float64)
    k = int(rng.integers(1, min(n, 12)))
    mode, symmetrize = str(rng.choice(["binary", "heat", "distance"])), str(rng.choice(["or", "and"]))
    graph = spectralcls.knn_graph(laid_out(rng, X), k, mode=mode, symmetrize=symmetrize)
    dense = graph.toarray()
    assert np.array_equal(dense, dense.T) and np.all(dense.diagonal() == 0) and np.all(np.isfinite(dense))
    assert graph.indices.max(initial=0) < n
    if symmetrize == "or":
        assert np.diff(graph.indptr).min() >= k
    if mode == "distance":
        rows, columns = graph.nonzero()
        np.testing.assert_allclose(dense[rows, columns], reference.distances(X, X)[rows, columns], rtol=1e-10)


def rpcholesky(rng):
    _, n, d = shape(rng)
    n, d = min(n, 300), min(d, 30)
    dtype = np.dtype(rng.choice([np.float32, np.float64]))
    X = points(rng, n, d, dtype)
    h = spread(X, X) * float(rng.uniform(0.3, 3))
    rank = int(rng.integers(1, n + 1))
    options = {"method": str(rng.choice(["random", "greedy"])), "random_state": int(rng.integers(1000))}
    if rng.random() < 0.5:
        options["block_size"] = int(rng.choice([1, 2, 7, 50, 10**6]))
    factor = spectralcls.rpcholesky(laid_out(rng, X), rank, bandwidth=h, **options)
    F = factor.factor.astype(np.float64)
    K = reference.kernel_matrix(X, X, bandwidth=h)
    residual = K - F @ F.T
    tolerance = 1e-9 if dtype == np.float64 else 5e-3
    assert factor.rank <= rank and len(set(factor.pivots)) == factor.rank
    assert np.linalg.eigvalsh(residual).min() > -tolerance * n
    assert np.abs(residual[:, factor.pivots]).max(initial=0) < tolerance
    assert abs(factor.trace_residual - residual.trace()) < tolerance * n


def top_eigenpairs(rng):
    n, k = int(rng.integers(3, 200)), 0
    k = int(rng.integers(1, max(2, n // 4)))
    solver = str(rng.choice(["auto", "lanczos", "dense"]))
    if rng.random() < 0.5:
        A = rng.standard_normal((n, n))
        A = A + A.T if rng.random() < 0.5 else A[:, : n // 2] @ A[:, : n // 2].T
    else:
        A = np.zeros((n, n))
        A.flat[:: n + 1] = np.round(rng.uniform(-3, 3, n))  # many equal eigenvalues
    options = {}
    if rng.random() < 0.5:
        options["block_size"] = int(rng.choice([1, 2, 3, 9, 10**6]))
    result = spectralcls.top_eigenpairs(laid_out(rng, A), k, solver=solver, **options)
    V, norm = result.vectors, max(np.abs(A).max() * n, 1e-300)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(A @ V, V * result.values, atol=1e-8 * norm)
    if result.converged and "block_size" not in options:
        np.testing.assert_allclose(result.values, np.linalg.eigvalsh(A)[::-1][:k], atol=1e-8 * norm)


def divergences(rng):
    m, n, d = (max(2, min(size, 200)) for size in shape(rng))
    X, Y = points(rng, n, d, np.float64), points(rng, m, d, np.float64)
    h = spread(X, Y) * float(rng.uniform(0.3, 3))
    K = [reference.kernel_matrix(A, B, bandwidth=h * np.sqrt(2)) for A, B in ((X, Y), (X, X), (Y, Y))]
    cross, own_X, own_Y = (M.mean() for M in K)
    if cross > 1e-250:
        found = information.cauchy_schwarz_divergence(laid_out(rng, X), laid_out(rng, Y), bandwidth=h)
        np.testing.assert_allclose(found, -np.log(cross / np.sqrt(own_X * own_Y)), rtol=1e-8, atol=1e-9)
    entropy = information.renyi_entropy(laid_out(rng, X), bandwidth=h)
    truth = -np.log(own_X) + reference.log_normalizer("gaussian", d, h * np.sqrt(2))
    np.testing.assert_allclose(entropy, truth, rtol=1e-8, atol=1e-9)


def bandwidth_rules(rng):
    _, n, d = shape(rng)
    X = points(rng, max(n, 2), d, np.float64)
    unit = 2.0 ** int(rng.integers(-300, 300))
    for rule in (bandwidths.silverman_bandwidth, bandwidths.bandwidth_grid):
        try:
            plain = np.asarray(rule(X))
        except ValueError as error:
            assert not np.ptp(X, axis=0).any()
            raise Refused from error
        assert np.all(np.isfinite(plain)) and np.all(plain > 0)
        if np.ptp(X, axis=0).any():
            np.testing.assert_allclose(np.asarray(rule(X * unit)) / unit, plain, rtol=1e-9)


# Estimators


def estimator(rng):
    """Fit on odd data: the answers are finite, of the classes, sum to one, and a refused fit leaves what was."""
    name = str(rng.choice([name for name in estimators.names() if name != "AutoClassifier"]))
    n, d = int(rng.integers(12, 50)), int(rng.integers(1, 6))
    dtype = rng.choice([np.float32, np.float64])
    X = points(rng, n + 10, d, dtype)
    X, Q = X[:n], X[n:]
    if rng.random() < 0.3:
        Q = Q * dtype(10.0 ** rng.integers(0, 9))  # far away
    names = [[0, 1, 2], [True, False, True], ["b", "a", "ç"], [-5, 0, 2**40], [2.0, 1.0, 7.0]][rng.integers(5)]
    y = np.array(names)[rng.integers(0, 3, n)]
    model = estimators.make(name, fixed=bool(rng.random() < 0.7))
    if "bandwidth" in model.get_params() and rng.random() < 0.7:
        model.set_params(bandwidth=float(spread(X, X) * rng.uniform(0.3, 3)))
    try:
        model.fit(laid_out(rng, X), y)
    except (ValueError, TypeError) as error:
        raise Refused from error
    if is_classifier(model):
        predicted = model.predict(laid_out(rng, Q))
        assert np.isin(predicted, model.classes_).all() and len(predicted) == len(Q)
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(Q)
        assert np.all(probabilities >= 0) and np.all(np.isfinite(probabilities))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    if hasattr(model, "decision_function"):
        assert not np.isnan(model.decision_function(Q)).any()
    if hasattr(model, "transform"):
        embedded = model.transform(Q)
        assert np.all(np.isfinite(getattr(embedded, "data", embedded) if hasattr(embedded, "nnz") else embedded))


# Files


def csv_file(rng):
    """A table with some bytes changed is read as finite numbers and classes, or refused in one line."""
    numbers = rng.standard_normal((12, 2))
    rows = "\n".join(f"{a:.3g},{b:.3g},{'xyz'[i % 3]}" for i, (a, b) in enumerate(numbers))
    content = bytearray(("a,b,c\n" + rows + "\n").encode(str(rng.choice(["utf-8", "utf-16", "utf-8-sig"]))))
    for _ in range(rng.integers(0, 5)):
        place = rng.integers(len(content))
        odd = [b"\x00", b",", b"\n", b'"', b"\xff", b"_", b"nan", b"1e999", b";"]
        content[place : place + rng.integers(3)] = odd[rng.integers(len(odd))]
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(content)
        file.flush()
        try:
            data = read(file.name, target=str(rng.choice(["c", "2", "-1"])))
        except CommandError as error:
            raise Refused from error
    assert np.isfinite(data.X).all() and len(data.X) == len(data.y) and data.y.max() < len(data.classes)


def model_file(rng):
    """A model file with some bytes changed is refused in one line, or still a classifier."""
    X, y, Q = estimators.problem(n=20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        models.save(models.Model(spectralcls.ParzenClassifier(1.0).fit(X, y), None), path)
        content = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            place = rng.integers(len(content))
            content[place : place + rng.integers(1, 40)] = rng.bytes(rng.integers(40))
        path.write_bytes(content[: rng.integers(len(content)) if rng.random() < 0.3 else None])
        try:
            model = models.load(path)
        except CommandError as error:
            raise Refused from error
    try:
        model.estimator.predict(Q)
    except Exception as error:  # a file that was tampered with may hold anything but code
        raise Refused from error


# Input that is wrong


ODD = [
    None, True, -1, 0, 1.5, 2**31, 2**40, 2**62, -(2**63), np.nan, np.inf, -np.inf, 1e308, 1e-310, "a", "", b"x", [],
    [[]], (), {}, object(), 1j, [1, [2, 3]], [np.nan] * 4, np.float32(0.5), np.array(2.5), np.int8(3),
    np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((5, 1, 0)), np.zeros((2, 2, 2)), np.full((4, 3), np.nan),
    np.full(4, 2**31 - 2), np.full(4, -7), np.ones(4, "u8"), np.ones(4, bool), np.ones((4, 3), "f2"),
    np.ones((4, 3), "O"), np.array(["a", 1, None, 2.0], dtype=object), np.ma.masked_all(4), np.array([1 + 2j] * 4),
    np.array(["2020-01-01"] * 4, "M8[D]"),
]  # fmt: skip
SMALL = np.arange(12.0).reshape(4, 3)
CALLS = {
    "kernel_sums": dict(
        Q=SMALL, X=SMALL, weights=None, labels=None, n_labels=None, kernel="gaussian", bandwidth=1.0, log=False,
        exclude_self=False, exclude_groups=None, normalize=False, rtol=0.0, atol=0.0, n_jobs=None,
    ),
    "kernel_matrix": dict(Q=SMALL, X=None, kernel="gaussian", bandwidth=1.0, normalize=False, out=None, n_jobs=None),
    "knn": dict(Q=SMALL, X=SMALL, k=2, algorithm="auto", n_jobs=None),
    "knn_graph": dict(
        X=SMALL, n_neighbors=2, mode="heat", symmetrize="or", epsilon=None, algorithm="auto", n_jobs=None,
    ),
    "rpcholesky": dict(
        X=SMALL, rank=2, kernel="gaussian", bandwidth=1.0, method="random", tol=0.0, random_state=0, block_size=None,
        n_jobs=None,
    ),
    "top_eigenpairs": dict(
        A=SMALL @ SMALL.T, k=1, solver="auto", tol=None, max_applications=None, block_size=None, max_basis=None,
        start=None, deflate=None, random_state=None, n_jobs=None,
    ),
    "reduce_training_set": dict(
        X=SMALL, y=np.array([0, 1, 0, 1]), size=2, method="representative", bandwidth=1.0, sample_weight=None,
        random_state=0, n_jobs=None,
    ),
}  # fmt: skip


def hostile(name):
    def call(rng):
        arguments = dict(CALLS[name])
        for _ in range(rng.integers(1, 3)):
            arguments[str(rng.choice(sorted(arguments)))] = ODD[rng.integers(len(ODD))]
        try:
            getattr(spectralcls, name)(**arguments)
        except (ValueError, TypeError) as error:
            raise Refused from error

    return call


def hostile_parameters(rng):
    """An estimator with one parameter of another kind, or odd training data."""
    name = str(rng.choice([name for name in estimators.names() if name != "AutoClassifier"]))
    X, y, Q = estimators.problem(n=20, d=2)
    model = estimators.make(name, fixed=True)
    if rng.random() < 0.7:
        name, value = str(rng.choice(sorted(model.get_params(deep=False)))), ODD[rng.integers(len(ODD))]
        if name == "max_iter" and isinstance(value, int) and value > 1000:
            raise Refused("as many iterations are allowed, and take as long as they do")
        model.set_params(**{name: value})
    elif rng.random() < 0.5:
        X = ODD[rng.integers(len(ODD))]
    else:
        y = ODD[rng.integers(len(ODD))]
    try:
        model.fit(X, y)
        estimators.responses(model, Q)
    except (ValueError, TypeError, NotFittedError) as error:
        raise Refused from error


TARGETS = {
    "kernel_sums": kernel_sums,
    "distant_sums": distant_sums,
    "kernel_matrix": kernel_matrix,
    "knn": knn,
    "reverse_knn": reverse_neighbors,
    "knn_graph": knn_graph,
    "rpcholesky": rpcholesky,
    "top_eigenpairs": top_eigenpairs,
    "divergences": divergences,
    "bandwidth_rules": bandwidth_rules,
    "estimator": estimator,
    "csv_file": csv_file,
    "model_file": model_file,
    "hostile_parameters": hostile_parameters,
    **{f"hostile_{name}": hostile(name) for name in CALLS},
}
