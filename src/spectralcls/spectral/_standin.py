"""TEMPORARY: ARPACK behind the interface of spectralcls.eigen, until that is merged."""
from types import SimpleNamespace
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, svds
from ..kernels import kernel_matrix

class GramOperator:
    def __init__(self, X): self.X = X

class KernelOperator:
    def __init__(self, X, *, bandwidth, scale): self.X, self.bandwidth, self.scale = X, bandwidth, scale

def top_eigenpairs(A, k, *, n_jobs=None, random_state=None):
    if isinstance(A, GramOperator):
        B = A.X
        if k * 3 >= min(B.shape) or min(B.shape) < 50:
            U, s, _ = np.linalg.svd(B.toarray() if sp.issparse(B) else B, full_matrices=False)
        else:
            U, s, _ = svds(B, k, random_state=0)
            o = np.argsort(-s); U, s = U[:, o], s[o]
        w, V = s[:k]**2, U[:, :k]
    else:
        if isinstance(A, KernelOperator):
            A = A.scale[:, None] * kernel_matrix(A.X, bandwidth=A.bandwidth) * A.scale
        if k * 3 >= A.shape[0] or A.shape[0] < 50:
            w, V = np.linalg.eigh(A.toarray() if sp.issparse(A) else A)
            w, V = w[::-1][:k], V[:, ::-1][:, :k]
        else:
            w, V = eigsh(A, k, which="LA", v0=np.ones(A.shape[0], A.dtype)); w, V = w[::-1], V[:, ::-1]
    V = V * np.sign(V[np.abs(V).argmax(0), np.arange(V.shape[1])])
    return SimpleNamespace(values=w, vectors=V)
