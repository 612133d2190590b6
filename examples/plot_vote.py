"""
AutoClassifier: the members of the vote
=======================================

``AutoClassifier`` tunes several kernel machines and boosted trees, weights those that
improve the vote on unseen points, and averages their probabilities. The weights reveal
something about the data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from spectralcls import AutoClassifier

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
# The line marks the loss of the vote, measured inside ``fit`` on points that its
# members had not seen.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), sharey=True, layout="constrained"
)
names = [name for name, _ in model.members_]
left.barh(names, model.weights_)
left.set(xlabel="Weight in the vote")
left.invert_yaxis()
right.barh(names, model.losses_)
right.axvline(model.loss_, color="black", label="vote")
right.set(xlabel="Log loss on unseen points")
right.legend()
figure.suptitle(
    f"Together they lose less than each alone: {accuracy:.1f} % right on the test part"
)
plt.show()
