"""Literal readings of the papers that are never the better ones, as subclasses of the package's estimators."""

from dataclasses import replace

import numpy as np

from spectralcls._expansion import Expansion, Rule, TrainingPoints
from spectralcls._utils.training_data import TrainingData
from spectralcls.spectral import LaplacianSpectralClassifier, SpectralISEClassifier, SpectralLaplacianISEClassifier


class _AsPrinted:
    """By default as many eigenvectors as classes. Queries are mapped as eq. 7.2 of the thesis prints it: with a factor
    sqrt(n), and by the plain kernel."""

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


class SpectralISEAsPrinted(_AsPrinted, SpectralISEClassifier):
    pass


class SpectralLaplacianISEAsPrinted(_AsPrinted, SpectralLaplacianISEClassifier):
    pass


class WeightedKernelSpectral(LaplacianSpectralClassifier):
    """A query and a point are joined by ``W(sigma^2) / sqrt(f(y) f_i)``."""

    def _query_widths(self, widths):
        return np.full_like(widths.by_class, widths.overall)


class PlainKernelSpectral(WeightedKernelSpectral):
    """A query and a point are joined by ``W(sigma^2)``, the paper's words."""

    def _means(self, points, widths):
        model, inverse_density = super()._means(points, widths)
        return replace(model, columns=points.weights), inverse_density

    def _query_map(self, spectrum, codes, columns, widths):
        model = super()._query_map(spectrum, codes, columns, widths)
        return replace(model, columns=model.columns * np.sqrt(spectrum.operator.degrees.astype(np.float64))[:, None])

    def _map(self, spectrum, codes, widths):
        return super()._map(spectrum, codes, widths)._replace(density_weights=None)


TEST_KERNELS = {
    "convolved": LaplacianSpectralClassifier,
    "plain": PlainKernelSpectral,
    "weighted": WeightedKernelSpectral,
}
