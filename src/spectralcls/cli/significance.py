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
    return {
        result.name
        for result in scored
        if p_value(np.subtract(best.accuracy, result.accuracy), best.n_train, best.n_test) > LEVEL
    }


def p_value(differences, n_train, n_test):
    """Of a mean difference of accuracies over repeated random splits, (n_splits,), being zero."""
    if len(differences) == 1:
        return float(not differences[0])
    spread = np.sqrt((1 / len(differences) + n_test / n_train) * np.var(differences, ddof=1))
    if not spread:
        return float(not np.mean(differences))
    return 2 * student.sf(abs(np.mean(differences)) / spread, len(differences) - 1)
