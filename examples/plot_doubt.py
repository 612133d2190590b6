"""
When it does not know: sets, doubtful labels, reasons
=====================================================

A classifier that can leave out each training point exactly can return more than a
label: which classes it cannot exclude, which training labels are doubtful, and which
training points decided.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss

from spectralcls import KernelRidgeClassifier, ParzenClassifier, ParzenOutlierDetector
from spectralcls.inspection import (
    estimate_priors,
    feature_effect,
    influence,
    label_quality,
    with_priors,
)

X, y = load_iris(return_X_y=True)
rounding = np.random.default_rng(0).uniform(-0.05, 0.05, (len(X), 2))
X = X[:, 2:] + rounding  # lengths are rounded to 0.1
model = ParzenClassifier().fit(X, y)

# %%
# The first plot shows the prediction sets for 95 % coverage. If two classes overlap,
# both remain in the set. Far from all points the set is empty, which means "unknown".
x, z = np.meshgrid(np.linspace(0, 8, 160), np.linspace(-0.5, 3.5, 160))
members = model.predict_set(np.column_stack([x.ravel(), z.ravel()]), coverage=0.95)
size = members.sum(axis=1)
shown = np.where(
    size == 1, members.argmax(axis=1) + 1, np.where(size > 1, 4, 0)
).reshape(x.shape)
figure, ax = plt.subplots(layout="constrained")
colors = ListedColormap(["white", "#9ecae9", "#ffbf79", "#88d27a", "#999999"])
ax.pcolormesh(x, z, shown, cmap=colors, vmin=-0.5, vmax=4.5, rasterized=True)
ax.scatter(
    *X.T,
    c=y,
    cmap=ListedColormap(["C0", "C1", "C2"]),
    s=12,
    edgecolor="white",
    linewidth=0.4,
)
ax.set(
    xlabel="Petal length",
    ylabel="Petal width",
    title="White: unlike all classes. Gray: several are possible.",
)
plt.show()

# %%
# The labels that all other points support least belong to samples on the wrong side of
# the decision boundary.
quality = label_quality(model)
doubtful = np.argsort(quality)[:6]
figure, ax = plt.subplots(layout="constrained")
ax.scatter(np.arange(len(y)), quality, s=12, c=[f"C{label}" for label in y])
for i in doubtful:
    ax.annotate(
        i, (i, quality[i]), (3, 3), textcoords="offset points", fontsize="small"
    )
ax.set(
    xlabel="Sample, class by class",
    ylabel="Probability of the label, given all others",
    title="Low probabilities are a reason to check the label",
)
plt.show()

# %%
# The most doubtful sample would be classified differently. The reasons are the samples
# that add most to the margin.
i = doubtful[0]
others = np.arange(len(X)) != i
reasons = influence(ParzenClassifier().fit(X[others], y[others]), X[[i]])
names = [
    f"class {y[others][j]} at ({X[others][j][0]:.1f}, {X[others][j][1]:.1f})"
    for j in reasons.points[0]
] + ["all others", "baseline"]
values = [*reasons.shares[0], reasons.rest[0], reasons.baseline[0]]
best, second = reasons.classes[0]
figure, ax = plt.subplots(layout="constrained")
ax.barh(names, values, color=["C0" if value >= 0 else "C1" for value in values])
ax.invert_yaxis()
ax.axvline(0, color="black", linewidth=0.8)
ax.set(
    xlabel=f"For {best} (right), for {second} (left); together {reasons.margin[0]:.3g}",
    title=f"Sample {i} is labeled {y[i]}",
)
plt.show()

# %%
# Are the probabilities right, and how often is the true class in the set? Noisy digits
# are grouped by the probability of the most probable class. The numbers are mean sizes
# of sets: several digits in the less certain groups, and one in the most certain group.
# The coverage is guaranteed over all groups together.
digits, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
digits += rng.normal(0, 4, digits.shape)
order = rng.permutation(len(digits))
train, test = order[:400], order[400:]
reader = ParzenClassifier().fit(digits[train], digit[train])
p = reader.predict_proba(digits[test])
members = reader.predict_set(digits[test], coverage=0.95)
right = p.argmax(axis=1) == digit[test]
inside = members[np.arange(len(test)), digit[test]]
groups = np.array_split(np.argsort(p.max(axis=1)), 8)
probability, accuracy, covered, size = (
    np.array([values[rows].mean() for rows in groups])
    for values in (p.max(axis=1), right, inside, members.sum(axis=1))
)
figure, ax = plt.subplots(layout="constrained")
low = min(probability.min(), accuracy.min())
ax.plot([low, 1], [low, 1], color="0.6", linestyle="--", linewidth=0.8)
ax.axhline(0.95, color="0.6", linestyle=":", linewidth=0.8)
ax.plot(probability, accuracy, "o-", label="Most probable class is right")
ax.plot(probability, covered, "s-", label="Class is in the set; mean size")
for place in zip(probability, covered, size, strict=True):
    ax.annotate(
        f"{place[2]:.1f}", place[:2], (0, 5), textcoords="offset points", ha="center"
    )
ax.set(
    xlabel="Probability of the most probable class",
    ylabel="Share of queries",
    title="Noisy digits, sets with 95 % coverage",
)
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# The sets come from the p-value of each class: the share of samples, including the
# query, whose labels the others support no better. A set contains all classes above the
# line. A query halfway between two digits may be either.
first, second = (digits[train][digit[train] == label][0] for label in (3, 8))
shares = np.linspace(0, 1, 60)
p = reader.conformal_p_values((1 - shares[:, None]) * first + shares[:, None] * second)
figure, ax = plt.subplots(layout="constrained")
for label in range(10):
    named = {"label": f"{label}"} if label in (3, 8) else {"color": "0.8"}
    ax.plot(shares, p[:, label], **named)
ax.axhline(0.05, color="black", linewidth=0.8)
ax.set(
    xlabel="Share of the 8 in a blend of a 3 and an 8",
    ylabel="p-value",
    title="Above the line: in the set at 95 %",
)
ax.legend(frameon=False)
plt.show()

# %%
# The effect of a feature is the probabilities with it minus those with it integrated
# out. This iris is near the decision boundary.
query = X[[doubtful[0]]]
effect = feature_effect(model, query).values[0]
figure, ax = plt.subplots(layout="constrained")
for c, name in enumerate(load_iris().target_names):
    ax.barh(np.arange(2) + 0.25 * (1 - c), effect[:, c], height=0.25, label=name)
ax.set_yticks([0, 1], ["Petal length", "Petal width"])
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel="Change of the probability because the feature is known")
ax.legend(frameon=False)
plt.show()

# %%
# In another population, some digits are five times as frequent. Their shares are
# estimated from unlabeled queries, and the classifier is adjusted. This requires
# calibrated probabilities, such as those of kernel ridge regression.
calibrated = KernelRidgeClassifier().fit(digits[train], digit[train])
weights = np.where(digit[test] % 3 == 0, 1.0, 0.2)
shifted = rng.choice(test, 500, p=weights / weights.sum())
found = estimate_priors(calibrated, digits[shifted])
moved = with_priors(calibrated, found.priors)
figure, ax = plt.subplots(layout="constrained")
ax.bar(
    np.arange(10),
    np.bincount(digit[shifted]) / 500,
    color="0.8",
    label="in the queries",
)
ax.errorbar(
    np.arange(10),
    found.priors,
    2 * found.standard_errors,
    fmt="o",
    label="estimated, 2 standard errors",
)
ax.plot(
    np.arange(10),
    calibrated.class_prior_,
    "_",
    color="C1",
    markersize=14,
    label="in training",
)
before, after = (
    log_loss(digit[shifted], each.predict_proba(digits[shifted]))
    for each in (calibrated, moved)
)
ax.set(
    xlabel="Digit",
    ylabel="Share",
    title=f"Log loss {before:.3f} before, {after:.3f} with these shares",
)
ax.set_ylim(0, 0.36)
ax.legend(frameon=False)
plt.show()

# %%
# For novelties, p-values have a known false-alarm rate. Both marked people weigh 95 kg.
# The short one is unusual, because each of the two numbers is surprising given the
# other.
height = rng.normal(170, 10, 300)
people = np.column_stack([height, height - 100 + rng.normal(0, 5, 300)])
detector = ParzenOutlierDetector(novelty=True).fit(people)
asked = np.array([[165.0, 95.0], [190.0, 95.0]])
x, z = np.meshgrid(np.linspace(130, 210, 120), np.linspace(30, 120, 120))
p = detector.p_values(np.column_stack([x.ravel(), z.ravel()])).reshape(x.shape)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.contourf(
    x,
    z,
    p,
    levels=[0, 0.01, 0.05, 0.2, 1],
    colors=["#fff", "#dceaf6", "#b6d4ec", "#7fb2db"],
)
left.scatter(*people.T, s=6, color="0.3")
left.scatter(*asked.T, marker="x", s=60, color=["C1", "C2"])
left.set(
    xlabel="Height, cm",
    ylabel="Weight, kg",
    title="p-values below 0.01, 0.05, 0.2, above",
)
surprises = detector.explain(asked)
for place, (surprise, point) in enumerate(zip(surprises, asked, strict=True)):
    label = f"{point[0]:.0f} cm, p = {detector.p_values(point[None])[0]:.3f}"
    right.bar(
        np.arange(2) + 0.4 * place,
        surprise,
        width=0.4,
        color=f"C{place + 1}",
        label=label,
    )
right.set_xticks([0.2, 1.2], ["Height", "Weight"])
right.set(
    ylabel="Surprise given the other, above the usual", title="What makes 95 kg unusual"
)
right.margins(y=0.2)
right.legend(frameon=False, loc="upper center", ncols=2)
plt.show()
