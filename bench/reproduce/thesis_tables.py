"""The tables of the thesis: rates, information potentials, confusion matrices, and ranges of bandwidths."""

from .cells import cell
from .data import THESIS
from .tables import DEVIATIONS, POINTS, Entry, cell_of, published

SMALL = ("banana", "ringnorm", "twonorm")  # 100 training and 50 test points for the Laplacian ISE classifier
SHOWN = {
    "bayes": "Bayes",
    "ise": "ISE",
    "laplacian_ise": "Laplacian ISE",
    "cs": "CS",
    "svm": "SVM",
    "spectral_ise": "spectral ISE",
    "spectral_laplacian_ise": "spectral Laplacian ISE",
}
CENTERS = {"Means": "mean", "Medians": "median"}  # of the confusion matrices in appendices B and C
TRIALS = 100  # of the thesis


def rates_cell(data, classifier, trials, center="mean", **grid):
    """The cell of a classifier's rate and confusion matrix; `center` applies to spectral classifiers only."""
    if classifier == "svm":
        return cell("thesis.svm_rates", 30, data=data, trials=trials)
    spectral, slow = classifier.startswith("spectral"), 0.6 if data in ("pendigits", "pima") else 0.2
    small = {"small": True} if classifier == "laplacian_ise" and data in SMALL else {}
    more = {"center": center} if spectral else small
    weight = slow * trials * (1 if spectral else 1 / 3)
    return cell("thesis.rates", weight, data=data, classifier=classifier, trials=trials, **more, **grid)


def readings(*names):
    return " ".join(published("001")["readings"][name] for name in names)


def rates(spec, trials):
    classifiers, center, entries = spec["classifiers"], spec.get("center", "mean"), []
    for data, row in spec["numbers"].items():
        for classifier, number in zip(classifiers, row, strict=True):
            if number:  # empty: not given
                ours = rates_cell(data, classifier, trials, center)
                place = THESIS[data].title, SHOWN[classifier]
                entries.append(Entry(*place, *number, ours, ("rate",), trials=TRIALS))
    kind = ("rates", "spectral") if classifiers[0].startswith("spectral") else ("rates",)
    return entries, " ".join([readings(*kind), *contradictions(spec, classifiers, center)])


def matrices():
    """(table, label, printed matrix) of all confusion matrices."""
    for table in published("001")["tables"]:
        yield from ((table, label, matrix) for label, matrix in table.get("matrices", {}).items())


def contradictions(spec, classifiers, center):
    """Sentences on rates that the thesis's own confusion matrices contradict by more than half a point."""
    for table, label, matrix in matrices():
        classifier, row = matrix_classifier(table["name"], label), spec["numbers"].get(table["data"])
        if row is not None and classifier in classifiers and CENTERS.get(label, center) == center:
            printed = row[classifiers.index(classifier)][0]
            implied = 100 * sum(matrix[i][i] for i in range(len(matrix))) / sum(map(sum, matrix))
            if abs(implied - printed) > 0.5:
                title = f"{THESIS[table['data']].title}, {SHOWN[classifier]}"
                yield f"{title}: the thesis's own table {table['name']} implies {implied:.1f}."


def printed_deviation(data, classifier, center):
    """The thesis's deviation of the rate that a confusion matrix belongs to; 0 if it gives none."""
    for table in published("001")["tables"]:
        spectral = classifier.startswith("spectral")
        if classifier in table.get("classifiers", ()) and (not spectral or table.get("center", "mean") == center):
            if number := table["numbers"].get(data, {}):
                return (number[table["classifiers"].index(classifier)] or [0, 0])[1]
    return 0.0


def matrix_classifier(number, label):
    """The classifier to which a confusion matrix belongs."""
    if label in CENTERS:
        return "spectral_ise" if number.startswith("B") else "spectral_laplacian_ise"
    return {"ISE": "ise", "Bayes": "bayes"}.get(label, "laplacian_ise")


def potentials(spec, trials):
    entries, exchanged = [], spec.get("exchanged", [])  # sets whose classes are printed in the opposite order
    for data, row in spec["numbers"].items():
        for c, number in enumerate(row[::-1] if data in exchanged else row):
            ours, place = rates_cell(data, "ise", trials), (THESIS[data].title, f"class {c + 1}")
            counted = c < len(row) - 1
            entries.append(Entry(*place, number, None, ours, ("potentials", c), counted=counted))
    names = ", ".join(THESIS[data].title for data in exchanged)
    return entries, readings("potentials", *["exchanged"] * bool(names)).format(names)


def confusion(spec, trials):
    """Entries of counts, compared in percentage points of the test set. A printed matrix is transposed if only its
    column sums are near the sizes of the classes.
    """
    name, data, calibrated = spec["name"], spec["data"], spec.get("calibrated", {})
    entries, turned = [], []
    for label, printed in spec["matrices"].items():
        classifier, center = matrix_classifier(name, label), CENTERS.get(label, "mean")
        matrix, is_turned = upright(data, printed)
        turned += [label] * is_turned
        titles = {label: {}}
        if label in calibrated:  # also with a grid of bandwidths that reproduces the printed counts
            grid = dict(calibrated[label])
            titles[f"{label}, h {grid.pop('words')} (calibrated)"] = grid
        for title, grid in titles.items():
            ours = rates_cell(data, classifier, trials, center, **grid)
            allowance = max(POINTS, DEVIATIONS * printed_deviation(data, classifier, center))
            entries += [
                Entry(
                    f"{title}: class {i + 1}",
                    f"as {j + 1}",
                    number,
                    None,
                    ours,
                    ("confusion", i, j),
                    100 / sum(map(sum, printed)),
                    2,
                    sum(row),
                    allowance=allowance,
                    counted=i != j and not grid,
                )
                for i, row in enumerate(matrix)
                for j, number in enumerate(row)
            ]
    kinds = ["confusion", *["calibrated"] * bool(calibrated), *["turned"] * bool(turned)]
    return entries, readings(*kinds).format(", ".join(turned))


def upright(data, printed):
    """The matrix with true classes in its rows, and whether the printed one had to be transposed."""
    transposed = [list(column) for column in zip(*printed, strict=True)]
    of_bayes = next(matrix for table, label, matrix in matrices() if label == "Bayes" and table["data"] == data)
    sizes, total = [sum(row) for row in of_bayes], sum(map(sum, printed))

    def distance(matrix):
        shares = zip(map(sum, matrix), sizes, strict=True)
        return sum(abs(own / total - size / sum(sizes)) for own, size in shares)

    is_turned = distance(transposed) < distance(printed)
    return (transposed if is_turned else printed), is_turned


def ranges(spec, trials):
    cell = {"function": "thesis.ranges", "weight": 60, "trials": 10, "kernel": spec["kernel"]}
    ours = cell_of(cell, trials)
    entries = [
        Entry(classifier, end, number, None, ours, (classifier, end), None, 2, specified=False)
        for classifier, ends in spec["numbers"].items()
        for end, number in zip(("from", "to"), ends, strict=True)
    ]
    return entries, readings("ranges")
