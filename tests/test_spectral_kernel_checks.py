"""scikit-learn's own checks, for every route to the input similarity."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralcls.spectral_kernel import SpectralKernel, SpectralKernelClassifier

ESTIMATORS = [
    SpectralKernel(),
    SpectralKernel(kernel="gaussian", bandwidth=1.0),
    SpectralKernel(kernel="polynomial", embedding="a", normalize=False),
    SpectralKernel(transformation="identity", normalize=False),
    SpectralKernel(kernel="precomputed"),
    SpectralKernelClassifier(),
    SpectralKernelClassifier(normalize=False),
    SpectralKernelClassifier(kernel="gaussian", bandwidth=1.0),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)
