"""Paper 003: table 2, figures 2 to 5, and the gains in figure 5 that its text names."""

from .cells import cell
from .data import published
from .registry import Entry, Figure, Reason, Table

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
VARIANTS = ("full", "gle", "reg")
SHOWN = {"full": "PerTurbo (full)", "gle": "PerTurbo (gle)", "reg": "PerTurbo (reg)", "svm": "SVM", "knn": "k-NN"}
PLAIN = "ionosphere"  # many of its queries are far from every class
LETTER_TRIALS = 3
RETUNE = 20  # number of labels after which PerTurbo is tuned again in figure 5, as on the page about active learning
REASONS = (
    Reason(
        "Ionosphere, PerTurbo",
        "At the best bandwidths a third of the queries are unlike both classes: tau = 1 in double precision. If "
        "these ties go to the first class, the more scattered one, as in the authors' later code (pRoloc, "
        "R/perTurbo-algorithm.R), the printed rates result (see *as computed then*). Our classifier compares "
        "logarithms, so the nearest class wins.",
        ("2",),
        ("Ionosphere",),
    ),
    Reason(
        "Blood transfusion, PerTurbo (gle)",
        "With scaled features the rate is 73 to 76 percent, near the printed one; the paper mentions no scaling.",
        ("2",),
        ("Blood-transfusion",),
    ),
    Reason(
        "Wines, PerTurbo",
        "There are only 36 training points, and the bandwidth that tuning chooses changes the rate of a split by "
        "several points. With the bandwidth that is best on each test set, full reaches 79 percent and gle the "
        "printed 73.",
        ("2",),
        ("Wines",),
    ),
)


def _plain(number, column, trials):
    """The same number, computed in plain double precision."""
    ours = cell("perturbo.plain", data=PLAIN, variant=column, trials=min(trials, REPETITIONS))
    return Entry(f"{TITLES[PLAIN]}, as computed then", SHOWN[column], *number, ours, ("rate",), trials=REPETITIONS)


def _cell(data, column, trials):
    trials = min(trials, LETTER_TRIALS if data == "letter" else REPETITIONS)
    weight = 60 if data == "letter" else 4
    if column in ("svm", "knn"):
        ours = cell(f"perturbo.{column}", 2 * weight, data=data, trials=trials)
    else:
        ours = cell("perturbo.perturbo", weight, data=data, variant=column, trials=trials)
    return ours


def tables(trials):
    entries, inverses = [], []
    table = published("003")["2"]
    for data, row in table["rows"].items():
        for column, number in zip(table["columns"], row, strict=True):
            ours = _cell(data, column, trials)
            if number is not None:
                entries.append(
                    Entry(
                        TITLES[data],
                        SHOWN[column],
                        *number,
                        ours,
                        ("rate",),
                        trials=REPETITIONS,
                        counted=not (data == PLAIN and column in VARIANTS),
                        specified=not data.startswith("simdata"),
                    )
                )
            else:
                inverses.append(Entry(TITLES[data], SHOWN[column], None, None, ours, ("singular",)))
        if data == PLAIN:
            entries += [_plain(number, column, trials) for column, number in zip(VARIANTS, row, strict=False)]
    yield Table(
        "003:2",
        "Accuracy rates",
        tuple(entries + inverses),
        "Each of ten trials (three for Letter) trains on a fifth of the data, with raw features. PerTurbo is tuned "
        "by 5-fold cross-validation; the SVM uses scaled features. gle keeps the largest eigenvalues of K up to 95 % "
        "of its trace. k-NN uses the k that is best on the test set, as in the paper. *Ionosphere, as computed then* "
        "evaluates tau in double precision, where it is 1 for queries far from a class; the first class wins ties, "
        "as in the R code of one of the authors. This reading was chosen because it fits, and each number is counted "
        "once. The paper does not specify its simulated sets. Our sets have the same sizes and diagonal covariances, "
        "with separations chosen such that PerTurbo comes near the paper's rate; the rates on these sets are "
        "therefore not comparable. If the paper prints N.I. (duplicates make K singular), our classifier uses the "
        "pseudo-inverse.",
    )
    gains = published("003")["5"]
    yield Table(
        "003:5",
        "Active learning: gain of boundary queries over random ones at the end (text, figure 5)",
        tuple(
            Entry(
                TITLES[data],
                classifier,
                gain,
                None,
                _active(data, classifier, trials),
                ("gains", "pool"),
                points=None,
                trials=REPETITIONS,
                specified=not data.startswith("simdata"),
            )
            for data, found in gains.items()
            for classifier, gain in found.items()
        ),
        "The accuracy is that on the rest of the pool, as in the paper; the difficult samples have been labeled and "
        "are no longer in the pool. PerTurbo is tuned only on the first labels: the paper does not say when to tune, "
        f"and this fits better than tuning again after every {RETUNE} labels, as in figure 5 below. Accuracy on a "
        "fixed test set shows how much the classifier has improved.",
    )


def _active(data, classifier, trials, **options):
    repeats = min(trials, REPETITIONS)
    return cell("perturbo.active", 500, trials=repeats, data=data, classifier=classifier, **options)


def figures(trials):
    for number, title in (("2", "The measure tau on a spiral"), ("4", "Borders, and the region to query")):
        yield Figure(f"003:fig{number}", title, f"figures_003.figure_{number}")
    yield Figure(
        "003:fig3",
        "Classification of two spirals and three Gaussians",
        "figures_003.figure_3",
        (cell("perturbo.spirals", 20, trials=min(trials, REPETITIONS)),),
    )
    curves = tuple((data, classifier) for data, found in published("003")["5"].items() for classifier in found)
    yield Figure(
        "003:fig5",
        "Active learning",
        "figures_003.figure_5",
        tuple(_active(data, classifier, trials, retune=RETUNE) for data, classifier in curves),
        (("titles", tuple(f"{TITLES[data]}, {classifier}" for data, classifier in curves)),),
    )
