"""Places of a picture as the estimator knows its features."""

import narwhals.stable.v2 as nw

from .._inputs.frames import is_frame


def like(places, X):
    """Places (n, d) as a data frame of X's kind and names if X is one, whose names the estimator expects."""
    if not is_frame(X):
        return places
    frame = nw.from_native(X, eager_only=True)
    if not all(isinstance(name, str) for name in frame.columns):  # no names to an estimator, which takes the array
        return places
    return nw.from_numpy(places, schema=frame.columns, backend=frame.implementation).to_native()
