"""Other libraries' classifiers in `compare`: there if installed, silently absent if not, named in the help."""

import importlib.util
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from spectralcls.cli import main, peers
from spectralcls.cli.registry import Setting

SETTING = Setting(100, 5, 1.0, 4, 0, 1)


def without(monkeypatch, *absent):
    find = importlib.util.find_spec
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None if name in absent else find(name))


def test_peers_are_added_to_what_was_asked_for(monkeypatch, tmp_path, capsys):
    without(monkeypatch, "xgboost", "lightgbm", "catboost", "xrfm", "torch")
    out = tmp_path / "iris.json"
    arguments = ["compare", "iris", "--repeats", "2", "--n-jobs", "1", "--json", str(out)]
    assert main([*arguments, "--peers", "--classifiers", "parzen,randomforest"]) == 0
    records = json.loads(out.read_text())
    assert [record["classifier"] for record in records] == ["ParzenClassifier", "RandomForest", "HistGradientBoosting"]
    assert all(record["accuracy_mean"] > 0.85 for record in records)
    assert main([*arguments, "--classifiers", "parzen"]) == 0
    assert len(json.loads(out.read_text())) == 1
    capsys.readouterr()
    assert main([*arguments, "--classifiers", "catboost"]) == 2
    assert "unknown classifier 'catboost'" in capsys.readouterr().err


def test_the_help_names_all_peers(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert all(name in printed for name in peers.PEERS)


@pytest.mark.parametrize("name", list(peers.PEERS))
def test_each_peer_learns_labels_of_any_kind(name):
    module, entry = peers.PEERS[name]
    pytest.importorskip(module)
    X, y = load_wine(return_X_y=True)
    X, labels = StandardScaler().fit_transform(X), np.array(["red", "white", "rose"])[y]
    model = entry.make(SETTING).fit(X[::2], labels[::2])
    assert np.mean(model.predict(X[1::2]) == labels[1::2]) > 0.9
    p = model.predict_proba(X[1::2])
    assert np.allclose(p.sum(axis=1), 1, atol=1e-5)
    assert np.mean(model.classes_[p.argmax(axis=1)] == labels[1::2]) > 0.9


def test_coded_holds_out_a_share_of_every_class():
    class Recorder(peers.BaseEstimator):
        def fit(self, X, y, X_held_out, y_held_out):
            self.sizes_ = np.bincount(y), np.bincount(y_held_out)
            return self

    X, y = load_iris(return_X_y=True)
    model = peers.Coded(Recorder(), validation=0.2).fit(X, y)
    assert [list(part) for part in model.estimator_.sizes_] == [[40] * 3, [10] * 3]
    lonely = np.where(np.arange(150) == 0, 3, y)
    assert sum(map(sum, peers.Coded(Recorder(), validation=0.2).fit(X, lonely).estimator_.sizes_)) == 150


def test_torch_nca_needs_no_pair_of_a_point_with_itself():
    """With a point's own distance in the sum, random labels would be learned by heart."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    model = peers.PEERS["torch NCA"][1].make(SETTING).fit(X, y)
    Q, truth = rng.normal(size=(400, 3)), np.arange(400) % 2
    p = model.predict_proba(Q)[np.arange(400), truth]
    assert -np.log(p).mean() < 0.9  # log 2 is the best
