"""What the tests on Dask collections share."""

import dask.array as da

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
