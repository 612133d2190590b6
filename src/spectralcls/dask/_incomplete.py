"""Missing values in Dask collections: class sums of incomplete queries, and training points completed from a sample."""

import dask
import numpy as np

from .. import kernels
from .._expansion.incomplete import factors_of, incomplete_class_sums, split_by_missing
from .._inputs.completion import Completion
from .._inputs.missing import is_incomplete
from ._rows import blocks, column_blocks, from_blocks, sizes
from ._sums import ScaledSums, add, tree
from ._tuning import gather
from ._workers import keep

MAX_COMPLETING = 5000  # points from which missing values are completed


def class_log_sums(Q, X, codes, columns, weights, n_classes, bandwidth, features, n_jobs):
    """log sum_{j in c} w_j k(q, x_j) with missing values integrated out, a Dask array (m, C, k).

    `columns` are the weights in the class means, which include the sample `weights`; see `incomplete_class_sums`.
    """
    tile, finish = dask.delayed(_tile), dask.delayed(_finish)
    parts = blocks(X), blocks(codes), column_blocks(columns, X), column_blocks(weights, X)
    points = list(zip(*parts, strict=True))
    widths = np.broadcast_to(bandwidth, (1, n_classes))
    done = [
        finish(tree(add, [tile(queries, *part, widths, features, n_jobs or 1) for part in points]))
        for queries in blocks(Q)
    ]
    n_columns = 1 if columns is None or columns.ndim == 1 else columns.shape[1]
    return from_blocks(done, sizes(Q), (n_classes, n_columns), np.float64)


def _tile(Q, X, codes, columns, weights, widths, features, n_jobs):
    n_classes = widths.shape[1]
    by_column = np.ones((len(X), 1)) if columns is None else columns.reshape(len(X), -1)

    def complete(Q):
        return kernels.kernel_sums(
            Q, X, weights=by_column, labels=codes, n_labels=n_classes, bandwidth=widths, log="pair", n_jobs=n_jobs
        )

    def incomplete(Q):
        return incomplete_class_sums(
            Q, X, codes, n_classes, widths, weights, factors_of(columns, weights), features, n_jobs
        )

    return ScaledSums(*split_by_missing(Q, complete, incomplete))


def _finish(pairs):
    return pairs.log()[:, 0]


def without_gaps(data):
    """Complete the points of checked training data on the workers from a gathered sample; returns them and the
    completion.
    """
    sample = gather(data, MAX_COMPLETING, np.random.RandomState(0))
    completion = Completion.learned(sample.X, sample.codes, sample.weights, sample.features)
    (X,) = keep(data.X.map_blocks(_completed_block, data.codes[:, None], completion, dtype=data.X.dtype))
    return X, completion


def _completed_block(X, codes, completion):
    return completion.of_own_class(X, codes[:, 0])[0] if is_incomplete(X) else X
