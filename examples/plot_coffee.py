"""
Where does this coffee come from? Sixty spectra
===============================================

Twenty infrared spectra each of coffee from three countries, at 1841 wavelengths: few rows, many columns. Chemists use
PLS-DA, a regression on the indicators of the classes by partial least squares. Here it meets a Parzen classifier,
which also returns prediction sets: all origins that the spectra cannot exclude, and none for a coffee from elsewhere.
The data come with chemotools: ``pip install chemotools pandas``.
"""

# sphinx_gallery_needs = ["chemotools", "pandas"]

import matplotlib.pyplot as plt
import numpy as np
from chemotools.datasets import load_coffee
from scipy.signal import savgol_filter
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from spectralcls import ParzenClassifier

table, labels = load_coffee()
spectra, y = table.to_numpy(), labels.iloc[:, 0].to_numpy()
countries = np.unique(y)

# %%
# The usual preparation of each spectrum by itself: a first derivative, then mean 0 and deviation 1.
X = savgol_filter(spectra, window_length=21, polyorder=2, deriv=1)
X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
titles = ("As measured", "Derivative, scaled")
for ax, values, title in zip(axes, (spectra, X), titles, strict=True):
    for i, country in enumerate(countries):
        lines = ax.plot(values[y == country].T, color=f"C{i}", linewidth=0.5, alpha=0.6)
        lines[0].set_label(country)
    ax.set(xlabel="Channel", title=title)
axes[0].legend()
plt.show()

# %%
# Each spectrum in turn is left out. PLS-DA needs a number of components; all of them are shown, so nothing is tuned
# in its disfavor.
indicators = (y[:, None] == countries).astype(float)
print(f"{len(X)} spectra, {X.shape[1]} channels; right, each spectrum left out:")
for n_components in (1, 2, 3, 5, 8):
    pls = PLSRegression(n_components)
    scores = cross_val_predict(pls, X, indicators, cv=LeaveOneOut())
    right = (countries[scores.argmax(axis=1)] == y).sum()
    print(f"  PLS-DA, {n_components} components: {right}")

predicted, members = y.copy(), np.zeros((len(X), len(countries)), dtype=bool)
for train, test in LeaveOneOut().split(X):
    model = ParzenClassifier().fit(X[train], y[train])
    predicted[test] = model.predict(X[test])
    members[test] = model.predict_set(X[test], coverage=0.9)
covered = members[y[:, None] == countries].mean()
print(f"  ParzenClassifier, untouched: {(predicted == y).sum()}")
print(f"Sets for 90 % coverage: {100 * covered:.0f} % hold the true origin,", end=" ")
print(f"sizes 0, 1, 2, 3: {np.bincount(members.sum(axis=1), minlength=4)}")

# %%
# Now a country that the classifier has never seen. PLS-DA by itself names one of the others (chemists add limits on
# its residuals to notice that). A prediction set may be empty: unlike all that is known.
share = {"known": [], "new": []}
for country in countries:
    new = y == country
    model = ParzenClassifier().fit(X[~new], y[~new])
    sets = model.predict_set(X[new], coverage=0.9)
    share["new"].append((sets.sum(axis=1) == 0).mean())
    share["known"].append((members[new].sum(axis=1) == 0).mean())
    scores = PLSRegression(5).fit(X[~new], indicators[~new]).predict(X[new])
    sure = scores.max(axis=1) > 0.5
    empty = 100 * share["new"][-1]
    print(f"{country} held out: {empty:.0f} % have an empty set;", end=" ")
    print(f"PLS-DA puts {100 * sure.mean():.0f} % above 0.5 into another country")

figure, ax = plt.subplots(figsize=(7, 3))
positions = np.arange(len(countries))
bars = ("known", -0.2, "known (false alarms)"), ("new", 0.2, "held out")
for key, shift, label in bars:
    ax.bar(positions + shift, 100 * np.array(share[key]), 0.4, label=label)
ax.set_xticks(positions, countries)
ax.set(ylabel="Empty sets, %", title="Sets that say: from none of the known countries")
ax.set_ylim(0, 125)
ax.legend(ncols=2, loc="upper left")
plt.show()

# %%
# What we would answer: to tell known origins apart, PLS-DA with enough components is as good, and its loadings can be
# read. The kernel classifier has no number of components to choose. Take it for its sets, where a sample may be from
# elsewhere. Sixty spectra from one instrument say nothing about another instrument or another harvest.
