"""`spectralcls.save` and `spectralcls.load`: every estimator, whole tables, and nothing foreign."""

import json
import re
import sys
import zipfile

import numpy as np
import pytest
import sklearn
from every_estimator import KINDS, names
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    mutual_info_classif,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC

import spectralcls
from spectralcls.cli.registry import ENTRIES, REGRESSORS, Setting
from spectralcls.metric import GradientMetric, KernelMetric
from spectralcls.regression import KernelRidgeClassifier
from spectralcls.spectral import KernelMap, SpectralISEClassifier, SpectralLaplacianISEClassifier
from spectralcls.storage import _allowed

skops = pytest.importorskip("skops.io")
pd = pytest.importorskip("pandas")


def table(n=120):
    """A frame of numbers, categories, text, truth values and dates, some of which are missing."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": rng.normal(size=n),
            "c": pd.Categorical(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]),
            "t": np.array(["p", "q"])[rng.integers(0, 2, n)],
            "u": rng.random(n) < 0.5,
            "day": pd.date_range("2021-03-01", periods=n, freq="7h"),
            "d": rng.normal(size=n) + y,
        }
    )
    frame.loc[::7, "d"] = np.nan
    frame.loc[::11, "c"] = None
    return frame, y


@pytest.mark.filterwarnings("ignore:No round improved")  # of a metric on noise
@pytest.mark.filterwarnings("ignore:y has two values")
@pytest.mark.parametrize("columns", [list("ab"), [*"abctud", "day"]], ids=["numbers", "table"])
@pytest.mark.parametrize("name", names())
def test_every_estimator_is_read_as_it_was_written(name, columns, tmp_path):
    X, y = table()
    X, parameters = X[columns], {"cv": 2} if name == "AutoClassifier" else {}
    model = KINDS[name](**parameters).fit(X, y)
    spectralcls.save(model, tmp_path / "model.skops")
    again = spectralcls.load(tmp_path / "model.skops")
    for method in ("predict", "predict_proba", "transform", "score_samples"):
        if hasattr(model, method):
            assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


X, CODES = np.random.default_rng(0).normal(size=(90, 4)), np.arange(90) % 3
X[:, 0] += CODES
WORDS, TARGETS = np.array(["ash", "birch", "cedar"])[CODES], np.sin(X[:, 0]) + X[:, 1]
SMALL, RIDGE = spectralcls.ParzenClassifier(0.5), spectralcls.KernelRidgeRegressor(bandwidth=1.0, alpha=0.1)
GRID = {"bandwidth": [0.3, 0.6]}
VARIANTS = [  # what stores other objects than the defaults on small data: (model, X, y)
    *((spectralcls.ParzenClassifier(0.5, metric=metric), X, WORDS) for metric in ("whiten", "full", PCA(2))),
    *((spectralcls.ParzenClassifier(0.5, metric=metric), X, WORDS) for metric in (GradientMetric(), KernelMetric())),
    (spectralcls.ParzenClassifier({"ash": 0.3, "birch": 0.5, "cedar": 0.9}), X, WORDS),
    (spectralcls.ParzenClassifier(random_state=np.random.RandomState(3)), X, WORDS),
    *((kind(metric="whiten"), X, TARGETS) for kind in (spectralcls.KernelRegressor, spectralcls.KernelRidgeRegressor)),
    (spectralcls.KernelRidgeRegressor(max_exact_samples=50), X, np.column_stack([TARGETS, TARGETS**2])),
    (KernelRidgeClassifier(max_exact_samples=50), X, WORDS),
    (KernelRidgeClassifier(kernel="precomputed"), X @ X.T, WORDS),
    (spectralcls.KernelRidgeRegressor(kernel="precomputed"), X @ X.T, TARGETS),
    (spectralcls.ParzenDensity(), X, None),
    (spectralcls.ParzenDensity(covariance_type="full"), X, None),
    *((kind(rank=20), X, WORDS) for kind in (SpectralISEClassifier, SpectralLaplacianISEClassifier, KernelMap)),
    *((spectralcls.PerTurboClassifier(regularization=kind), X, WORDS) for kind in (None, "truncate")),
    (spectralcls.CCDRClassifier(RidgeClassifier()), X, WORDS),
    *((BaggingClassifier(make, 3), X, WORDS) for make in (SMALL, KNeighborsClassifier(p=1), SVC())),
    *((CalibratedClassifierCV(SMALL, method=method), X, WORDS) for method in ("sigmoid", "isotonic")),
    (CalibratedClassifierCV(FrozenEstimator(spectralcls.ParzenClassifier(0.5).fit(X, WORDS))), X, WORDS),
    *((kind(SMALL), X, CODES > 0) for kind in (FixedThresholdClassifier, TunedThresholdClassifierCV)),
    *(
        (GridSearchCV(SMALL, GRID, cv=2, scoring=name), X, WORDS)
        for name in (None, "balanced_accuracy", "neg_log_loss")
    ),
    (GridSearchCV(SMALL, GRID, cv=2, scoring=["accuracy", "roc_auc_ovr"], refit="accuracy"), X, WORDS),
    (GridSearchCV(RIDGE, {"alpha": [0.1, 1]}, cv=KFold(3), scoring="neg_root_mean_squared_error"), X, TARGETS),
    (RandomizedSearchCV(SMALL, GRID, n_iter=2, cv=StratifiedKFold(2), random_state=0), X, WORDS),
    *((kind(SMALL), X, WORDS) for kind in (OneVsOneClassifier, OneVsRestClassifier)),
    *((kind(SMALL), X, np.column_stack([CODES > 0, CODES > 1])) for kind in (ClassifierChain, MultiOutputClassifier)),
    *((kind(RIDGE), X, np.column_stack([TARGETS, TARGETS**2])) for kind in (MultiOutputRegressor, RegressorChain)),
    (SelfTrainingClassifier(SMALL), X, np.where(X[:, 3] > 1, -1, CODES)),
    (TransformedTargetRegressor(RIDGE, func=np.log1p, inverse_func=np.expm1), X, np.exp(TARGETS)),
    (VotingClassifier([("p", SMALL), ("b", GaussianNB())], voting="soft"), X, WORDS),
    *((kind([("p", RIDGE), ("r", Ridge())]), X, TARGETS) for kind in (StackingRegressor, VotingRegressor)),
    (HistGradientBoostingClassifier(max_iter=3, categorical_features=[1]), np.column_stack([X, CODES])[:, 3:], WORDS),
    (HistGradientBoostingRegressor(max_iter=3, loss="quantile", quantile=0.3), X, TARGETS),
    *((kind(3), X, CODES) for kind in (ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor)),
]
COLUMNS = make_column_transformer(
    (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "d"]),
    (OneHotEncoder(min_frequency=20, drop="first", handle_unknown="ignore"), ["c", "t"]),
    (OrdinalEncoder(), make_column_selector(dtype_include=bool)),
    (TargetEncoder(), ["t"]),
    (KBinsDiscretizer(5), ["b"]),
)
STEPS = [
    *(
        *(
            Binarizer(),
            FunctionTransformer(np.tanh),
            KBinsDiscretizer(encode="onehot-dense"),
            KNNImputer(),
            MaxAbsScaler(),
            MinMaxScaler(),
        ),
        *(NeighborhoodComponentsAnalysis(2), Normalizer(), Nystroem(n_components=20), PCA(2), PolynomialFeatures()),
        *(PowerTransformer(), QuantileTransformer(n_quantiles=20), RBFSampler(n_components=20), RobustScaler()),
        *(SelectKBest(k=2), SelectKBest(mutual_info_classif, k=2), SelectFromModel(LogisticRegression())),
        *(LinearDiscriminantAnalysis(), TruncatedSVD(2), VarianceThreshold(), SelectPercentile(percentile=60)),
        *(FeatureUnion([("p", PCA(2)), ("k", SelectKBest(k=1))]), RFE(LogisticRegression(), n_features_to_select=2)),
        *(spectralcls.CCDR(2), KernelMap(3)),
    ),
]


def answers(model, X):
    """All that a model answers, embeddings of text as dense arrays."""
    asked = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "predict_interval")
    return {ask: getattr(model, ask)(X) for ask in asked if hasattr(model, ask)}


def read_as_written(model, X, folder):
    spectralcls.save(model, folder / "model.skops")
    found, expected = answers(spectralcls.load(folder / "model.skops"), X), answers(model, X)
    assert found.keys() == expected.keys() and found
    for ask in found:
        assert_array_equal(found[ask], expected[ask], err_msg=ask)


@pytest.mark.filterwarnings("ignore")  # what few points make them say
@pytest.mark.parametrize("case", VARIANTS, ids=lambda case: type(case[0]).__name__)
def test_every_variant_is_read_as_it_was_written(case, tmp_path):
    model, X, y = case
    read_as_written(clone(model).fit(X, y), X, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_every_step_of_a_pipeline_is_read_as_it_was_written(step, tmp_path):
    read_as_written(make_pipeline(clone(step), clone(SMALL)).fit(X, WORDS), X, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_columns_and_text_are_read_as_they_were_written(tmp_path):
    frame, y = table()
    read_as_written(make_pipeline(clone(COLUMNS), clone(SMALL)).fit(frame, y), frame, tmp_path)
    text = np.array([f"word{k % 7} and {'ab'[k % 2]}" for k in range(len(y))])
    for reader in (TfidfVectorizer(token_pattern=r"\w"), CountVectorizer(ngram_range=(1, 2))):
        read_as_written(make_pipeline(reader, TruncatedSVD(4), clone(SMALL)).fit(text, y), text, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", [*ENTRIES, *REGRESSORS], ids=lambda entry: entry.name)
def test_every_choice_of_the_command_line_is_read_as_it_was_written(entry, tmp_path):
    model = entry.make(Setting(len(X), 2, X.var(), X.shape[1], 0, 1))
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    read_as_written(model.fit(X, CODES), X, tmp_path)


def test_names_in_the_table_exist():
    for kind, places in _allowed._PLACES.items():
        for (room, name), place in places.items():
            assert _allowed.named(kind, f"{room}._moved", name).__name__ == name, place


def _set(model, path, change):
    """Change an attribute of a model, found by its path."""
    *places, name = path.split(".")
    for place in places:
        model = model[int(place)] if place.isdigit() else getattr(model, place)
    setattr(model, name, change(getattr(model, name)))


def _nodes(**fields):
    def changed(nodes):
        nodes = nodes.copy()
        for name, value in fields.items():
            nodes[name] = value
        return nodes

    return changed


BOOSTED = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0])


@pytest.mark.parametrize(
    ("make", "path", "change"),
    [
        *((BOOSTED, "_predictors.0.0.nodes", _nodes(**{side: 2**31})) for side in ("left", "right", "feature_idx")),
        *((BOOSTED, "_predictors.0.0.nodes", _nodes(**{side: 0})) for side in ("left", "right")),  # without an end
        (BOOSTED, "_predictors.0.0.nodes", _nodes(is_categorical=1, bitset_idx=0)),
        (BOOSTED, "_predictors.0.0.raw_left_cat_bitsets", lambda bits: bits[:0]),
        (BOOSTED, "_predictors.0.0.nodes", lambda nodes: nodes[:1]),
        (BOOSTED, "n_features_in_", lambda n: n - 1),
        (BOOSTED, "_preprocessor.transformers_", lambda steps: steps[1:]),
        (RandomForestClassifier(2), "n_features_in_", lambda n: 1),
        (RandomForestClassifier(2), "estimators_.0.n_features_in_", lambda n: 1),
        (SVC(), "_n_support", lambda n: n + [10**8, -(10**8), 0]),
        (SVC(), "_intercept_", lambda values: values[:0]),
        (SVC(), "_dual_coef_", lambda values: values[:, :1]),
        (SVC(), "support_vectors_", lambda values: values[:, :1]),
        (SVC(probability=True), "_probA", lambda values: values[:1]),
        (KNeighborsClassifier(), "_y", lambda y: y[:1]),
        (KNeighborsClassifier(algorithm="brute"), "_fit_X", lambda X: X[:, :1]),
        (OneHotEncoder(), "_n_features_outs", lambda n: [1, 1]),
        (OneHotEncoder(drop="first"), "_drop_idx_after_grouping", lambda n: n + 1000),
        (OneHotEncoder(), "categories_", lambda levels: [level[::-1] for level in levels]),
        (OneHotEncoder(min_frequency=5), "_default_to_infrequent_mappings", lambda maps: [maps[0], maps[1] + 99]),
        (CountVectorizer(), "vocabulary_", lambda words: dict.fromkeys(words, 10**8)),
    ],
)
@pytest.mark.filterwarnings("ignore:The `probability` parameter")
def test_an_index_that_compiled_code_would_follow_out_of_its_array_is_refused(make, path, change, tmp_path):
    table = np.column_stack([CODES, np.arange(90) % 19])
    table = WORDS if isinstance(make, CountVectorizer) else table
    model = clone(make).fit(table, CODES)
    read_as_written(model, table, tmp_path) if hasattr(model, "predict") else spectralcls.save(
        model, tmp_path / "m.skops"
    )
    _set(model, path, change)
    spectralcls.save(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="points outside of its array|not a readable model file"):
        spectralcls.load(tmp_path / "m.skops")


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature"])
def test_a_tree_that_points_outside_of_itself_is_refused(field, tmp_path):
    model = RandomForestClassifier(2).fit(X, CODES)
    tree = model.estimators_[0].tree_
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][state["nodes"]["left_child"] != -1] = 10**6
    tree.__setstate__(state)
    spectralcls.save(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="points outside of its array"):
        spectralcls.load(tmp_path / "m.skops")


class Stranger(LogisticRegression):
    pass


def call_home(X):
    return X


def test_foreign_types_are_refused_in_one_sentence(tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    X, y = np.eye(4), [0, 1, 0, 1]
    for model, name in ((Stranger().fit(X, y), "Stranger"), (FunctionTransformer(call_home).fit(X), "call_home")):
        spectralcls.save(model, tmp_path / "strange.skops")
        with pytest.raises(ValueError, match=f"refused, because it holds .*{name}") as refused:
            spectralcls.load(tmp_path / "strange.skops")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    """numpy.memmap numpy.load os.system builtins.eval builtins.bytes spectralcls.storage.Path sklearn.base.warnings
    spectralcls.kernels.kernel_sums sklearn.datasets.fetch_openml scipy.io.loadmat spectralcls.no.Such functools.partial
    sklearn.linear_model.SGDClassifier sklearn.preprocessing.__main__.StandardScaler numpy.f2py.__main__.X""".split(),
)
@pytest.mark.parametrize("loader", ["TypeNode", "FunctionNode", "ObjectNode", "TupleNode", "DictNode", "LossNode"])
def test_a_name_that_is_not_in_the_table_is_refused_and_not_imported(name, loader, tmp_path):
    module, _, thing = name.rpartition(".")
    node = {"__module__": module, "__class__": thing, "__loader__": loader, "content": [], "__reduce__": {}}
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as file:
        file.writestr("schema.json", json.dumps(node))
    before = {*sys.modules}
    with pytest.raises(ValueError, match=f"refused, because it holds {re.escape(name)}, which no model of this"):
        spectralcls.load(tmp_path / "m.skops")
    assert {*sys.modules} - before <= {"encodings.cp437"}  # of archives


def test_damaged_files_and_missing_ones(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(FileNotFoundError, match="no such file"):
        spectralcls.load(path)
    with pytest.raises(FileNotFoundError, match="not a file"):
        spectralcls.load(tmp_path)
    spectralcls.save(spectralcls.ParzenClassifier(1.0).fit([[0.0], [1.0]], [0, 1]), path)
    content = path.read_bytes()
    path.write_bytes(content[:-500])
    with pytest.raises(ValueError, match="not a readable model file, or a truncated one"):
        spectralcls.load(path)
    path.write_bytes(content)
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    schema = json.loads(parts["schema.json"])
    for wrong in ({**schema, "content": 5}, [], {**schema, "__loader__": []}):
        with zipfile.ZipFile(path, "w") as changed:
            for name, part in parts.items():
                changed.writestr(name, json.dumps(wrong) if name == "schema.json" else part)
        with pytest.raises(ValueError, match="not a readable model file") as raised:
            spectralcls.load(path)
        assert not re.search("has no attribute|unhashable|concatenate|NoneType", str(raised.value))


@pytest.mark.filterwarnings("ignore:.*reveals the class")
def test_a_model_of_fit_and_its_schema_predict_in_python(tmp_path):
    pytest.importorskip("pyarrow")
    from spectralcls.cli import main
    from spectralcls.datasets import read_table

    rng = np.random.default_rng(0)
    rows = [
        f"{k % 2 + rng.normal() / 4:.2f};{'rot' if k % 3 else 'grün'};0{1 + k % 9}.0{1 + k % 7}.2022;{'ab'[k % 2]}"
        for k in range(60)
    ]
    data, model = tmp_path / "t.csv", tmp_path / "m.skops"
    data.write_text("x;farbe;tag;y\n" + "\n".join(row.replace(".", ",", 1) for row in rows), encoding="utf-8")
    assert main(["fit", str(data), "--target", "y", "--classifier", "parzen", "--out", str(model)]) == 0
    again = spectralcls.load(model)
    table = read_table(data, schema=again.table_schema_)
    truth = read_table(data, target="y").target
    assert np.mean(again.predict(table.data) == truth) > 0.9


def test_without_skops_models_are_read_and_the_extra_that_writes_them_is_named(monkeypatch, tmp_path):
    spectralcls.save(spectralcls.ParzenClassifier(1.0).fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.skops")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert spectralcls.load(tmp_path / "m.skops").predict([[0.1]]) == [0]
    with pytest.raises(ImportError, match=r"spectralcls\[models\]"):
        spectralcls.save(1, tmp_path / "x")


@pytest.mark.parametrize("version, is_read", [("1.2.3", False), (sklearn.__version__, True)])
def test_estimators_of_another_scikit_learn_are_refused_in_one_sentence(tmp_path, version, is_read):
    X = np.arange(20.0)[:, None]
    model = make_pipeline(StandardScaler(), spectralcls.ParzenClassifier(bandwidth=1.0)).fit(X, X[:, 0] > 9)
    spectralcls.save(model, tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as old, zipfile.ZipFile(tmp_path / "other.skops", "w") as new:
        for name in old.namelist():
            here, there = (f'"content": "\\"{one}\\""'.encode() for one in (sklearn.__version__, version))
            new.writestr(name, old.read(name).replace(here, there))
    if is_read:
        assert spectralcls.load(tmp_path / "other.skops").predict(X).tolist() == model.predict(X).tolist()
    else:
        with pytest.raises(ValueError, match=f"written with scikit-learn 1.2.3, but this is {sklearn.__version__}"):
            spectralcls.load(tmp_path / "other.skops")
