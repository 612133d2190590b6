"""
Calibration: can you trust the probabilities?
=============================================

Of the cases predicted with a probability of 80 %, 80 % should be correct. The
posteriors of ``ParzenClassifier`` follow from its densities. The other classifiers
learn a temperature for their scores on the points that tuning holds out anyway.
Calibrating them again with scikit-learn's ``CalibratedClassifierCV`` takes five more
fits, and makes the result worse here.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from spectralcls import KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier

X, y = make_moons(300, noise=0.35, random_state=0)
X_test, y_test = make_moons(20_000, noise=0.35, random_state=1)
models = {
    "ParzenClassifier": ParzenClassifier(),
    "KernelRidgeClassifier": KernelRidgeClassifier(),
    "PerTurboClassifier": PerTurboClassifier(),
    "PerTurbo, calibrated again": CalibratedClassifierCV(PerTurboClassifier()),
    "GaussianNB": GaussianNB(),
}

options = {"width_ratios": [3, 2], "layout": "constrained"}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), **options)
losses = {}
for (name, model), marker in zip(models.items(), "o^sDv", strict=True):
    model.fit(X, y)
    probability = model.predict_proba(X_test)[:, 1]
    losses[name] = log_loss(y_test, probability)
    style = {"n_bins": 12, "name": name, "marker": marker, "ax": left}
    CalibrationDisplay.from_predictions(y_test, probability, **style)
left.set(xlabel="predicted probability", ylabel="share of the class")
left.set_title("Below the diagonal: too certain of the class")
left.legend(loc="upper left")
right.barh(list(losses), losses.values(), color=[f"C{i}" for i in range(5)])
right.invert_yaxis()
right.set(xlabel="log loss, lower is better", title="Log loss on 20 000 test points")
plt.show()
