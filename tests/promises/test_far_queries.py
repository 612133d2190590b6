"""A query far away changes no answer for the others of its batch, and its finite numbers are never called infinite."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import spectralcls
from spectralcls.regression import KernelRidgeClassifier
from spectralcls.spectral import LaplacianSpectralClassifier, SpectralISEClassifier, SpectralLaplacianISEClassifier

CLASSIFIERS = [
    spectralcls.ParzenClassifier(),
    spectralcls.ParzenClassifier(metric="full"),
    spectralcls.ParzenClassifier(scale=None),
    spectralcls.ISEClassifier(),
    spectralcls.CauchySchwarzClassifier(),
    spectralcls.LaplacianISEClassifier(),
    spectralcls.PerTurboClassifier(),
    spectralcls.CCDRClassifier(),
    spectralcls.AutoClassifier(),
    KernelRidgeClassifier(),
    SpectralISEClassifier(),
    LaplacianSpectralClassifier(),
    SpectralLaplacianISEClassifier(),
]
FAR = {np.float32: (1e20, -3.4028235e38), np.float64: (1e150, 1e155, 1e300, -1.7e308)}


@pytest.mark.parametrize("dtype", FAR)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: str(c).partition("(")[0])
def test_other_queries_of_the_batch_keep_their_answers(classifier, dtype):
    X, y = make_blobs(120, n_features=4, centers=3, cluster_std=3.0, random_state=0)
    Q = X[60:].astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        classifier.fit(X[:60].astype(dtype), y[:60])
    ways = "predict", "decision_function", "predict_proba", "conformal_p_values"
    answers = {way: getattr(classifier, way)(Q) for way in ways if hasattr(classifier, way)}
    for far in FAR[dtype]:
        for row in ([far, 0, 0, 0], [far] * 4):
            batch = np.r_[Q, np.array([row], dtype)]
            for way, before in answers.items():
                found = getattr(classifier, way)(batch)
                np.testing.assert_allclose(found[:-1], before, rtol=0, atol=1e-9 if dtype == np.float64 else 2e-4)
                assert way == "decision_function" or np.isfinite(found[-1]).all()
                if way == "predict_proba":
                    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=8 * np.finfo(found.dtype).eps)
