import numpy as np
import pandas as pd
import pytest
from data import load_npz
from folds import stratified_folds
from reference import neighbors as reference
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state

from spectralcls._tuning import drawn_seed
from spectralcls.ccdr import CCDR, CCDRClassifier, _integration
from spectralcls.neighbors import knn_graph


def partly_labeled(n=150, d=4, fraction=0.6, seed=0):
    """Generic points (no ties), four classes, some labels -1."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(n, n_features=d, centers=4, cluster_std=4.0, random_state=seed)
    return X, np.where(rng.random(n) < fraction, y, -1)


def projector(U, metric):
    """Orthogonal projector of a subspace; its columns are orthonormal in the metric."""
    V = U * np.sqrt(metric)[:, None]
    return V @ V.T


@pytest.mark.parametrize("n", [90, 600])  # LAPACK and the iteration
@pytest.mark.parametrize("fraction", [0.3, 1.0])
@pytest.mark.parametrize("beta", [0.05, 0.5, 20.0])
def test_solves_the_dense_generalised_problem(n, fraction, beta):
    X, y = partly_labeled(n, fraction=fraction)
    model = CCDR(6, beta=beta, n_neighbors=5, unlabeled=-1, scale=None).fit(X, y)
    W, epsilon = reference.weights(X, 5)
    values, U, metric = reference.ccdr(W, y, 4, beta)
    assert model.n_connected_components_ == 1
    assert model.epsilon_ == pytest.approx(epsilon)
    np.testing.assert_allclose(model.graph_.toarray(), W, rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_, values[1:7], atol=1e-11)
    ours = np.vstack([model.class_centers_, model.embedding_])
    np.testing.assert_allclose(ours.T @ (metric[:, None] * ours), np.eye(6), atol=1e-9)
    np.testing.assert_allclose(metric @ ours, 0, atol=1e-9)
    np.testing.assert_allclose(projector(ours, metric), projector(U[:, 1:7], metric), atol=1e-7)


@pytest.mark.parametrize("weights", ["heat", "binary"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eq20_reproduces_the_training_embedding(weights, dtype):
    X, y = partly_labeled(300)
    X = X.astype(dtype)
    model = CCDR(5, weights=weights, unlabeled=-1, scale=None).fit(X, y)
    scale = np.abs(model.embedding_).max()
    tolerance = scale * (1e-9 if dtype == np.float64 else 1e-4)
    np.testing.assert_allclose(model.extend(X, y), model.embedding_, rtol=0, atol=tolerance)
    # Without its label a labeled point lands elsewhere; transform knows the label of a training point.
    assert np.abs(model.extend(X) - model.embedding_)[y >= 0].max() > 0.01 * scale
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_eq20_reproduces_tied_integer_data():
    rng = np.random.default_rng(0)
    X = np.unique(rng.integers(0, 9, (400, 3)).astype(float), axis=0)
    y = rng.integers(0, 3, len(X))
    model = CCDR(4, scale=None).fit(X, y)
    np.testing.assert_allclose(model.extend(X, y), model.embedding_, atol=1e-10)


@pytest.mark.parametrize("extension", ["symmetric", "nearest", "full"])
def test_extension_is_eq20_of_new_points(extension):
    X, y = partly_labeled(200)
    Q = X[:40] + 0.3 * np.random.default_rng(1).standard_normal((40, 4))
    labels = np.resize([-1, 0, 1, 2, 3], 40)
    beta, k = 0.7, 4
    model = CCDR(3, beta=beta, n_neighbors=k, extension=extension, unlabeled=-1, scale=None).fit(X, y)
    D, inner = reference.distances(Q, X), reference.distances(X, X)
    radius = np.sort(inner, axis=1)[:, k]
    near = D <= np.sort(D, axis=1)[:, [k - 1]]
    used = {"symmetric": near | (D < radius), "nearest": near, "full": np.ones_like(near)}[extension]
    K = used * np.exp(-(D**2) / model.epsilon_)
    has = labels >= 0
    top = beta * K @ model.embedding_ + np.where(has[:, None], model.class_centers_[labels], 0)
    expected = top / (beta * K.sum(axis=1) + has)[:, None] / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.extend(Q, labels), expected, rtol=1e-9, atol=1e-12)
    unlabeled = (K @ model.embedding_) / K.sum(axis=1)[:, None] / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(Q), unlabeled, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("extension", ["symmetric", "nearest", "full"])
def test_far_queries_go_to_their_nearest_neighbor(extension):
    X, y = partly_labeled(100)
    model = CCDR(3, extension=extension, unlabeled=-1, scale=None).fit(X, y)
    direction = X[X[:, 0].argmax()] - X.mean(axis=0)
    far = X.mean(axis=0) + 1e6 * direction
    nearest = np.argmin(np.sum((X - far) ** 2, axis=1))
    expected = model.embedding_[nearest] / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(far[None])[0], expected, rtol=1e-6)
    np.testing.assert_allclose(model.extend(far[None], [2])[0], model.class_centers_[2] / (1 - model.eigenvalues_))


def test_large_beta_gives_laplacian_eigenmaps():
    X = np.random.default_rng(0).standard_normal((200, 3))
    y = np.arange(200) % 3
    plain = CCDR(4, n_neighbors=6, scale=None).fit(X)
    labeled = CCDR(4, n_neighbors=6, beta=1e9, scale=None).fit(X, y)
    assert plain.class_centers_.shape == (0, 4)
    np.testing.assert_allclose(labeled.eigenvalues_, plain.eigenvalues_, atol=1e-6)
    a, b = (m.embedding_ / np.linalg.norm(m.embedding_, axis=0) for m in (plain, labeled))
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-5)


@pytest.mark.parametrize("beta", [0.0, 1e-12])
def test_small_beta_keeps_the_class_directions_only(beta):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="only 2 of 5 components"):
        model = CCDR(5, beta=beta, scale=None).fit(X, y)
    assert model.n_components_ == 2 and model.get_feature_names_out().tolist() == ["ccdr0", "ccdr1"]
    np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-9)
    for c in range(3):  # every class has collapsed onto its center
        np.testing.assert_allclose(model.embedding_[y == c], np.tile(model.class_centers_[c], (50, 1)), atol=1e-6)
    assert KNeighborsClassifier().fit(model.embedding_, y).score(model.extend(X), y) > 0.95
    assert np.isfinite(model.transform(X + 0.01)).all()


def test_components_without_labels_get_no_direction_of_their_own():
    rng = np.random.default_rng(0)
    X = np.vstack([100 * c + rng.standard_normal((20, 2)) for c in range(6)])
    y = np.repeat([0, 1, 2, -1, -1, -1], 20)
    model = CCDR(6, unlabeled=-1, scale=None).fit(X, y)
    assert model.n_connected_components_ == 6
    # Two directions separate the three labeled components; unlabeled ones stay at the origin of both.
    np.testing.assert_allclose(model.eigenvalues_[:2], 0, atol=1e-12)
    assert model.eigenvalues_[2] > 1e-3
    np.testing.assert_allclose(model.embedding_[60:, :2], 0, atol=1e-12)
    assert KNeighborsClassifier(3).fit(model.embedding_[:60, :2], y[:60]).score(model.embedding_[:60, :2], y[:60]) == 1
    # Orthonormal in D with the constant, as all eigenvectors are.
    W = np.asarray(model.graph_.sum(axis=1))
    metric = np.concatenate([[20] * 3, 0.5 * W + (y >= 0)])
    U = np.vstack([model.class_centers_, model.embedding_])
    np.testing.assert_allclose(U.T @ (metric[:, None] * U), np.eye(6), atol=1e-9)
    np.testing.assert_allclose(metric @ U, 0, atol=1e-9)


MISSING = {
    "floats": lambda y, gone: np.where(gone, np.nan, y),
    "objects": lambda y, gone: np.where(gone, None, y.astype(object)),
    "words": lambda y, gone: pd.Series(np.array(["a", "b", "c"])[y]).mask(gone),
    "categories": lambda y, gone: pd.Series(np.array(["a", "b", "c"])[y], dtype="category").mask(gone),
    "nullable": lambda y, gone: pd.Series(y, dtype="Int64").mask(gone),
    "list": lambda y, gone: [np.nan if own else "abc"[label] for label, own in zip(y, gone, strict=True)],
    "masked": lambda y, gone: np.ma.masked_array(y, gone),
}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("mark", [None, np.nan, pd.NA])
def test_a_missing_label_marks_an_unlabeled_point(kind, mark):
    """As the mark -1 does, whatever type the labels have."""
    X, y = load_iris(return_X_y=True)
    gone = np.random.default_rng(0).random(len(X)) < 0.7
    given = MISSING[kind](y, gone)
    want = CCDRClassifier(n_components=2, beta=0.5, unlabeled=-1).fit(X, np.where(gone, -1, y))
    found = CCDRClassifier(n_components=2, beta=0.5, unlabeled=mark).fit(X, given)
    np.testing.assert_array_equal(np.searchsorted(found.classes_, found.predict(X)), want.predict(X))
    np.testing.assert_array_equal(found.ccdr_.embedding_, want.ccdr_.embedding_)
    np.testing.assert_array_equal(found.ccdr_.extend(X, given), want.ccdr_.extend(X, np.where(gone, -1, y)))
    with pytest.raises(ValueError, match="no point is labeled"):
        CCDRClassifier().fit(X, np.full(len(X), np.nan))


def test_all_unlabeled_disconnected_keeps_the_components_apart():
    rng = np.random.default_rng(0)
    X = np.vstack([100 * c + rng.standard_normal((20, 2)) for c in range(4)])
    model = CCDR(3, unlabeled=-1, scale=None).fit(X, np.full(80, -1))
    np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-12)
    assert len(np.unique(np.round(model.embedding_, 8), axis=0)) == 4


def test_precomputed_graphs_give_the_same_embedding():
    X, y = partly_labeled(200)
    Q = X[:30] + 0.1
    plain = CCDR(4, unlabeled=-1, scale=None).fit(X, y)
    weights = CCDR(4, affinity="precomputed", unlabeled=-1, scale=None).fit(plain.graph_, y)
    np.testing.assert_allclose(weights.embedding_, plain.embedding_, atol=1e-9)
    piped = make_pipeline(
        KNeighborsTransformer(n_neighbors=4, mode="distance"),
        CCDR(4, affinity="precomputed_nearest_neighbors", unlabeled=-1, scale=None),
    ).fit(X, y)
    np.testing.assert_allclose(piped[-1].embedding_, plain.embedding_, atol=1e-6)
    np.testing.assert_allclose(piped.transform(X), plain.embedding_, atol=1e-6)
    # The transformer gives five neighbors of a query, one more than a training point has beside itself.
    D = reference.distances(Q, X)
    K = np.where(D <= np.sort(D, axis=1)[:, [4]], np.exp(-(D**2) / plain.epsilon_), 0)
    expected = K @ plain.embedding_ / K.sum(axis=1)[:, None] / (1 - plain.eigenvalues_)
    np.testing.assert_allclose(piped.transform(Q), expected, atol=1e-6)
    np.testing.assert_allclose(weights.transform(csr_array(K)), expected, rtol=1e-6)
    np.testing.assert_array_equal(weights.transform(csr_array((1, 200))), 0)
    np.testing.assert_allclose(weights.extend(plain.graph_, y), plain.embedding_, atol=1e-9)


@pytest.mark.parametrize("extension", ["symmetric", "nearest", "full"])
def test_queries_whose_squared_distances_overflow_are_placed_finitely(extension):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model = CCDR(2, extension=extension, scale=None).fit(X, y)
    embedded = model.transform(X[:5] * 1e200)
    assert np.isfinite(embedded).all()
    assert (embedded >= model.embedding_.min(axis=0)).all() and (embedded <= model.embedding_.max(axis=0)).all()


def test_minus_one_is_a_label_like_others_unless_told():
    X, y = make_moons(100, noise=0.1, random_state=0)
    model = CCDR(2, scale=None).fit(X, 2 * y - 1)
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    np.testing.assert_allclose(model.embedding_, CCDR(2, scale=None).fit(X, y).embedding_)
    sentiment = np.arange(100) % 3 - 1
    for estimator in (CCDR(2, scale=None), CCDRClassifier(n_components=2, beta=0.5)):
        assert list(estimator.fit(X, sentiment).classes_) == [-1, 0, 1]
        assert list(estimator.set_params(unlabeled=-1).fit(X, sentiment).classes_) == [0, 1]
        assert list(estimator.set_params(unlabeled=0).fit(X, sentiment).classes_) == [-1, 1]
    words = np.array(["no", "", "yes"])[sentiment + 1]
    named = CCDRClassifier(n_components=2, beta=0.5, unlabeled="").fit(X, words)
    assert set(named.predict(X)) == {"no", "yes"}
    with pytest.raises(ValueError, match="unlabeled=-1 cannot be one of the labels"):
        named.set_params(unlabeled=-1).fit(X, words)


def graph(n=20, seed=0):
    return knn_graph(np.random.default_rng(seed).standard_normal((n, 2)), 3, mode="heat", symmetrize="or")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda X, y: CCDR(n_neighbors=20, scale=None).fit(X, y), "n_neighbors=20 must be less"),
        (lambda X, y: CCDR(n_components=22, scale=None).fit(X, y), "n_samples \\+ n_classes - 2 = 20"),
        (lambda X, y: CCDR(beta=-1.0, scale=None).fit(X, y), "beta"),
        (lambda X, y: CCDR(beta=np.inf, scale=None).fit(X, y), "'beta' parameter"),
        (
            lambda X, y: CCDR(beta=0, unlabeled=-1, scale=None).fit(X, np.where(np.arange(20) < 5, -1, y)),
            "5 unlabeled points",
        ),
        (lambda X, y: CCDR(epsilon=1e-300, unlabeled=-1, scale=None).fit(X, np.full(20, -1)), "larger epsilon"),
        (lambda X, y: CCDR(scale=None).fit(X, y).extend(X, np.full(20, 9)), "neither unlabeled="),
        (lambda X, y: CCDR(affinity="precomputed", scale=None).fit(-graph(), y), "negative"),
        (lambda X, y: CCDR(affinity="precomputed", scale=None).fit(np.triu(graph().toarray()), y), "not symmetric"),
        (lambda X, y: CCDR(affinity="precomputed", scale=None).fit(graph()[:, :7], y), "square"),
        (lambda X, y: CCDR(affinity="precomputed", max_samples=5, scale=None).fit(graph(), y), "need points"),
        (lambda X, y: CCDR(extension="full", weights="binary", scale=None).fit(X, y), "weights='heat'"),
        (lambda X, y: CCDRClassifier(extension="full", weights="binary").fit(X, y), "weights='heat'"),
        (lambda X, y: CCDRClassifier(unlabeled=-1).fit(X, np.full(20, -1)), "no point is labeled"),
        (
            lambda X, y: CCDRClassifier(n_components=np.ones((2, 2))).fit(X, y),
            "n_components must be a number or a list",
        ),
        (lambda X, y: CCDRClassifier(beta=[]).fit(X, y), "beta must be a number or a list"),
    ],
)
def test_bad_input(call, message):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises((ValueError, AttributeError), match=message):
        call(X, np.arange(20) % 2 + 2)


@pytest.mark.parametrize("cv", [3, "loo", KFold(4)])
def test_classifier_chooses_by_held_out_accuracy(cv):
    n = 40 if cv == "loo" else 200
    X, y = make_blobs(n, n_features=5, centers=4, cluster_std=3.0, random_state=1)
    y[::7] = -1
    options = {"unlabeled": -1, "scale": None}  # scales would be those of a part
    model = CCDRClassifier(beta=[0.1, 1.0], n_neighbors=[3, 6], n_components=[1, 3], cv=cv, **options).fit(X, y)
    results = model.cv_results_
    assert model.n_tuning_samples_ == np.sum(y >= 0)
    largest_vote = 15 if cv == "loo" else 25  # at most half of the labeled points vote
    assert results["mean_test_score"].shape == (8 * (5 if cv == "loo" else 6),)
    best = np.array(results["params"])[results["rank_test_score"] == 1]
    assert {
        "beta": model.beta_,
        "n_neighbors": model.n_neighbors_,
        "n_components": model.n_components_,
        "estimator__n_neighbors": model.estimator_.n_neighbors,
    } in list(best)
    # The scores are those of the definition: a decomposition for each candidate, without the held-out points.
    if cv == "loo":
        folds = np.arange(n)
    elif cv == 3:
        folds = stratified_folds(X, np.where(y < 0, -1, y), 3, check_random_state(drawn_seed(0)))
    else:
        folds = np.repeat(np.arange(4), n // 4)
    hits = 0
    for fold in np.unique(folds):
        rest, test = folds != fold, (folds == fold) & (y >= 0)
        if test.any():
            vote = KNeighborsClassifier(largest_vote)
            part = CCDRClassifier(vote, beta=1.0, n_neighbors=6, n_components=3, **options).fit(X[rest], y[rest])
            hits += np.sum(part.predict(X[test]) == y[test])
    assert results["mean_test_score"][-1] == pytest.approx(hits / np.sum(y >= 0))


@pytest.mark.parametrize("points", [[0, 1], [0, 0, 0]])  # the third: two that are distinct, by their labels
@pytest.mark.parametrize("cv", [2, "loo"])
def test_two_points_leave_no_graph_to_choose_by(points, cv):
    X, y = np.array([[0.0, 0], [1, 1]])[points], np.array([0, 1, 0])[: len(points)]
    model = CCDRClassifier(cv=cv).fit(X, y)
    assert np.isnan(model.cv_results_["mean_test_score"]).all()
    np.testing.assert_array_equal(model.predict(X[:2]), y[points[:2]])


def test_few_labeled_points_vote_among_themselves():
    X = np.random.default_rng(0).standard_normal((20, 2))
    y = np.full(20, -1)
    y[:2] = 0, 1
    model = CCDRClassifier(beta=0.5, n_components=2, unlabeled=-1).fit(X, y)
    assert model.estimator_.n_neighbors == 1 and not hasattr(model, "cv_results_")
    assert set(model.predict(X)) <= {0, 1}


def test_fewer_points_than_neighbors():
    X, y = make_blobs(8, n_features=2, centers=2, random_state=0)
    model = CCDRClassifier(n_neighbors=12).fit(X, y)
    assert model.n_neighbors_ == 7 and model.score(X, y) == 1


def test_a_given_estimator_is_validated_as_it_is():
    X, y = make_blobs(90, n_features=5, centers=3, cluster_std=3.0, random_state=1)
    model = CCDRClassifier(RidgeClassifier(), beta=[0.1, 1.0], n_components=2).fit(X, y)
    assert set(model.cv_results_) >= {"param_beta", "mean_test_score"}
    assert len(model.cv_results_["params"]) == 2 and "param_estimator__n_neighbors" not in model.cv_results_


def test_classifier_delegates_to_its_estimator():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = CCDRClassifier(n_components=3, beta=0.5).fit(X, names)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(model, "decision_function")
    assert hasattr(CCDRClassifier(RidgeClassifier()), "decision_function")
    assert model.score(X, names) > 0.95


def test_integration_of_subsamples(monkeypatch):
    X, y = make_blobs(3000, n_features=6, centers=4, cluster_std=3.5, random_state=0)
    Q, q = X[2000:], y[2000:]
    X, y = X[:2000], y[:2000].copy()
    y[::10] = -1
    keep = y >= 0
    whole = CCDR(5, unlabeled=-1, scale=None).fit(X, y)
    parts = CCDR(5, max_samples=500, unlabeled=-1, scale=None).fit(X, y)
    assert parts.embedding_.shape == (2000, 5) and parts.class_centers_.shape == (4, 5)
    assert np.all(np.diff(parts.eigenvalues_) >= 0) and parts.eigenvalues_[0] > 0
    scores = [KNeighborsClassifier(9).fit(m.embedding_[keep], y[keep]).score(m.transform(Q), q) for m in (whole, parts)]
    assert abs(scores[0] - scores[1]) < 0.03
    again = CCDR(5, max_samples=500, unlabeled=-1, scale=None).fit(X, y)
    np.testing.assert_array_equal(parts.embedding_, again.embedding_)
    np.testing.assert_array_equal(parts.transform(X), parts.embedding_)
    # One subsample of everything is the plain embedding up to scale and rotation.
    monkeypatch.setattr(_integration, "N_SUBSAMPLES", 1)
    single = CCDR(5, max_samples=1999, unlabeled=-1, scale=None).fit(X, y).embedding_
    a, b = np.linalg.svd(single, compute_uv=False), np.linalg.svd(whole.embedding_, compute_uv=False)
    np.testing.assert_allclose(a / a[0], b / b[0], atol=0.02)


def satimage():
    data = load_npz("satimage")
    return [data[name] for name in ("X_train", "y_train", "X_test", "y_test")]


def test_table_1_of_the_paper():
    """Satimage, k = 4, 14 components: k-NN after CCDR 8.1 %, linear after CCDR 8.95 %, raw k-NN 9.65 %."""
    X, y, T, t = satimage()

    def errors(estimators, Y, Z):
        return min(100 * np.mean(e.fit(Y, y).predict(Z) != t) for e in estimators)

    neighbors = [KNeighborsClassifier(k) for k in range(1, 12)]
    assert errors(neighbors, X, T) == pytest.approx(9.65, abs=0.7)
    after_knn, after_linear = [], []
    for beta in (0.05, 0.5, 1.0):
        model = CCDR(14, beta=beta, n_neighbors=4, scale=None)
        Y, Z = model.fit_transform(X, y), model.transform(T)
        after_knn.append(errors(neighbors, Y, Z))
        after_linear.append(errors([RidgeClassifier(alpha=1e-9)], Y, Z))
    assert min(after_knn) == pytest.approx(8.1, abs=0.7)
    assert min(after_linear) == pytest.approx(8.95, abs=0.7)
    assert min(after_linear) < 9 and min(after_knn) < errors(neighbors, X, T) - 0.5


def test_unlabeled_points_help_where_labels_are_few():
    X, y, T, t = satimage()
    gains = []
    for seed in range(3):
        labels = np.full(len(y), -1)
        keep = np.random.default_rng(seed).permutation(len(y))[: len(y) // 20]
        labels[keep] = y[keep]
        model = CCDRClassifier(n_components=14, beta=5.0, unlabeled=-1)
        gains.append(model.fit(X, labels).score(T, t) - model.fit(X[keep], y[keep]).score(T, t))
    assert np.mean(gains) > 0


def test_embedding_clusters_follow_the_labels():
    X, y = load_iris(return_X_y=True)
    found = KMeans(3, n_init=5, random_state=0).fit_predict(CCDR(2, beta=0.01, scale=None).fit_transform(X, y))
    assert len({tuple(pair) for pair in zip(found, y, strict=True)}) == 3


def test_masked_candidates_are_refused_by_name():
    X, y = make_blobs(30, random_state=0)
    with pytest.raises(ValueError, match="n_neighbors has masked entries"):
        CCDRClassifier(n_neighbors=np.ma.array([2, 3], mask=[False, True])).fit(X, y)
