"""The words for a bandwidth: those of densities for all functions, and two more for tests."""

import numpy as np

from .._tuning import (
    Scored,
    candidate_bandwidths,
    draw_sample,
    has_spread,
    median_distance,
    reference_bandwidth,
    search,
)
from .._utils.training_data import TrainingData
from .._utils.validation import sum_of_others, unit_scale
from ..kernels import kernel_sums

RULES = ("cv", "silverman", "scott")
MOST_SAMPLES = 20_000  # that "cv" validates, as the densities do


def chosen_bandwidth(word, samples, kernel, n_jobs):
    """One bandwidth for all points of some samples.

    Parameters
    ----------
    word : {"cv", "silverman", "scott", "median"}
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
    weights, _ = unit_scale(np.concatenate([sample.weights for sample in samples]))
    weights *= weights.sum() / (weights @ weights)  # only their ratios count: they add up to the effective number
    data = TrainingData.points(X, weights)
    if word == "cv":
        return _likeliest(data, kernel, n_jobs)
    return float(reference_bandwidth(word, X, None, 1, data.weights, kernel=kernel))


def _likeliest(data, kernel, n_jobs):
    """The bandwidth at which the others make each point most likely."""
    sample = draw_sample(data, cv="loo", max_samples=MOST_SAMPLES, random_state=0, against_all=True)
    rows, log_others = sample.rows, np.log(sum_of_others(sample.weights))

    def score(sample, bandwidth):
        logs = kernel_sums(
            sample.X[rows],
            sample.X,
            weights=sample.weights,
            kernel=kernel,
            bandwidth=bandwidth,
            log=True,
            normalize=True,
            exclude_self=rows,
            n_jobs=n_jobs,
        )
        logs -= log_others[rows, None]
        logs[:, np.isneginf(logs).any(axis=0)] = np.nan  # no statement on a kernel that does not reach a point
        return Scored.of(sample, logs)

    candidates = {"bandwidth": candidate_bandwidths(None, data, kernel)}
    return float(search(sample, candidates, score, growing="bandwidth").checked().params["bandwidth"])
