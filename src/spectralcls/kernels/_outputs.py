"""Plain sums in the outputs of :func:`spectralcls.kernel_sums`: as they are, as logarithms, or scaled."""

import numpy as np


def in_output(sums, output, dtype, scale=0.0):
    """exp(scale) times plain sums (m, b, l, c), scale 0 or (m, b, l), as the core gives them in that output."""
    if output == "scaled":
        # Each label at a scale of its own, as the exact sums are: float32 must not underflow.
        top = np.abs(sums).max(axis=-1)
        top[top == 0] = 1.0
        return (scale + np.log(top)).astype(dtype), (sums / top[..., None]).astype(dtype)
    if output == "log":
        with np.errstate(divide="ignore"):
            return (np.log(sums) + np.expand_dims(scale, -1)).astype(dtype)
    return sums.astype(dtype)


def completed(sums, certain, dtype, output, others):
    """Plain sums (m, b, l, c) in the output asked for; those of queries that are not certain from others(rows)."""
    result = in_output(sums, output, dtype)
    rows = np.flatnonzero(~certain)
    if len(rows):
        exact = others(rows)
        for to, part in zip(*((result, exact) if output == "scaled" else ((result,), (exact,))), strict=True):
            to[rows] = part
    return result
