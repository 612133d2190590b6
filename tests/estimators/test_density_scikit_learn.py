"""scikit-learn's own tests of `KernelDensity`, as installed, with `ParzenDensity` in its place.

The adapter takes KernelDensity's parameters. Of those that `ParzenDensity` does not have, ``algorithm``,
``leaf_size`` and ``breadth_first`` belong to a tree and are dropped; ``atol`` and ``rtol`` allow an error that exact
sums do not need.

Left out:

- distances other than the Euclidean (``metric``): the cases of test_kde_algorithm_metric_choice for them, and in
  test_kde_sample_weights, which loops over them, they are taken as Euclidean;
- ``bandwidth="scott"`` and ``"silverman"``: scikit-learn's rules ignore the spread of the data, ours do not. Of
  test_bandwidth only the number remains; test_kernel_density gets the numbers of scikit-learn's rules;
- the last lines of test_kernel_density_sampling, which expect that four kernels cannot be sampled from: here they can,
  so that the test has to end there.
"""

import numpy as np
import pytest

theirs = pytest.importorskip("sklearn.neighbors.tests.test_kde")

from spectralcls import ParzenDensity  # noqa: E402

RULES = {
    "scott": lambda n, d: n ** (-1 / (d + 4)),
    "silverman": lambda n, d: (n * (d + 2) / 4) ** (-1 / (d + 4)),
}


class KernelDensity(ParzenDensity):
    """A pipeline names its step after the class."""


def adapter(bandwidth=1.0, kernel="gaussian", **of_the_tree):
    known = {"algorithm", "leaf_size", "breadth_first", "atol", "rtol", "metric", "metric_params"}
    assert set(of_the_tree) <= known
    bandwidth = RULES[bandwidth](100, 3) if isinstance(bandwidth, str) else bandwidth
    return KernelDensity(bandwidth, kernel=kernel)


@pytest.fixture(autouse=True)
def in_its_place(monkeypatch):
    monkeypatch.setattr(theirs, "KernelDensity", adapter)


KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.mark.parametrize("bandwidth", [0.01, 0.1, 1, "scott", "silverman"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_density(kernel, bandwidth):
    with np.errstate(all="ignore"):
        theirs.test_kernel_density(kernel, bandwidth)


def test_kernel_density_sampling():
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE .*NotImplementedError"):
        theirs.test_kernel_density_sampling()


@pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "kd_tree"])
@pytest.mark.parametrize("metric", ["euclidean"])
def test_kde_algorithm_metric_choice(algorithm, metric):
    theirs.test_kde_algorithm_metric_choice(algorithm, metric)


@pytest.mark.parametrize(
    "name",
    ["test_kde_score", "test_kde_sample_weights_error", "test_kde_pipeline_gridsearch", "test_kde_sample_weights"],
)
def test_as_it_is(name):
    getattr(theirs, name)()


@pytest.mark.parametrize("sample_weight", [None, [0.1, 0.2, 0.3]])
def test_pickling(tmpdir, sample_weight):
    theirs.test_pickling(tmpdir, sample_weight)


@pytest.mark.parametrize("method", ["score_samples", "sample"])
def test_check_is_fitted(method):
    theirs.test_check_is_fitted(method)


def test_bandwidth():
    theirs.test_bandwidth(0.1)


def test_none_of_their_tests_is_forgotten():
    names = {name for name in vars(theirs) if name.startswith("test_")}
    assert names <= {
        "test_as_it_is",
        "test_bandwidth",
        "test_check_is_fitted",
        "test_kde_algorithm_metric_choice",
        "test_kde_pipeline_gridsearch",
        "test_kde_sample_weights",
        "test_kde_sample_weights_error",
        "test_kde_score",
        "test_kernel_density",
        "test_kernel_density_sampling",
        "test_pickling",
    }
