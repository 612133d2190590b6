"""Points scaled so that squared distances neither over- nor underflow, in any units and with far outliers."""

import numpy as np

FARTHEST = 1e100  # coordinates are clipped to this, so that squares do not overflow
MOST_EXPONENT = 1000  # limit on the exponent of the scale


def centered_and_scaled(X):
    """The points minus their medians, divided by a power of two so that half of them lie within 1; and its exponent.

    A single far point does not change the scale.
    """
    with np.errstate(over="ignore"):
        X = X - np.median(X, axis=0)
        sizes = np.abs(X).max(axis=1)
    sizes = sizes[sizes > 0]
    exponent = int(np.clip(np.frexp(np.median(sizes))[1], -MOST_EXPONENT, MOST_EXPONENT)) if len(sizes) else 0
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X, -exponent), -FARTHEST, FARTHEST), exponent
