"""Accuracy and log loss of each candidate from the scores of held-out points."""

import numpy as np
from scipy.special import log_softmax

from .search import Scored
from .temperature import LOWEST, best_temperature, finite_scores

MOST_KEPT = 1 << 22  # limit on the scores kept for log losses, over all candidates
SCORINGS = ("auto", "accuracy", "balanced_accuracy", "neg_log_loss")


class Judge:
    """Collects class scores of the validated points of a sample, for a grid of candidates.

    Parameters
    ----------
    sample : TuningSample
    shape : tuple of int
        Shape of the grid of candidates.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}
        "auto" is the accuracy; among candidates within half a standard error of the best, the least log loss wins.
        With "balanced_accuracy", the greatest accuracy wins among such candidates. On 11 data sets, this rule for near
        ties raised the accuracy of LaplacianSpectralClassifier by .7 and its balanced accuracy by .4 percentage points.
    logs : bool
        Whether scores are logarithms of joint probabilities. Otherwise probabilities are a softmax of the scores
        divided by a temperature, fitted for each candidate.
    importance : ndarray (C,), optional
        Weight of an error on a point of each class.
    """

    def __init__(self, sample, shape, scoring="auto", logs=False, importance=None):
        if importance is not None:
            sample = sample._replace(weights=sample.weights * importance[sample.codes])
        n, n_classes = sample.n_samples, sample.n_classes
        self.sample, self.scoring, self.logs = sample, scoring, logs
        self.codes, self.weights = sample.codes[sample.rows], sample.weights[sample.rows]
        self.right = np.zeros((n, *shape))
        n_kept = n if scoring == "neg_log_loss" else min(n, max(500, MOST_KEPT // (np.prod(shape) * n_classes)))
        self.kept = np.linspace(0, n - 1, int(n_kept)).astype(np.intp)
        self.place = np.full(n, -1)
        self.place[self.kept] = np.arange(len(self.kept))
        self.scores = np.full((len(self.kept), *shape, n_classes), -np.inf, dtype=np.float32)

    def only(self, several):
        """Keep only the axes of the grid marked in `several`, those with more than one candidate."""
        single = tuple(axis for axis, has_several in enumerate(several, 1) if not has_several)
        self.right = self.right.squeeze(single)
        self.scores = self.scores.squeeze(single)
        return self

    def add(self, rows, scores, *, predicted=None, right=None, at=()):
        """Record the scores of some of the validated points.

        Parameters
        ----------
        rows : slice, or ndarray of int (r,)
            Positions among the validated points.
        scores : ndarray (r, ..., C)
            Scores of the candidates at position `at` of the grid.
        predicted : ndarray (r, ...), optional
            Predicted classes, if not those of the largest scores.
        right : ndarray (r, ...), optional
            Whether each prediction counts as right; by default, if it equals the class. NaN for a candidate that cannot
            be scored.
        """
        if right is None:
            predicted = scores.argmax(axis=-1) if predicted is None else predicted
            right = predicted == self.codes[rows].reshape(-1, *[1] * (predicted.ndim - 1))
        rows = np.arange(len(self.right))[rows]
        self.right[(rows, *at)] = right
        place = self.place[rows]
        # Subtract the score of the best class, so that float32 resolves the differences even for far points.
        with np.errstate(invalid="ignore", over="ignore"):  # scores of a point may be infinite
            relative = scores - scores.max(axis=-1, keepdims=True) if self.logs else scores
            self.scores[(place[place >= 0], *at)] = relative[place >= 0]

    def scored(self):
        """The scores of the candidates for `search`."""
        temperature = None if self.logs else self.temperature
        if self.scoring == "neg_log_loss":
            shape = self.right.shape[1:]
            logs = np.stack([self._log_p(index) for index in np.ndindex(shape)], axis=1)
            options = {"predicts_one_class": self.predicts_one_class, "temperature": temperature}
            return Scored.of(self.sample, logs.reshape(-1, *shape), **options)
        if self.scoring == "balanced_accuracy":
            of_class = np.bincount(self.codes, self.weights, minlength=self.sample.n_classes)
            weights = self.sample.weights / np.where(of_class > 0, of_class, 1.0)[self.sample.codes]
            by_split = self.sample._replace(weights=weights).accuracies(self.right)
            return Scored(by_split, None, self.accuracy, self.predicts_one_class, temperature)
        tie_score = self.log_score if self.scoring == "auto" else None
        return Scored(self.sample.accuracies(self.right), None, tie_score, self.predicts_one_class, temperature)

    def predicts_one_class(self, index):
        """Whether exactly the points of one class are right, as if all predictions were this class."""
        right = self.right[(slice(None), *index)] > 0
        found = np.bincount(self.codes, right, minlength=self.sample.n_classes)
        of_class = np.bincount(self.codes, minlength=self.sample.n_classes)
        return np.count_nonzero(of_class) > 1 and found.sum() == found.max() == of_class[found.argmax()]

    def accuracy(self, index):
        """Accuracy of one candidate."""
        return float(np.average(self.right[(slice(None), *index)] > 0, weights=self.weights))

    def log_score(self, index):
        """Mean logarithm of the probability of the true class for one candidate."""
        return float(np.average(self._log_p(index), weights=self.weights[self.kept]))

    def temperature(self, index):
        """The best temperature of one candidate's scores."""
        return self._temperature_of(self._finite_scores(index))

    def _log_p(self, index):
        codes = self.codes[self.kept]
        if np.isnan(self.right[(slice(None), *index)]).any():
            return np.full(len(codes), np.nan)
        scores = self._finite_scores(index)
        if not self.logs:
            scores /= self._temperature_of(scores)
        return np.maximum(log_softmax(scores, axis=1)[np.arange(len(codes)), codes], np.log(LOWEST))

    def _temperature_of(self, scores):
        return best_temperature(scores, self.codes[self.kept], self.weights[self.kept])

    def _finite_scores(self, index):
        """Finite scores (kept, C) of one candidate; all equal for a point that no class reaches."""
        scores = self.scores[(slice(None), *index)].astype(np.float64)
        return finite_scores(np.where(np.isneginf(scores).all(axis=1, keepdims=True), 0.0, scores))
