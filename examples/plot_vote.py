"""
One class to import first: what the vote is made of
===================================================

``AutoClassifier`` tunes a few kernel machines, keeps those that help each other on
points they have not seen, and lets them vote with probabilities. Who got which weight
tells something about the data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from spectralcls import AutoClassifier
from spectralcls.plotting import VoteDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=0
)
model = AutoClassifier().fit(X_train, y_train)
accuracy = 100 * model.score(X_test, y_test)
loss = log_loss(y_test, model.predict_proba(X_test))
print(model)
print(f"accuracy {accuracy:.1f} %, log loss {loss:.3f} on {len(X_test)} test points")

# %%
# The loss of the vote, measured inside ``fit`` on points that its members had not seen,
# is the line.
display = VoteDisplay.from_estimator(model)
display.figure_.suptitle(
    f"Together they lose less than each alone: {accuracy:.1f} % right on the test part"
)
plt.show()
