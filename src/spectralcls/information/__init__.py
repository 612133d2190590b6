"""Entropies, divergences and tests of samples, with Parzen windows.

Sources: Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of Tromsø,
2007, chapters 4 to 6; Jenssen, Erdogmus, Principe and Eltoft, "The Laplacian spectral classifier", ICASSP 2005.

A sample is represented by its Parzen density ``p(x) = sum_i w_i W_{h^2}(x, x_i)``, with weights that sum to one.
With the Gaussian, integrals of products of such densities are exact, because Gaussians convolve to
Gaussians (eq. 4.27)::

    <p, q> = sum_ij w_i v_j W_{h_p^2 + h_q^2}(x_i, y_j)            potential="convolved"

For other kernels the integral is taken as an expectation, ``<p, q> = E_p q`` (eq. 4.38), the mean of q at the points of
p; ``potential="same"`` does so for the Gaussian too. Everything else is algebra on these numbers and on ``log p(x_i)``.

Everything is computed in float64 from logarithms of sums, so that nothing underflows, in O(n) memory and
O(n^2 d) time. Each function takes

- X, and Y if there are two samples: arrays of shape (n_samples, n_features);
- ``bandwidth``: one h > 0 in the units of the features, one of "cv" (default), "silverman" and "scott", or a
  tuple of two numbers, h_p of X and h_q of Y; without the convolution both must be equal. The tests also take "grid"
  (default) and "median";
- ``sample_weight``, or ``sample_weight_X`` and ``sample_weight_Y``: non-negative, default 1; only their
  ratios count;
- ``kernel``: one of ``spectralcls.kernels.KERNELS``, and ``n_jobs`` as in
  :func:`spectralcls.kernels.kernel_sums`;

and raises ValueError for NaN or infinity, an empty sample, weights that are negative or all zero, samples with
different numbers of features, and a bandwidth that is not positive and finite.
"""

from .._tuning import IntrinsicDimension as IntrinsicDimension  # what entropic_dimension returns
from .._tuning import entropic_dimension
from ._divergence import (
    cauchy_schwarz_divergence,
    integrated_squared_error,
    kullback_leibler_divergence,
    laplacian_pdf_divergence,
    renyi_divergence,
)
from ._entropy import cross_information_potential, information_potential, renyi_entropy, shannon_entropy
from ._mutual import mutual_information
from ._permutation import PermutationTest as PermutationTest  # what the tests return
from ._permutation import independence_test, two_sample_test

__all__ = [
    "cauchy_schwarz_divergence",
    "cross_information_potential",
    "entropic_dimension",
    "independence_test",
    "information_potential",
    "integrated_squared_error",
    "kullback_leibler_divergence",
    "laplacian_pdf_divergence",
    "mutual_information",
    "renyi_divergence",
    "renyi_entropy",
    "shannon_entropy",
    "two_sample_test",
]
