"""Named rules for a bandwidth: those of densities, and the median rule of the tests."""

import numpy as np

from .._tuning import has_spread, median_distance
from .._utils.validation import unit_scale
from ..density import ParzenDensity

RULES = ("cv", "silverman", "scott")


def chosen_bandwidth(word, samples, kernel, n_jobs):
    """Choose one bandwidth for the points of all samples together.

    Parameters
    ----------
    word : {"cv", "silverman", "scott", "median"}
        "median" is half the median distance; the others are the rules of `ParzenDensity` for the unscaled points.
    samples : sequence of Sample

    Raises
    ------
    ValueError
        If all points are equal.
    """
    X = np.concatenate([sample.points for sample in samples])
    if not has_spread(X):
        raise ValueError(
            f"All samples are equal: bandwidth={word!r} has no spread to choose from. Give a number, in the units of X."
        )
    if word == "median":
        return median_distance(X, np.random.RandomState(0)) / 2
    weights, _ = unit_scale(np.concatenate([sample.weights for sample in samples]))  # only their ratios count
    density = ParzenDensity(word, kernel=kernel, scale=None, n_jobs=n_jobs)
    return float(density.fit(X, sample_weight=weights).bandwidth_)
