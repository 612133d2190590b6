"""The page "what changes today": table, critical-difference diagram, and what the numbers say."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata, studentized_range

from .cells import cell
from .today import DEFAULTS, FURTHER, METHODS, PEERS, SIMULATED, TITLES, TRIALS, VARIANTS

ALPHA = 0.05
FAR_BEHIND = 5.0  # points
CLOSE = 1.0
WORTH = 0.5
RANKED = (*DEFAULTS, *PEERS)
_SLOW = {"GaussianProcess": 200, "HistGradientBoosting": 60, "RandomForest": 60, "SVC": 30}


def _cell(data, method):
    return cell("today.measure", _SLOW.get(method, 5), data=data, method=method, trials=TRIALS)


def cells():
    return [_cell(data, method) for data in TITLES for method in METHODS]


def collect(store):
    """(names of the data sets with all results, {method: rates}, {method: seconds})."""
    names = [name for name in TITLES if all(_cell(name, method) in store for method in METHODS)]

    def gather(pick):
        return {method: np.array([pick(store.value(_cell(name, method))) for name in names]) for method in METHODS}

    return names, gather(lambda value: value["rate"][0]), gather(lambda value: value["seconds"])


def mean_ranks(rates):
    """{method: mean rank over the data sets} of the defaults and the peers; 1 is the best."""
    table = np.array([rates[method] for method in RANKED])
    return dict(zip(RANKED, rankdata(-np.round(table, 6), axis=0).mean(axis=1), strict=True))


def critical_difference(n_methods, n_data):
    """Nemenyi's critical difference of mean ranks."""
    q = studentized_range.ppf(1 - ALPHA, n_methods, np.inf) / np.sqrt(2)
    return q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data))


def write_page(store, out):
    """`today.md` and its picture."""
    names, rates, seconds = collect(store)
    lines = ["# What changes today", ""]
    lacking = {name: store.failure(_cell(name, METHODS[0])) or "not run" for name in TITLES if name not in names}
    if len(names) < 2:
        lines += ["Fewer than two data sets have all results.", ""]
    else:
        ranks = mean_ranks(rates)
        critical = critical_difference(len(RANKED), len(names))
        (out / "figures").mkdir(exist_ok=True)
        draw(ranks, critical, out / "figures" / "today.png")
        lines += [*table(names, rates, seconds, ranks), "", "![Mean ranks](figures/today.png)", ""]
        lines += advice(names, rates, seconds, ranks, critical)
    lines += ["", *(f"- {TITLES[name]}: {why}" for name, why in lacking.items())]
    (out / "today.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def table(names, rates, seconds, ranks):
    best = np.max([rates[method] for method in METHODS], axis=0)
    lines = [
        f"Written by `python -m bench.reproduce today`. Test rates in per cent, mean of {TRIALS} splits with the "
        "sizes of the paper that a set is from; features standardized on the training data. *Behind* is the "
        "mean distance in points from the best of each set; ranks are among the defaults and the peers. Seconds "
        "are processor time of tuning and training together, added over the sets, one split each, one thread. "
        "The peers are tuned by 5-fold grid search, the Gaussian process by its marginal likelihood. "
        "Bandwidths by class are Silverman's for each class.",
        "",
        f"| | {' | '.join(TITLES[name] for name in names)} | behind | mean rank | seconds |",
        "|---|" + "---|" * (len(names) + 3),
    ]
    groups = {"defaults untouched": list(DEFAULTS)}
    groups |= {change: [f"{method}, {change}" for method in found] for change, found in FURTHER.items()}
    groups["scikit-learn, tuned"] = list(PEERS)
    for title, methods in groups.items():
        lines.append(f"| *{title}* |" + " |" * (len(names) + 3))
        for method in methods:
            numbers = " | ".join(f"{rate:.1f}" for rate in rates[method])
            rank = f"{ranks[method]:.1f}" if method in ranks else ""
            behind = np.mean(best - rates[method])
            lines.append(f"| {method} | {numbers} | {behind:.1f} | {rank} | {seconds[method].sum():.2f} |")
    return lines


def advice(names, rates, seconds, ranks, critical):
    """What the numbers say, in sentences made from them."""
    best = np.max([rates[method] for method in METHODS], axis=0)
    behind = {method: float(np.mean(best - rates[method])) for method in METHODS}
    total = {method: float(seconds[method].sum()) for method in METHODS}
    order = sorted(RANKED, key=ranks.get)
    leader = order[0]
    near = [method for method in order if ranks[method] <= ranks[leader] + critical]
    lines = [
        "## When to prefer which",
        "",
        f"Over {len(names)} data sets {leader} has the best mean rank, {ranks[leader]:.1f}. Mean ranks less than "
        f"{critical:.1f} apart cannot be told apart (Nemenyi, {100 * ALPHA:.0f} %); in that distance are "
        f"{_listed(near[1:], ranks)}. Significantly worse: {_listed([m for m in order if m not in near], ranks)}.",
        "",
    ]
    real = [i for i, name in enumerate(names) if name not in SIMULATED]
    without = mean_ranks({method: rates[method][real] for method in METHODS})
    first = sorted(RANKED, key=without.get)[:3]
    lines += [
        f"The SimData are this package's own draws after the sizes in paper 003. Without them the first three are "
        f"{_listed(first, without)}.",
        "",
    ]
    accurate = min(METHODS, key=behind.get)
    rival = min(set(METHODS) - set(PEERS) if accurate in PEERS else PEERS, key=behind.get)
    other = "the papers' methods" if accurate in PEERS else "the peers"
    quick = min((m for m in METHODS if behind[m] <= behind[accurate] + CLOSE), key=total.get)
    close = f"within {CLOSE:g} point of that"
    if quick == accurate:
        beside = f"nothing {close} is faster than its {total[accurate]:.2f} s of tuning and training over all sets"
    else:
        beside = (
            f"{quick} is the fastest {close} ({behind[quick]:.1f} behind): {total[quick]:.2f} s of tuning and training "
            f"over all sets against {total[accurate]:.2f} s of {accurate}"
        )
    lines += [
        f"- **Accuracy above all**: {accurate}, on average {behind[accurate]:.1f} points behind the best of each "
        f"set. Of {other} {rival} comes nearest ({behind[rival]:.1f}).",
        f"- **Time counts too**: {beside}. All defaults of this package together take "
        f"{sum(total[m] for m in DEFAULTS):.1f} s, the tuned peers {sum(total[m] for m in PEERS):.1f} s.",
    ]
    for name, row in zip(names, np.array([rates[method] for method in METHODS]).T, strict=True):
        by = dict(zip(METHODS, row, strict=True))
        own, peer = max((*DEFAULTS, *VARIANTS), key=by.get), max(PEERS, key=by.get)
        if by[own] > by[peer] + WORTH:
            lines.append(
                f"- **{TITLES[name]}** and data like it: {own} ({by[own]:.1f}), the best peer is {peer} "
                f"({by[peer]:.1f})."
            )
    poor = [method for method in sorted(DEFAULTS, key=behind.get) if behind[method] > FAR_BEHIND]
    lines += ["", "## What is not good", ""]
    for method in poor:
        variants = [variant for variant in VARIANTS if variant.startswith(f"{method}, ")]
        remedy = min(variants, key=behind.get, default=None)
        text = f"- {method} as it stands is {behind[method]:.1f} points behind the best on average"
        worst = int(np.argmax(best - rates[method]))
        text += f", worst on {TITLES[names[worst]]} ({rates[method][worst]:.1f} against {best[worst]:.1f})"
        if remedy and behind[remedy] < behind[method] - WORTH:
            text += f"; with {remedy.split(', ', 1)[1]} {behind[remedy]:.1f}"
        lines.append(text + ".")
    if not poor:
        lines.append(f"No default is more than {FAR_BEHIND:g} points behind the best on average.")
    lines += ["", "## The thesis's further work", ""]
    for change, by_method in FURTHER.items():
        gains = {method: rates[f"{method}, {change}"] - rates[method] for method in by_method}
        words = ", ".join(
            f"{method} {gain.mean():+.1f} ({int((gain > WORTH).sum())} sets better, {int((gain < -WORTH).sum())} worse)"
            for method, gain in gains.items()
        )
        mean = np.mean([gain.mean() for gain in gains.values()])
        verdict = "worth it" if mean > WORTH else "not worth it" if mean < -WORTH else "makes little difference"
        lines.append(f"- {change}, in points against the default: {words}. On average {mean:+.1f}: {verdict}.")
    return lines


def _listed(methods, ranks):
    return ", ".join(f"{method} ({ranks[method]:.1f})" for method in methods) or "none"


def draw(ranks, critical, path):
    """Demsar's diagram: mean ranks on a line, bars join groups that cannot be told apart."""
    order = sorted(ranks, key=ranks.get)
    values = [ranks[method] for method in order]
    half = (len(order) + 1) // 2
    bars = []
    for i, value in enumerate(values):
        last = max(j for j, other in enumerate(values) if other <= value + critical)
        if last > i and (not bars or last > bars[-1][1]):
            bars.append((i, last))
    figure, ax = plt.subplots(figsize=(9, 1.6 + 0.3 * half + 0.15 * len(bars)), layout="constrained")
    low, high = np.floor(values[0] - 0.5), np.ceil(values[-1] + 0.5)
    ax.hlines(0, low, high, color="black", linewidth=1)
    ax.vlines(np.arange(low, high + 1), 0, 0.15, color="black", linewidth=1)
    for tick in np.arange(low, high + 1):
        ax.text(tick, 0.25, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    ax.hlines(1.1, low, low + critical, color="black", linewidth=2)
    ax.text(low + critical / 2, 1.2, f"critical difference {critical:.1f}", ha="center", va="bottom", fontsize=8)
    for b, (i, j) in enumerate(bars):
        ax.hlines(-0.3 - 0.25 * b, values[i] - 0.05, values[j] + 0.05, color="black", linewidth=3)
    start = 0.6 + 0.25 * len(bars)
    for i, method in enumerate(order):
        left = i < half
        depth = -start - 0.55 * (i if left else len(order) - 1 - i)
        end = low if left else high
        color = "0.35" if method in PEERS else "#1f5fa8"
        ax.plot([values[i], values[i], end], [0, depth, depth], color=color, linewidth=1)
        ax.text(
            end + (-0.1 if left else 0.1),
            depth,
            f"{method} ({values[i]:.1f})",
            color=color,
            fontsize=9,
            ha="right" if left else "left",
            va="center",
        )
    margin = 0.45 * (high - low)
    ax.set(xlim=(low - margin, high + margin), ylim=(-start - 0.55 * half, 2.0))
    ax.set_axis_off()
    ax.set_title("mean rank, 1 is best (blue: this package untouched; grey: scikit-learn, tuned)", fontsize=9)
    figure.savefig(path, dpi=100)
    plt.close(figure)
