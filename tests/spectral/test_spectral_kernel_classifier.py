"""SpectralKernelClassifier: one decomposition for all k, k per class, multilabel targets, raw strings."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC

from spectralcls.spectral import (
    SpectralKernel,
    SpectralKernelClassifier,
    _kernel_classifier,
    _spectral_kernel,
    linear_svm,
)


@pytest.fixture(scope="module")
def corpus():
    """Sparse counts of 240 documents and their topic, one of three; 60 % of the terms are common to all."""
    rng = np.random.default_rng(0)
    common = rng.dirichlet(np.full(60, 0.3))
    topics = 0.6 * common + 0.4 * rng.dirichlet(np.full(60, 0.1), size=3)
    topic = rng.integers(3, size=240)
    return sp.csr_array(rng.poisson(12 * topics[topic]).astype(float)), topic


@pytest.fixture(scope="module")
def multilabel(corpus):
    """Topic 0, topic 1, their union, and long documents."""
    X, topic = corpus
    lengths = X.sum(axis=1)
    return X, np.column_stack([topic == 0, topic == 1, topic < 2, lengths > np.median(lengths)]).astype(int)


def test_one_k_is_the_pipeline_of_embedding_and_linear_svm(corpus):
    X, topic = corpus
    y = topic == 1
    model = SpectralKernelClassifier(n_components=7, random_state=0).fit(X[:200], y[:200])
    kernel = SpectralKernel(7).fit(X[:200])
    svm = linear_svm(np.ones((1, 1)), 0).fit(kernel.transform(X[:200]), y[:200])
    expected = svm.decision_function(kernel.transform(X[200:]))
    assert_allclose(model.decision_function(X[200:]), expected, atol=0.02)  # the dual solver stops at 1e-4
    assert_array_equal(model.n_components_, [7])
    assert not hasattr(model, "cv_results_")
    assert model.score(X[200:], y[200:]) > 0.9


@pytest.mark.parametrize("scoring", ["f1", "accuracy"])
def test_k_per_class_is_what_cross_validation_of_each_class_says(multilabel, scoring):
    X, Y = multilabel
    candidates, folds = [2, 4, 8, 16], KFold(4)
    svm = LinearSVC(dual=False)
    model = SpectralKernelClassifier(svm, n_components=candidates, scoring=scoring, cv=folds).fit(X, Y)
    embedded = SpectralKernel(16, normalize=False).fit_transform(X)
    for label in range(Y.shape[1]):
        scores = []
        for k in candidates:
            predicted = cross_val_predict(svm, normalize(embedded[:, :k]), Y[:, label], cv=folds)
            truth = Y[:, label]
            scores.append(f1_score(truth, predicted) if scoring == "f1" else np.mean(predicted == truth))
        assert_allclose(model.cv_results_[f"split{label}_test_score"], scores, atol=1e-12)
        tied = np.flatnonzero(scores >= np.max(scores) - 1e-9)
        assert model.n_components_[label] == candidates[tied[(len(tied) - 1) // 2]]
    assert_array_equal(model.cv_results_["param_n_components"], candidates)
    assert len(set(model.n_components_)) > 1  # the labels differ in what they need


def test_leaving_out_one_sample_at_a_time(multilabel):
    X, Y = multilabel[0][:40], multilabel[1][:40]
    one, other = (
        SpectralKernelClassifier(LinearSVC(dual=False), n_components=[2, 4, 8], cv=cv).fit(X, Y)
        for cv in ("loo", LeaveOneOut())
    )
    assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert_array_equal(one.n_components_, other.n_components_)
    with pytest.raises(ValueError, match="'cv' parameter"):
        SpectralKernelClassifier(cv="leave one out").fit(X, Y)


def test_each_label_is_as_if_trained_alone_with_its_k(multilabel):
    X, Y = multilabel
    svm = LinearSVC(dual=False)
    together = SpectralKernelClassifier(svm, random_state=0).fit(X[:180], Y[:180])
    assert together.spectral_kernel_.eigenvalues_.shape == (together.n_components_.max(),)
    for label, k in enumerate(together.n_components_):
        alone = SpectralKernelClassifier(svm, n_components=int(k)).fit(X[:180], Y[:180, label])
        scores = together.decision_function(X[180:])[:, label]
        assert_allclose(scores, alone.decision_function(X[180:]), rtol=1e-5, atol=1e-5)
    assert_array_equal(together.predict(X[180:]), (together.decision_function(X[180:]) > 0).astype(int))


def test_default_grid_reaches_all_components_down_to_two(corpus):
    X, topic = corpus
    model = SpectralKernelClassifier(random_state=0).fit(X, topic)
    grid = model.cv_results_["param_n_components"].astype(int)
    assert grid[0] <= 3 and grid[-1] == np.linalg.matrix_rank(X.toarray())
    assert np.all(np.diff(grid) > 0) and np.all(grid[1:] / grid[:-1] <= 2.5)
    by_class = np.array([model.cv_results_[f"split{j}_test_score"] for j in range(3)])
    assert_allclose(model.cv_results_["mean_test_score"], by_class.mean(axis=0))


def test_of_tied_numbers_of_components_the_lower_middle_one_is_taken():
    X = sp.csr_array(sp.block_diag([sp.csr_array(np.ones((10, 3)) + extra) for extra in (0, np.eye(10, 3))]))
    y = np.repeat(["left", "right"], 10)
    model = SpectralKernelClassifier(n_components=[2, 3, 4], random_state=0).fit(X, y)
    assert_array_equal(model.cv_results_["mean_test_score"], 1)
    assert_array_equal(model.n_components_, [3])


def test_multiclass_labels_of_any_kind(corpus):
    X, topic = corpus
    names = np.array(["wheat", "oil", "money"], dtype=object)[topic]
    model = SpectralKernelClassifier(n_components=12, random_state=0).fit(X[:180], names[:180])
    assert list(model.classes_) == ["money", "oil", "wheat"]
    scores = model.decision_function(X[180:])
    assert scores.shape == (60, 3)
    assert_array_equal(model.predict(X[180:]), model.classes_[scores.argmax(axis=1)])
    assert model.score(X[180:], names[180:]) > 0.9


@pytest.mark.parametrize("estimator", [LogisticRegression(), SVC(kernel="rbf", gamma=2.0), GaussianNB()])
def test_any_estimator_may_follow_the_embedding(corpus, estimator):
    X, topic = corpus
    model = SpectralKernelClassifier(estimator, n_components=[3, 10], random_state=0)
    model.fit(X[:180], topic[:180])
    assert all(type(fitted) is type(estimator) for fitted in model.estimators_)
    assert not hasattr(estimator, "classes_")
    assert model.score(X[180:], topic[180:]) > 0.85


def test_an_estimator_with_probabilities_only(corpus):
    X, topic = corpus

    model = SpectralKernelClassifier(GaussianNB(), n_components=8).fit(X[:180], topic[:180] == 2)
    kernel = SpectralKernel(8).fit(X[:180])
    alone = GaussianNB().fit(kernel.transform(X[:180]), topic[:180] == 2)
    assert_allclose(
        model.decision_function(X), alone.predict_proba(kernel.transform(X))[:, 1] - 0.5, rtol=1e-6, atol=1e-9
    )


def test_all_routes_predict_alike(corpus):
    X, topic = corpus
    train, test = X[:180], X[180:]
    predictions = []
    for kernel, A, B in [
        ("linear", train, test),
        ("linear", train.toarray(), test.toarray()),
        ("linear", sp.csc_matrix(train), sp.coo_matrix(test)),
        ("precomputed", train @ train.T, test @ train.T),
        ("precomputed", (train @ train.T).toarray(), (test @ train.T).toarray()),
    ]:
        model = SpectralKernelClassifier(LinearSVC(dual=False), n_components=10, kernel=kernel)
        model.fit(A, topic[:180])
        predictions.append(model.decision_function(B))
    for other in predictions[1:]:
        assert_allclose(other, predictions[0], atol=1e-6)


@pytest.mark.parametrize("embedding", ["a", "b"])
def test_the_default_svm_does_not_depend_on_the_scale_of_the_embedding(corpus, embedding):
    """Rows of (a) have the length sqrt(k / n): with C = 1 nothing would be learned from them."""
    X, topic = corpus
    model = SpectralKernelClassifier(n_components=6, embedding=embedding, normalize=False, random_state=0)
    assert model.fit(X[:180], topic[:180]).score(X[180:], topic[180:]) > 0.85


def test_sparse_targets_and_rare_labels(multilabel):
    X, Y = multilabel
    rare = np.zeros((len(Y), 3), dtype=int)
    rare[:, 0] = 1  # a label of every document, one of none, one of a single document
    rare[17, 2] = 1
    targets = np.hstack([Y, rare])
    model = SpectralKernelClassifier(n_components=[4, 8], random_state=0).fit(X, sp.csr_array(targets))
    assert "split3_test_score" in model.cv_results_ and "split4_test_score" not in model.cv_results_
    assert_array_equal(model.n_components_[-3:], 8)
    predicted = model.predict(X)
    assert_array_equal(predicted[:, 4], 1)
    assert_array_equal(predicted[:, 5], 0)
    assert f1_score(Y[:, 0], predicted[:, 0]) > 0.9


def test_repeatable_and_independent_of_the_number_of_workers(multilabel):
    X, Y = multilabel
    one = SpectralKernelClassifier(LinearSVC(dual=False), random_state=3).fit(X, Y)
    with parallel_config("threading"):
        two = SpectralKernelClassifier(LinearSVC(dual=False), random_state=3, n_jobs=2).fit(X, Y)
    assert_array_equal(one.n_components_, two.n_components_)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert_array_equal(pickle.loads(pickle.dumps(one)).decision_function(X), one.decision_function(X))


def test_empty_documents_get_the_bias_alone(corpus):
    X, topic = corpus
    model = SpectralKernelClassifier(n_components=5, random_state=0).fit(X, topic)
    bias = [estimator.decision_function(np.zeros((1, 5)))[0] for estimator in model.estimators_]
    assert_allclose(model.decision_function(sp.csr_array((2, X.shape[1]))), [bias, bias])


def test_from_raw_strings():
    grain = ["wheat harvest falls", "corn and wheat prices", "grain exports of corn", "barley and grain"]
    energy = ["crude oil prices", "oil tanker sinks", "pipeline for gas", "gas and crude exports"]
    model = make_pipeline(TfidfVectorizer(), SpectralKernelClassifier(n_components=4, random_state=0))
    model.fit(grain + energy, ["grain"] * 4 + ["energy"] * 4)
    predicted = model.predict(["corn harvest", "a tanker of crude", "gas pipeline"])
    assert list(predicted) == ["grain", "energy", "energy"]
    model.predict(["", "words never seen before"])  # nothing is known, and nothing breaks


def test_the_bandwidth_is_the_best_of_the_grid_and_follows_the_scale_of_the_data():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SpectralKernelClassifier().fit(X, y)
    results = model.cv_results_
    tried = np.unique(results["param_bandwidth"].astype(float))
    assert len(tried) == 6 and tried[0] < SpectralKernel().fit(X).bandwidth_ < tried[-1]
    assert model.spectral_kernel_.bandwidth_ == results["params"][results["mean_test_score"].argmax()]["bandwidth"]
    assert model.n_tuning_samples_ == len(X)
    wide = SpectralKernelClassifier(scale=None).fit(8 * X, y)
    assert_allclose(wide.spectral_kernel_.bandwidth_, 8 * model.spectral_kernel_.bandwidth_)
    assert_array_equal(wide.predict(8 * X), model.predict(X))


def test_the_bandwidth_is_tuned_on_a_part_of_many_samples():
    X, y = make_moons(900, noise=0.2, random_state=0)
    model = SpectralKernelClassifier(max_tuning_samples=200, n_components=[4, 20]).fit(X[::2], y[::2])
    assert model.n_tuning_samples_ == 200
    assert model.score(X[1::2], y[1::2]) > 0.95


def test_eigenpairs_have_the_digits_that_decisions_need(monkeypatch):
    X, y = make_moons(1100, noise=0.25, random_state=0)
    make = lambda: SpectralKernelClassifier(n_components=[20, 60], bandwidth=0.3)  # noqa: E731
    rough = make().fit(X[:1000], y[:1000])
    monkeypatch.setattr(_kernel_classifier, "TOLERANCE", None)
    fine = make().fit(X[:1000], y[:1000])
    assert not np.array_equal(rough.spectral_kernel_.eigenvalues_, fine.spectral_kernel_.eigenvalues_)
    assert_allclose(rough.decision_function(X), fine.decision_function(X), atol=1e-4)


def test_far_queries_are_not_decided_by_intercepts():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 4 * np.array([[1, 0], [-1, 1], [-1, -1]])[y]
    model = SpectralKernelClassifier(bandwidth=1.0).fit(X, y)
    far = 1e4 * np.array([[1.0, 0], [-1, 1], [-1, -1]])
    assert_array_equal(model.predict(far), [0, 1, 2])


def test_bad_input(corpus):
    X, topic = corpus
    for wrong in ([], [0, 3], [2.5], [[2, 3]], ["a"]):
        with pytest.raises(ValueError, match="n_components"):
            SpectralKernelClassifier(n_components=wrong).fit(X, topic)
    with pytest.raises(ValueError, match="Unknown label type: multiclass-multioutput"):
        SpectralKernelClassifier().fit(X, np.column_stack([topic, topic]))
    with pytest.raises(ValueError, match="Negative values.*kernel='gaussian'"):
        SpectralKernelClassifier(kernel="linear").fit(X.toarray() - 1, topic)
    rank = np.linalg.matrix_rank(X.toarray())
    model = SpectralKernelClassifier(n_components=[10, 90], cv=2, random_state=0).fit(X, topic)
    assert_array_equal(model.cv_results_["param_n_components"], [10, rank])
    with pytest.raises(ValueError, match="groups"):
        SpectralKernelClassifier(cv=GroupKFold()).fit(X, topic)
    with pytest.raises(ValueError, match="scoring='r2' needs least squares"):
        SpectralKernelClassifier(LinearSVC(), scoring="r2").fit(X, topic)


def copies_of(weights):
    return np.repeat(np.arange(len(weights)), weights)


def same_decisions(weighted, repeated, Q):
    assert_array_equal(weighted.n_components_, repeated.n_components_)
    assert_allclose(weighted.decision_function(Q), repeated.decision_function(Q), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel, rtol", [("gaussian", 0), ("precomputed", 1e-12)])
def test_a_sample_of_weight_zero_is_not_there(kernel, rtol):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    kept = weights > 0
    square = X @ X.T
    whole, part, queries = (X, X[kept], X) if kernel == "gaussian" else (square, square[kept][:, kept], square[:, kept])
    weighted = SpectralKernelClassifier(kernel=kernel).fit(whole, y, sample_weight=weights)
    without = SpectralKernelClassifier(kernel=kernel).fit(part, y[kept], sample_weight=weights[kept])
    for machine, other in zip(weighted.estimators_, without.estimators_, strict=True):
        assert_allclose(machine.coef_, other.coef_, rtol=rtol)
    assert_allclose(weighted.decision_function(whole), without.decision_function(queries), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("container", "class_weight"), [(np.asarray, None), (sp.csr_array, "balanced")])
def test_a_weight_is_a_number_of_copies_of_sparse_rows_that_validate_together(multilabel, container, class_weight):
    X, Y = multilabel
    weights = np.random.default_rng(0).integers(0, 3, len(Y))
    rows, fold = copies_of(weights), np.arange(len(Y)) % 3
    splits, copied = (
        [(np.flatnonzero(of_row != f), np.flatnonzero(of_row == f)) for f in range(3)] for of_row in (fold, fold[rows])
    )
    model = SpectralKernelClassifier(n_components=[3, 6], class_weight=class_weight)
    weighted = clone(model).set_params(cv=splits).fit(X, container(Y), sample_weight=weights)
    repeated = clone(model).set_params(cv=copied).fit(X[rows], container(Y[rows]))
    same_decisions(weighted, repeated, X)


def test_weights_reach_a_given_estimator_or_say_that_they_cannot(corpus):
    X, topic = corpus
    weights = np.linspace(0, 2, len(topic))
    given = SpectralKernelClassifier(SVC(kernel="linear"), n_components=4).fit(X, topic, sample_weight=weights)
    assert given.score(X, topic) > 0.5
    with pytest.raises(ValueError, match="estimator KNeighborsClassifier does not support sample_weight"):
        SpectralKernelClassifier(KNeighborsClassifier(), n_components=4).fit(X, topic, sample_weight=weights)
    with pytest.raises(ValueError, match="at least one non-zero"):
        SpectralKernelClassifier().fit(X, topic, sample_weight=np.zeros(len(topic)))


@pytest.mark.parametrize("weighted", [False, True])
def test_rough_eigenpairs_in_single_precision_are_those_of_double(monkeypatch, weighted):
    X, y = make_blobs(400, 5, centers=6, center_box=(-4, 4), random_state=0)
    w = np.random.default_rng(0).integers(1, 4, len(X)) if weighted else None
    found = []
    for side in (1, 10_000):
        monkeypatch.setattr(_spectral_kernel, "_SINGLE_SIDE", side)
        found.append(SpectralKernelClassifier(n_components=20).fit(X, y, w).decision_function(X + 0.1))
    assert not np.array_equal(*found)
    assert_allclose(*found, atol=1e-3)


def test_distances_that_single_precision_rounds_away_stay_in_double(monkeypatch):
    X = 1e4 * np.repeat([[0.0], [1.0]], 50, axis=0) + np.arange(100.0)[:, None] / 100
    kernel = SpectralKernel()
    kernel.tol = 1e-4
    monkeypatch.setattr(_spectral_kernel, "_SINGLE_SIDE", 100)
    for bandwidth, dtype in ((0.1, np.float64), (1e4, np.float32)):
        kernel.bandwidth_ = bandwidth
        assert kernel._rounded(X).dtype == dtype
