"""What the tests on Dask collections share."""

import dask.array as da
import numpy as np
from every_estimator import KINDS
from numpy.testing import assert_allclose, assert_array_equal

LEARN_ON_WORKERS = [
    "CauchySchwarzClassifier",
    "ISEClassifier",
    "KernelRegressor",
    "LaplacianISEClassifier",
    "LaplacianSpectralClassifier",
    "ParzenClassifier",
    "PerTurboClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
]
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples", "perturbation")


def rows(array, chunk=110):
    """A Dask array of blocks of rows."""
    return da.from_array(array, chunks=(chunk, *array.shape[1:]))


def pair(name, **parameters):
    """One to fit in memory, one on Dask."""
    return KINDS[name](**parameters), KINDS[name](**parameters)


def assert_same(local, distributed, queries, tolerance=1e-12):
    """Equal scores to that share of the largest, and equal labels."""
    expected = local.decision_function(queries)
    scores = distributed.decision_function(rows(queries, 40)).compute()
    assert_allclose(scores, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    assert_array_equal(distributed.predict(rows(queries, 40)).compute(), local.predict(queries))
