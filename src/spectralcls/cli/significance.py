"""Find the classifiers that cannot be distinguished from the best on the same splits, and recommend one."""

import numpy as np

from .arguments import COVERAGE
from .registry import NAIVE

LEVEL = 0.05
POINT = 0.01  # smaller differences, in units of `unit_of`, do not matter
PRICE = 0.005  # smallest gain, in the same units, that justifies ten times the time
MUCH = 5  # a classifier must be faster by this factor to be preferred to the best one
_UNNOTICED = 0.1  # shorter times, in seconds, count as this


def _plain(value):
    """Format with four significant digits, or with all digits before the decimal point."""
    return f"{value:.0f}" if 1e3 <= value < 1e9 else f"{value:.4g}"


RELATIVE = {"rmse", "mae", "crps"}  # metrics whose differences are divided by the best value
METRICS = {  # for each name: 1 if larger values are better, otherwise -1; the title; and the format
    "accuracy": (1, "accuracy %", lambda v: f"{100 * v:.1f}"),
    "balanced_accuracy": (1, "balanced %", lambda v: f"{100 * v:.1f}"),
    "log_loss": (-1, "log loss", lambda v: f"{v:.3f}"),
    "roc_auc": (1, "ROC AUC", lambda v: f"{v:.3f}"),
    "rmse": (-1, "RMSE", _plain),
    "mae": (-1, "MAE", _plain),
    "r2": (1, "R2", lambda v: f"{v:.3f}"),
    "crps": (-1, "CRPS", _plain),
    "coverage": (1, f"in {COVERAGE:.0%} interval".replace("%", " %"), lambda v: f"{100 * v:.1f}"),
}
OF_TASK = {
    "classification": ("accuracy", "balanced_accuracy", "log_loss", "roc_auc"),
    "regression": ("rmse", "mae", "r2", "crps", "coverage"),
}
DEFAULT = {"classification": OF_TASK["classification"][:3], "regression": OF_TASK["regression"]}


def unit_of(metric, best):
    """The divisor of a difference of scores, given the best mean score."""
    return abs(best) or 1.0 if metric in RELATIVE else 1.0


def ranked(results, metric):
    """Results with the best first, and those without the metric last."""
    sign = METRICS[metric][0]

    def key(result):
        mean = sign * result.mean(metric)
        return -np.inf if np.isnan(mean) else mean

    return sorted(results, key=key, reverse=True)


def standings(results, metric):
    """The mark of each scored result, by name: "=" for the best and all within a point of it, "?" for those that may be
    as good, "" for worse ones.
    """
    scored = [result for result in ranked(results, metric) if not np.isnan(result.mean(metric))]
    sign = METRICS[metric][0]
    marks = {}
    for result in scored:
        lead = sign * (scored[0].scores(metric) - result.scores(metric))
        near = np.mean(lead) <= POINT * unit_of(metric, scored[0].mean(metric)) + 1e-12
        unclear = p_value(lead, result.n_train, result.n_test) > LEVEL or len(lead) == 1
        marks[result.name] = "=" if near else "?" if unclear else ""
    return marks


def p_value(differences, n_train, n_test):
    """p-value of the hypothesis that differences of scores on repeated random splits, (n_splits,), have mean zero.

    Repeated random splits share training samples, so the variance of a mean difference is that of one split times ``1 /
    n_splits + n_test / n_train`` and not ``1 / n_splits`` (Nadeau and Bengio, "Inference for the generalization error",
    Machine Learning 52, 2003).
    """
    from scipy.stats import t as student

    if len(differences) == 1:
        return float(not differences[0])
    spread = np.sqrt((1 / len(differences) + n_test / n_train) * np.var(differences, ddof=1))
    if not spread:
        return float(not np.mean(differences))
    return 2 * student.sf(abs(np.mean(differences)) / spread, len(differences) - 1)


def recommended(results, metric):
    """The recommended result: near the best, with a preference for less time; None if none was scored."""
    sign = METRICS[metric][0]
    scored = [r for r in ranked(results, metric) if r.name not in NAIVE and not np.isnan(r.mean(metric))]
    if not scored:
        return None
    best, unit = sign * scored[0].mean(metric), unit_of(metric, scored[0].mean(metric))
    close = [r for r in scored[1:] if sign * r.mean(metric) >= best - POINT * unit]
    near = [r for r in close if MUCH * _time(r) <= _time(scored[0])]
    return max([scored[0], *near], key=lambda r: sign * r.mean(metric) - PRICE * unit * np.log10(_time(r)))


def advice(results, metric):
    """The recommendation and its reason in one sentence."""
    taken = recommended(results, metric)
    if taken is None:
        return "No model could be fitted."
    sign, title, shown = METRICS[metric]
    unit = " %" if "%" in title else ""
    name = title.removesuffix(" %")
    value = f"{name} {shown(taken.mean(metric))}{unit}"
    best = next(r for r in ranked(results, metric) if r.name not in NAIVE)
    majority = next((r for r in results if r.name in NAIVE), None)
    if majority is not None and not np.isnan(majority.mean(metric)):
        gain = sign * (taken.scores(metric) - majority.scores(metric))
        unclear = p_value(gain, taken.n_train, taken.n_test) > LEVEL and len(gain) > 1
        always, unit_of_gain = NAIVE[majority.name], unit_of(metric, taken.mean(metric))
        if unclear and np.mean(gain) > POINT * unit_of_gain:
            return (
                f"{len(gain)} splits are too few to tell whether {taken.name} ({value}) beats always answering "
                f"{always} ({shown(majority.mean(metric))}{unit})."
            )
        if unclear or np.mean(gain) <= 0:
            return (
                f"No model is better than always answering {always} ({name} "
                f"{shown(majority.mean(metric))}{unit}) by more than chance: these columns say little about the target."
            )
    if taken is best:
        return (
            f"Take {taken.name}: it has the best {value}, and no other within {point_of(metric)} of it is fast "
            "enough to prefer."
        )
    points = abs(best.mean(metric) - taken.mean(metric))
    return (
        f"Take {taken.name}: its {value} is {shown(points)}{' points' if unit else ''} from that of {best.name}, in "
        f"{_share(_time(taken) / _time(best))} of the time."
    )


def point_of(metric):
    """The difference within which scores count as equal, in words."""
    return f"{100 * POINT:.0f} %" if metric in RELATIVE else "a point"


def _time(result):
    return max(result.seconds("fit") + result.seconds("predict"), _UNNOTICED)


def _share(ratio):
    return f"{100 * ratio:.0f} %" if ratio >= 0.1 else f"{100 * ratio:.1f} %"
