"""Sample weights of extreme sizes are refused in words, or count for nothing; nothing becomes NaN."""

import inspect
import warnings

import numpy as np
import pytest
from every_estimator import answered, assert_same, classifiers, make, names, problem, responses
from sklearn.exceptions import ConvergenceWarning

from spectralcls import CauchySchwarzClassifier, ISEClassifier
from spectralcls._utils.validation import mean_one
from spectralcls.information import cauchy_schwarz_divergence, shannon_entropy
from spectralcls.kernel_mean import reduce_training_set

X, y, Q = problem()


def weighted(some):
    return [name for name in some if "sample_weight" in inspect.signature(make(name).fit).parameters]


def fitted(name, weights, dtype=np.float64):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few points for a metric
        return make(name, fixed=True).fit(X.astype(dtype), y, sample_weight=weights)


@pytest.mark.parametrize("size", [1e-320, 1e-130, 0.9, 1e130, 1.7e308])
@pytest.mark.parametrize("name", [name for name in weighted(names()) if name != "SpectralKernel"])
def test_equal_weights_of_any_size_are_no_weights(name, size):
    assert_same(responses(fitted(name, np.full(len(X), size)), Q), answered(name))


@pytest.mark.parametrize("name", weighted(names()))
def test_weights_that_are_all_zero_are_refused(name):
    with pytest.raises(ValueError, match="weight"):
        fitted(name, np.zeros(len(X)))


def test_a_training_set_is_not_reduced_by_them_either():
    for size in (1e-320, 1.7e308):
        with pytest.raises(ValueError, match="multiply all weights"):
            reduce_training_set(X, y, 9, sample_weight=np.full(len(X), size))


@pytest.mark.parametrize("name", weighted(names()))
def test_a_weight_that_no_sum_can_see_is_zero(name):
    rows = np.arange(len(X)) % 9 == 4
    tiny, zero = (fitted(name, np.where(rows, size, 1.0)) for size in (1e-320, 0.0))
    assert_same(responses(tiny, Q), responses(zero, Q))


@pytest.mark.parametrize("dtype, share", [(np.float64, 1e-160), (np.float32, 1e-46)])
@pytest.mark.parametrize("name", weighted(classifiers()))
def test_no_class_is_lost_without_a_word(name, dtype, share):
    try:
        classifier = fitted(name, np.where(y == 2, share, 1.0), dtype)
    except ValueError as error:
        assert "All sample weights of class" in str(error) and "enlarge them" in str(error)
    else:
        answers = responses(classifier, Q.astype(dtype))
        assert len(classifier.classes_) == 3 and all(np.isfinite(values).all() for values in answers.values())


@pytest.mark.parametrize("kind", [CauchySchwarzClassifier, ISEClassifier])
def test_a_class_that_vanishes_beside_later_points_is_refused(kind):
    first, later = np.arange(len(X)) < 30, np.arange(len(X)) >= 30
    single, labels = X.astype(np.float32), np.where(later, 3, y)
    classifier = kind(1.0, scale=None).partial_fit(
        single[first], labels[first], classes=[0, 1, 2, 3], sample_weight=np.full(30, 1e-25)
    )
    before = responses(classifier, Q)
    with pytest.raises(ValueError, match="largest sample weight"):
        classifier.partial_fit(single[later], labels[later], sample_weight=np.full(later.sum(), 1e25))
    assert_same(responses(classifier, Q), before)


def test_only_the_ratios_count_in_entropies_up_to_the_largest_weights():
    sizes = np.linspace(0.5, 1.0, len(X))
    for largest in (1e-300, 1.7e308):
        weights = {"sample_weight_X": largest * sizes, "sample_weight_Y": np.full(len(Q), largest)}
        expected = cauchy_schwarz_divergence(X, Q, bandwidth=1.0, sample_weight_X=sizes)
        assert cauchy_schwarz_divergence(X, Q, bandwidth=1.0, **weights) == pytest.approx(expected, rel=1e-12)
        entropy = shannon_entropy(X, bandwidth=1.0, sample_weight=largest * sizes)
        assert entropy == pytest.approx(shannon_entropy(X, bandwidth=1.0, sample_weight=sizes), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in classifiers() if "class_weight" in make(name).get_params()])
def test_weights_of_classes_that_are_none_are_refused(name):
    labels = np.unique(y)
    for weight, message in (-1.0, "finite and not negative, got -1"), (np.nan, "finite and not negative, got nan"):
        with pytest.raises(ValueError, match=message):
            make(name).set_params(class_weight=dict.fromkeys(labels, 1.0) | {labels[0]: weight}).fit(X, y)
    with pytest.raises(ValueError, match="not in class_weight"):
        make(name).set_params(class_weight={"misspelt": 2.0}).fit(X, y)


@pytest.mark.parametrize("part, equal", [(0.4, True), (0.6, False)])
def test_weights_of_49_equal_bits_are_equal(part, equal):
    """Those between one and two are multiples of 2^-48."""
    step = part * 2.0**-48
    found, unit = mean_one(np.array([1.0, 1 + step, 1 - step]))
    assert unit == 1 and (found[1] == found[0]) == equal
