"""What a comparison concludes: marks, advice, and the table."""

import json

import numpy as np
import pytest

from spectralcls.cli import evaluation, main, registry, report
from spectralcls.cli.evaluation import Result
from spectralcls.cli.registry import MAJORITY
from spectralcls.cli.significance import LEVEL, advice, p_value, recommended, standings

rng = np.random.default_rng(0)


def result(name, accuracy, seconds=1.0, n_train=100, n_test=50, **scores):
    outcomes = {
        k: {"accuracy": one, "fit": seconds, "predict": 0.0} | {m: v[k] for m, v in scores.items()}
        for k, one in enumerate(accuracy)
    }
    return Result(name, n_train, n_test, outcomes)


def failed(name):
    return Result(name, 100, 50, {0: {}}, error="ValueError: no")


def test_the_variance_of_a_mean_difference_counts_shared_training_samples():
    n = 10
    difference = 0.03 + 0.025 * np.random.default_rng(0).normal(size=n)
    t = difference.mean() / np.sqrt((1 / n + 50 / 100) * difference.var(ddof=1))
    plain = difference.mean() / np.sqrt(difference.var(ddof=1) / n)
    assert abs(t) < 2.262 < plain  # the quantile of nine degrees of freedom: only the plain test tells them apart
    best = np.full(n, 0.9)
    results = [result("best", best), result("unclear", best - difference), result("near", best - difference / 10)]
    results.append(result("far", best - 0.2 + 0.001 * difference))
    assert p_value(difference, 100, 50) > LEVEL
    assert standings(results, "accuracy") == {"best": "=", "near": "=", "unclear": "?", "far": ""}
    assert "10 splits are too few to tell" in "\n".join(report.conclusions(results, ("accuracy",), 10))


def test_single_splits_tell_nothing_but_what_is_near():
    assert standings([result("a", [0.9]), result("b", [0.8]), result("c", [0.895])], "accuracy") == {
        "a": "=",
        "b": "?",
        "c": "=",
    }
    assert standings([failed("c")], "accuracy") == {}
    assert advice([failed("c")], "accuracy") == "No model could be fitted."


def test_less_is_better_for_log_loss_and_those_without_it_come_last():
    results = [
        result("a", [0.9, 0.8], log_loss=[0.5, 0.4]),
        result("b", [0.8, 0.7], log_loss=[0.3, 0.2]),
        result("none", [0.9, 0.9]),
    ]
    assert advice(results, "log_loss").startswith("Take b: it has the best log loss 0.250")
    assert [line.split()[0] for line in report.table(results, ("log_loss",)).splitlines()[2:]] == ["b", "a", "none"]


@pytest.mark.parametrize(
    ("quick", "seconds", "name"),
    [(0.845, 0.5, "quick"), (0.845, 30.0, "slow"), (0.83, 0.5, "slow")],
    ids=["near and much faster", "near, not faster", "faster, not near"],
)
def test_advice_weighs_accuracy_and_time(quick, seconds, name):
    results = [result("slow", [0.86, 0.84], 60.0), result("quick", [quick + 0.01, quick - 0.01], seconds)]
    assert recommended(results, "accuracy").name == name
    assert advice(results, "accuracy").startswith(f"Take {name}: ")


def test_what_is_no_better_than_the_majority_is_not_advised():
    base = result(MAJORITY, [0.78] * 4, 0.0)
    for other in ([0.77, 0.78, 0.77, 0.78], [0.80, 0.77, 0.79, 0.77]):
        assert advice([result("a", other), base], "accuracy").startswith("No model is better than always answering")
    assert "too few to tell whether a" in advice([result("a", [0.95, 0.79, 0.97, 0.76]), base], "accuracy")
    assert advice([result("a", [0.85, 0.84, 0.86, 0.85]), base], "accuracy").startswith("Take a: ")
    assert recommended([base], "accuracy") is None


def test_a_failure_is_explained_in_its_row():
    lines = report.table([result("good", [0.9, 0.8]), failed("broken")], ("accuracy",)).splitlines()
    assert lines[-1] == "broken      failed: ValueError: no"


def test_scores_are_those_of_their_definitions():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.metrics import roc_auc_score

    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=0.01).fit(X, y)
    p = model.predict_proba(X)
    scores = evaluation.scores_of(
        model, X, y, model.predict(X), ("accuracy", "balanced_accuracy", "log_loss", "roc_auc")
    )
    assert scores["log_loss"] == pytest.approx(-np.mean(np.log(p[np.arange(150), y])))
    assert scores["roc_auc"] == pytest.approx(roc_auc_score(y, p, multi_class="ovr"))
    assert scores["balanced_accuracy"] == pytest.approx(scores["accuracy"])  # classes of equal size
    ridge, two = RidgeClassifier().fit(X[:100], y[:100]), y[:100]
    scores = evaluation.scores_of(ridge, X[:100], two, ridge.predict(X[:100]), ("log_loss", "roc_auc"))
    assert np.isnan(scores["log_loss"])
    assert scores["roc_auc"] == pytest.approx(roc_auc_score(two, ridge.decision_function(X[:100])))


def test_one_failing_classifier_does_not_lose_the_others(monkeypatch, tmp_path, capsys):
    from sklearn.dummy import DummyClassifier

    class Fussy(DummyClassifier):
        def fit(self, X, y):
            raise ValueError("these data\nare not to my taste")

    class Chatty(DummyClassifier):
        def fit(self, X, y):
            import warnings

            warnings.warn("look out", UserWarning, stacklevel=2)
            self.bandwidth_ = np.array([1.0, 2.0, 4.0])
            return super().fit(X, y)

    made = [registry.Entry(kind.__name__, "", lambda setting, kind=kind: kind(), True) for kind in (Fussy, Chatty)]
    monkeypatch.setitem(registry.OF_TASK, "classification", tuple(made))
    out = tmp_path / "out.json"
    common = ["compare", "iris", "--repeats", "3", "--json", str(out), "--n-jobs", "1"]
    assert main(common) == 1
    printed = capsys.readouterr().out
    assert "Fussy       failed: ValueError: these data are not to my taste" in printed
    assert printed.count("Chatty warned: look out") == 1
    fussy, chatty = json.loads(out.read_text())
    assert fussy["accuracy_mean"] is None and "taste" in fussy["error"]
    assert chatty["accuracy_mean"] > 0 and chatty["bandwidth"] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_every_classifier_learns(entry):
    """With missing values and categories, as codes, behind what it needs."""
    from spectralcls.cli.tables import Data

    n = 90
    y = np.arange(n) % 3
    X = np.c_[np.random.default_rng(0).normal(size=(n, 2)) + 4 * y[:, None], y % 2, np.arange(n) % 5]
    X[::9, 1] = np.nan
    data = Data("test", X, y, np.arange(3), list("abcd"), [3])
    _, model = evaluation.fitted(entry, data, np.arange(n), True, seed=0, n_jobs=1)
    accuracy = np.mean(model.predict(X) == y)
    assert accuracy == 1 / 3 if entry.name == MAJORITY else accuracy > 0.8
