import numpy as np
import pytest
from perturbo_cases import data

from spectralcls._inputs import Inputs
from spectralcls._tuning import draw_sample
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._held_out_spans import judged
from spectralcls.perturbo._span import Regularization

TIKHONOV = Regularization("tikhonov")


def training_data(X, y):
    return Inputs("PerTurboClassifier", missing="integrate").fit(X, y)


def test_tuning_on_a_subsample_shrinks_the_bandwidth():
    X, y = data(n=400, d=2)
    clf = PerTurboClassifier(max_tuning_samples=50, bandwidth_grid=[0.5, 1.0, 2.0], scale=None).fit(X, y)
    assert clf.n_tuning_samples_ == 50  # of all classes together
    assert clf.bandwidth_ in clf.cv_results_["param_bandwidth"]
    sample = draw_sample(training_data(X, y), cv="loo", max_samples=50, random_state=0)
    judge = judged(sample, np.array([0.5, 1.0, 2.0]) * 8 ** (1 / 6), clf.cv_results_["param_alpha"][:7], TIKHONOV)
    scores = judge.scored().by_split
    np.testing.assert_allclose(scores.ravel(), clf.cv_results_["mean_test_score"])


def test_leave_one_out_resolves_shares_far_below_rounding():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [10.0], [1e6]])
    sample = draw_sample(training_data(X, [0, 0, 1, 1, 1, 1]), cv="loo", max_samples=None, random_state=0)
    assert judged(sample, [0.5], [1e-3], TIKHONOV).scored().by_split[0, 0, 0] == pytest.approx(
        5 / 6
    )  # nothing speaks for 1e6


def test_of_tied_candidates_the_lower_middle_one_is_taken():
    X = np.array([[0.0], [0.1], [100.0], [100.1]])
    grids = {"bandwidth_grid": [0.5, 1.0, 2.0, 4.0], "alpha_grid": [1e-3, 1e-2]}
    clf = PerTurboClassifier(**grids, scale=None).fit(X, [0, 0, 1, 1])
    assert (clf.cv_results_["mean_test_score"] == 1).all()
    assert (clf.bandwidth_, clf.alpha_) == (1.0, 1e-3)
