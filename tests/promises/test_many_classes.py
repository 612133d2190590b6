"""With hundreds of classes a fit takes bounded memory and minutes, or says before its work that it would not."""

import numpy as np
import pytest

from spectralcls import AutoClassifier, PerTurboClassifier
from spectralcls.perturbo import _held_out_spans
from spectralcls.spectral import SpectralKernelClassifier


def draw(n_classes, n, d=8):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return 3 * rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("most", [1, 1 << 14])
def test_shares_of_fewer_bandwidths_at_a_time_are_the_same(monkeypatch, most):
    X, y = draw(12, 60)
    whole = PerTurboClassifier().fit(X, y)
    monkeypatch.setattr(_held_out_spans, "_BYTES", most)
    parts = PerTurboClassifier().fit(X, y)
    np.testing.assert_allclose(parts.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert (parts.bandwidth_, parts.alpha_) == (whole.bandwidth_, whole.alpha_)
    np.testing.assert_allclose(parts.temperature_, whole.temperature_, rtol=1e-6)


def test_the_best_class_is_the_first_of_the_largest():
    shares = np.array([[0.0, 0.2, 0.5, 0.1], [0.0, 0.3, 0.5, 0.1], [0.0, 0.1, 0.4, 0.2]])
    np.testing.assert_array_equal(_held_out_spans._best(shares), [-1, 1, 0, 2])


@pytest.mark.parametrize("classifier", [AutoClassifier(), SpectralKernelClassifier()])
def test_more_than_a_thousand_classes_are_refused_with_what_takes_them(classifier):
    with pytest.raises(ValueError, match="up to 1000 classes, got 1001.*Use ParzenClassifier or KernelRidge"):
        classifier.fit(*draw(1001, 2002))
