import pickle

import numpy as np
import perturbo_cases
import pytest

from spectralcls.kernel_mean import ParzenClassifier
from spectralcls.perturbo import ActivePool, PerTurboClassifier


def data(n=200):
    return perturbo_cases.data(n, apart=1.5)


def fixed(**kwargs):
    return PerTurboClassifier(**{"bandwidth": 1.0, "alpha": 1e-2, "scale": None} | kwargs)


def margin(clf, X):
    return ActivePool(clf, X).margin


def query(clf, X, n=1, **options):
    return ActivePool(clf, X).query(n, **options)


def test_margin_is_the_gap_of_the_two_least():
    X, y = data()
    clf = fixed().fit(X[:60], y[:60])
    tau = np.sort(clf.perturbation(X), axis=1)
    np.testing.assert_allclose(margin(clf, X), tau[:, 1] - tau[:, 0], rtol=0, atol=1e-14)
    two = fixed().fit(X[y < 2], y[y < 2])
    np.testing.assert_allclose(margin(two, X), np.abs(np.diff(two.perturbation(X), axis=1)[:, 0]))


def test_margin_vanishes_on_a_symmetric_border():
    X = np.random.default_rng(0).normal(size=(30, 2)) + [2, 0]
    mirrored = X * [-1, 1]
    clf = fixed().fit(np.concatenate([X, mirrored]), np.repeat([0, 1], 30))
    border = np.stack([np.zeros(20), np.linspace(-2, 2, 20)], axis=1)
    np.testing.assert_allclose(margin(clf, border), 0, atol=1e-12)
    assert np.all(margin(clf, border + [1.0, 0]) > 1e-2)


def test_query_draws_uniformly_among_the_nearest_tenth():
    X, y = data()
    clf = fixed().fit(X[:60], y[:60])
    nearest = set(np.argsort(margin(clf, X))[:20])
    drawn = [query(clf, X, random_state=seed)[0] for seed in range(400)]
    assert set(drawn) == nearest
    assert np.bincount(drawn).max() < 45  # 20 expected each
    assert query(clf, X, random_state=3) == query(clf, X, random_state=3)


def test_a_batch_has_no_near_duplicates():
    X, y = data(n=40)
    pool = np.repeat(X, 10, axis=0) + 1e-9 * np.random.default_rng(1).normal(size=(400, 3))
    clf = fixed().fit(X, y)
    for seed in range(20):
        batch = query(clf, pool, n=4, fraction=0.25, random_state=seed)
        assert len(set(batch)) == 4
        assert len(set(batch // 10)) == 4  # from four different originals
    everything = query(clf, pool, n=400, random_state=0)
    np.testing.assert_array_equal(np.sort(everything), np.arange(400))


def test_bad_queries():
    X, y = data()
    clf = fixed().fit(X[:60], y[:60])
    for pool, n in ((X[:0], 1), (X[:3], 4), (X[:, :2], 1)):
        with pytest.raises(ValueError):
            query(clf, pool, n)
    with pytest.raises(ValueError):
        query(clf, X, 0)
    with pytest.raises(ValueError):
        query(clf, X, fraction=0.0)
    with pytest.raises(ValueError, match="two classes"):
        margin(fixed().fit(X, np.zeros(len(X))), X)


@pytest.mark.parametrize("parameters", [{}, {"regularization": "truncate"}, {"regularization": None}, {"rank": 25}])
def test_pool_follows_the_classifier(parameters):
    X, y = data()
    y = np.where(np.arange(200) > 190, 7, y)  # a class that the start does not know
    clf = fixed(**parameters).fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:])
    rng = np.random.RandomState(0)
    for n in [1] * 10 + [3] * 10 + [5]:
        chosen = pool.query(n, random_state=rng)
        pool.label(chosen, y[30:][chosen])
        np.testing.assert_allclose(pool.perturbation, clf.perturbation(pool.X[pool.remaining]), atol=1e-10)
    pool.label([161, 162], [7, 7])
    assert 7 in clf.classes_
    clf.partial_fit(X[:5] + 0.3, y[:5])
    pool.refresh()
    remaining = pool.remaining
    np.testing.assert_allclose(pool.perturbation, clf.perturbation(pool.X[remaining]), atol=1e-10)
    labeled = 30 + np.setdiff1d(np.arange(170), remaining)
    whole = fixed(**parameters).fit(
        np.concatenate([X[:30], X[labeled], X[:5] + 0.3]), np.concatenate([y[:30], y[labeled], y[:5]])
    )
    np.testing.assert_allclose(clf.perturbation(X), whole.perturbation(X), atol=1e-9)


def test_pool_notices_a_refit():
    X, y = data()
    clf = fixed().fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:])
    clf.fit(X[:60], y[:60])
    np.testing.assert_allclose(pool.refresh().perturbation, clf.perturbation(X[30:]), atol=1e-12)


def test_pool_buffers_double(monkeypatch):
    X, y = data()
    clf = fixed().fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:])
    sizes = set()
    for i in range(90):
        pool.label(i, y[30 + i])
        sizes.add(len(pool._classes[0]._B))
    assert len(sizes) <= 4


def test_a_pool_is_for_perturbo():
    X, y = data()
    with pytest.raises(TypeError, match="must be a PerTurboClassifier, got ParzenClassifier"):
        ActivePool(ParzenClassifier(1.0).fit(X, y), X)


def test_bad_labels_change_nothing():
    X, y = data()
    clf = fixed().fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:]).label(3, 0)
    models, tau = clf._models, pool.perturbation
    for positions, labels in (([3], [0]), ([4, 4], [0, 0]), ([4, 5], [0])):
        with pytest.raises(ValueError):
            pool.label(positions, labels)
    m = len(pool.X)
    for positions, labels in (
        (500, 0),  # outside
        ([m], [0]),
        ([-1], [0]),
        ([-1, m - 1], [0, 1]),  # the same sample as two classes
        ([1.0], [0]),
        ([True], [0]),
        ([[1, 2]], [[0, 1]]),
        ([1], [0.5]),
        ([1, 2], [[0, 1]]),
    ):
        with pytest.raises(ValueError):
            pool.label(positions, labels)
    with pytest.raises(ValueError, match="positions"):
        pool.leave_out([-1])
    assert pool.label([], []) is pool
    assert clf._models is models
    np.testing.assert_array_equal(pool.perturbation, tau)
    with pytest.raises(ValueError, match="remain"):
        pool.query(1000)
    for wrong in ({"n": 0}, {"fraction": -1}, {"fraction": 0}, {"fraction": 1.5}, {"fraction": np.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pool.query(**wrong)
    with pytest.raises(TypeError, match="n must be an instance of int"):
        pool.query(1.5)


@pytest.mark.parametrize("class_weight", [{0: 50}, {0: 0.25, 2: 3.0}])
@pytest.mark.parametrize("parameters", [{}, {"regularization": "truncate"}])
def test_labels_weigh_what_their_class_does(class_weight, parameters):
    X, y = data()
    clf = fixed(class_weight=class_weight, **parameters).fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:])
    for i in range(40):
        pool.label(i, y[30 + i])
    pool.label(np.arange(40, 60), y[70:90])
    whole = fixed(class_weight=class_weight, **parameters).fit(X[:90], y[:90])
    np.testing.assert_allclose(clf.perturbation(X), whole.perturbation(X), atol=1e-9)
    np.testing.assert_allclose(pool.perturbation, whole.perturbation(X[90:]), atol=1e-9)


def test_nobody_can_tell():
    X, y = data()
    clf = fixed().fit(X[:30], y[:30])
    pool = ActivePool(clf, X[30:])
    tau = clf.perturbation(X)
    pool.label(5, None)
    np.testing.assert_array_equal(clf.perturbation(X), tau)
    assert 5 not in pool.remaining
    pool.label([6, 7, 8], [1, None, 2])
    assert len(pool.remaining) == 170 - 4
    whole = fixed().fit(np.r_[X[:30], X[[36, 38]]], np.r_[y[:30], [1, 2]])
    np.testing.assert_allclose(clf.perturbation(X), whole.perturbation(X), atol=1e-10)
    texts = fixed().fit(X[:30], np.array(["a", "b", "c"])[y[:30]])
    ActivePool(texts, X[30:]).label([0, 1], ["a", None])
    assert texts.classes_.tolist() == ["a", "b", "c"]


def test_a_label_of_another_type_is_said():
    X, y = data()
    pool = ActivePool(fixed().fit(X[:30], y[:30]), X[30:])
    with pytest.raises(ValueError, match="labels of another type.*'seven' now, 0 before"):
        pool.label(1, "seven")


def test_scales_are_those_of_labeled_and_unlabeled_samples():
    """Once all samples of the pool have labels, the classifier is the one that is fitted to all of them."""
    X, y = data()
    X = X * [1.0, 100.0, 0.01] + [0.0, 5.0, 1e3]
    few = np.r_[:6]  # whose scales say little
    clf = fixed(scale="auto").fit(X[few], y[few])
    alone = clf.perturbation(X)
    pool = ActivePool(clf, X[6:])
    for i in range(194):
        pool.label(i, y[6 + i])
        if i == 50:
            np.testing.assert_allclose(pool.perturbation, clf.perturbation(X[57:]), atol=1e-10)
    whole = fixed(scale="auto").fit(X, y)
    np.testing.assert_allclose(clf.perturbation(X), whole.perturbation(X), atol=1e-8)
    assert np.abs(alone - whole.perturbation(X)).max() > 0.1


def test_a_table_whose_levels_and_classes_the_first_samples_do_not_have():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    place, noise = rng.integers(6, size=(2, 400))
    levels = np.array(list("abcdef"))
    table = pd.DataFrame({"size": rng.normal(size=400) * 1e3, "place": levels[place], "noise": levels[noise]})
    y = place % 3
    first = np.flatnonzero(place < 2)[:8]
    rest = np.setdiff1d(np.arange(400), first)
    known, late = np.r_[first, rest[:120]], rest[120:]
    clf = fixed(scale="auto").fit(table.iloc[first], y[first])
    pool = ActivePool(clf, table.iloc[rest].reset_index(drop=True))
    assert clf._inputs.table.types[1].levels == tuple("abcdef")
    for i in range(120):
        pool.label(i, y[rest[i]])
    np.testing.assert_allclose(pool.perturbation, clf.perturbation(table.iloc[late]), atol=1e-10)
    refit = fixed(scale="auto").fit(table.iloc[known], y[known]).score(table.iloc[late], y[late])
    assert refit > 0.9 and clf.score(table.iloc[late], y[late]) > refit - 0.03
    pool.label(pool.remaining, y[rest][pool.remaining])  # to the last one
    assert len(pool.remaining) == 0 and pool.perturbation.shape == (0, 3)


@pytest.mark.filterwarnings("ignore:PerTurboClassifier predicts the same class")
@pytest.mark.parametrize("numbers_alone", [True, False])
def test_refreshed_it_is_a_pool_whose_classifier_was_fitted_to_the_same_labels(numbers_alone):
    """Distances of levels, bandwidth and ridge are then chosen by all labels, not by the first ones."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y, noise = rng.integers(3, size=(2, 160))
    table = pd.DataFrame({"a": y + rng.normal(size=160), "b": 1e3 * rng.normal(size=160)})
    if not numbers_alone:
        table["place"] = np.array(list("uvw"))[np.where(rng.random(160) < 0.8, y, noise)]
        table["noise"] = np.array(list("xyz"))[noise]
    pool = ActivePool(PerTurboClassifier().fit(table[:9], y[:9]), table[9:].reset_index(drop=True))
    for i in range(60):
        pool.label(i, y[9 + i])
    pool.refresh()
    same = ActivePool(PerTurboClassifier().fit(table[:69], y[:69]), table[69:].reset_index(drop=True))
    assert (pool.estimator.bandwidth_, pool.estimator.alpha_) == (same.estimator.bandwidth_, same.estimator.alpha_)
    factors = [[getattr(c, "factor", 1.0) for c in p.estimator._inputs.table.columns] for p in (pool, same)]
    assert factors[0] == factors[1] and (numbers_alone or factors[0][2] > 0)
    np.testing.assert_allclose(pool.perturbation, same.perturbation, atol=1e-9)
    np.testing.assert_allclose(pool.perturbation, pool.estimator.perturbation(table[69:]), atol=1e-9)


def test_a_pool_after_growth_and_after_a_refit_has_the_scales_of_all():
    X, y = data()
    X = X * [1.0, 100.0, 0.01]
    clf = fixed(scale="auto").fit(X[:6], y[:6]).partial_fit(X[6:12], y[6:12])
    pool = ActivePool(clf, X[12:])
    whole = fixed(scale="auto").fit(X, y)
    for own, other in zip(clf._inputs.table.columns, whole._inputs.table.columns, strict=True):
        np.testing.assert_allclose([own.center, own.scale], [other.center, other.scale])
    clf.fit(X[:20], y[:20])
    pool.refresh()
    np.testing.assert_allclose(pool.perturbation, clf.perturbation(X[12:]), atol=1e-10)


def test_a_classifier_from_a_file_keeps_its_scales():
    X, y = data()
    clf = pickle.loads(pickle.dumps(fixed(scale="auto").fit(X[:30], y[:30])))
    with pytest.warns(UserWarning, match="loaded from a file.*scales and levels stay"):
        pool = ActivePool(clf, X[30:])
    np.testing.assert_allclose(pool.label(0, y[30]).perturbation, clf.perturbation(X[31:]), atol=1e-10)


@pytest.mark.parametrize("missing", [None, np.nan, "NA"])
def test_any_missing_label_says_that_nobody_can_tell(missing):
    if missing == "NA":
        missing = pytest.importorskip("pandas").NA
    X, y = data(60)
    for kind in (int, str):
        pool = ActivePool(fixed().fit(X[:30], y[:30].astype(kind)), X[30:])
        pool.label([0, 1, 2], [kind(y[30]), missing, kind(y[32])]).label(3, missing)
        assert pool.remaining.tolist() == list(range(4, 30))
        assert pool.estimator.class_counts_.sum() == 32
        assert pool.estimator.classes_.dtype == np.unique(y.astype(kind)).dtype
