"""Sentences about cells that do not agree with the paper, made from what was measured about them."""

import numpy as np


def sentence(explanation, entries, store):
    """What the explanation's cell says about these entries, or None."""
    value = store.value(explanation)
    if value is None:
        return None
    return _SENTENCES[explanation.function](value, entries, store)


def _interval(pairs):
    (low, low_at), (high, high_at) = pairs
    return f"{low:.1f} (h = {low_at:.2g}) to {high:.1f} (h = {high_at:.2g})"


def _where(target, curve, bandwidths):
    """Bandwidths at which a curve crosses a value."""
    above = np.asarray(curve) >= target
    return [float(bandwidths[i]) for i in np.flatnonzero(above[1:] != above[:-1])]


def sweep(value, entries, store):
    """The rate at fixed bandwidths and the other readings, beside the rate that the paper's numbers imply."""
    bandwidths, rates = np.array(value["bandwidths"]), np.array(value["rates"])
    low, high = rates.argmin(), rates.argmax()
    text = f"At fixed h the test rate runs from {_interval([(rates[i], bandwidths[i]) for i in (low, high)])}"
    target = _implied_rate(entries)
    if target is not None:
        crossings = _where(target, rates, bandwidths)
        at = ", ".join(f"{h:.2g}" for h in crossings)
        text += f"; it passes the paper's {target:.1f} at h = {at}" if crossings else (
            f"; it never passes the paper's {target:.1f}"
        )  # fmt: skip
        tuned = store.value(entries[0].cell)
        chosen = tuned.get("bandwidths") or tuned[entries[0].path[0]]["bandwidths"]
        text += f"; chosen were h = {min(chosen):.2g} to {max(chosen):.2g}, median {np.median(chosen):.2g}"
    text += _nearest_matrix(value, [entry for entry in entries if entry.row_total is not None])
    for name, (mean, deviation) in value["readings"].items():
        text += f"; {name}: {mean:.1f} ± {deviation:.1f}"
    return f"{text} ({value['trials']} trials)."


def _nearest_matrix(value, entries):
    """At which bandwidth the counts come nearest to those of the paper that differ."""
    if not entries:
        return ""
    bandwidths, matrices = np.array(value["bandwidths"]), np.array(value["confusion"])
    shares = matrices / matrices.sum(axis=2, keepdims=True)
    off = [
        entry.points * abs(shares[:, entry.path[-2], entry.path[-1]] * entry.row_total - entry.paper)
        for entry in entries
    ]
    worst = np.nan_to_num(np.max(off, axis=0), nan=np.inf)
    best = worst.argmin()
    at = f"h = {bandwidths[best]:.2g}, {worst[best]:.1f} points off"
    return f"; these counts come nearest to the paper's at {at}"


def _implied_rate(entries):
    """The paper's rate: the entry itself, or the trace of its confusion matrix where all of it is at hand."""
    rates = [entry for entry in entries if entry.path[-1] == "rate"]
    return rates[0].paper if rates else None


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


def ranges(value, entries, store):
    """Extremes over the draws."""
    parts = []
    for name in dict.fromkeys(entry.row for entry in entries):
        found = value[name]
        if found:
            (a, b), (c, d) = found["extremes"]
            parts.append(f"{name}: lower end {a:.2f} to {c:.2f}, upper end {b:.2f} to {d:.2f} over the draws")
    reached = "{:.2f} ± {:.2f}".format(*next(filter(None, value.values()))["reached"])
    return f"{'; '.join(parts)}. The last test point comes within h of a training point at h = {reached}."


def readings(value, entries, store):
    """Other readings measured in one cell: {text: number or [mean, deviation]}."""
    parts = []
    for name, number in value["readings"].items():
        parts.append(
            f"{name}: {number[0]:.1f} ± {number[1]:.1f}"
            if isinstance(number, list)
            else f"{name}: {number:.4g}"
        )
    return "; ".join(parts) + "."


_SENTENCES = {
    "thesis_readings.explain": sweep,
    "thesis.potentials": potentials,
    "thesis.svm_readings": readings,
    "thesis_kernels.ranges": ranges,
    "laplacian_spectral.explain": readings,
    "perturbo.explain": readings,
    "perturbo.active_readings": readings,
    "spectral_kernels.reuters_automatic": readings,
    "spectral_kernels.medline": readings,
    "ccdr.explain": readings,
    "ccdr.dimensions": readings,
}
