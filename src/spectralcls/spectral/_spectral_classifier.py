"""The base class of the spectral classifiers: the choice of bandwidth and number of components."""

from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np

from .._estimator import ExpansionClassifier, with_parameters
from .._inputs.training_data import TrainingData
from .._tuning import Judge, candidate_grid, gathered_sample
from .._utils.advice import quietly
from .._utils.typing import (
    ArrayLike,
    CategoricalFeatures,
    CrossValidation,
    Metric,
    RandomState,
    Scale,
    Scoring,
    Solver,
)
from ..metric import LearnedMap, fitted_map
from ._kernel_map import check_no_rank
from ._nested import clearly_right

MAX_LEAVE_ONE_OUT = 500  # limit on the decompositions for leave-one-out


@with_parameters
class SpectralClassifier(ExpansionClassifier):
    """Base class of classifiers that compare a query with class centers in the space of leading eigenvectors.

    Subclasses decide in `_implicit` when kernel sums replace the decomposition of the whole space.
    """

    bandwidth: Any = "cv"
    _: KW_ONLY
    n_components: Literal["all", "cv"] | int = "all"
    max_components: int = 32
    metric: Metric = None
    categorical_features: CategoricalFeatures = "from_dtype"
    scale: Scale = "auto"
    cv: CrossValidation = 5
    scoring: Scoring = "auto"
    bandwidth_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 2000
    rank: int | None = None
    solver: Solver = "auto"
    tol: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    kernel = "gaussian"
    metric_ = fitted_map
    _learns_on_workers = True

    def _implicit(self, n_components):
        raise NotImplementedError

    def _implicit_scores(self, sample, bandwidths):
        """Scores of the bandwidths for `search`, with all components and no decomposition."""
        raise NotImplementedError

    @property
    def _without_probabilities(self):
        if self.rank is None and self._implicit(self.n_components):
            return super()._without_probabilities
        return (
            "none are learned if scores use eigenvectors. n_components='all' needs no eigenvectors if rank, solver, "
            "center and kernel have their defaults."
        )

    def _make_inputs(self):
        by_sums = self.n_components == "all" and self.rank is None and self._implicit("all") and self.tolerance is None
        integrate = by_sums and self.metric is None and self.kernel == "gaussian"
        return super()._make_inputs(missing="integrate" if integrate else "complete", step=LearnedMap.of(self))

    def _check_on_workers(self):
        super()._check_on_workers()
        check_no_rank(self)

    def _nested_scores(self, train, Q, bandwidth, candidates):
        """Scores (m, q, C) for each number of components, and whether the data determine each space, (q,).

        `train` is training data. ``candidates.max() + 1`` eigenpairs are computed, in at most `PATIENCE` block
        products.
        """
        raise NotImplementedError

    def _tune(self, data, bandwidth):
        """The chosen bandwidth and number of components; the bandwidth is tuned only if `bandwidth` is None."""
        points, sample = gathered_sample(self, data)
        grid = [bandwidth] if bandwidth is not None else candidate_grid(self, data, points, self.kernel)
        if self.n_components == "cv":
            most = min(self.max_components, len(sample.X) // 2, self.rank or self.max_components)
            candidates = {"n_components": np.arange(1, most + 1)}
        else:
            candidates = {}
        found = self._search(sample, {"bandwidth": np.asarray(grid)} | candidates, self._scored)
        n_components = found.params.get("n_components", self.n_components)
        return float(found.params["bandwidth"]), n_components if isinstance(n_components, str) else int(n_components)

    def _scored(self, sample, bandwidth, n_components=None):
        """Scores of the candidates for `search`: bandwidths and, if given, numbers of components."""
        if n_components is None and self._implicit(self.n_components):
            return self._implicit_scores(sample, bandwidth)
        self._check_leave_one_out(sample)
        whole = self.n_components == "all"
        candidates = n_components
        if candidates is None:
            candidates = np.array([len(sample.X) if whole else self.n_components])
        shape = (len(bandwidth),) if n_components is None else (len(bandwidth), len(candidates))
        judge = Judge(sample, shape, self.scoring)
        for b, h in enumerate(bandwidth):
            for train, test in sample.splits():
                # only the chosen candidate may warn about undetermined spaces or negative eigenvalues
                with quietly():
                    part = training_part(sample, train)
                    scores, sound = self._nested_scores(part, sample.X[test], h, candidates)
                right = np.where(sound | whole, clearly_right(scores, sample.codes[test]), np.nan)
                if np.isnan(right).all():
                    judge.right[:, b] = np.nan
                    break
                if n_components is None:
                    scores, right = scores[:, 0], right[:, 0]
                judge.add(np.flatnonzero(test), scores, right=right, at=(b,))
        return judge.scored()._replace(temperature=None)  # these scores are on a different scale from those of queries

    def _check_leave_one_out(self, sample):
        n_fits = len(sample.X) if sample.folds is None else sample.folds.max() + 1
        if (sample.folds is None or sample.one_split) and n_fits > MAX_LEAVE_ONE_OUT:
            raise ValueError(
                f"{type(self).__name__}(cv='loo') would fit {n_fits} times for each bandwidth; the limit is "
                f"{MAX_LEAVE_ONE_OUT} points. Set cv to a number of folds, or lower max_tuning_samples."
            )


def training_part(sample, train):
    """The training part of a split of a `TuningSample`, as training data, with weights only if they are not all
    equal."""
    weights = sample.weights[train]
    weights = None if np.all(weights == weights[0]) else weights
    classes = np.arange(sample.n_classes)
    return TrainingData(sample.X[train], sample.codes[train], classes, weights, features=sample.features)
