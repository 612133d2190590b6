"""Paper 003: table 2, figures 2 to 5, and the gains that its text reads off figure 5."""

from .cells import cell
from .data import published
from .perturbo_readings import MIXTURES
from .registry import Entry, Figure, Table

REPETITIONS = 10  # as the paper says
TITLES = {
    "simdata_1": "SimData-1",
    "simdata_2": "SimData-2",
    "simdata_3": "SimData-3",
    "ionosphere": "Ionosphere",
    "pima": "diabets",
    "blood_transfusion": "Blood-transfusion",
    "ecoli": "Ecoli",
    "glass": "Glass",
    "wine": "Wines",
    "parkinsons": "Parkinsons",
    "letter": "Letter-reco",
    "hill_valley_1": "Hill-valley1",
    "hill_valley_2": "Hill-valley2",
}
SHOWN = {
    "full": "PerTurbo (full)",
    "gle": "PerTurbo (gle)",
    "reg": "PerTurbo (reg)",
    "svm": "SVM",
    "knn": "k-NN",
}
LETTER_TRIALS = 3


def _cells(data, column, trials):
    trials = min(trials, LETTER_TRIALS if data == "letter" else REPETITIONS)
    weight = 60 if data == "letter" else 4
    if column in ("svm", "knn"):
        ours = cell(f"perturbo.{column}", 2 * weight, data=data, trials=trials)
    else:
        ours = cell("perturbo.perturbo", weight, data=data, variant=column, trials=trials)
    fewer = 1 if data == "letter" else min(trials, 5)
    return ours, cell("perturbo_readings.explain", 30, data=data, variant=column, trials=fewer)


def tables(trials):
    entries, inverses = [], []
    table = published("003")["2"]
    for data, row in table["rows"].items():
        for column, number in zip(table["columns"], row, strict=True):
            ours, explanation = _cells(data, column, trials)
            if number is not None:
                entries.append(
                    Entry(
                        TITLES[data],
                        SHOWN[column],
                        *number,
                        ours,
                        ("rate",),
                        explanation=explanation,
                        calibrated=data.startswith("simdata") and column == "knn",
                    )
                )
            else:
                inverses.append(
                    Entry(TITLES[data], SHOWN[column], None, None, ours, ("singular",), explanation=explanation)
                )
    yield Table(
        "003:2",
        "Accuracy rates",
        tuple(entries + inverses),
        "A fifth of the data for training, ten times (Letter: three), raw features; PerTurbo tuned by "
        "leave-one-out, gle by 5 folds; the SVM on scaled features. gle keeps the largest eigenvalues of K up "
        "to 95 % of its trace. k-NN with the k that is best on the test set, as in the paper. The paper's "
        "simulated sets are not specified: ours share their sizes, and their separations were chosen such that "
        "k-NN comes near the paper's rate: those rows are calibrated, the others test the rest. Where the paper "
        "prints N.I. (duplicates make K singular) ours uses the pseudo-inverse.",
    )
    gains = published("003")["5"]
    yield Table(
        "003:5",
        "Active learning: gain of border queries over random ones at the end (text, figure 5)",
        tuple(
            Entry(TITLES[data], classifier, gain, None, *_active(data, classifier, trials, found))
            for data, found in gains.items()
            for classifier, gain in found.items()
        ),
        "Accuracy on what is left of the pool, as in the paper: the difficult samples have been labeled and "
        "are gone. PerTurbo is tuned on the first labels only; the paper does not say when. What the classifier "
        "gained shows on a fixed test set.",
    )
    yield Table(
        "003:readings",
        "Other readings of PerTurbo (reg)",
        tuple(
            Entry(
                TITLES[data],
                reading,
                *row[table["columns"].index("reg")],
                _cells(data, "reg", trials)[1],
                ("readings", reading),
            )
            for data, row in table["rows"].items()
            if data != "letter" and data not in MIXTURES
            for reading in ("features scaled", "tuned by 5 folds")
        ),
        "The paper says neither whether features are scaled nor how PerTurbo is tuned.",
        counted=False,
    )


def _active(data, classifier, trials, found):
    repeats = min(trials, REPETITIONS)
    setting = {"data": data, "classifier": classifier}
    ours = cell("perturbo.active", 500, trials=repeats, **setting)
    readings = cell("perturbo_readings.active_readings", 300, trials=min(repeats, 3), **setting)
    return ours, ("gains", "pool"), 1.0, readings


def figures(trials):
    for number, title in (("2", "The measure tau on a spiral"), ("4", "Borders, and the region to query")):
        yield Figure(f"003:fig{number}", title, f"figures_003.figure_{number}")
    yield Figure(
        "003:fig3",
        "Classification of two spirals and three Gaussians",
        "figures_003.figure_3",
        (cell("perturbo.spirals", 20, trials=min(trials, REPETITIONS)),),
    )
