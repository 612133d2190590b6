"""Paper 002: table 3, figures 2 and 3."""

from .cells import cell
from .data import published
from .registry import Entry, Figure, Reason, Table

SPLITS = 50
QUERIES = (23, 20)
REASONS = (
    Reason(
        "F1 of single categories",
        "A category has 56 to 189 test documents. Over resampled ones all are within two deviations of F1 but *ship* "
        "and *money-fx* at k = 420: there the paper's F1 falls as k grows, and ours does not. Micro and macro averages "
        "are in the spread.",
        ("3",),
    ),
    Reason(
        "Medline as the text has it",
        "Embedding 1(a) without unit rows finds few of the relevant documents, at every k; the figure's numbers need "
        "step 2, which its text does not name.",
        ("2",),
    ),
)


def _medline(query, trials):
    return cell("spectral_kernels.medline", 100, splits=min(trials, SPLITS), query=query)


def tables(trials):
    reuters = cell("spectral_kernels.reuters", 120)
    yield Table(
        "002:3",
        "F1 on Reuters, ten categories",
        tuple(
            Entry(
                "linear kernel" if column == "linear" else column,
                name,
                number,
                None,
                reuters,
                (column.removeprefix("k = "), name),
            )
            for column, numbers in published("002")["3"].items()
            for name, number in numbers.items()
        ),
        "Unit term frequencies without idf, hinge-loss SVM with C = 1 / mean |x|^2 (the default of SVM-light), ten "
        "one-against-the-rest problems; embedding 1(b), unit rows. Resampling the test documents says how far F1 "
        "of a category goes by chance.",
    )
    medline = _medline(23, trials)
    paper = published("002")["2"]["query 23"]
    yield Table(
        "002:2",
        "F1 on Medline, query 23 (figure 2)",
        (
            Entry("best k, unit rows", "F1", paper["best k"], None, medline, ("best", "unit rows", "mean"), None),
            Entry(
                "best k, as the text has it",
                "F1",
                paper["best k"],
                None,
                medline,
                ("best", "plain", "mean"),
                None,
                counted=False,
            ),
            Entry("linear kernel", "F1", paper["linear kernel"], None, medline, ("unit rows", "linear", "mean"), None),
        ),
        "24 of the 39 relevant documents and 90 % of the others for training; ours are means over the splits. The "
        "text names embedding 1(a) without step 2, unit rows, but only with them are numbers as large as the "
        "paper's found: a reading chosen because it fits; the number counts once. The paper's are fractions of one "
        "split (22/26 and 8/19), hence our deviation over splits stands for theirs; our best single splits stand "
        "below figure 2.",
    )


def figures(trials):
    curves = tuple(_medline(query, trials) for query in QUERIES)
    yield Figure("002:fig2", "F1 on Medline, queries 23 and 20", "figures_002.medline", curves)
    yield Figure(
        "002:fig3",
        "F1 on Reuters",
        "figures_002.reuters",
        tuple(cell(f"spectral_kernels.{name}", 120) for name in ("reuters", "reuters_automatic", "latent_semantic")),
    )
