"""
Concentrations from spectra
===========================

A spectrum has hundreds of channels, but a calibration has only dozens of samples.
``KernelRidgeRegressor`` chooses its kernel and ridge by leave-one-out in closed form,
and predicts each concentration with an interval. The spectra are simulated: two
substances with overlapping bands, a drifting baseline, and scattered light.
"""

import matplotlib.pyplot as plt
import numpy as np

from spectralcls import KernelRidgeRegressor

rng = np.random.default_rng(0)
channels = np.linspace(0, 1, 300)


def band(center, width):
    return np.exp(-(((channels - center) / width) ** 2) / 2)


n = 160
sugar, water = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
pure = band(0.42, 0.06), band(0.5, 0.09) + 0.6 * band(0.8, 0.05)
absorbed = 1 - np.exp(-(sugar[:, None] * pure[0] + water[:, None] * pure[1]))
drift = rng.normal(size=(n, 1)) * 0.1 + rng.normal(size=(n, 1)) * 0.1 * channels
spectra = rng.uniform(0.8, 1.2, size=(n, 1)) * absorbed + drift
spectra += 0.003 * rng.normal(size=spectra.shape)

# Differences of neighboring channels remove a constant baseline.
slopes = np.diff(spectra, axis=1)
model = KernelRidgeRegressor(scale=None).fit(slopes[:80], sugar[:80])
low, high = model.predict_interval(slopes[80:], coverage=0.9).T
predicted = model.predict(slopes[80:])
covered = 100 * np.mean((low <= sugar[80:]) & (sugar[80:] <= high))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for spectrum, share in zip(spectra[:25], sugar[:25], strict=True):
    left.plot(channels, spectrum, color=plt.cm.viridis(share), linewidth=0.8)
left.set(xlabel="channel", ylabel="absorption", title="Spectra, colored by sugar")
right.errorbar(
    sugar[80:],
    predicted,
    [predicted - low, high - predicted],
    fmt="o",
    markersize=3,
    linewidth=0.7,
)
right.axline((0, 0), slope=1, color="0.5", linewidth=1)
right.set(xlabel="sugar", ylabel="predicted")
right.set_title(
    f"R2 {model.score(slopes[80:], sugar[80:]):.3f} from 80 samples; "
    f"intervals contain {covered:.0f} %"
)
plt.show()
