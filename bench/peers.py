"""The sums ``out[i, c] = sum_j k(q_i, x_j) W[j, c]`` by other libraries on the CPU, each as fast as possible: several
block sizes are tried, and the fastest is used.
"""

import importlib.util
import time
import warnings
from functools import cache
from itertools import product

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

ROWS, COLUMNS = (16, 64, 256), (512, 2048, None)  # sizes of a block; None means all columns


def numpy_512(Q, X, h, W):
    """A GEMM, an exponential and a GEMM over blocks of 512 queries: the obvious implementation."""
    squared = np.einsum("ij,ij->i", X, X)
    out = np.empty((len(Q), W.shape[1]), dtype=X.dtype)
    for begin in range(0, len(Q), 512):
        q = Q[begin : begin + 512]
        D = q @ X.T
        D *= -2
        D += squared
        D += np.einsum("ij,ij->i", q, q)[:, None]
        np.maximum(D, 0, out=D)
        D *= -0.5 / h**2
        np.exp(D, out=D)
        out[begin : begin + 512] = D @ W
    return out


def _exponents_as_product(Q, X, h):
    """A and B such that A B^T holds the exponents -|q - x|^2 / (2 h^2)."""
    gamma = 0.5 / h**2
    A = np.column_stack([2 * gamma * Q, -gamma * np.einsum("ij,ij->i", Q, Q), np.ones(len(Q))])
    B = np.column_stack([X, np.ones(len(X)), -gamma * np.einsum("ij,ij->i", X, X)])
    return A.astype(X.dtype), B.astype(X.dtype)


def numpy_in_cache(Q, X, h, W, rows, columns):
    """One GEMM gives the exponents; blocks and buffers stay in the cache."""
    A, B = _exponents_as_product(Q, X, h)
    columns = columns or len(B)
    out, buffer = np.zeros((len(A), W.shape[1]), A.dtype), np.empty(rows * columns, A.dtype)
    for first in range(0, len(A), rows):
        a, target = A[first : first + rows], out[first : first + rows]
        for begin in range(0, len(B), columns):
            b = B[begin : begin + columns]
            block = buffer[: len(a) * len(b)].reshape(len(a), len(b))
            np.matmul(a, b.T, out=block)
            np.exp(block, out=block)
            target += block @ W[begin : begin + columns]
    return out


def torch_in_cache(Q, X, h, W, rows, columns):
    import torch

    A, B, w = (torch.from_numpy(a) for a in (*_exponents_as_product(Q, X, h), W))
    columns = columns or len(B)
    out, buffer = torch.zeros((len(A), W.shape[1]), dtype=w.dtype), torch.empty(rows * columns, dtype=w.dtype)
    for first in range(0, len(A), rows):
        a = A[first : first + rows]
        for begin in range(0, len(B), columns):
            b = B[begin : begin + columns]
            block = buffer[: len(a) * len(b)].view(len(a), len(b))
            torch.mm(a, b.T, out=block)
            out[first : first + rows].addmm_(block.exp_(), w[begin : begin + columns])
    return out.numpy()


def sklearn_rbf_kernel(Q, X, h, W):
    """The whole kernel matrix, then a product."""
    return rbf_kernel(Q, X, gamma=0.5 / h**2) @ W


def keops(Q, X, h, W):
    from pykeops.numpy import Vi, Vj

    return (-Vi(Q).sqdist(Vj(X)) * (0.5 / h**2)).exp().__matmul__(W)


@cache
def numba_loop():
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def loop(Q, X, gamma, W):
        out = np.zeros((len(Q), W.shape[1]), dtype=X.dtype)
        for i in numba.prange(len(Q)):
            for j in range(len(X)):
                D = X.dtype.type(0)
                for k in range(X.shape[1]):
                    difference = Q[i, k] - X[j, k]
                    D += difference * difference
                value = np.exp(-gamma * D)
                for c in range(W.shape[1]):
                    out[i, c] += value * W[j, c]
        return out

    return lambda Q, X, h, W: loop(Q, X, np.array(0.5 / h**2, dtype=X.dtype)[()], W)


def fastest(function, Q, *arguments):
    """The function with the block sizes that are fastest on some of the queries."""
    seconds, some = {}, Q[: max(512, len(Q) // 8)]
    for sizes in product(ROWS, COLUMNS):
        begin = time.perf_counter()
        function(some, *arguments, *sizes)
        seconds[sizes] = time.perf_counter() - begin
    best = min(seconds, key=seconds.get)
    return lambda: function(Q, *arguments, *best)


def peers(Q, X, h, W):
    """Functions without arguments for the installed peers, and the names of those not installed."""
    found = {
        "NumPy, cache-blocked": lambda: fastest(numpy_in_cache, Q, X, h, W),
        "NumPy, 512 rows": lambda: lambda: numpy_512(Q, X, h, W),
        "rbf_kernel @ w": lambda: lambda: sklearn_rbf_kernel(Q, X, h, W),
    }
    optional = {
        "PyTorch": ("torch", lambda: fastest(torch_in_cache, Q, X, h, W)),
        "KeOps": ("pykeops", lambda: _tried(keops, Q, X, h, W)),
        "numba": ("numba", lambda: _tried(numba_loop(), Q, X, h, W)),
    }
    found |= {name: make for name, (module, make) in optional.items() if importlib.util.find_spec(module)}
    missing = [name for name in optional if name not in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers' own dependencies
        return {name: make() for name, make in found.items()}, missing


def _tried(function, Q, *arguments):
    function(Q[:2], *arguments)  # triggers compilation at run time
    return lambda: function(Q, *arguments)


def direct_sums(Q, X, h, W):
    """Reference sums by direct differences in float64."""
    return np.exp(-0.5 * (cdist(Q.astype(np.float64), X.astype(np.float64)) / h) ** 2) @ W.astype(np.float64)
