"""One way to tune parameters by cross-validation, for every estimator.

A family provides one function that scores its candidates on the folds of a `TuningSample`. The function may use any
shortcut that the family's formulas allow: all bandwidths in one pass, all numbers of components from one decomposition,
leave-one-out in closed form. This package chooses the points and folds, scales the bandwidths, breaks ties and writes
`cv_results_`. Nothing here is specific to one family.

>>> sample = draw_sample(data, cv=cv, max_samples=2000, random_state=0)
>>> found = search(sample, {"bandwidth": grid}, score)   # score(sample, bandwidth=...) -> (n_splits, n_bandwidths)
>>> found.params["bandwidth"], found.cv_results, sample.n_samples
"""

from .dimension import (
    IntrinsicDimension,
    entropic_dimension,
    largest_dimension,
)
from .factors import choose_factors
from .folds import (
    check_folds,
    drawn_seed,
    folds_by_content,
    given_folds,
    group_folds,
    shuffled_ranks,
    stratified_subsample,
    thin,
    thinned_rows,
)
from .gathered import (
    bandwidth_ratio_of,
    candidate_grid,
    class_proportions,
    drawn_from,
    gathered,
    gathered_sample,
    reference_of,
)
from .grids import (
    candidate_bandwidths,
    check_grid,
    default_bandwidths,
    has_spread,
    median_distance,
    reference_bandwidth,
    ridge_grid,
)
from .held_out_loss import HeldOutLoss
from .judge import SCORINGS, Judge
from .sample import TuningSample, draw_sample, tuning_sample
from .scaled import centered_and_scaled
from .scales import shared_scale
from .search import SCORE_TOLERANCE, Scored, Search, Splits, best_candidate, search
from .spread import effective_number, spreads, within_reach
