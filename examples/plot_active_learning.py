"""
Labels are expensive: ask near the border
=========================================

Forty labels asked for near the border between classes against forty at random. Scores on what is left of the
pool flatter the border queries, since the hard samples are gone; the test set on the right is the honest judge.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from spectralcls import PerTurboClassifier
from spectralcls.perturbo import simulate
from spectralcls.plotting import ActiveLearningDisplay

X, y = make_blobs(300, centers=[[0, 0], [3, 0], [1.5, 2.5]], cluster_std=0.9, random_state=0)
curves = simulate(
    PerTurboClassifier(1.0, alpha=0.1), X, y, n_queries=40, n_repeats=5, retune=None, progress=False, random_state=0
)
display = ActiveLearningDisplay(curves).plot()
display.figure_.set_size_inches(10, 4)
display.figure_.suptitle("Border queries need fewer labels for the same accuracy")
plt.show()
