"""Class centers in an embedding."""

import numpy as np

from .._utils.quantile import weighted_quantile


def class_average(codes, n_classes, weights=None):
    """Matrix M (n, C) for which ``M.T @ Z`` are the (weighted) class means of Z, zeros for a class without samples."""
    M = np.zeros((len(codes), n_classes))
    M[np.arange(len(codes)), codes] = 1 if weights is None else weights
    return M / np.maximum(M.sum(axis=0), np.finfo(np.float64).tiny)


def class_centers(Z, codes, n_classes, weights=None, center="mean"):
    """Means or componentwise medians of the classes, (C, r) float64; NaN for a class without samples."""
    centers = np.full((n_classes, Z.shape[1]), np.nan)
    for c in range(n_classes):
        own = codes == c
        if own.any():
            part, w = Z[own].astype(np.float64), None if weights is None else weights[own]
            centers[c] = np.average(part, axis=0, weights=w) if center == "mean" else weighted_quantile(part, 0.5, w)
    return centers
