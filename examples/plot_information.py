"""
Entropies and divergences, against exact values
===============================================

As two Gaussians move apart, the divergences between samples of them follow the exact
values. As one of them widens, its entropy follows the logarithm of its spread.
"""

import matplotlib.pyplot as plt
import numpy as np

from spectralcls.information import (
    cauchy_schwarz_divergence,
    integrated_squared_error,
    renyi_entropy,
)
from spectralcls.kernels import silverman_bandwidth

rng = np.random.default_rng(0)
P, Q = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))
h = silverman_bandwidth(P)
shifts, spreads = np.linspace(0, 4, 9), np.geomspace(0.5, 4, 9)
step = np.array([1.0, 0.0])

cauchy_schwarz = [
    cauchy_schwarz_divergence(P, Q + t * step, bandwidth=h) for t in shifts
]
squared_error = [integrated_squared_error(P, Q + t * step, bandwidth=h) for t in shifts]
entropy = [renyi_entropy(s * P, bandwidth=silverman_bandwidth(s * P)) for s in spreads]

# %%
# The estimates smooth the samples by a window of variance h². Therefore the exact
# values are those of Gaussians with variance 1 + h².
variance = 1 + h**2
exact = {
    "Cauchy-Schwarz divergence": (shifts, cauchy_schwarz, shifts**2 / (4 * variance)),
    "integrated squared error": (
        shifts,
        squared_error,
        2 * (1 - np.exp(-(shifts**2) / (4 * variance))) / (4 * np.pi * variance),
    ),
    "Rényi's quadratic entropy": (
        spreads,
        entropy,
        np.log(4 * np.pi * spreads**2 * variance),
    ),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
for ax, (name, (x, estimate, truth)) in zip(axes, exact.items(), strict=True):
    ax.plot(x, truth, color="C1", label="exact")
    ax.plot(x, estimate, "o", color="C0", label="from 1 000 points")
    ax.set(title=name, xlabel="distance of the means")
axes[2].set(xscale="log", xlabel="standard deviation")
axes[2].set_xticks([0.5, 1, 2, 4], [0.5, 1, 2, 4])
axes[2].minorticks_off()
axes[0].legend()
plt.show()
