"""Which classifiers cannot be told from the best one on the same splits."""

import numpy as np
from scipy.stats import t as student

LEVEL = 0.05


def indistinguishable(results):
    """Names of the results whose accuracies do not differ from the best mean's, by a corrected resampled t-test.

    Repeated random splits share training samples, so that the variance of a mean difference is that of one split times
    ``1 / n_splits + n_test / n_train`` and not ``1 / n_splits`` (Nadeau and Bengio, "Inference for the generalization
    error", Machine Learning 52, 2003). Of one split those as accurate as the best are returned.
    """
    scored = [result for result in results if result.error is None]
    if not scored:
        return set()
    best = max(scored, key=lambda result: np.mean(result.accuracy))
    return {result.name for result in scored if _p(best, result) > LEVEL}


def _p(best, other):
    difference = np.subtract(best.accuracy, other.accuracy)
    if len(difference) == 1:
        return float(not difference[0])
    spread = np.sqrt((1 / len(difference) + best.n_test / best.n_train) * difference.var(ddof=1))
    if not spread:
        return float(not difference.mean())
    return 2 * student.sf(abs(difference.mean()) / spread, len(difference) - 1)
