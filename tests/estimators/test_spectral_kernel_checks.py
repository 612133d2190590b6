"""scikit-learn's own checks, for every route to the input similarity."""

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


def _not_expected(estimator):
    if isinstance(estimator, SpectralKernelClassifier) and estimator.kernel == "linear":
        return {"check_class_weight_classifiers": "its data have negative values, which a linear similarity refuses"}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_not_expected)
def test_sklearn_checks(estimator, check):
    check(estimator)
