import inspect
from urllib.error import URLError

import numpy as np
import pytest
from data import data_folder, data_path
from scipy.stats import kstest, norm
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import datasets

GENERATORS = [
    datasets.make_two_gaussians,
    datasets.make_two_rings,
    datasets.make_two_spirals,
]
BUNDLED = {"iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2), "digits": (1797, 64, 10)}
N = 40_000


def assert_moments(X, mean, covariance):
    """Sample moments within five standard errors of the distribution's."""
    covariance = np.asarray(covariance, dtype=np.float64)
    deviation = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(X.mean(axis=0) - mean) < 5 * deviation / np.sqrt(len(X)))
    error = np.sqrt((np.outer(deviation, deviation) ** 2 + covariance**2) / len(X))
    assert np.all(np.abs(np.cov(X.T) - covariance) < 5.5 * error)


@pytest.mark.parametrize("make", GENERATORS)
def test_generators_give_floats_and_labels_the_same_for_the_same_seed(make):
    X, y = make(random_state=1)
    assert X.dtype == np.float64 and y.dtype == np.int64 and X.shape[0] == y.shape[0]
    assert np.array_equal(np.unique(y), np.arange(y.max() + 1))
    again, labels = make(random_state=1)
    assert np.array_equal(X, again) and np.array_equal(y, labels)
    assert not np.array_equal(X, make(random_state=2)[0])
    assert np.array_equal(make(random_state=np.random.RandomState(1))[0], X)
    assert np.any(np.diff(y) < 0)  # shuffled


@pytest.mark.parametrize("make", GENERATORS)
def test_a_total_is_shared_out_to_within_one(make):
    for n_samples in (1, 7, 101):
        y = make(n_samples, random_state=0)[1]
        assert len(y) == n_samples
        if make is datasets.make_two_gaussians:
            assert abs(np.sum(y == 1) - n_samples * 5 / 105) < 1
        else:
            assert np.ptp(np.bincount(y, minlength=2)) <= 1


def test_class_sizes_can_be_given():
    assert np.array_equal(np.bincount(datasets.make_two_rings((7, 3))[1]), [7, 3])
    assert np.array_equal(np.bincount(datasets.make_two_gaussians()[1]), [100, 5])


def test_two_gaussians():
    X, y = datasets.make_two_gaussians((N, N), random_state=0)
    assert_moments(X[y == 0], [2, 2], np.eye(2))
    assert_moments(X[y == 1], [0.6, 0.6], np.eye(2))
    assert kstest(X[y == 0][:, 0] - 2, "norm").pvalue > 1e-3
    wrong = np.mean((X.sum(axis=1) < 2.6) != y)  # the line of equal distance is the best rule
    best = norm.cdf(-np.hypot(1.4, 1.4) / 2)
    assert wrong == pytest.approx(best, abs=5 * np.sqrt(best / len(y)))


def test_rings_have_their_support_and_are_uniform_on_it():
    centers = np.array([[0.0, 0.0], [1.5, -1.0]])
    X, y = datasets.make_two_rings(2 * N, radii=(1, 2.5), width=0.6, centers=centers, random_state=0)
    for label, radius in enumerate((1, 2.5)):
        ring = X[y == label] - centers[label]
        distance = np.hypot(*ring.T)
        inner, outer = radius - 0.3, radius + 0.3
        assert distance.min() >= inner - 1e-12 and distance.max() <= outer + 1e-12
        area = (distance**2 - inner**2) / (outer**2 - inner**2)
        assert kstest(area, "uniform").pvalue > 1e-3
        assert kstest((np.arctan2(*ring.T) / np.pi + 1) / 2, "uniform").pvalue > 1e-3


def test_spirals():
    X, y = datasets.make_two_spirals(4000, turns=2, radius=5, noise=0, random_state=0)
    t = np.hypot(*X.T) / 5
    angle = 4 * np.pi * t + np.pi * y
    np.testing.assert_allclose(X, 5 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-9)
    assert kstest(t**2, "uniform").pvalue > 1e-3
    gap = np.min(np.linalg.norm(X[y == 0][t[y == 0] > 0.5][:, None] - X[y == 1][None], axis=2), axis=1)
    assert np.all(gap > 0.8 * 5 / (2 * 2))  # the arms are radius / (2 turns) apart, measured along the radius
    noisy = datasets.make_two_spirals(2 * N, noise=0.3, random_state=0)[0]
    quiet = datasets.make_two_spirals(2 * N, noise=0, random_state=0)[0]
    assert np.std(noisy - quiet) == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize(
    "name",
    [
        "two_gaussians",
        "two_rings",
        "two_spirals",
    ],
)
def test_generators_load_by_name(name):
    bunch = datasets.load(name, random_state=3)
    assert bunch.data.shape == (len(bunch.target), len(bunch.feature_names)) and bunch.name == name
    assert len(bunch.target_names) == len(np.unique(bunch.target)) and bunch.splits == []
    assert len(datasets.load(name, n_samples=50).target) == 50
    assert name in datasets.available()


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_load_by_name(name):
    n, d, n_classes = BUNDLED[name]
    bunch = datasets.load(name)
    assert bunch.data.shape == (n, d) and len(bunch.feature_names) == d
    assert np.array_equal(np.unique(bunch.target), np.arange(n_classes)) and len(bunch.target_names) == n_classes


def test_npz_with_plain_arrays(tmp_path):
    X, y = datasets.make_two_rings(30, random_state=0)
    np.savez(tmp_path / "rings.npz", X=X, y=y, classes=["in", "out"])
    np.savez(tmp_path / "words.npz", X=X, y=np.array(["a", "b"])[y], feature_names=["u", "v"])
    np.savez(tmp_path / "signs.npz", X=X, y=2 * y - 1, classes=["minus", "plus"])
    rings = datasets.load("rings", data_home=tmp_path)
    assert np.array_equal(rings.data, X) and np.array_equal(rings.target, y)
    assert list(rings.target_names) == ["in", "out"] and rings.splits == []
    words = datasets.load("words", data_home=tmp_path)
    assert np.array_equal(words.target, y) and list(words.target_names) == ["a", "b"]
    assert words.feature_names == ["u", "v"]
    signs = datasets.load("signs", data_home=tmp_path)
    assert np.array_equal(signs.target, y) and list(signs.target_names) == ["minus", "plus"]
    assert datasets.available(tmp_path)[-3:] == ["rings", "signs", "words"]


def test_npz_with_a_predefined_split_and_with_realisations(tmp_path):
    X, y = datasets.make_two_rings(30, random_state=0)
    np.savez(
        tmp_path / "split.npz",
        X_train=X[:20],
        y_train=y[:20],
        X_test=X[20:],
        y_test=y[20:],
        classes=["a", "b"],
    )
    bunch = datasets.read_npz(tmp_path / "split.npz")
    assert np.array_equal(bunch.data, X) and np.array_equal(bunch.target, y)
    ((train, test),) = bunch.splits
    assert np.array_equal(train, np.arange(20)) and np.array_equal(test, np.arange(20, 30))
    draws = np.array([np.random.default_rng(i).permutation(30) for i in range(3)], dtype=np.int16)
    np.savez(tmp_path / "many.npz", X=X, y=y, train_idx=draws[:, :9], test_idx=draws[:, 9:], realisations=[1, 2, 3])
    splits = datasets.read_npz(tmp_path / "many.npz").splits
    assert len(splits) == 3 and np.array_equal(splits[2][0], draws[2, :9])
    assert cross_val_score(KNeighborsClassifier(1), X, y, cv=splits).shape == (3,)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"A": np.ones(3)}, "holds the arrays A"),
        ({"X": np.ones((3, 2)), "y": np.ones(4)}, "shape"),
        ({"X": np.ones(3), "y": np.ones(3)}, "shape"),
        ({"X": np.ones((3, 2)), "y": np.array([0, 1, 2]), "classes": ["a", "b"]}, "3 labels"),
        ({"X": np.array([[1], [None]], dtype=object), "y": np.ones(2)}, "unpickling"),
    ],
)
def test_broken_npz_files_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        datasets.load("bad", data_home=tmp_path)


def test_what_is_no_npz_file_is_refused(tmp_path, monkeypatch):
    for content in (b"", b"not a zip file at all", b"PK\x03\x04 but truncated"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(ValueError, match="bad.npz"):
            datasets.read_npz(tmp_path / "bad.npz")
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "one.npy").rename(tmp_path / "bad.npz")
    with pytest.raises(ValueError, match="not a .npz file"):
        datasets.read_npz(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError):
        datasets.read_npz(tmp_path / "none.npz")


def test_unknown_names_and_folders_are_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("SPECTRALCLS_DATA", raising=False)
    with pytest.raises(ValueError, match="no data set 'wnie'.*iris, wine"):
        datasets.load("wnie")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        datasets.load("x", data_home=tmp_path / "nowhere")
    with pytest.raises(ValueError, match="generated"):
        datasets.load("wine", n_samples=10)
    monkeypatch.setenv("SPECTRALCLS_DATA", str(tmp_path))
    np.savez(tmp_path / "mine.npz", X=np.ones((2, 1)), y=[0, 1])
    assert datasets.load("mine").data.shape == (2, 1)
    np.savez(tmp_path / "wine.npz", X=np.ones((2, 1)), y=[0, 1])
    assert datasets.available().count("wine") == 1 and len(datasets.load("wine").data) == 178


def test_openml_without_a_network_is_one_clear_error(monkeypatch, tmp_path):
    def no_network(*args, **kwargs):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)  # before it tries again
    for name in ("credit-g", "31"):
        with pytest.raises(ConnectionError, match=f"'{name}' could not be fetched.*no route"):
            datasets.load(f"openml:{name}", data_home=tmp_path)


def test_openml_targets_become_indices(monkeypatch):
    from sklearn.utils import Bunch

    asked = {}

    def fetch(**arguments):
        asked.update(arguments)
        return Bunch(data=np.ones((3, 2)), target=np.array(["b", "a", "b"]), feature_names=["u", "v"])

    monkeypatch.setattr("spectralcls.datasets._loading.sklearn_datasets.fetch_openml", fetch)
    bunch = datasets.load("openml:31")
    assert asked["data_id"] == 31 and list(bunch.target) == [1, 0, 1] and list(bunch.target_names) == ["a", "b"]
    assert datasets.load("openml:credit-g").name == "openml:credit-g" and asked["name"] == "credit-g"


@pytest.mark.parametrize(
    "call",
    [
        lambda: datasets.make_two_rings(0),
        lambda: datasets.make_two_rings((1, 2, 3)),
        lambda: datasets.make_two_rings((1.5, 2)),
        lambda: datasets.make_two_rings(width=2.5),
        lambda: datasets.make_two_rings(radii=(1, 2, 3)),
        lambda: datasets.make_two_spirals(turns=0),
        lambda: datasets.make_two_gaussians(means=[1, 2]),
        lambda: datasets.make_two_rings(10, random_state="x"),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(ValueError):
        call()


def test_every_parameter_of_every_generator_is_documented():
    for make in GENERATORS:
        for name in inspect.signature(make).parameters:
            assert name in make.__doc__


def test_the_real_sets_have_the_shapes_that_are_listed():
    banana = datasets.load("ratsch_banana", data_home=data_path("ratsch_banana.npz").parent)
    assert banana.data.shape == (5300, 2) and len(banana.splits) == 10
    assert list(banana.target_names) == ["-1", "1"] and np.array_equal(np.bincount(banana.target), [2924, 2376])
    satimage = datasets.load("satimage", data_home=data_path("satimage.npz").parent)
    assert [len(part) for part in satimage.splits[0]] == [4435, 2000]
    for path in data_folder().glob("*.npz"):
        with np.load(path) as file:
            labeled = {"y", "y_train"} & set(file.files)
        if labeled and "covertype" not in path.stem:
            assert datasets.load(path.stem, data_home=data_folder()).data.shape[0] > 0


@pytest.mark.parametrize("name", [3, None, b"iris"])
def test_a_name_that_is_no_string_is_refused(name):
    with pytest.raises(TypeError, match="name must be a string"):
        datasets.load(name)
