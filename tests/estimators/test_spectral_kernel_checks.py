"""scikit-learn's own checks, for every route to the input similarity."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralcls.spectral import SpectralKernel, SpectralKernelClassifier

ESTIMATORS = [
    SpectralKernel(),
    SpectralKernel(kernel="linear"),
    SpectralKernel(rank=20),
    SpectralKernel(kernel="polynomial", embedding="a", normalize=False),
    SpectralKernel(kernel="linear", weighting=None, normalize=False),
    SpectralKernel(kernel="precomputed"),
    SpectralKernelClassifier(),
    SpectralKernelClassifier(kernel="linear"),
    SpectralKernelClassifier(kernel="linear", normalize=False),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    if check.func.__name__ == "check_class_weight_classifiers" and estimator.kernel == "linear":
        pytest.skip("its data have negative values, which a linear similarity refuses")
    check(estimator)
