"""The class of the nearest training point: the limit of every density rule where no kernel reaches."""

import numpy as np
from scipy.spatial.distance import cdist

_BLOCK_BYTES = 1 << 26


def nearest_codes(Q, X, codes, query_folds=None, folds=None):
    """Code of the training point nearest to each query; of several equally near ones the first.

    With folds, points of the query's own fold are left out. Distances are summed coordinate by coordinate in
    float64, in blocks: O(n m d) time, O(n) memory.
    """
    out = np.empty(len(Q), dtype=codes.dtype)
    rows = max(1, _BLOCK_BYTES // (8 * len(X)))
    for start in range(0, len(Q), rows):
        block = slice(start, start + rows)
        distances = cdist(Q[block], X)
        if folds is not None:
            distances[query_folds[block, None] == folds] = np.inf
        out[block] = codes[distances.argmin(axis=1)]
    return out
