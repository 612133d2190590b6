"""Other libraries' classifiers in `compare`: there if installed, silently absent if not, named in the help."""

import importlib.util
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from spectralcls.cli import main, peers
from spectralcls.cli.registry import Setting

SETTING = Setting(100, 5, 1.0, 4, 0, 1)


def without(monkeypatch, *absent):
    find = importlib.util.find_spec
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None if name in absent else find(name))


def test_peers_are_added_to_what_was_asked_for(monkeypatch, tmp_path, capsys):
    without(monkeypatch, "xgboost", "lightgbm", "catboost")
    out = tmp_path / "iris.json"
    arguments = ["compare", "iris", "--repeats", "2", "--n-jobs", "1", "--json", str(out)]
    assert main([*arguments, "--peers", "--classifiers", "parzen,randomforest,histgradientboosting"]) == 0
    records = json.loads(out.read_text())
    assert [record["classifier"] for record in records] == [
        "ParzenClassifier",
        "RandomForest",
        "HistGradientBoosting",
        "majority class",
    ]
    assert all(record["accuracy_mean"] > 0.85 for record in records[:3])
    assert main([*arguments, "--classifiers", "parzen"]) == 0
    assert len(json.loads(out.read_text())) == 2
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
