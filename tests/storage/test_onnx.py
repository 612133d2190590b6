"""An ONNX file answers as the model that it was written from, in a runtime that knows nothing of the package."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import spectralcls as s
from spectralcls.kernel_mean import reduce_training_set
from spectralcls.metric import GradientMetric
from spectralcls.spectral import (
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralLaplacianISEClassifier,
)

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def samples(n=150, seed=0, offset=0.0):
    """Three classes in three columns of different units, one of them constant; names, and two numbers."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    X = np.column_stack(
        [rng.normal(codes, 0.7), 1000 * rng.normal(codes % 2, 0.9), rng.normal(size=n), np.full(n, 7.0)]
    )
    return X + offset, np.array(["ash", "birch", "cedar"])[codes], np.column_stack([np.sin(X[:, 0]), X[:, 1]])


def answers(model, Q):
    """What the file of a model answers, by the names of its outputs."""
    session = runtime.InferenceSession(s.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, {"X": Q}), strict=True))


def check_classes(model, Q, atol=1e-9):
    found = answers(model, Q)
    np.testing.assert_array_equal(found["label"], model.predict(Q))
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(Q), atol=atol)
    else:
        assert not hasattr(model, "predict_proba")
        np.testing.assert_allclose(
            differences(found["scores"]), differences(wide(model.decision_function(Q))), atol=atol
        )


def wide(scores):
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def differences(scores):
    return scores - scores.mean(axis=1, keepdims=True)


CLASSIFIERS = [
    s.ParzenClassifier(),
    s.ParzenClassifier(kernel="laplace"),
    s.ParzenClassifier(bandwidth={"ash": 0.3, "birch": 0.5, "cedar": 0.9}),
    s.ParzenClassifier(priors=[0.0, 0.3, 0.7]),
    s.ParzenClassifier(scale=None, bandwidth=200.0),
    s.ParzenClassifier(metric="whiten"),
    s.ParzenClassifier(metric="full", tolerance=1e-12),
    s.ISEClassifier(),
    s.LaplacianISEClassifier(),
    s.CauchySchwarzClassifier(),
    s.CauchySchwarzClassifier(bandwidth=0.5),
    s.KernelRidgeClassifier(),
    s.KernelRidgeClassifier(kernel="gaussian"),
    s.KernelRidgeClassifier(max_exact_samples=50),
    SpectralISEClassifier(),
    SpectralISEClassifier(n_components=4, bandwidth=1.0),
    SpectralLaplacianISEClassifier(),
    SpectralLaplacianISEClassifier(n_components=3, bandwidth=1.0),
    LaplacianSpectralClassifier(),
    LaplacianSpectralClassifier(n_components=3, bandwidth=1.0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_a_classifier(model):
    X, y, _ = samples()
    model.fit(X, y)
    Q, _, _ = samples(60, seed=1)
    laplace = vars(model).get("kernel_", model.kernel) == "laplace"
    check_classes(model, Q, atol=1e-6 if laplace else 1e-9)


@pytest.mark.parametrize("labels", [np.array([3, -1]), np.array([True, False]), np.array([1.0, 2.0])])
def test_labels_come_back_as_they_were(labels):
    X, y, _ = samples()
    y = labels[(y == "ash").astype(int)]
    found = answers(s.ParzenClassifier(bandwidth=0.5).fit(X, y), X[:20])["label"]
    assert found.dtype == s.ParzenClassifier(bandwidth=0.5).fit(X, y).predict(X[:1]).dtype
    np.testing.assert_array_equal(found, s.ParzenClassifier(bandwidth=0.5).fit(X, y).predict(X[:20]))


def test_names_of_columns_and_sample_weights():
    pd = pytest.importorskip("pandas")
    X, y, _ = samples()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = s.ParzenClassifier().fit(frame, y, sample_weight=np.linspace(0, 2, len(X)))
    np.testing.assert_allclose(answers(model, X[:30])["probabilities"], model.predict_proba(frame[:30]), atol=1e-9)


@pytest.mark.filterwarnings("ignore:No step improved")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_far_from_all_points_ties_are_decided_as_the_model_does(model):
    codes = np.repeat([0, 1, 2], 40)  # balanced: far away, the scores of kernel ridge are all equal
    X = np.random.default_rng(0).normal(size=(120, 2)) + 1.3 * np.array([[0, 0], [1, 0], [0, 1]])[codes]
    model.fit(X, np.array(["ash", "birch", "cedar"])[codes])
    for far in (3, 30, 1e4, 1e9, 1e100, 1e300):
        Q = far * (X / np.abs(X).max())
        np.testing.assert_array_equal(answers(model, Q)["label"], model.predict(Q))


@pytest.mark.parametrize("unit", [1e-300, 1e-60, 1e60, 1e200])
def test_one_column_and_one_target_of_any_unit(unit):
    X, y, targets = samples()
    x, target = X[:, :1] * unit, targets[:, 0] * unit
    check_classes(s.KernelRidgeClassifier(kernel="gaussian").fit(x, y), x)
    for model in (s.KernelRidgeRegressor(kernel="gaussian"), s.KernelRegressor(degree=0)):
        model.fit(x, target)
        np.testing.assert_allclose(answers(model, x)["y"], model.predict(x), rtol=0, atol=1e-9 * np.abs(target).max())


def test_a_far_origin_costs_no_digits():
    X, y, _ = samples(offset=1e5)
    Q, _, _ = samples(60, seed=1, offset=1e5)
    check_classes(s.ParzenClassifier().fit(X, y), Q, atol=1e-8)
    check_classes(s.ParzenClassifier(scale=None, bandwidth=300.0).fit(X, y), Q, atol=1e-8)


def test_points_of_single_precision():
    X, y, _ = samples()
    model = s.KernelRidgeClassifier(kernel="gaussian").fit(X.astype(np.float32), y)
    found = answers(model, X.astype(np.float32).astype(np.float64))["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(X.astype(np.float32).astype(np.float64)), atol=1e-6)
    np.testing.assert_allclose(found, model.predict_proba(X.astype(np.float32)), atol=1e-4)  # the model rounds


def test_gaps_that_training_filled_in():
    X, y, _ = samples()
    X[::20, 0] = np.nan
    Q, _, _ = samples(40, seed=1)
    check_classes(s.ParzenClassifier(bandwidth=0.5).fit(X, y), Q)


def test_a_reduced_training_set():
    X, y, _ = samples(400)
    rows, weights = reduce_training_set(X, y, 60, random_state=0)
    model = s.ParzenClassifier(bandwidth=0.5).fit(X[rows], y[rows], sample_weight=weights)
    check_classes(model, samples(40, seed=1)[0])


REGRESSORS = [
    s.KernelRidgeRegressor(),
    s.KernelRidgeRegressor(kernel="gaussian"),
    s.KernelRegressor(degree=0),
    s.KernelRegressor(degree=0, kernel="laplace", bandwidth=0.5),
    s.KernelRegressor(degree=0, metric="whiten"),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
@pytest.mark.parametrize("column", [0, 1, slice(None)])
def test_a_regressor(model, column):
    X, _, targets = samples()
    Q, _, _ = samples(60, seed=1)
    model.fit(X, targets[:, column])
    np.testing.assert_allclose(answers(model, Q)["y"], model.predict(Q), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        s.ParzenDensity(),
        s.ParzenDensity(kernel="laplace"),
        s.ParzenDensity(covariance_type="diag"),
        s.ParzenDensity(covariance_type="full", bandwidth=0.4),
    ],
    ids=repr,
)
def test_a_density(model):
    X, Q = (samples(n, seed=n)[0][:, :3] for n in (150, 60))
    model.fit(X)
    np.testing.assert_allclose(answers(model, Q)["log_density"], model.score_samples(Q), atol=1e-6)


def test_what_has_no_such_graph_says_why():
    X, y, targets = samples()
    pd = pytest.importorskip("pandas")
    with_text = pd.DataFrame({"x": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    dates = (y == "ash").astype("datetime64[D]")
    refused = {
        r"are datetime64\[D\], a type that ONNX lacks": s.ParzenClassifier(bandwidth=1.0).fit(X, dates),
        "PerTurboClassifier is not one": s.PerTurboClassifier().fit(X, y),
        "AutoClassifier is not one: fit KernelRidge": s.AutoClassifier().fit(X[:60], y[:60]),
        "'color' is not": s.ParzenClassifier(bandwidth=1.0).fit(with_text, y),
        "not 'quartic'": s.ParzenClassifier(bandwidth=1.0, kernel="quartic").fit(X, y),
        "not a linear map": s.ParzenClassifier(bandwidth=1.0, metric=PolynomialFeatures()).fit(X, y),
        "neither sums nor means": s.KernelRegressor(degree=1).fit(X, targets[:, 0]),
    }
    for message, model in refused.items():
        with pytest.raises(ValueError, match=message):
            s.to_onnx(model)


def test_a_search_gives_its_best_model_and_a_pipeline_names_its_steps():
    X, y, _ = samples()
    search = GridSearchCV(s.ParzenClassifier(), {"bandwidth": [0.3, 0.6]}, cv=2).fit(X, y)
    check_classes(search, X[:20])
    with pytest.raises(ValueError, match="cannot write steps before a model: StandardScaler"):
        s.to_onnx(make_pipeline(StandardScaler(), s.ParzenClassifier(bandwidth=1.0)).fit(X, y))
    with pytest.raises(NotFittedError):
        s.to_onnx(s.ParzenClassifier())


def test_a_learned_metric_that_was_given_fitted():
    X, y, _ = samples()
    metric = GradientMetric().fit(X[:, :3] / [1, 1000, 1], y)
    check_classes(s.ParzenClassifier(metric=metric, scale=None).fit(X[:, :3] / [1, 1000, 1], y), X[:20, :3])


def test_without_the_library_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    X, y, _ = samples()
    with pytest.raises(ImportError, match=r'pip install "spectralcls\[onnx\]"'):
        s.to_onnx(s.ParzenClassifier(bandwidth=1.0).fit(X, y))
