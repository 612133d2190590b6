"""Sentences about cells that do not agree with the paper, made from what was measured about them."""

import numpy as np

from .thesis_kernels import SIZES


def sentence(explanation, entries, store):
    """What the explanation's cell says about these entries, or None."""
    value = store.value(explanation)
    if value is None:
        return None
    return _SENTENCES[explanation.function](value, entries, store)


def _crossings(target, rates, bandwidths):
    """Where the rate as a function of the bandwidth passes the paper's."""
    above = np.asarray(rates) >= target
    at = [bandwidths[i] for i in np.flatnonzero(above[1:] != above[:-1])]
    if not at:
        return f"it never passes the paper's {target:.1f}"
    return f"it passes the paper's {target:.1f} at h = {', '.join(f'{h:.2g}' for h in at)}"


def _extent(rates, bandwidths):
    low, high = np.argmin(rates), np.argmax(rates)
    return (
        f"At fixed h the test rate runs from {rates[low]:.1f} (h = {bandwidths[low]:.2g}) to "
        f"{rates[high]:.1f} (h = {bandwidths[high]:.2g})"
    )


def sweep(value, entries, store):
    """The rate at fixed bandwidths and the other readings, beside the rate that the paper's numbers imply."""
    bandwidths, rates = np.array(value["bandwidths"]), np.array(value["rates"])
    parts = [_extent(rates, bandwidths)]
    parts += [_crossings(e.paper, rates, bandwidths) for e in entries[:1] if e.path[-1] == "rate"]
    tuned = store.value(entries[0].cell)
    if chosen := tuned.get("bandwidths"):
        parts.append(f"chosen were h = {min(chosen):.2g} to {max(chosen):.2g}, median {np.median(chosen):.2g}")
    parts += _nearest_matrix(value, [entry for entry in entries if entry.row_total is not None])
    if limit := tuned.get("undetermined"):
        parts.append(
            f"up to h = {limit:.2g} leading eigenvalues agree to rounding, so that the data do not determine "
            "the eigenvectors, and cross-validation leaves these h out (the thesis does not mention it)"
        )
    parts += [_reading(name, number) for name, number in value["readings"].items()]
    return f"{'; '.join(parts)} ({value['trials']} trials)."


def _nearest_matrix(value, entries):
    """At which bandwidth the counts come nearest to those of the paper that differ."""
    if not entries:
        return []
    matrices = np.array(value["confusion"])
    shares = matrices / matrices.sum(axis=2, keepdims=True)
    off = [
        entry.points * abs(shares[:, entry.path[-2], entry.path[-1]] * entry.row_total - entry.paper)
        for entry in entries
    ]
    worst = np.nan_to_num(np.max(off, axis=0), nan=np.inf)
    best = worst.argmin()
    return [
        f"these counts come nearest to the paper's at h = {value['bandwidths'][best]:.2g}, {worst[best]:.1f} "
        f"points off, where the rate is {value['rates'][best]:.1f} ± {value['deviations'][best]:.1f}"
    ]


def potentials(value, entries, store):
    """Where among the bandwidths the shares come closest to the paper's."""
    bandwidths, shares = np.array(value["bandwidths"]), np.array(value["shares"])
    classes = [entry.path[-1] for entry in entries]
    paper = np.array([entry.paper for entry in entries])
    distance = np.abs(shares[:, classes] - paper).max(axis=1)
    best = distance.argmin()
    found = ", ".join(f"{share:.1f}" for share in shares[best])
    text = (
        f"The shares depend on h: of class 1 from {shares[:, 0].min():.1f} to {shares[:, 0].max():.1f} "
        f"per cent; "
        f"nearest to the paper at h = {bandwidths[best]:.2g} ({found}), {distance[best]:.1f} points off."
    )
    if len(entries) == 2:
        swapped = np.abs(shares[:, classes] - paper[::-1]).max(axis=1)
        best = swapped.argmin()
        at = f"{swapped[best]:.1f} points off at h = {bandwidths[best]:.2g}"
        text += f" With the paper's two columns exchanged: {at}."
    return text


def other_sizes(value, entries, store):
    """The same ends of the ranges for other sizes of the thesis's unspecified distribution."""
    parts = []
    for entry in entries:
        found = [
            f"{size} {ends[entry.path[1]][0]:.2f}" for size, ranges in value.items() if (ends := ranges[entry.path[0]])
        ]
        parts.append(f"{entry.row} {entry.column}: {', '.join(found) or 'nowhere'}")
    sizes = "; ".join(
        f"{name}: Gaussian of deviation {size['scale']:g}, ring of radius {size['radius']:g} and width "
        f"{size['width']:g}"
        for name, size in SIZES.items()
    )
    first = next(iter(SIZES))
    return (
        f"The distribution decides. Means for other sizes of it: {'; '.join(parts)}. ({sizes}; ours above is {first}.)"
    )


def _reading(name, number):
    if isinstance(number, list):
        return f"{name}: {number[0]:.1f} ± {number[1]:.1f}"
    return f"{name}: {number:.4g}"


def readings(value, entries, store):
    """Other readings measured in one cell, {text: number or [mean, deviation]}, and the one nearest the paper."""
    found = value["readings"]
    parts = []
    if "bandwidths" in value:
        parts.append(_extent(value["rates"], value["bandwidths"]))
        parts.append(_crossings(entries[0].paper, value["rates"], value["bandwidths"]))
    parts += [_reading(name, number) for name, number in found.items()]
    means = {name: number[0] if isinstance(number, list) else number for name, number in found.items()}
    papers = [entry.paper for entry in entries if entry.paper is not None]
    nearest = dict.fromkeys(min(means, key=lambda name: abs(means[name] - paper)) for paper in papers)
    return "; ".join(parts) + (f". Nearest to the paper: {', '.join(nearest)}." if nearest else ".")


def by_entry(value, entries, store):
    """Readings of several entries that one cell holds, at their own paths, each as `readings` has it."""
    parts = []
    for entry in entries:
        found = value
        for step in entry.path:
            found = found[step]
        parts.append(f"{entry.row} {entry.column} - {readings(found, [entry], store)}")
    return " ".join(parts)


_SENTENCES = {
    "thesis_readings.explain": sweep,
    "thesis.potentials": potentials,
    "thesis.svm_readings": readings,
    "thesis_kernels.other_sizes": other_sizes,
    "laplacian_spectral.explain": readings,
    "laplacian_spectral.ring_readings": readings,
    "laplacian_spectral.breast_cancer_readings": readings,
    "perturbo_readings.explain": readings,
    "perturbo_readings.active_readings": readings,
    "spectral_kernels.reuters_readings": by_entry,
    "spectral_kernels.medline": readings,
    "ccdr_readings.explain": readings,
    "ccdr_readings.dimension_readings": readings,
}
