"""What held-out scores say of a candidate: weights are copies, and of nearly equal ones the accuracy decides."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import log_softmax

from spectralcls._tuning.judge import Judge
from spectralcls._tuning.sample import TuningSample
from spectralcls._tuning.search import search
from spectralcls._tuning.temperature import best_temperature


def sample_of(codes, weights):
    return TuningSample(np.zeros((len(codes), 1)), codes, 3, weights, np.arange(len(codes)) % 2)


def test_weight_k_is_k_copies_for_the_temperature_and_the_log_loss():
    rng = np.random.default_rng(0)
    codes, copies = np.arange(90) % 3, rng.integers(1, 9, 90)
    scores = np.eye(3)[codes] * rng.normal(1, 2, (90, 1)) + rng.normal(size=(90, 3))
    rows = np.repeat(np.arange(90), copies)
    judges = [Judge(sample_of(codes, copies / 10), (1,)), Judge(sample_of(codes[rows], np.full(len(rows), 0.1)), (1,))]
    for judge, each in zip(judges, (scores, scores[rows]), strict=True):
        judge.add(slice(None), each[:, None])
    weighted, copied = (judge.temperature((0,)) for judge in judges)
    assert_allclose(weighted, copied, rtol=1e-6)
    equal = Judge(sample_of(codes, np.ones(90)), (1,))
    equal.add(slice(None), scores[:, None])
    assert abs(equal.temperature((0,)) / weighted - 1) > 0.02  # the weights matter here
    losses = log_softmax(scores / weighted, axis=1)[np.arange(90), codes]
    assert_allclose(judges[0].log_score((0,)), np.average(losses, weights=copies), rtol=1e-5)
    assert_allclose(judges[1].log_score((0,)), judges[0].log_score((0,)), rtol=1e-6)


def test_of_nearly_equal_balanced_accuracies_the_accuracy_decides():
    """The second candidate finds one of ten rare points less, and a tenth of the frequent ones more."""
    codes = np.repeat([0, 1, 1, 1, 1, 1, 1, 1, 1, 1], 10)
    sample = TuningSample(np.zeros((100, 1)), codes, 2, np.ones(100), np.arange(100) % 2)
    right = np.ones((100, 2), dtype=bool)
    right[:2, 0] = right[:3, 1] = right[10:19, 0] = False
    for scoring, found in (("balanced_accuracy", 1), ("accuracy", 1)):
        judge = Judge(sample, (2,), scoring)
        judge.add(slice(None), np.zeros((100, 2, 2)), right=right)
        scored = judge.scored()
        assert search(sample, {"which": [0, 1]}, lambda s, which, scored=scored: scored).params["which"] == found
    assert_allclose([judge.accuracy((i,)) for i in (0, 1)], [0.89, 0.97])
    balanced = Judge(sample, (2,), "balanced_accuracy")
    balanced.add(slice(None), np.zeros((100, 2, 2)), right=right)
    assert balanced.scored().by_split.mean(axis=0).argmax() == 0


def test_the_temperature_of_scores_that_are_always_wrong_is_the_highest():
    """A hundred times the scale of the scores: probabilities are then within a hundredth of equal ones."""
    scores, codes = np.tile([[1.0, -1.0]], (50, 1)), np.ones(50, dtype=int)
    assert_allclose(best_temperature(scores, codes), 100.0, rtol=1e-3)
