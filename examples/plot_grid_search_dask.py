"""
Many fits on a cluster: a grid search through joblib
====================================================

scikit-learn's meta-estimators run on a cluster through joblib's Dask backend. The
classifiers of this package need no special treatment: inside a worker each of them uses
one thread, because other workers use the other cores.

Use this for many *fits* of data that fit in a worker's memory. For a single fit of
larger data, see :doc:`plot_dask`.
"""

import joblib
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV

from spectralcls import CauchySchwarzClassifier

X, y = load_wine(return_X_y=True)
bandwidths, weightings = (
    [0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0],
    [None, "inverse", "symmetric"],
)
grid = {"bandwidth": bandwidths, "weighting": weightings}
search = GridSearchCV(CauchySchwarzClassifier(n_jobs=1), grid, cv=5)

# %%
# ``processes=False`` keeps the workers in this process; ``Client("tcp://...")``
# connects to a real scheduler.
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    with joblib.parallel_backend("dask"):
        search.fit(X, y)
scores = 100 * search.cv_results_["mean_test_score"].reshape(
    len(bandwidths), len(weightings)
)

figure, ax = plt.subplots(figsize=(4.6, 4.6))
image = ax.imshow(scores, cmap="cividis")
for i, j in np.ndindex(scores.shape):
    middle = (scores.min() + scores.max()) / 2
    color = "white" if scores[i, j] < middle else "black"
    ax.text(j, i, f"{scores[i, j]:.1f}", ha="center", va="center", color=color)
ax.set_xticks(range(3), [str(name) for name in weightings])
ax.set_yticks(range(len(bandwidths)), bandwidths)
ax.set(xlabel="weighting", ylabel="bandwidth", title="105 fits: accuracy in %")
ax.spines[:].set_visible(False)
figure.colorbar(image)
plt.show()
