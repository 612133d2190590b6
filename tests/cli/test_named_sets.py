"""Data sets that the command line has names for: bundled, generated, in a folder of `.npz` files, on OpenML."""

from urllib.error import URLError

import numpy as np
import pytest
from data import data_folder, data_path
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from spectralcls.cli import named_sets
from spectralcls.datasets import make_two_rings

BUNDLED = {"iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2), "digits": (1797, 64, 10)}


@pytest.mark.parametrize("name", ["two_gaussians", "two_rings", "two_spirals"])
def test_generators_load_by_name(name):
    bunch = named_sets.load(name, random_state=3)
    assert bunch.data.shape == (len(bunch.target), len(bunch.feature_names)) and bunch.name == name
    assert len(bunch.target_names) == len(np.unique(bunch.target)) and bunch.splits == []
    assert name in named_sets.available()


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_load_by_name(name):
    n, d, n_classes = BUNDLED[name]
    bunch = named_sets.load(name)
    assert bunch.data.shape == (n, d) and len(bunch.feature_names) == d
    assert np.array_equal(np.unique(bunch.target), np.arange(n_classes)) and len(bunch.target_names) == n_classes


def test_npz_with_plain_arrays(tmp_path):
    X, y = make_two_rings(30, random_state=0)
    np.savez(tmp_path / "rings.npz", X=X, y=y, classes=["in", "out"])
    np.savez(tmp_path / "words.npz", X=X, y=np.array(["a", "b"])[y], feature_names=["u", "v"])
    np.savez(tmp_path / "signs.npz", X=X, y=2 * y - 1, classes=["minus", "plus"])
    rings = named_sets.load("rings", data_home=tmp_path)
    assert np.array_equal(rings.data, X) and np.array_equal(rings.target, y)
    assert list(rings.target_names) == ["in", "out"] and rings.splits == []
    words = named_sets.load("words", data_home=tmp_path)
    assert np.array_equal(words.target, y) and list(words.target_names) == ["a", "b"]
    assert words.feature_names == ["u", "v"]
    signs = named_sets.load("signs", data_home=tmp_path)
    assert np.array_equal(signs.target, y) and list(signs.target_names) == ["minus", "plus"]
    assert named_sets.available(tmp_path)[-3:] == ["rings", "signs", "words"]


def test_npz_with_a_predefined_split_and_with_realisations(tmp_path):
    X, y = make_two_rings(30, random_state=0)
    np.savez(
        tmp_path / "split.npz",
        X_train=X[:20],
        y_train=y[:20],
        X_test=X[20:],
        y_test=y[20:],
        classes=["a", "b"],
    )
    bunch = named_sets.read_npz(tmp_path / "split.npz")
    assert np.array_equal(bunch.data, X) and np.array_equal(bunch.target, y)
    ((train, test),) = bunch.splits
    assert np.array_equal(train, np.arange(20)) and np.array_equal(test, np.arange(20, 30))
    draws = np.array([np.random.default_rng(i).permutation(30) for i in range(3)], dtype=np.int16)
    np.savez(tmp_path / "many.npz", X=X, y=y, train_idx=draws[:, :9], test_idx=draws[:, 9:], realisations=[1, 2, 3])
    splits = named_sets.read_npz(tmp_path / "many.npz").splits
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
        named_sets.load("bad", data_home=tmp_path)


def test_what_is_no_npz_file_is_refused(tmp_path, monkeypatch):
    for content in (b"", b"not a zip file at all", b"PK\x03\x04 but truncated"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(ValueError, match="bad.npz"):
            named_sets.read_npz(tmp_path / "bad.npz")
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "one.npy").rename(tmp_path / "bad.npz")
    with pytest.raises(ValueError, match="not a .npz file"):
        named_sets.read_npz(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError):
        named_sets.read_npz(tmp_path / "none.npz")


def test_unknown_names_and_folders_are_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("SPECTRALCLS_DATA", raising=False)
    with pytest.raises(ValueError, match="no data set 'wnie'.*iris, wine"):
        named_sets.load("wnie")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        named_sets.load("x", data_home=tmp_path / "nowhere")
    monkeypatch.setenv("SPECTRALCLS_DATA", str(tmp_path))
    np.savez(tmp_path / "mine.npz", X=np.ones((2, 1)), y=[0, 1])
    assert named_sets.load("mine").data.shape == (2, 1)
    np.savez(tmp_path / "wine.npz", X=np.ones((2, 1)), y=[0, 1])
    assert named_sets.available().count("wine") == 1 and len(named_sets.load("wine").data) == 178


def test_openml_without_a_network_is_one_clear_error(monkeypatch, tmp_path):
    def no_network(*args, **kwargs):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)  # before it tries again
    for name in ("credit-g", "31"):
        with pytest.raises(ConnectionError, match=f"'{name}' could not be fetched.*no route"):
            named_sets.load(f"openml:{name}", data_home=tmp_path)


def test_openml_targets_become_indices(monkeypatch):
    from sklearn.utils import Bunch

    asked = {}

    def fetch(**arguments):
        asked.update(arguments)
        return Bunch(data=np.ones((3, 2)), target=np.array(["b", "a", "b"]), feature_names=["u", "v"])

    monkeypatch.setattr("spectralcls.cli.named_sets.sklearn_datasets.fetch_openml", fetch)
    bunch = named_sets.load("openml:31")
    assert asked["data_id"] == 31 and list(bunch.target) == [1, 0, 1] and list(bunch.target_names) == ["a", "b"]
    assert named_sets.load("openml:credit-g").name == "openml:credit-g" and asked["name"] == "credit-g"


def test_the_real_sets_have_the_shapes_that_are_listed():
    banana = named_sets.load("ratsch_banana", data_home=data_path("ratsch_banana.npz").parent)
    assert banana.data.shape == (5300, 2) and len(banana.splits) == 10
    assert list(banana.target_names) == ["-1", "1"] and np.array_equal(np.bincount(banana.target), [2924, 2376])
    satimage = named_sets.load("satimage", data_home=data_path("satimage.npz").parent)
    assert [len(part) for part in satimage.splits[0]] == [4435, 2000]
    for path in data_folder().glob("*.npz"):
        with np.load(path) as file:
            labeled = {"y", "y_train"} & set(file.files)
        if labeled and "covertype" not in path.stem:
            assert named_sets.load(path.stem, data_home=data_folder()).data.shape[0] > 0
