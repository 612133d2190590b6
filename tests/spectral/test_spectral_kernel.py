"""SpectralKernel: the lemmas and the theorem of Li, Ong, Ng and Sun, agreement of all routes, bad input."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reference import spectral_kernel as reference
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.svm import LinearSVC

from spectralcls.spectral import SpectralKernel, SpectralKernelClassifier

linear_unless_told = partial(SpectralKernel, kernel="linear")

KERNELS = {
    "linear": {},
    "gaussian": {"bandwidth": 0.9, "scale": None},
    "polynomial": {"degree": 3},
    "exponential": {},
}
ROUTES = [(kernel, weighting) for kernel in KERNELS for weighting in ("symmetric", None)]


def documents(n, d, seed=0, density=0.3):
    """Non-negative term counts of three topics; every document and every term occurs."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.1), size=3)
    X = rng.poisson(8 * topics[rng.integers(3, size=n)]).astype(float)
    X[np.arange(n), rng.integers(d, size=n)] += 1
    X[rng.integers(n, size=d), np.arange(d)] += 1
    return X


@pytest.fixture(scope="module")
def corpus():
    """80 training and 15 new documents over 40 terms."""
    X = documents(95, 40) / 4
    return X[:80], X[80:]


def projector(Y):
    Q = np.linalg.qr(Y)[0]
    return Q @ Q.T


# The paper's statements


def test_lemma_1_the_three_matrices_share_their_eigenpairs(corpus):
    X, _ = corpus
    S = X @ X.T
    D = S.sum(axis=1)
    model = linear_unless_told(6, embedding="a", normalize=False)
    V = model.fit_transform(X)
    K1 = np.eye(len(S)) - S / np.sqrt(np.outer(D, D))
    assert_allclose(K1 @ V, V * (1 - model.eigenvalues_), atol=1e-10)
    P = S / D[:, None]
    W = V / np.sqrt(D)[:, None]
    assert_allclose(P @ W, W * model.eigenvalues_, atol=1e-10)
    assert_allclose(model.eigenvalues_, 1 - np.linalg.eigvalsh(K1)[:6], atol=1e-12)


def test_first_eigenpair_of_the_symmetric_weighting_is_known(corpus):
    X, _ = corpus
    model = linear_unless_told(3, embedding="a", normalize=False)
    V = model.fit_transform(X)
    degrees = X @ X.sum(axis=0)
    assert_allclose(model.eigenvalues_[0], 1)
    assert_allclose(V[:, 0], np.sqrt(degrees / degrees.sum()))


@pytest.mark.parametrize("weighting", ["symmetric", None])
def test_lemma_2_embedding_b_is_the_best_approximation_of_its_rank(corpus, weighting):
    X, _ = corpus
    k = 5
    G = reference.transformed(X @ X.T, weighting)
    Y = linear_unless_told(k, weighting=weighting, normalize=False).fit_transform(X)
    error = np.linalg.norm(Y @ Y.T - G)
    assert_allclose(error, np.linalg.norm(np.linalg.eigvalsh(G)[:-k]))
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1):
        other = Y + size * np.abs(Y).mean() * rng.standard_normal(Y.shape)
        assert np.linalg.norm(other @ other.T - G) > error


@pytest.mark.parametrize("embedding", ["a", "b"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("kernel", "weighting"), ROUTES)
def test_lemma_3_new_samples_as_the_slow_reference_embeds_them(corpus, kernel, weighting, embedding, normalize):
    X, T = corpus
    X, T = X / np.linalg.norm(X, axis=1, keepdims=True), T / np.linalg.norm(T, axis=1, keepdims=True)
    model = linear_unless_told(
        4,
        kernel=kernel,
        weighting=weighting,
        embedding=embedding,
        normalize=normalize,
        **KERNELS[kernel],
    )
    options = {name: value for name, value in KERNELS[kernel].items() if name != "scale"}
    S, S_new = (reference.input_similarity(Q, X, kernel, **options) for Q in (X, T))
    Y, Z = reference.embeddings(S, S_new, 4, weighting, embedding, normalize)
    assert_allclose(model.fit_transform(X), Y, atol=1e-9)
    assert_allclose(model.transform(T), Z, atol=1e-9)
    assert_allclose(model.transform(X), Y, atol=1e-9)


def test_theorem_1_the_latent_semantic_kernel(corpus):
    X, T = corpus
    k = 7
    model = linear_unless_told(k, weighting=None, embedding="b", normalize=False).fit(X)
    # Cristianini, Shawe-Taylor and Lodhi: K = V L_k V^T, and V I_k V^T t with t = D^T d for a new document d.
    values, V = np.linalg.eigh(X @ X.T)
    values, V = values[-k:], V[:, -k:]
    assert_allclose(model.kernel_matrix(X), (V * values) @ V.T, atol=1e-10)
    assert_allclose(model.kernel_matrix(X, T), V @ (V.T @ (X @ T.T)), atol=1e-10)
    # ... which is the inner product of documents projected on the k leading singular directions of the terms.
    lsi = TruncatedSVD(k, algorithm="arpack", random_state=0).fit(X)
    assert_allclose(model.kernel_matrix(X, T), lsi.transform(X) @ lsi.transform(T).T, atol=1e-8)
    assert_allclose(np.abs(model.transform(T)), np.abs(lsi.transform(T)), atol=1e-8)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_kernel_is_the_inner_product_of_the_coordinates(corpus, normalize):
    X, T = corpus
    model = linear_unless_told(6, normalize=normalize).fit(X)
    assert_allclose(model.kernel_matrix(T, X), model.transform(T) @ model.transform(X).T, atol=1e-13)
    assert_array_equal(model.kernel_matrix(X), model.kernel_matrix(X, X))


# Routes and invariances


@pytest.mark.parametrize("weighting", ["symmetric", None])
@pytest.mark.parametrize("shape", [(70, 30), (30, 70)])
def test_sparse_dense_and_precomputed_routes_agree(weighting, shape):
    X = documents(*shape, seed=1)
    T = documents(9, shape[1], seed=2)
    arguments = {"n_components": 6, "weighting": weighting}
    dense = linear_unless_told(**arguments).fit(X)
    for container in (sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix):
        sparse = linear_unless_told(**arguments).fit(container(X))
        assert_allclose(sparse.transform(container(T)), dense.transform(T), atol=1e-9)
        assert_allclose(sparse.transform(T), dense.transform(T), atol=1e-9)
    for S, S_new in [(X @ X.T, T @ X.T), (sp.csr_array(X @ X.T), sp.csr_array(T @ X.T))]:
        precomputed = linear_unless_told(kernel="precomputed", **arguments).fit(S)
        assert_allclose(precomputed.transform(S_new), dense.transform(T), atol=1e-9)
        assert_allclose(precomputed.eigenvalues_, dense.eigenvalues_, rtol=1e-10)


def test_the_iterative_solver_agrees_with_the_dense_one():
    """Beyond 400 rows and columns the sparse route iterates on the smaller side, whichever that is."""
    X = documents(700, 500, seed=3)
    for A in (X, np.ascontiguousarray(X.T)):
        model = linear_unless_told(12, embedding="a", normalize=False)
        V = model.fit_transform(sp.csr_array(A))
        values, reference_V = reference.eigenpairs(reference.transformed(A @ A.T, "symmetric"), 12)
        assert_allclose(model.eigenvalues_, values, rtol=1e-9)
        assert_allclose(projector(V), projector(reference_V), atol=1e-6)
        assert_allclose(V.T @ V, np.eye(12), atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "exponential"])
def test_sparse_input_of_the_other_kernels(corpus, kernel):
    X, T = corpus[0] / 3, corpus[1] / 3
    dense = linear_unless_told(5, kernel=kernel, **KERNELS[kernel]).fit(X)
    sparse = linear_unless_told(5, kernel=kernel, **KERNELS[kernel]).fit(sp.csr_array(X))
    assert_allclose(sparse.transform(sp.csr_array(T)), dense.transform(T), atol=1e-8)
    assert_allclose(dense.transform(sp.csr_array(T)), dense.transform(T), atol=1e-12)


def test_components_are_nested(corpus):
    X, T = corpus
    many = linear_unless_told(10, normalize=False).fit(X).transform(T)
    few = linear_unless_told(4, normalize=False).fit(X).transform(T)
    assert_allclose(many[:, :4], few, atol=1e-10)


def test_scale_and_order_of_the_documents_do_not_matter(corpus):
    X, T = corpus
    Z = linear_unless_told(5).fit(X).transform(T)
    for factor in (1e-8, 1e8):
        assert_allclose(linear_unless_told(5).fit(X * factor).transform(T * factor), Z, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(X))
    assert_allclose(linear_unless_told(5).fit(X[order]).transform(T), Z, atol=1e-9)


def test_a_query_counts_only_by_its_direction(corpus):
    """Step 2 removes the length of a query for good; without it the length enters as its root."""
    X, T = corpus
    unit, plain = linear_unless_told(5).fit(X), linear_unless_told(5, normalize=False).fit(X)
    assert_allclose(unit.transform(9 * T), unit.transform(T), atol=1e-12)
    assert_allclose(plain.transform(9 * T), 3 * plain.transform(T), rtol=1e-12)


def test_separate_topics_have_the_eigenvalue_one_each():
    """Documents of four vocabularies: four equal leading eigenvalues, an embedding that tells them apart."""
    blocks = [documents(30, 12, seed=seed) for seed in range(4)]
    X = sp.block_diag([sp.csr_array(block) for block in blocks], format="csr")
    topic = np.repeat(np.arange(4), 30)
    model = linear_unless_told(4)
    Y = model.fit_transform(X)
    assert_allclose(model.eigenvalues_, 1)
    assert_allclose(Y @ Y.T, topic[:, None] == topic[None, :], atol=1e-8)


def test_dtypes(corpus):
    X, T = corpus
    counts = documents(80, 40).astype(np.int64)
    expected = linear_unless_told(3).fit_transform(counts.astype(float))
    for container in (np.asarray, sp.csr_array):
        Y = linear_unless_told(3).fit_transform(container(counts))
        assert Y.dtype == np.float64
        assert_allclose(Y, expected, atol=1e-9)
        single = linear_unless_told(4).fit(container(X.astype(np.float32)))
        assert single.coefficients_.dtype == np.float32
        Z = single.transform(container(T.astype(np.float32)))
        assert Z.dtype == np.float32
        assert_allclose(Z, linear_unless_told(4).fit(X).transform(T), atol=1e-4)


def test_memory_of_a_fitted_linear_kernel_does_not_grow_with_the_documents():
    small, large = (linear_unless_told(5).fit(sp.csr_array(documents(n, 20, seed=6))) for n in (50, 800))
    assert small.coefficients_.shape == large.coefficients_.shape == (20, 6)
    assert large.X_fit_ is None


# Edges


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighting", ["symmetric", None])
def test_empty_documents_lie_at_the_origin_and_disturb_nothing(corpus, container, weighting):
    X, T = corpus
    with_empty = np.vstack([np.zeros((2, X.shape[1])), X, np.zeros((1, X.shape[1]))])
    model = linear_unless_told(5, weighting=weighting)
    Y = model.fit_transform(container(with_empty))
    plain = linear_unless_told(5, weighting=weighting).fit(X)
    assert_allclose(Y[2:-1], plain.transform(X), atol=1e-9)
    assert_array_equal(Y[[0, 1, -1]], 0)
    queries = np.vstack([T, np.zeros((1, X.shape[1]))])
    assert_allclose(model.transform(container(queries))[:-1], plain.transform(T), atol=1e-9)
    assert_array_equal(model.transform(container(queries))[-1], 0)


def test_a_document_without_a_known_term_is_similar_to_none():
    X = documents(30, 20, seed=7)
    X[:, 5] = 0
    query = np.zeros((1, 20))
    query[0, 5] = 3
    model = linear_unless_told(4).fit(X)
    assert_array_equal(model.transform(query), 0)
    assert_array_equal(model.kernel_matrix(query, X), 0)


def test_more_components_than_the_rank():
    X = np.vstack([documents(3, 15, seed=8)] * 10)
    model = linear_unless_told(8).fit(X)
    assert model.eigenvalues_.shape == (3,)
    assert model.transform(X).shape == (30, 3)
    assert list(model.get_feature_names_out()) == ["spectralkernel0", "spectralkernel1", "spectralkernel2"]
    for n_components in (40, "all"):
        assert linear_unless_told(n_components).fit(sp.csr_array(X)).eigenvalues_.shape == (3,)


def test_only_positive_eigenvalues_are_kept():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    S = Q @ np.diag([5, 3, 1, 0, 0, -1, -2, -3, -4, -5.0]) @ Q.T
    model = linear_unless_told(6, kernel="precomputed", weighting=None).fit((S + S.T) / 2)
    assert_allclose(model.eigenvalues_, [5, 3, 1])


def test_a_negative_similarity_is_fine_where_all_degrees_are_positive(corpus):
    S = corpus[0] @ corpus[0].T + 1
    S[0, 1] = S[1, 0] = -0.5
    Y = linear_unless_told(3, kernel="precomputed", normalize=False).fit_transform(S)
    assert_allclose(Y, reference.embeddings(S, S, 3)[0], atol=1e-9)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_degrees_that_are_not_positive(container, corpus):
    S = corpus[0] @ corpus[0].T + 1
    S[4, 6] = S[6, 4] = -S[4].sum() - 1
    with pytest.raises(ValueError, match="row 4 add up to -.*weighting=None"):
        linear_unless_told(3, kernel="precomputed").fit(container(S))
    cancelling = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="row 0 add up to 0"):
        linear_unless_told(2, kernel="precomputed").fit(container(cancelling))
    assert linear_unless_told(2, kernel="precomputed", weighting=None).fit(container(cancelling))
    model = linear_unless_told(3, kernel="precomputed").fit(corpus[0] @ corpus[0].T)
    with pytest.raises(ValueError, match="row 1 add up to -80"):
        model.transform(container([np.ones(80), -np.ones(80)]))


def test_negative_entries_of_the_linear_kernel(corpus):
    X, T = corpus
    model = linear_unless_told(3).fit(X)
    for container in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="Negative values"):
            linear_unless_told(3).fit(container(X - 1))
        with pytest.raises(ValueError, match="Negative values"):
            model.transform(container(T - 1))
    assert linear_unless_told(3, weighting=None).fit(X - 1).transform(T - 1).shape == (15, 3)


def test_bad_matrices(corpus):
    X, T = corpus
    S = X @ X.T
    skewed = S.copy()
    skewed[2, 3] += 1
    with pytest.raises(ValueError, match="not symmetric: entries differ by up to 1"):
        linear_unless_told(3, kernel="precomputed").fit(skewed)
    with pytest.raises(ValueError, match=r"square in fit, got shape \(80, 40\)"):
        linear_unless_told(3, kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="15 features, but SpectralKernel is expecting 80 features"):
        linear_unless_told(3, kernel="precomputed").fit(S).transform(X @ T.T)
    with pytest.raises(ValueError, match="NaN"):
        linear_unless_told(3, kernel="precomputed").fit(np.where(S == S.max(), np.nan, S))
    for zeros in (np.zeros((5, 4)), sp.csr_array((5, 4))):
        with pytest.raises(ValueError, match="no positive eigenvalue"):
            linear_unless_told(2).fit(zeros)
    with pytest.raises(ValueError, match="overflows"):
        linear_unless_told(2, kernel="exponential").fit(1e3 * X)
    for kernel, degree in [("exponential", 2), ("polynomial", 300)]:
        model = linear_unless_told(2, kernel=kernel, degree=degree, normalize=False).fit(X / np.linalg.norm(X))
        with pytest.raises(ValueError, match=f"The {kernel} kernel overflows"):
            model.transform(1e4 * X)
    for container in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="overflow on these data"):
            linear_unless_told(2).fit(container(1e200 * X))
    with pytest.raises(ValueError, match="needs dense X"):
        linear_unless_told(2, kernel="gaussian").fit(sp.csr_array(X))
    with pytest.raises(ValueError, match="n_components"):
        linear_unless_told(0).fit(X)


def test_auto_is_linear_for_sparse_and_gaussian_for_dense_data(corpus):
    X, T = corpus
    sparse, dense = (SpectralKernel(3, scale=None).fit(A) for A in (sp.csr_array(X), X - X.mean(axis=0)))
    assert (sparse.kernel_, dense.kernel_) == ("linear", "gaussian")
    assert dense.bandwidth_ == pytest.approx(np.sqrt(X.var(axis=0).sum() / 2))
    assert SpectralKernel(1).fit(np.ones((5, 2))).bandwidth_ == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"rank": 20}, {"weighting": None}, {"embedding": "a"}])
def test_far_queries_have_the_direction_of_the_nearest_sample(options, dtype):
    """Similarities far below the least number still have ratios: in the limit the nearest sample alone counts."""
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(dtype)
    model = SpectralKernel(4, kernel="gaussian", bandwidth=1.0, **options).fit(X)
    Q = np.array([[1e4, 0, 0], [0, -1e4, 5e3], [-1e3, 1e3, 1e3]], dtype=dtype)
    Z = model.transform(Q)
    assert_allclose(np.linalg.norm(Z, axis=1), 1, rtol=1e-5)
    nearest = ((Q[:, None] - model.X_fit_) ** 2).sum(axis=2, dtype=np.float64).argmin(axis=1)
    limit = model.coefficients_[nearest][:, :4]
    assert_allclose(Z, limit / np.linalg.norm(limit, axis=1, keepdims=True), atol=1e-4)
    plain = SpectralKernel(4, kernel="gaussian", bandwidth=1.0, normalize=False, **options).fit(X)
    assert_array_equal(plain.transform(Q), 0)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_far_queries_of_a_formed_kernel(kernel):
    X = np.abs(np.random.default_rng(0).normal(size=(40, 3)))
    model = SpectralKernel(4, kernel=kernel, bandwidth=1.0).fit(sp.csr_array(X))
    Z = model.transform(sp.csr_array([[1e3, 2e3, 0.0]]))
    assert_allclose(np.linalg.norm(Z, axis=1), 1)


@pytest.mark.parametrize("kernel, weighting", [*ROUTES, ("precomputed", "symmetric"), ("precomputed", None)])
@pytest.mark.parametrize("embedding", ["a", "b"])
def test_a_weight_is_a_number_of_copies_and_none_leaves_the_sample_out(corpus, kernel, weighting, embedding):
    X, Q = corpus
    times = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    model = SpectralKernel(
        5,
        kernel=kernel,
        weighting=weighting,
        embedding=embedding,
        normalize=False,
        **KERNELS.get(kernel, {}),
    )
    pairwise = kernel == "precomputed"
    S = [X @ X.T, X[rows] @ X[rows].T, Q @ X.T, Q @ X[rows].T] if pairwise else [X, X[rows], Q, Q]
    weighted, repeated = clone(model), clone(model)
    Y = weighted.fit_transform(S[0], sample_weight=times)
    expected = repeated.fit_transform(S[1])
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    assert_allclose(Y[rows], expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    queries = repeated.transform(S[3])
    assert_allclose(weighted.transform(S[2]), queries, rtol=1e-6, atol=1e-8 * np.abs(queries).max())


def test_a_table_with_samples_of_weight_zero():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    weights = np.arange(20) % 3
    embedding = SpectralKernel(3).fit_transform(table, sample_weight=weights)
    assert_array_equal(embedding, SpectralKernel(3).fit_transform(table.to_numpy(), sample_weight=weights))


@pytest.mark.parametrize("make", [SpectralKernel, SpectralKernelClassifier])
@pytest.mark.parametrize(
    "options",
    [
        dict(kernel="gaussian"),
        dict(kernel="gaussian", bandwidth=1.0),
        dict(kernel="linear"),
        dict(kernel="auto"),
    ],
)
def test_the_tag_of_sparse_data_is_kept(make, options):
    values = np.random.default_rng(0).random((60, 30))
    X, y = sp.csr_array(np.maximum(values - 0.7, 0)), np.arange(60) % 3
    if make(**options).__sklearn_tags__().input_tags.sparse:
        make(**options).fit(X, y)
    else:
        with pytest.raises(ValueError, match="needs dense X"):
            make(**options).fit(X, y)


@pytest.mark.parametrize("estimator", [None, LinearSVC()])
def test_class_weights_are_sample_weights(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) // 70
    X[y == 1] += 1.0
    weights = np.where(y == 0, 1.0, 4.0)
    of_classes = {0: 1.0 / weights.mean(), 1: 4.0 / weights.mean()}  # sample weights are relative to their mean
    weighted = SpectralKernelClassifier(estimator, class_weight=of_classes).fit(X, y)
    expected = SpectralKernelClassifier(estimator).fit(X, y, sample_weight=weights)
    assert_allclose(weighted.decision_function(X), expected.decision_function(X), rtol=1e-6)
    found = [SpectralKernelClassifier(estimator, class_weight=w).fit(X, y).predict(X).sum() for w in (None, "balanced")]
    assert found[0] < found[1]


def test_what_is_advised_for_signed_sparse_data_works():
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = ["red apple pie", "green apple tart", "fast red car", "blue car engine"] * 5
    X = HashingVectorizer(n_features=64).transform(texts)
    with pytest.raises(ValueError, match="weighting=None, or features without negative values") as error:
        SpectralKernel(2).fit(X)
    assert "gaussian" not in str(error.value)
    SpectralKernel(2, weighting=None).fit(X)
    SpectralKernel(2).fit(HashingVectorizer(n_features=64, alternate_sign=False).transform(texts))
    with pytest.raises(ValueError, match="Use weighting=None, or kernel='gaussian'"):
        SpectralKernel(2, kernel="linear").fit(X.toarray())
    SpectralKernel(2, kernel="gaussian").fit(X.toarray())


def test_scale_is_for_the_gaussian_kernel_of_dense_data():
    rng = np.random.default_rng(0)
    X, units = np.abs(rng.normal(size=(40, 3))), np.array([1.0, 1e3, 1e-6])
    plain, other = SpectralKernel(3).fit(X), SpectralKernel(3).fit(X * units + 5)
    assert plain.scale_ == "each"
    assert_allclose(other.transform(X * units + 5), plain.transform(X), rtol=1e-5, atol=1e-7)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_allclose(plain.transform(X), SpectralKernel(3, scale=None).fit(standardized).transform(standardized))
    for kernel in ("linear", "polynomial", "exponential"):
        found, raw = (SpectralKernel(3, kernel=kernel, scale=scale).fit(X) for scale in ("auto", None))
        assert found.scale_ is None
        assert_array_equal(found.transform(X), raw.transform(X))
    sparse = SpectralKernel(3, kernel="gaussian", bandwidth=1.0).fit(sp.csr_array(X))
    assert sparse.scale_ is None
    dense = SpectralKernel(3, kernel="gaussian", bandwidth=1.0, scale=None).fit(X)
    assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), rtol=1e-6, atol=1e-9)
