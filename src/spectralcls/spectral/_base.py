"""What the spectral classifiers share: the choice of bandwidth and number of components."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._estimator import ScoreClassifier
from .._tuning import candidate_bandwidths, check_folds, draw_sample, search
from ..metric import MetricMixin
from ._nested import clearly_right

MAX_LEAVE_ONE_OUT = 500  # decompositions


class SpectralClassifier(MetricMixin, ScoreClassifier):
    """A classifier by class centers in the space of leading eigenvectors.

    Subclasses decide in `_implicit` when the whole space is kept by kernel sums, without a decomposition.
    """

    def _implicit(self, n_components):
        raise NotImplementedError

    def _implicit_accuracies(self, sample, bandwidths):
        """Accuracies (n_splits, b) with all components and no decomposition."""
        raise NotImplementedError

    @property
    def _needs_complete(self):
        why = super()._needs_complete
        if why is None and (self.n_components != "all" or self.rank is not None or not self._implicit("all")):
            return "eigenvectors are those of the kernel matrix of complete points, and n_components='all' needs none"
        return why

    def _nested_scores(self, train, Q, bandwidth, candidates):
        """Scores (m, q, C) for each number of components, and which of the spaces the data determine, (q,).

        `train` is (X, codes, weights). ``candidates.max() + 1`` eigenpairs are computed, in `PATIENCE` products.
        """
        raise NotImplementedError

    def _scores(self, X):
        return self._model.scores(X)

    def _winners(self, X):
        return self._model.labels(X)

    def _tune(self, data, y, bandwidth):
        """Bandwidth and number of components; the first is tuned if `bandwidth` is None."""
        sample = draw_sample(
            data,
            check_folds(self.cv, y, data.kept),
            cv=self.cv,
            max_samples=self.max_tuning_samples,
            random_state=self.random_state,
        )
        grid = [bandwidth] if bandwidth is not None else candidate_bandwidths(self.bandwidth_grid, data, self.kernel)
        return self._search(sample, grid)

    def _search(self, sample, bandwidths):
        if self.n_components == "cv":
            most = min(self.max_components, len(sample.X) // 2, self.rank or self.max_components)
            candidates = {"n_components": np.arange(1, most + 1)}
        else:
            candidates = {}
        found = search(sample, {"bandwidth": np.asarray(bandwidths)} | candidates, self._accuracies)
        self.cv_results_, self.n_tuning_samples_ = found.cv_results, sample.n_samples
        n_components = found.params.get("n_components", self.n_components)
        return float(found.params["bandwidth"]), n_components if isinstance(n_components, str) else int(n_components)

    def _accuracies(self, sample, bandwidth, n_components=None):
        """Accuracies (n_splits, b) or, with candidates for the number of components, (n_splits, b, q)."""
        if n_components is None and self._implicit(self.n_components):
            return self._implicit_accuracies(sample, bandwidth)
        self._check_leave_one_out(sample)
        whole = self.n_components == "all"
        candidates = n_components
        if candidates is None:
            candidates = np.array([len(sample.X) if whole else self.n_components])
        right = np.zeros((len(sample.X), len(bandwidth), len(candidates)))
        for b, h in enumerate(bandwidth):
            for train, test in sample.splits():
                with warnings.catch_warnings():  # undetermined, or negative eigenvalues: said of what is chosen
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    warnings.simplefilter("ignore", UserWarning)
                    part = training_part(sample, train)
                    scores, sound = self._nested_scores(part, sample.X[test], h, candidates)
                hits = clearly_right(scores, sample.codes[test])
                right[test, b] = np.where(sound | whole, hits, np.nan)
                if np.isnan(right[test, b]).all():
                    right[:, b] = np.nan
                    break
        return sample.accuracies(right if n_components is not None else right[..., 0])

    def _check_leave_one_out(self, sample):
        if sample.folds is None and len(sample.X) > MAX_LEAVE_ONE_OUT:
            raise ValueError(
                f"{type(self).__name__}(cv='loo') would fit {len(sample.X)} times for each bandwidth; the limit is "
                f"{MAX_LEAVE_ONE_OUT} points. Set cv to a number of folds, or lower max_tuning_samples."
            )


def training_part(sample, train):
    """(X, codes, weights) of the rows of a mask; weights None if all are one."""
    weights = sample.weights[train]
    return sample.X[train], sample.codes[train], None if np.all(weights == weights[0]) else weights
