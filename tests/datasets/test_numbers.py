"""A target of numbers at the command line: which task it is, what is compared, the files that result."""

import csv
import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from spectralcls.cli import registry
from spectralcls.cli.main import main
from spectralcls.cli.significance import advice, standings
from spectralcls.storage import load

RNG = np.random.default_rng(0)
SIZES = RNG.uniform(50, 200, 90)
PRICES = 1000 * SIZES * (1 + 0.5 * (np.arange(90) % 2)) + RNG.normal(size=90) * 2000


@pytest.fixture
def houses(tmp_path):
    path = tmp_path / "houses.csv"
    rows = (f"{s:.1f};{'old' if k % 2 else 'new'};{p:.2f}" for k, (s, p) in enumerate(zip(SIZES, PRICES, strict=True)))
    path.write_text("size;kind;price\n" + "\n".join(rows).replace(".", ",") + "\n", encoding="utf-8")
    return path


def run(*words):
    return main([str(word) for word in words])


def test_numbers_are_compared_as_numbers(houses, tmp_path, capsys):
    out = tmp_path / "t.json"
    options = ["--repeats", 2, "--json", out, "--quiet", "--classifiers", "kernelridge,auto,ridge"]
    assert run("compare", houses, "--target", "price", *options) == 0
    printed = capsys.readouterr().out
    assert "houses: the target has 90 numbers: regression (for classes: --task classification)" in printed
    assert "numbers from" in printed and "regressor" in printed and "in 90 % interval" in printed
    assert "2 splits into 60 training and 30 test samples" in printed
    records = {record["regressor"]: record for record in json.loads(out.read_text())}
    assert list(records) == ["KernelRidgeRegressor", "AutoRegressor", "Ridge", "mean"]
    auto = records["AutoRegressor"]
    assert auto["rmse_mean"] < 0.3 * records["mean"]["rmse_mean"] and auto["r2_mean"] > 0.9
    assert 0.6 < auto["coverage_mean"] <= 1 and records["Ridge"]["coverage_mean"] is None
    assert auto["crps_mean"] < 0.9 * auto["mae_mean"]
    for name in ("Ridge", "mean"):
        assert records[name]["crps_mean"] == pytest.approx(records[name]["mae_mean"])


def test_the_crps_is_that_of_the_distribution():
    from spectralcls.cli.evaluation import scores_of

    class Normal(RegressorMixin, BaseEstimator):
        """Predicts a normal distribution around 1 with deviation 2."""

        def fit(self, X, y):
            self.fitted_ = True
            return self

        def predict_quantile(self, X, shares):
            return np.broadcast_to(1 + 2 * norm.ppf(shares), (len(X), len(shares)))

    y = np.linspace(-4, 6, 51)
    z = (y - 1) / 2
    exact = 2 * np.mean(z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert scores_of(Normal().fit(y, y), y, y, y, ["crps"])["crps"] == pytest.approx(exact, rel=0.02)


def test_a_model_of_numbers_is_written_and_answers_with_intervals(houses, tmp_path, capsys):
    model, out = tmp_path / "m.skops", tmp_path / "p.csv"
    assert run("fit", houses, "--target", "price", "--out", model, "--quiet") == 0
    assert "AutoRegressor, 90 rows, 2 features, numbers from" in capsys.readouterr().out
    assert type(load(model)).__name__ == "Pipeline" or type(load(model)).__name__ == "AutoRegressor"
    assert run("predict", model, houses, "--out", out, "--interval", "0.8", "--quiet") == 0
    rows = list(csv.reader(out.read_text(encoding="utf-8-sig").splitlines(), delimiter=";"))
    assert rows[0] == ["row", "prediction", "low", "high"]
    predicted, low, high = np.array([[cell.replace(",", ".") for cell in row[1:]] for row in rows[1:]], dtype=float).T
    assert ((low <= predicted) & (predicted <= high)).all()
    assert np.mean((low <= PRICES) & (PRICES <= high)) > 0.7
    assert np.corrcoef(predicted, PRICES)[0, 1] > 0.95
    assert run("predict", model, houses, "--out", out, "--interval", "--quiet") == 0  # .9 without a number
    wide = np.genfromtxt((line.replace(",", ".") for line in out.read_text("utf-8-sig").splitlines()), delimiter=";")
    assert np.all(wide[1:, 3] - wide[1:, 2] > high - low)
    for wrong in ("1.5", "3", "x"):
        assert run("predict", model, houses, "--out", out, "--interval", wrong) == 2


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["0.5", "1.5"] * 15, "regression"),  # fractions
        (["1 200 €", "1 350 €", "990 €"] * 10, "classification"),  # few prices
        ([str(100 + 7 * k) for k in range(30)], "regression"),  # whole numbers with gaps
        ([str(k % 25) for k in range(100)], "classification"),  # running numbers, four rows each
        ([str(k) for k in range(1, 31)], "regression"),  # running numbers, one row each
        (["yes", "no"] * 15, "classification"),
        ([str(k % 5) for k in range(30)], "classification"),  # stars
    ],
)
def test_the_task_is_learned_from_the_target(cells, task, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a;y\n" + "\n".join(f"{k % 7};{cell}" for k, cell in enumerate(cells)), encoding="utf-8")
    ways = {"classification": "parzen", "regression": "kernelridge"}
    fit = ["fit", path, "--target", "y", "--out", tmp_path / "m.skops", "--quiet", "--classifier", ways[task]]
    assert run(*fit) == 0
    assert ("regression" in capsys.readouterr().out) == (task == "regression")


def test_the_task_is_overruled_and_what_does_not_fit_it_is_named(houses, tmp_path, capsys):
    fit = ["fit", houses, "--out", tmp_path / "m.skops", "--quiet", "--target"]
    assert run(*fit, "kind", "--task", "regression") == 2
    assert "--task regression predicts numbers, but the target has 'new'" in capsys.readouterr().err
    compare = ["compare", houses, "--target", "price", "--quiet"]
    assert run(*compare, "--metric", "accuracy") == 2
    assert "the target holds numbers, and accuracy is not a metric for these: use rmse" in capsys.readouterr().err
    assert run(*compare, "--metric", "coverage,rmse") == 2
    assert "coverage cannot rank models" in capsys.readouterr().err
    assert run(*compare, "--classifiers", "parzen") == 2
    assert "parzen does not predict numbers" in capsys.readouterr().err
    assert run(*compare, "--task", "classification") == 2  # each price is a class of one
    assert "has one sample" in capsys.readouterr().err


@pytest.mark.filterwarnings("always:.*left out")
@pytest.mark.parametrize("word", ["inf", "on request", "1+2j"])
def test_a_word_among_numbers_is_named_and_can_be_left_out(word, tmp_path, capsys):
    """Instead of a class for each price."""
    path = tmp_path / "t.csv"
    path.write_text("a;y\n" + "\n".join(f"{k % 7};{word if k == 3 else k / 2}" for k in range(40)), encoding="utf-8")
    fit = ["fit", path, "--target", "y", "--out", tmp_path / "m.skops", "--quiet", "--classifier", "kernelridge"]
    assert run(*fit) == 2
    error = capsys.readouterr().err
    assert (
        f"the target has 39 numbers, and {word!r} in line 5: correct the cell, or leave out its row with --missing"
        in error
    )
    assert run(*fit, "--missing", word) == 0
    assert "39 numbers: regression" in capsys.readouterr().out


def test_dates_as_target_are_refused_unless_they_are_classes(tmp_path, capsys):
    days = np.arange("2024-01-01", "2024-07-19", 5, dtype="datetime64[D]").astype(str).tolist()
    for cells, code in ((days, 2), (days[:4] * 10, 0)):
        path = tmp_path / "t.csv"
        path.write_text("a;y\n" + "\n".join(f"{k % 7};{cell}" for k, cell in enumerate(cells)), encoding="utf-8")
        fit = ["fit", path, "--target", "y", "--out", tmp_path / "m.skops", "--quiet", "--classifier", "parzen"]
        assert run(*fit) == code
    assert (
        "the target holds dates, such as '2024-01-01' in line 2, and regression predicts numbers"
        in capsys.readouterr().err
    )


@pytest.mark.filterwarnings("always:.*left out")
def test_rows_without_a_number_are_left_out_with_a_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a;y\n" + "\n".join(f"{k % 7};{'' if k == 3 else k / 2}" for k in range(40)), encoding="utf-8")
    fit = ["fit", path, "--target", "y", "--out", tmp_path / "m.skops", "--quiet", "--classifier", "kernelridge"]
    assert run(*fit) == 0
    assert "1 of 40 rows is left out" in capsys.readouterr().err
    assert run(*fit, "--unlabeled", "error") == 2


def test_errors_in_units_of_the_target_are_compared_by_their_ratio():
    from spectralcls.cli.evaluation import Result

    def result(name, *errors):
        outcomes = {k: {"rmse": e, "fit": 1.0, "predict": 0.1} for k, e in enumerate(errors)}
        return Result(name, 100, 50, outcomes)

    results = [result("a", 1000.0, 1001.0), result("b", 1005.0, 1006.0), result("c", 1500.0, 1501.0)]
    assert standings(results, "rmse") == {"a": "=", "b": "=", "c": ""}
    assert "no other within 1 % of it" in advice(results, "rmse")


@pytest.mark.parametrize("entry", registry.REGRESSORS, ids=lambda entry: entry.name)
def test_every_regressor_learns(entry):
    """With missing values and categories, as codes, behind what it needs."""
    from spectralcls.cli.evaluation import fitted, scores_of
    from spectralcls.cli.tables import Data

    X = np.column_stack([SIZES, np.arange(90) % 2])
    X[::9, 0] = np.nan
    data = Data("houses", X, PRICES, None, ["size", "kind"], [1])
    model = fitted(entry, data, np.arange(60), True, seed=0, n_jobs=1)[1]
    scores = scores_of(model, X[60:], PRICES[60:], model.predict(X[60:]), ("rmse", "r2"))
    assert np.isfinite(scores["rmse"]) and (scores["r2"] > 0.3 or entry.name == "mean")
