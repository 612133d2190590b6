"""Prediction sets, probabilities, doubtful labels and unknown classes, compared with other libraries

*Ours* is full conformal prediction by the class sums of the Parzen classifier, tuned on the same points. The other
methods are MAPIE's, with the same classifier. *Split* trains the classifier on half of the points and takes the
quantile of 1 - p of the true class (LAC) or of the cumulative probabilities (APS, randomized) from the other half.
*Cross* is CV+ with LAC and five fits, each without a fifth of the points. *Jackknife+* is the same with one fit without
each point. For two classes, MAPIE has only LAC. There are at most 1000 training points. Everything runs on one thread.
"""

from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor

from bench.bench_auto import calibration_error, coded, log_loss
from bench.data import load, sets
from bench.measure import QUICK, compare, half_interval, peer, processor_seconds
from bench.pages import listed, view
from spectralcls import (
    AutoClassifier,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
    ParzenDensity,
    ParzenOutlierDetector,
    PerTurboClassifier,
)
from spectralcls.inspection import estimate_priors, feature_effect, influence, label_quality
from spectralcls.spectral import LaplacianSpectralClassifier, SpectralISEClassifier

NAMES, ORGANELLES = ["iris", "wine"], ["dunkley2006", "hyperLOPIT2015"]
if not QUICK:
    NAMES += "ecoli glass ionosphere letter pima satimage wdbc digits wbc blood_transfusion".split()
    NAMES += "ratsch_banana ratsch_thyroid ratsch_breast_cancer ratsch_titanic ratsch_ringnorm ratsch_twonorm".split()
    NAMES += ORGANELLES
DRAWS, MOST, TESTED = (1, 150, 150) if QUICK else (20, 1000, 1000)
LEVELS = (0.8, 0.9, 0.95)
FALSE_ALARMS = 0.05
COMPARED = ("ours", "ours by class", "split LAC", "split APS", "cross")
MAPIE = {"split LAC": "lac", "split APS": "aps", "cross": 5, "jackknife+": LeaveOneOut()}
OURS = {"Parzen": ParzenClassifier, "kernel ridge": KernelRidgeClassifier, "PerTurbo": PerTurboClassifier}
CALIBRATED = OURS | {
    "ISE": ISEClassifier,
    "Laplacian ISE": LaplacianISEClassifier,
    "Cauchy-Schwarz": CauchySchwarzClassifier,
    "Laplacian spectral": LaplacianSpectralClassifier,
}
NEAR_TIES, FIGURES = ("Parzen", "ISE", "Cauchy-Schwarz", "PerTurbo"), ("accuracy", "log loss", "calibration error")
METHODS = ("own", *(name + ways for name in ("sigmoid", "isotonic", "temperature") for ways in ("", ", one")))


@cache
def whole(name):
    if name in ORGANELLES:
        data = load(name)
        known = data["markers"] != "unknown"
        X, y = data["X"][known], data["markers"][known]
    elif name in sets():
        X, y = sets()[name]()
    else:
        pytest.skip(f"no data set {name}")
    return X.astype(np.float64), np.unique(y, return_inverse=True)[1]


def draw(name, seed):
    """Training points, labels, queries and their labels, in random order, without classes of fewer than 10 samples."""
    X, y = whole(name)
    kept = np.flatnonzero(np.bincount(y)[y] >= 10)
    order = np.random.RandomState(seed).permutation(kept)
    n = min(2 * len(order) // 3, MOST)
    train, test = order[:n], order[n : n + TESTED]
    X, y, Q, truth = coded(X[train], y[train], X[test], y[test])
    return X, y, Q[truth >= 0], truth[truth >= 0]


def mapie_sets(kind, X, y, Q, seed, levels=LEVELS):
    """Sets of MAPIE's conformal prediction with a Parzen classifier, one array for each level."""
    mapie = peer("mapie.classification")
    model, how = ParzenClassifier(n_jobs=1), MAPIE[kind]
    options = {"confidence_level": list(levels), "random_state": seed}
    if not isinstance(how, str):
        crossed = mapie.CrossConformalClassifier(model, cv=how, **options).fit_conformalize(X, y)
        return np.moveaxis(crossed.predict_set(Q, agg_scores="crossval")[1], -1, 0)
    order = np.random.RandomState(seed).permutation(len(X))
    fitting, calibration = order[::2], order[1::2]
    missing = np.setdiff1d(np.unique(y), y[fitting])
    fitting = np.concatenate([fitting, [calibration[y[calibration] == c][0] for c in missing]]).astype(int)
    halves = mapie.SplitConformalClassifier(model, conformity_score=how, prefit=False, **options).fit(
        X[fitting], y[fitting]
    )
    halves.conformalize(X[calibration], y[calibration])
    params = {"include_last_label": "randomized"} if how == "aps" else {}
    return np.moveaxis(halves.predict_set(Q, conformity_score_params=params)[1], -1, 0)


def possible(kinds, y):
    """Leave out cumulative probabilities for two classes, which MAPIE does not support."""
    return [kind for kind in kinds if MAPIE[kind] != "aps" or y.max() > 1]


def worst_class(found, truth):
    """Coverage of the worst class with at least ten queries."""
    hits = found[np.arange(len(truth)), truth]
    return min((float(hits[truth == c].mean()) for c in np.unique(truth) if (truth == c).sum() >= 10), default=np.nan)


@pytest.mark.parametrize("seed, name", list(product(range(DRAWS), NAMES)))
def test_coverage(record, seed, name):
    """Share of queries whose class is in the set, mean number of classes in a set, and the coverage of the worst class
    with and without `by_class`.
    """
    X, y, Q, truth = draw(name, seed)
    row = {"n": len(X)}
    model = ParzenClassifier(n_jobs=1).fit(X, y)
    theirs = {kind: mapie_sets(kind, X, y, Q, seed) for kind in possible(COMPARED[2:], y)}
    for place, level in enumerate(LEVELS):
        found = {"ours": model.predict_set(Q, level), "ours by class": model.predict_set(Q, level, by_class=True)}
        for who, members in (found | {kind: of[place] for kind, of in theirs.items()}).items():
            row[f"{who} {level:g} coverage"] = float(members[np.arange(len(truth)), truth].mean())
            row[f"{who} {level:g} size"] = float(members.sum(axis=1).mean())
            row[f"{who} {level:g} worst class"] = worst_class(members, truth)
    record(row)


@pytest.mark.parametrize("seed, name, kind", list(product(range(1 if QUICK else 2), NAMES, CALIBRATED)))
def test_probabilities(record, seed, name, kind):
    """Log loss (with probabilities of at least 1e-3), expected calibration error, and processor seconds of the fit: for
    the classifier's own probabilities, and for those of scikit-learn's `CalibratedClassifierCV` from its scores in five
    folds, with the mean of five models by default, and with one fit to all points (*one*, ``ensemble=False``).
    """
    X, y, Q, truth = draw(name, seed)
    row = {}
    for method in METHODS:
        model = CALIBRATED[kind](n_jobs=1)
        if method != "own":
            name, _, one = method.partition(", ")
            model = CalibratedClassifierCV(model, method=name, ensemble=not one)
        fitted, seconds = processor_seconds(model.fit, X, y)
        p = fitted.predict_proba(Q)
        row |= {f"{method} log loss": log_loss(p, truth), f"{method} error": calibration_error(p, truth)}
        row |= {f"{method}, s": seconds}
    record(row)


@pytest.mark.parametrize("seed, name", list(product(range(1 if QUICK else 3), NAMES)))
def test_near_ties(record, seed, name):
    """Accuracy, log loss and calibration error if log loss decides near ties of accuracy (``scoring="auto"``), and if
    accuracy or log loss alone decides."""
    X, y, Q, truth = draw(name, seed)
    row = {}
    for kind, scoring in product(NEAR_TIES, ("auto", "accuracy", "neg_log_loss")):
        p = CALIBRATED[kind](scoring=scoring, n_jobs=1).fit(X, y).predict_proba(Q)
        figures = (p.argmax(axis=1) == truth).mean(), log_loss(p, truth), calibration_error(p, truth)
        row |= {f"{kind} {scoring} {what}": float(f) for what, f in zip(FIGURES, figures, strict=True)}
    record(row)


@pytest.mark.parametrize("seed, name", list(product(range(1 if QUICK else 3), NAMES)))
def test_label_quality(record, seed, name):
    """A tenth of the labels is changed at random. The table has the area under the ROC curve for detecting the changed
    labels, and processor seconds of the fit and of the label quality. cleanlab uses a random forest with five folds.
    """
    cleanlab = peer("cleanlab.classification")
    X, y, _, _ = draw(name, seed)
    rng, C = np.random.RandomState(seed), y.max() + 1
    changed = rng.uniform(size=len(y)) < 0.1
    given = np.where(changed, (y + rng.randint(1, C, len(y))) % C, y)
    row = {}
    for label, kind in OURS.items():
        quality, seconds = processor_seconds(lambda kind=kind: label_quality(kind(n_jobs=1).fit(X, given)))
        row |= {f"{label} AUC": float(roc_auc_score(changed, -quality)), f"{label}, s": seconds}
    forest = RandomForestClassifier(n_jobs=1, random_state=seed)
    theirs = cleanlab.CleanLearning(forest, seed=seed, find_label_issues_kwargs={"n_jobs": 1})
    issues, seconds = processor_seconds(theirs.find_label_issues, X, given)
    quality = issues["label_quality"].to_numpy()
    record(row | {"cleanlab AUC": float(roc_auc_score(changed, -quality)), "cleanlab, s": seconds})


@pytest.mark.parametrize("name", NAMES)
def test_unknown_classes(record, name):
    """Each class in turn (at most six) is left out of training. The figure is the fraction of its queries that are
    called unknown, at 5 % false alarms among the queries of the other classes. Ours are the empty set at 95 % coverage,
    and `ParzenOutlierDetector.p_values` of at most 0.05, with their measured false alarms; the thresholds of the others
    are set on the queries themselves, which favors them.
    """
    X, y, Q, truth = draw(name, 0)
    if y.max() < 2:
        pytest.skip("two classes")
    figures = []
    for c in range(min(6, y.max() + 1)):
        known, novel = y != c, truth == c
        if not novel.any():
            continue
        model = ParzenClassifier(n_jobs=1).fit(X[known], y[known])
        empty = ~model.predict_set(Q, 1 - FALSE_ALARMS).any(axis=1)
        scale = X[known].std(axis=0) + 1e-12
        others = {
            "LOF": LocalOutlierFactor(novelty=True).fit(X[known] / scale).score_samples(Q / scale),
            "IsolationForest": IsolationForest(random_state=0).fit(X[known]).score_samples(Q),
            "largest probability": model.predict_proba(Q).max(axis=1),
        }
        detector = ParzenOutlierDetector(ParzenDensity(n_jobs=1), novelty=True).fit(X[known])
        low = detector.p_values(Q) <= FALSE_ALARMS
        found = {"empty set": empty[novel].mean(), "its false alarms": empty[~novel].mean()}
        found |= {"p_values": low[novel].mean(), "their false alarms": low[~novel].mean()}
        found |= {"AUC of the density": roc_auc_score(novel, -detector.score_samples(Q))}
        found |= {f"AUC of {who}": roc_auc_score(novel, -others[who]) for who in ("LOF", "IsolationForest")}
        for who, scores in others.items():
            found[who] = np.mean(scores[novel] < np.quantile(scores[~novel], FALSE_ALARMS))
        figures.append(found)
    record({key: float(np.mean([each[key] for each in figures])) for key in figures[0]})


@pytest.mark.parametrize("name", ["wine", "iris"] if QUICK else ["wine", "wdbc", "letter", "satimage"])
def test_explanations(record, name):
    """The table gives the seconds to explain ten queries of a Parzen classifier: `feature_effect`, the contribution of
    each known value to the probabilities; `influence`, the training points that determine the prediction; and SHAP's
    `KernelExplainer` of `predict_proba`, which samples coalitions of features with ten centers of `shap.kmeans` as
    background, as its documentation advises. The three answer different questions."""
    shap = peer("shap")
    X, y, Q, _ = draw(name, 0)
    model = ParzenClassifier(n_jobs=1).fit(X, y)
    explainer = shap.KernelExplainer(model.predict_proba, shap.kmeans(X, 10))
    functions = {
        "feature_effect": lambda: feature_effect(model, Q[:10]),
        "influence": lambda: influence(model, Q[:10]),
        "KernelExplainer": lambda: explainer.shap_values(Q[:10], silent=True),
    }
    row, _ = compare(functions, repeats=3)
    record(row | {"n": len(X), "d": X.shape[1]})


@pytest.mark.parametrize("n, apart, kind", list(product([100, 500], [1.5, 2.5], ["known", "Parzen", "kernel ridge"])))
def test_other_shares(record, n, apart, kind):
    """The shares (.7, .28 and .02) of three Gaussian classes in two features are estimated from n unlabeled queries, by
    `estimate_priors` with a classifier fitted to 800 points of equal shares, or with the true densities. The columns
    give the fraction of intervals of ± 1.96 standard errors that contain the true share of each class, and the root
    mean squared error, over 100 draws.
    """
    centers, priors = apart * np.array([[0, 0], [1, 0], [0, 1]]), np.array([0.7, 0.28, 0.02])

    def draw_of(n, priors, rng):
        y = rng.choice(3, n, p=priors)
        return rng.normal(size=(n, 2)) + centers[y], y

    model = GaussianNB() if kind == "known" else OURS[kind](n_jobs=1)
    X, y = draw_of(800, np.full(3, 1 / 3), np.random.default_rng(0))
    model.fit(X, y)
    if kind == "known":
        model.theta_, model.var_ = centers.astype(float), np.ones((3, 2))
    found = [estimate_priors(model, draw_of(n, priors, np.random.default_rng(1 + i))[0]) for i in range(100)]
    off = np.array([each.priors - priors for each in found])
    held = np.abs(off) <= 1.96 * np.array([each.standard_errors for each in found])
    columns = {f"held, share {share:g}": float(each) for share, each in zip(priors, held.mean(axis=0), strict=True)}
    record(columns | {"root mean squared error": float(np.sqrt(np.mean(off**2)))})


@pytest.mark.parametrize("n, bandwidth", list(product([100, 1000], ["cv", "silverman"])))
def test_false_alarms(record, n, bandwidth):
    """The table gives the fraction of points from the training distribution whose `ParzenOutlierDetector.p_values` are
    at most t, with a bandwidth that is learned from them. The points are skewed and have three features; there are 100
    draws of n samples and 50 queries, and the standard error is over the draws."""
    shares = []
    for seed in range(100):
        X = np.random.default_rng(seed).gamma(2.0, [1.0, 3.0, 0.2], size=(n + 50, 3))
        detector = ParzenOutlierDetector(ParzenDensity(bandwidth, n_jobs=1), novelty=True).fit(X[:n])
        p = detector.p_values(X[n:])
        shares.append([np.mean(p <= t) for t in (0.01, 0.05, 0.1, 0.2)])
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0, ddof=1) / 10
    rates = {f"t = {t}": f"{m:.3f} ± {e:.3f}" for t, m, e in zip((0.01, 0.05, 0.1, 0.2), mean, error, strict=True)}
    record(rates)


DRAWN = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "heavy tails": lambda rng, shape: rng.standard_t(2, size=shape),
    "skewed": lambda rng, shape: rng.gamma(1.0, 1.0, shape) - 1.0,
}


@pytest.mark.parametrize("kind, drawn, n", list(product(OURS, DRAWN, [12, 25, 50, 100])))
def test_small_samples(record, kind, drawn, n):
    """The effect of tuning on the same few points: the coverage of 90 % sets of classifiers with defaults, for two
    overlapping classes of equal shares in two features (*heavy tails* means Student's t with two degrees of freedom).
    There are 500 draws of n points, at least two of each class, and 20 queries; the standard error is over the draws.
    *Nothing tuned* is the coverage of full conformal prediction with a classifier that has nothing to tune.
    """
    hits = []
    for seed in range(2 if QUICK else 500):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, n + 20)
        while min(np.bincount(y[:n], minlength=2)) < 2:
            y = rng.integers(0, 2, n + 20)
        X = DRAWN[drawn](rng, (n + 20, 2)) + 1.5 * y[:, None]
        members = OURS[kind](n_jobs=1).fit(X[:n], y[:n]).predict_set(X[n:])
        hits.append(members[np.arange(20), y[n:]].mean())
    exact = 1 - np.floor(0.1 * (n + 1) + 1e-9) / (n + 1)
    record({"coverage": np.mean(hits), "error": np.std(hits, ddof=1) / len(hits) ** 0.5, "nothing tuned": exact})


SETS_OF = CALIBRATED | {
    "spectral ISE": partial(SpectralISEClassifier, n_components="all"),
    "vote": AutoClassifier,
}


@pytest.mark.parametrize(
    "kind, classes, n", list(product(SETS_OF, [5], [500] if QUICK else [500, 2000])) + [("Parzen", 26, 2000)]
)
def test_cost_and_coverage(record, kind, classes, n):
    """The table gives the seconds of `predict_proba` for 1000 queries (of `decision_function` if there are no
    probabilities). Relative to that, it gives the time of `predict_set` at 90 %, with and without `by_class`, after the
    first call. It also gives the seconds of the first call, which scores the training points. Coverage and mean size of
    the sets are means over draws of the training points: twenty at n = 500, five for the vote, one at n = 2000. The
    classes are overlapping Gaussians in eight features."""
    draws, hits, sizes = 1 if n > 500 or QUICK else 5 if kind == "vote" else 20, [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, classes, n + 1000)
        X = rng.normal(size=(n + 1000, 8)) + 0.5 * y[:, None] * (np.arange(8) % 2)
        model = SETS_OF[kind](n_jobs=1).fit(X[:n], y[:n])
        _, first = processor_seconds(model.predict_set, X[n : n + 1])
        members = model.predict_set(X[n:])
        hits.append(members[np.arange(1000), y[n:]].mean())
        sizes.append(members.sum(axis=1).mean())
    scores = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    functions = {"predict_proba": lambda: scores(X[n:]), "predict_set": lambda: model.predict_set(X[n:])}
    functions["by class"] = lambda: model.predict_set(X[n:], by_class=True)
    found = compare(functions, repeats=5)[0]
    record(found | {"first call, s": first, "coverage": np.mean(hits), "size": np.mean(sizes)})


@view("cost_and_coverage", page=False)
def cost_in_short(rows):
    """The sentence for the guide."""
    kinds = {"kernel ridge": "kernel ridge regression", "vote": "`AutoClassifier`", "PerTurbo": "PerTurbo"}
    times = {}
    for row in rows:
        times.setdefault(kinds.get(row["kind"], "kernel means and spectral classifiers"), []).append(
            row["x predict_set"]["median"]
        )
    ends = {kind: " to ".join(sorted({f"{end:.1f}" for end in (min(own), max(own))})) for kind, own in times.items()}
    found = listed([f"{ratio} for {kind}" for kind, ratio in ends.items()])
    return [f"After the first call, `predict_set` takes so many times as long as probabilities: {found}."]


def means(rows, *columns):
    """Means of these columns over the rows of each set; NaN if there are none."""
    names = dict.fromkeys(row["name"] for row in rows)
    own = {name: [row for row in rows if row["name"] == name] for name in names}
    return {name: [mean([row.get(column, np.nan) for row in own[name]]) for column in columns] for name in names}


def mean(values):
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else np.nan


def pair(coverage, size):
    return f"{coverage:.3f} / {size:.2f}" if np.isfinite(size) else ""


@view("coverage")
def coverage_by_set(rows):
    """The tables give the coverage / the mean size of the sets, averaged over the draws; the ratios are geometric means
    over the data sets."""
    blocks = []
    for level in LEVELS:
        who = {name: means(rows, *(f"{name} {level:g} {what}" for what in ("coverage", "size"))) for name in COMPARED}
        sizes = {name: np.array([each[1] for each in own.values()]) for name, own in who.items()}
        relative = {name: sizes["ours"] / sizes[name] for name in COMPARED[2:]}
        table = [{"set": name} | {each: pair(*own[name]) for each, own in who.items()} for name in who["ours"]]
        shares = listed(
            [
                f"{np.exp(np.nanmean(np.log(r))):.3f} times that of {name} ({np.nanmin(r):.2f} to {np.nanmax(r):.2f})"
                for name, r in relative.items()
            ]
        )
        far = np.mean([each[0] for each in who["ours"].values()]) - level
        blocks += [f"This table is for sets at {level:g}.", table]
        blocks += [
            f"Our mean size is {shares}; in parentheses is the range over the data sets. Our mean coverage minus "
            f"{level:g} is {far:+.4f}."
        ]
    worst = [
        {"at": level}
        | {name: f"{mean([row.get(f'{name} {level:g} worst class', np.nan) for row in rows]):.3f}" for name in COMPARED}
        for level in LEVELS
    ]
    return [
        *blocks,
        "The last table gives the coverage of the worst class with at least ten queries, averaged over sets and draws.",
        worst,
    ]


@view("small_samples")
def tuned_with_the_same_points(rows):
    """The table gives the coverage of 90 % sets of classifiers that are tuned on the same few points, with its standard
    error over 500 draws, for two overlapping classes of equal shares in two features (*heavy tails* means Student's t
    with two degrees of freedom). *Nothing tuned* is the coverage of full conformal prediction with a classifier that
    has nothing to tune."""
    table = {}
    for row in rows:
        line = table.setdefault((row["drawn"], row["n"]), {"drawn": row["drawn"], "n": row["n"]})
        line["nothing tuned"] = f"{row['nothing tuned']:.3f}"
        line[row["kind"]] = f"{row['coverage']:.3f} ± {row['error']:.3f}"
    return [list(table.values())]


@view("probabilities")
def calibration(rows):
    """The table gives means over the data sets for the classifier's own probabilities, and for those of
    `CalibratedClassifierCV` from its scores in five folds: the mean of five models, or one fit to all points (*one*).
    *Above own* is the log loss minus that of the own probabilities, with a 95 % interval over the sets."""
    names = dict.fromkeys(row["name"] for row in rows)
    table = []
    for kind, method in product(CALIBRATED, METHODS):
        chosen = [row for row in rows if row["kind"] == kind]
        columns = ("own log loss", f"{method} log loss", f"{method} error", f"{method}, s")
        own, losses, errors, seconds = np.array(list(means(chosen, *columns).values())).T
        above = losses - own
        table.append(
            {
                "classifier": kind if method == "own" else "",
                "probabilities": method,
                "log loss": f"{losses.mean():.3f}",
                "above own": "" if method == "own" else f"{above.mean():+.3f} ± {half_interval(above):.3f}",
                "calibration error, %": f"{100 * errors.mean():.1f}",
                "fit, s": f"{seconds.mean():.2f}",
            }
        )
    return [f"The means are over {len(names)} of the {len(NAMES)} data sets.", table]


@view("near_ties")
def ties_by_log_loss(rows):
    """The table gives means over the data sets. A column named *less* gives the value minus that for
    ``scoring="accuracy"``, with a 95 % interval. ``"auto"`` takes the candidate with the lowest log loss among those
    within half a standard error of the best accuracy. Half a standard error was chosen among eight rules on other draws
    of the same sets (13 for Parzen and ISE, 3 for the others): 0, 1/4, 1/2 and 1 standard errors of the accuracy, and
    1/4, 1/2, 1 and 3/2 standard errors of the paired difference."""
    table = []
    for kind, scoring in product(NEAR_TIES, ("auto", "neg_log_loss")):
        row = {"classifier": kind if scoring == "auto" else "", "scoring": scoring}
        for what, unit in zip(FIGURES, (100, 1, 100), strict=True):
            columns = [f"{kind} {of} {what}" for of in (scoring, "accuracy")]
            found, alone = unit * np.array(list(means(rows, *columns).values())).T
            less = found - alone
            row |= {what: f"{found.mean():.3g}", f"{what}, less": f"{less.mean():+.3f} ± {half_interval(less):.3f}"}
        table.append(row)
    return ["Accuracy and calibration error are in percent.", table]


@view("label_quality")
def areas(rows):
    """A tenth of the labels is changed at random. Each cell gives two averages over the draws: the area under the ROC
    curve for detecting the changed labels by `label_quality`, and, after the slash, the processor seconds of `fit`
    and `label_quality` together. cleanlab uses a random forest with five folds."""
    kinds = [*OURS, "cleanlab"]
    table = [
        {"set": name}
        | {
            kind: f"{means(rows, f'{kind} AUC')[name][0]:.3f} / {means(rows, f'{kind}, s')[name][0]:.2f}"
            for kind in kinds
        }
        for name in means(rows)
    ]
    overall = {
        kind: f"{np.mean([r[f'{kind} AUC'] for r in rows]):.3f} / {np.mean([r[f'{kind}, s'] for r in rows]):.2f}"
        for kind in kinds
    }
    return [[*table, {"set": "mean"} | overall], *(against_cleanlab(rows, kind) for kind in kinds[:-1])]


def against_cleanlab(rows, kind):
    """Area minus cleanlab's, the set with the least difference, and the relative time, by set and overall."""
    found = means(rows, f"{kind} AUC", "cleanlab AUC", f"{kind}, s", "cleanlab, s")
    area, other, seconds, theirs = np.array(list(found.values())).T
    more, times = area - other, theirs / seconds
    worst = more.argmin()
    return (
        f"The area of {kind} minus cleanlab's is {more.mean():+.3f} ± {half_interval(more):.3f} on average over the "
        f"sets, with a 95 % interval. The difference is lowest on {list(found)[worst]}, {more[worst]:+.3f}; without "
        f"this set, the average is {np.delete(more, worst).mean():+.3f}. The time relative to cleanlab's is "
        f"1/{np.exp(np.log(times).mean()):.1f} by the geometric mean over the sets (1/{times.max():.0f} to "
        f"1/{times.min():.1f} on single sets), and 1/{theirs.sum() / seconds.sum():.1f} for all sets together."
    )


@view("unknown_classes")
def unknown(rows):
    """Each class in turn (at most six) is left out of training. The table gives the fraction of the queries of this
    class that are called unknown, at 5 % false alarms among the queries of the other classes, and the measured fraction
    of false alarms of `predict_set` and `p_values`. The thresholds of the other methods are set on the queries
    themselves, which favors them. The second table has areas under the ROC curve of the scores of
    `ParzenOutlierDetector` and of two peers."""
    columns = [key for key in rows[0] if key not in ("name", "isa")]
    rows = [*rows, {"name": "mean"} | {key: np.mean([row[key] for row in rows]) for key in columns}]
    parts = [[key for key in columns if key.startswith("AUC") == areas] for areas in (False, True)]
    return [[{"name": row["name"]} | {key: f"{row[key]:.3f}" for key in part} for row in rows] for part in parts]
