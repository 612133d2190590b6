"""The fitted form of all kernel-mean and spectral classifiers: scores(y) = g(y) (k(y) A) - b.

`TrainingPoints` sums kernel values over the points, `Rule` turns sums into scores, and `Expansion` combines both.
`class_means` creates an expansion of class means, which needs no decomposition and keeps all components. `Spectrum`
creates one of leading eigenvectors. `held_out` scores every point by the expansion of the other folds. Nothing here is
specific to one family of classifiers.
"""

from .class_means import class_means
from .expansion import Expansion, Sums
from .points import BLOCK_BYTES, TrainingPoints, blocks, class_rows, plain_points
from .rule import Rule
