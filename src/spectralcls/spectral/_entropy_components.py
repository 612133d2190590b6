"""Kernel entropy component analysis: the eigenvectors with the largest shares of the information potential."""

import numpy as np

from .._expansion.low_rank_spectrum import POSITIVE


def of_largest_entropy(spectrum_of, n_components, kernel):
    """The `n_components` pairs with the largest shares ``value (1^T e)^2`` of all n pairs, the largest first.

    Leading pairs are computed until no other pair can have as large a share. The share of any other pair is at most n
    times the last computed eigenvalue. If no eigenvalue is negative, it is also at most the sum of all matrix entries
    minus the shares found so far.

    Parameters
    ----------
    spectrum_of : callable
        ``spectrum_of(m)`` returns the `Spectrum` of the m leading pairs.
    n_components : int
    kernel : str
    """
    known, spectrum = 2 * n_components, spectrum_of(2 * n_components)
    n, weights = spectrum.operator.shape[0], spectrum.operator.sample_weight
    # the vector of ones over repeated samples, as the operator represents it
    ones = np.ones(n) if weights is None else np.sqrt(weights)
    squared_length, total = ones @ ones, ones @ (spectrum.operator @ ones)
    while known < n and not len(spectrum.dropped):
        shares = spectrum.shares()
        beyond = squared_length * spectrum.values[-1]
        if kernel in POSITIVE:
            beyond = min(beyond, total - shares.sum())
        if np.sort(shares)[-n_components] >= beyond:
            break
        known *= 2
        spectrum = spectrum_of(known)
    return by_entropy(spectrum, n_components)


def by_entropy(spectrum, n_components=None):
    """A spectrum with its pairs sorted by share, the largest first; all pairs, or the first `n_components`."""
    return spectrum.taken(np.argsort(-spectrum.shares(), kind="stable")[:n_components])
