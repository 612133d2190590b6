"""Paper 002: table 3, figures 2 and 3."""

from .cells import cell
from .data import published
from .registry import Entry, Figure, Reason, Table

SPLITS = 50
QUERIES = (23, 20)
REASONS = (
    Reason(
        "F1 of single categories",
        "A category has 56 to 189 test documents. When these are resampled, F1 varies so much that all numbers are "
        "within two deviations, except those of *ship* and *money-fx* at k = 420: in these two cases, the paper's F1 "
        "is lower than at k = 120, and ours is higher. Micro and macro averages agree or are in the spread.",
        ("3",),
    ),
    Reason(
        "Medline as the text has it",
        "Embedding 1(a) without unit rows finds few of the relevant documents at any k. The numbers in the figure "
        "require step 2, which the text about it does not mention.",
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
        "Documents are term frequencies of unit length, without idf. An SVM with hinge loss and C = 1 / mean |x|^2 "
        "(the default of SVM-light) solves ten one-versus-rest problems. The embedding is 1(b) with unit rows. "
        "Resampling the test documents shows how much F1 of a category varies by chance.",
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
        "24 of the 39 relevant documents and 90 % of the others are used for training; our numbers are means over the "
        "splits. The text names embedding 1(a) without step 2 (unit rows), but only with unit rows are the numbers as "
        "large as the paper's. This reading was chosen because it fits, and the number is counted once. The paper's "
        "numbers are fractions from one split (22/26 and 8/19), so our deviation over splits is used for them. Our "
        "best single splits are given below figure 2.",
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
