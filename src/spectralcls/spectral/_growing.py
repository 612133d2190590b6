"""Leading eigenpairs of a growing similarity matrix."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ._similarity import inverse_root


class GrowingEigenpairs(NamedTuple):
    """Eigenpairs of ``diag(s) S diag(s)`` with s = (weights / degrees)^1/2, where S holds the similarities of the
    samples X.

    Attributes
    ----------
    X : {ndarray, sparse array} (n, d)
    weights : (n,)
    degrees : (n,) weighted row sums of S, or None for ones
    values : (k,) eigenvalues, descending
    vectors : (n, k) unit eigenvectors
    """

    X: Any
    weights: np.ndarray
    degrees: np.ndarray | None
    values: np.ndarray
    vectors: np.ndarray

    @property
    def scale(self):
        root = np.sqrt(self.weights)
        return root if self.degrees is None else root * inverse_root(self.degrees)

    def grown(self, X, weights, similarity, n_components):
        """The eigenpairs after appending samples ``X``; ``similarity(Q, X)`` returns S between samples.

        Degrees and all similarities with the new samples are exact. Similarities among the old samples are reduced to
        the known pairs: the eigenproblem is solved in the span of the known vectors and the new samples. This takes
        O(n m) similarities and O((n + m) (k + m)^2) operations.
        """
        across, within = similarity(self.X, X), similarity(X, X)
        joined = sp.csr_array(sp.vstack([self.X, X])) if sp.issparse(X) else np.concatenate([self.X, X])
        degrees = None
        if self.degrees is not None:
            new = across.T @ self.weights + within @ weights
            degrees = np.concatenate([self.degrees + across @ weights, new])
        after = self._replace(X=joined, weights=np.concatenate([self.weights, weights]), degrees=degrees)
        old, new = np.split(after.scale, [len(self.weights)])
        ratio = np.divide(old, self.scale, out=np.zeros(len(old)), where=self.scale > 0)
        basis, known = np.linalg.qr(ratio[:, None] * self.vectors * np.sqrt(self.values))
        corner = basis.T @ (old[:, None] * across * new)
        values, small = np.linalg.eigh(np.block([[known @ known.T, corner], [corner.T, new[:, None] * within * new]]))
        values, small = values[::-1][:n_components], small[:, ::-1][:, :n_components]
        vectors = np.concatenate([basis @ small[: len(known)], small[len(known) :]])
        sound = values > 10 * np.sqrt(len(vectors)) * np.finfo(float).eps * values[0]
        return after._replace(values=values[sound], vectors=vectors[:, sound])
