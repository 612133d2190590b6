"""The base class of the classifiers whose fitted form is an `Expansion`."""

from .._conformal.sums_left_out import SumsLeftOut, without_class_sums
from .._expansion import Expansion
from .._utils.copies import copies_of
from .classifier import Classifier


class ExpansionClassifier(Classifier):
    """A classifier with the scores of `_model`. Single points can be left out of its class sums."""

    _model: Expansion

    def _scores(self, X):
        return self._model.scores(X)

    def _winners(self, X):
        return self._model.labels(X)

    _without_leave_one_out = property(without_class_sums)

    def _leave_one_out(self):
        points = self._model.points
        first, place = copies_of(points.X, points.codes)  # copies are left out together, as during tuning
        return SumsLeftOut(self._model, place if len(first) < len(place) else None)
