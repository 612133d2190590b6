"""The same sums ``out[i, c] = sum_j k(q_i, x_j) W[j, c]`` by what users have today."""

import importlib.util
import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KernelDensity

BLOCK = 512


def blocked_numpy(Q, X, h, W):
    """A GEMM, an exponential and a GEMM over blocks of queries: what one writes by hand."""
    squared = np.einsum("ij,ij->i", X, X)
    out = np.empty((len(Q), W.shape[1]), dtype=X.dtype)
    for begin in range(0, len(Q), BLOCK):
        q = Q[begin : begin + BLOCK]
        D = q @ X.T
        D *= -2
        D += squared
        D += np.einsum("ij,ij->i", q, q)[:, None]
        np.maximum(D, 0, out=D)
        D *= -0.5 / h**2
        np.exp(D, out=D)
        out[begin : begin + BLOCK] = D @ W
    return out


def sklearn_rbf_kernel(Q, X, h, W):
    """The whole kernel matrix, then a product."""
    return rbf_kernel(Q, X, gamma=0.5 / h**2) @ W


def sklearn_kernel_density(Q, X, h, W):
    """One leaf, because trees are inaccurate in moderate dimension; unweighted."""
    tree = KernelDensity(bandwidth=h, leaf_size=len(X), rtol=0, atol=0).fit(X)
    log_constant = X.shape[1] / 2 * np.log(2 * np.pi) + X.shape[1] * np.log(h) + np.log(len(X))
    return np.exp(tree.score_samples(Q) + log_constant)[:, None]


def torch_blocked(Q, X, h, W):
    import torch

    q, x, w = (torch.from_numpy(a) for a in (Q, X, W))
    squared = (x * x).sum(1)
    out = torch.empty((len(q), w.shape[1]), dtype=x.dtype)
    for begin in range(0, len(q), BLOCK):
        part = q[begin : begin + BLOCK]
        D = torch.addmm(squared[None, :], part, x.T, alpha=-2).add_((part * part).sum(1, keepdim=True))
        out[begin : begin + BLOCK] = D.clamp_(min=0).mul_(-0.5 / h**2).exp_() @ w
    return out.numpy()


def keops(Q, X, h, W):
    from pykeops.numpy import Vi, Vj

    return (-Vi(Q).sqdist(Vj(X)) * (0.5 / h**2)).exp().__matmul__(W)


def numba_loop(Q, X, h, W):
    return _compiled_loop()(Q, X, np.array(0.5 / h**2, dtype=X.dtype)[()], W)


_LOOP = []


def _compiled_loop():
    if not _LOOP:
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

        _LOOP.append(loop)
    return _LOOP[0]


def available_peers():
    """Peers whose packages import here, by name."""
    peers = {
        "blocked NumPy": blocked_numpy,
        "scikit-learn rbf_kernel @ w": sklearn_rbf_kernel,
    }
    for name, module, function in (
        ("PyTorch", "torch", torch_blocked),
        ("KeOps", "pykeops", keops),
        ("numba prange", "numba", numba_loop),
    ):
        if importlib.util.find_spec(module) is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tiny = np.ones((2, 2), dtype=np.float32)
                function(tiny, tiny, 1.0, tiny)  # compiles what compiles at run time
        except Exception as error:  # a peer that does not run here is not compared with, and said so
            print(f"{name} is left out: {type(error).__name__}: {error}")
            continue
        peers[name] = function
    return peers


def direct_sums(Q, X, h, W):
    """The truth: direct differences in float64."""
    return np.exp(-0.5 * (cdist(Q.astype(np.float64), X.astype(np.float64)) / h) ** 2) @ W.astype(np.float64)
