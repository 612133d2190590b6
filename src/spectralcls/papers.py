"""Classifiers with the papers' printed formulas, if those of this package differ."""

from dataclasses import replace
from typing import Any

import numpy as np

from ._expansion import Expansion, Rule, TrainingPoints
from ._inputs.training_data import TrainingData
from .spectral import LaplacianSpectralClassifier, SpectralISEClassifier, SpectralLaplacianISEClassifier

__all__ = ["as_printed"]


def as_printed(model: Any) -> Any:
    """Return a spectral classifier with the formulas printed in its paper.

    The printed formulas map a query differently from the training points:

    - :class:`~spectralcls.spectral.SpectralISEClassifier` and
      :class:`~spectralcls.spectral.SpectralLaplacianISEClassifier`: eq. 7.2 of [1]_, ``sqrt(n) k(y) E L^-1/2``, with
      the plain kernel even if E and L are those of the normalized matrix; ``n_components="all"`` means as many
      eigenvectors as classes.
    - :class:`~spectralcls.spectral.LaplacianSpectralClassifier`: the steps of [2]_, in which a query is compared with
      all points by the plain kernel of the overall width. The paper's widths are those of
      ``bandwidth="silverman_per_class"``.

    The other classifiers of the papers have the printed formulas as parameter values: see "Methods of the papers" in
    the guide.

    Parameters
    ----------
    model : estimator
        One of these three classifiers; it is not changed.

    Returns
    -------
    model : estimator
        An unfitted classifier with the same parameters.

    Raises
    ------
    TypeError
        For any other object.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.
    .. [2] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian spectral classifier", IEEE
       International Conference on Acoustics, Speech, and Signal Processing, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.papers import as_printed
    >>> from spectralcls.spectral import SpectralISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = as_printed(SpectralISEClassifier(bandwidth=0.5)).fit(X, y)
    >>> model.n_components_
    3
    """
    if type(model) not in _PRINTED:
        names = ", ".join(sorted(cls.__name__ for cls in _PRINTED))
        raise TypeError(
            f"as_printed takes one of {names}, not {type(model).__name__}. Other classifiers have the printed formulas "
            "as values of their parameters."
        )
    return _PRINTED[type(model)](**model.get_params(deep=False))


class _NystromAsPrinted:
    """Uses as many eigenvectors as classes by default, and eq. 7.2 of the thesis for queries."""

    n_components: Any
    n_jobs: Any

    def _learn(self, data):
        given = self.n_components
        if given == "all":
            self.n_components = len(data.classes)
        super()._learn(data)
        self.n_components = given

    def _query_map(self, spectrum, columns=None, offsets=None):
        columns = np.eye(len(spectrum.values)) if columns is None else columns
        operator = spectrum.operator
        n = len(operator.X) if operator.sample_weight is None else operator.sample_weight.sum()
        A = np.sqrt(n) * spectrum.weighted_vectors().astype(np.float64) @ (columns / np.sqrt(spectrum.values)[:, None])
        points = TrainingPoints.of(TrainingData.points(operator.X), n_jobs=self.n_jobs)
        offsets = np.zeros(columns.shape[1]) if offsets is None else offsets
        return Expansion(Rule("distance"), points, operator.kernel, operator.bandwidth, A, offsets)


class SpectralISEAsPrinted(_NystromAsPrinted, SpectralISEClassifier):
    """See `as_printed`."""


class SpectralLaplacianISEAsPrinted(_NystromAsPrinted, SpectralLaplacianISEClassifier):
    """See `as_printed`."""


class LaplacianSpectralAsPrinted(LaplacianSpectralClassifier):
    """See `as_printed`."""

    def _query_widths(self, widths):
        return np.full_like(widths.by_class, widths.overall)

    def _means(self, points, widths):
        model, inverse_density = super()._means(points, widths)
        return replace(model, columns=points.weights), inverse_density

    def _query_map(self, spectrum, codes, columns, widths):
        model = super()._query_map(spectrum, codes, columns, widths)
        return replace(model, columns=model.columns * np.sqrt(spectrum.operator.degrees.astype(np.float64))[:, None])

    def _map(self, spectrum, codes, widths):
        return super()._map(spectrum, codes, widths)._replace(density_weights=None)


_PRINTED = {
    SpectralISEClassifier: SpectralISEAsPrinted,
    SpectralLaplacianISEClassifier: SpectralLaplacianISEAsPrinted,
    LaplacianSpectralClassifier: LaplacianSpectralAsPrinted,
}
