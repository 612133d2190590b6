"""
First steps: fit, and see what was tuned
========================================

The data are thirty measurements of cells of two classes. ``fit`` chooses the bandwidth
by cross-validation; the path shows how the accuracy depends on it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from spectralcls import ParzenClassifier
from spectralcls.plotting import BandwidthPathDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.3, stratify=y, random_state=0
)
model = ParzenClassifier().fit(X_train, y_train)
accuracy = model.score(X_test, y_test)
print(f"{accuracy:.3f} of the test set are right")

# %%
# A broad maximum means that the exact bandwidth hardly matters.
display = BandwidthPathDisplay.from_estimator(model)
display.ax_.set_title(
    f"The best bandwidth is found by fit: test accuracy {100 * accuracy:.1f} %"
)
plt.show()
