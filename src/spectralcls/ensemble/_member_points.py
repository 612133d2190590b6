"""Training points of the members, with classes or numeric targets, and a member's predictions for them."""

from typing import NamedTuple

import numpy as np

from ._blend import Blend, learn_blend
from ._target_map import TargetMap
from ._vote import Vote, class_shares, learn_vote


class ClassPoints(NamedTuple):
    """Points with classes."""

    X: np.ndarray  # (n, d), NaN if a value is missing
    codes: np.ndarray  # (n,)
    weights: np.ndarray | None  # (n,)
    n_classes: int
    categorical: np.ndarray  # (d,) bool: columns that hold levels of categories
    units: np.ndarray | None = None  # (C,) weight of one sample of each class, if classes have weights
    groups: np.ndarray | None = None  # (n,) what is left out together

    @property
    def task(self):
        return "classification"

    @property
    def answers(self):
        """Targets of the members."""
        return self.codes

    @property
    def width(self):
        """Number of columns of a member's prediction."""
        return self.n_classes

    @property
    def teaches(self):
        """Whether members can learn from these points."""
        return len(np.unique(self.codes)) > 1

    @property
    def sample_weights(self):
        """The weights without class weights, because these express the cost of an error, not the frequency of a
        point."""
        return self.weights if self.units is None else self.weights / self.units[self.codes]

    def weights_beside(self, head):
        """Weights of the points; if a head has the parameter `class_weight`, class weights are set there instead."""
        if self.units is None or "class_weight" not in head.get_params():
            return self.weights
        head.set_params(class_weight={int(c): float(self.units[c]) for c in np.unique(self.codes)})
        return self.sample_weights

    def said_by(self, model, X):
        """Probabilities (n, n_classes) of a model fitted to codes; 0 for unseen classes."""
        return posterior(model, X, self.n_classes)

    def take(self, rows):
        weights, groups = (None if own is None else own[rows] for own in (self.weights, self.groups))
        return self._replace(X=self.X[rows], codes=self.codes[rows], weights=weights, groups=groups)

    def vote(self, said):
        """The vote learned from the members' predictions of these unseen points."""
        return learn_vote(said, self.codes, self.weights)

    def equal_vote(self, m):
        """The vote of m members if no point was held out."""
        prior = class_shares(self.codes, self.weights, self.n_classes)
        return Vote(prior, 0.0, np.full(m, 1 / m), np.ones(m), 1.0, np.full(m, np.nan), np.nan, np.ones(m, bool))


class NumberPoints(NamedTuple):
    """Points with numeric targets, which members learn after the transformation `map`."""

    X: np.ndarray  # (n, d), NaN if a value is missing
    targets: np.ndarray  # (n, k) as the user gave them
    weights: np.ndarray | None  # (n,)
    categorical: np.ndarray  # (d,) bool: columns that hold levels of categories
    map: TargetMap
    loss: str
    groups: np.ndarray | None = None  # (n,) what is left out together

    @property
    def task(self):
        return "regression"

    @property
    def teaches(self):
        return len(self.X) > 0

    @property
    def answers(self):
        answers = self.map.to(self.targets)
        return answers[:, 0] if answers.shape[1] == 1 else answers

    @property
    def width(self):
        return self.targets.shape[1]

    @property
    def sample_weights(self):
        return self.weights

    def weights_beside(self, head):
        return self.weights

    def said_by(self, model, X):
        """Transformed predictions, (n, k)."""
        return predictions(model, X)

    def take(self, rows):
        weights, groups = (None if own is None else own[rows] for own in (self.weights, self.groups))
        return self._replace(X=self.X[rows], targets=self.targets[rows], weights=weights, groups=groups)

    def vote(self, said):
        return learn_blend(said, self.targets, self.map, self.loss, self.weights)

    def equal_vote(self, m):
        return Blend.equal(m, self.targets, self.map, self.loss, self.weights)


def posterior(model, X, n_classes):
    """Probabilities (n, n_classes) of a model fitted to codes; 0 for unseen classes."""
    out = np.zeros((len(X), n_classes))
    out[:, model.classes_] = model.predict_proba(X)
    return out


def predictions(model, X):
    """Predictions (n, k) of a regression."""
    return np.asarray(model.predict(X), dtype=np.float64).reshape(len(X), -1)
