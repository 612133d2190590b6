"""Functions of the core and of its thin modules against slow truth."""

import numpy as np
import reference

import spectralcls
import spectralcls.kernels as bandwidths
from spectralcls import information
from spectralcls.neighbors import reverse_knn

from .data import Refused, codes, laid_out, points, shape, spread

TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}  # of sums, relative to the sums of moduli


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
    W = np.abs(options.get("weights", np.ones(1))).max()
    # At the edge of a compact kernel a rounding of u is all that a small value is.
    edge = 8 * np.finfo(X.dtype).eps * W * len(X) if options.get("kernel") in reference.COMPACT else 0.0
    if options.get("log"):
        # Far terms: the exponent's own rounding, in units of its size; below the smallest numbers anything is right.
        assert np.array_equal(np.isneginf(found), np.isneginf(truth)) or "weights" in options
        finite = np.isfinite(found) & np.isfinite(truth)
        error = np.abs(found[finite].astype(np.float64) - truth[finite])
        bound = tolerance * (1 + np.abs(truth[finite]))
        if edge:
            bound += edge * np.exp(-truth[finite])
        assert np.all(error <= bound), f"log sums off by {np.max(error / bound):.3g} times the bound"
    else:
        scale = reference.kernel_sums(Q, X, **moduli)
        error = np.abs(found - truth)
        if not edge:
            tolerance = np.maximum(tolerance, reference.rounding_of_sums(scale, X.dtype))
        bound = tolerance * scale + np.finfo(X.dtype).tiny * len(X) + edge
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
    assert np.diff(np.sort(indices, axis=1), axis=1).all()  # no point twice
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
    graph = spectralcls.neighbors.knn_graph(laid_out(rng, X), k, mode=mode, symmetrize=symmetrize)
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
    factor = spectralcls.linalg.rpcholesky(laid_out(rng, X), rank, bandwidth=h, **options)
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
