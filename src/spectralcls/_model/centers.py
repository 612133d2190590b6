"""Class centers in an embedding."""

import numpy as np


def class_average(codes, n_classes, weights=None):
    """M (n, C) with M.T @ Z the (weighted) class means of Z; a class without samples has zeros."""
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
            centers[c] = np.average(part, axis=0, weights=w) if center == "mean" else weighted_median(part, w)
    return centers


def weighted_median(Z, weights=None):
    """Median of each column; weight k counts as k rows."""
    if weights is None:
        return np.median(Z, axis=0)
    order = np.argsort(Z, axis=0, kind="stable")
    cumulated = np.cumsum(weights[order], axis=0)
    half = cumulated[-1] / 2
    tolerance = 1e-12 * half  # sums of weights that should be equal differ in their last bits
    lower = (cumulated >= half - tolerance).argmax(axis=0)
    upper = (cumulated > half + tolerance).argmax(axis=0)
    ordered = np.take_along_axis(Z, order, axis=0)
    columns = np.arange(Z.shape[1])
    return (ordered[lower, columns] + ordered[upper, columns]) / 2
