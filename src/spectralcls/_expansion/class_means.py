"""Expansions of class means in the kernel's feature space, without eigenvectors."""

import numpy as np

from .._utils.blocks import kept
from .expansion import Expansion


def class_means(
    rule, points, kernel, bandwidth, log_priors=None, *, density_bandwidth=None, query_bandwidth=None, before=None
):
    """The expansion of a rule that compares a query with (weighted) class means.

    Parameters
    ----------
    rule : Rule
    points : TrainingPoints
    kernel : str
    bandwidth : float or ndarray (C,)
        One bandwidth, or one per class.
    log_priors : ndarray (C,), optional
        Logarithms of the priors of the density rule; by default, the priors are the classes' shares of the weights.
    density_bandwidth : float, optional
        Bandwidth of the density f that weights the points, if it is not `bandwidth`.
    query_bandwidth : ndarray (C,), optional
        Bandwidth between a query and the points of each class, if it is not `bandwidth`.
    before : Expansion, optional
        The expansion of the first of these points, with the same rule, kernel and bandwidth. Then only pairs with
        an added point are summed, unless points are weighted by 1/f or have filled values, or a tolerance is set.

    Returns
    -------
    expansion : Expansion
    inverse_density : ndarray (n,) or None
        1/f at the training points, if the rule weights them by a power of f.

    Notes
    -----
    1/f takes a pass over all pairs, and squared norms take a pass over the pairs within classes. Of the classes'
    normalizing constants, only the ratios are used, as logarithms, so that no power h^-d under- or overflows.
    """
    class_weight, d = points.class_weight, points.X.shape[1]
    exists = class_weight > 0  # a fold may leave out a class
    sample_weights = 1.0 if points.weights is None else points.weights
    widths, log_volume = log_volumes(bandwidth, len(class_weight), d)
    columns = in_norm = points.weights
    inverse_density = log_share = None
    log_unit = 0.0  # log of the scale of each class's density, which keeps its weights in range
    if rule.weighting is not None:
        density_bandwidth = bandwidth if density_bandwidth is None else density_bandwidth
        _, log_share = log_volumes(density_bandwidth, len(class_weight), d)
        log_unit, log_share = log_share, log_share - np.log(class_weight.sum())
        log_density = points.log_density(kernel, density_bandwidth, log_share)
        with np.errstate(over="ignore"):
            inverse_density = np.exp(-log_density)
        if log_unit.any():
            log_density = log_density - points.broadcast_by_class(log_unit)
        in_norm = sample_weights * np.exp(-log_density / 2)
        columns = sample_weights * rule.point_weights(log_density)
        columns, in_norm, inverse_density = kept(points.X, columns, in_norm, inverse_density)

    log_potentials = sums = None
    if rule.needs_potentials:
        squared = [rule.potential_kernel(kernel, h, d) for h in widths]
        squared_widths = [h for h, _ in squared]
        whole = before is None or rule.weighting is not None or points.tolerance is not None
        if whole or points.given is not None:  # new points change the values filled in for old ones
            sums = points.potentials(in_norm, kernel, squared_widths)
        else:
            sums = points.grown_potentials(before.points, before.potential_sums, kernel, squared_widths)
        with np.errstate(divide="ignore"):  # an absent class has no potential
            log_potentials = np.log(sums) - 2 * np.log(np.where(exists, class_weight, 1.0))
        log_potentials += np.array([log_factor for _, log_factor in squared]) + log_volume - log_unit
    log_scale, offsets = rule.coefficients(class_weight, log_potentials, log_priors)
    if query_bandwidth is not None:
        bandwidth, (_, log_volume) = query_bandwidth, log_volumes(query_bandwidth, len(class_weight), d)
    log_scale += log_volume - rule.exponent * log_unit

    if points.tolerance is not None:
        columns, log_scale = points.scaled_by_class(columns, log_scale)
    if rule.needs_query_density:
        columns = points.with_sample_weights(columns)
    expansion = Expansion(rule, points, kernel, bandwidth, columns, offsets, log_scale, True, log_share, sums)
    return expansion, inverse_density


def log_volumes(bandwidth, n_classes, d):
    """Bandwidth of each class, (C,), and the log of its kernel's normalizing constant divided by the largest one."""
    widths = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), n_classes)
    return widths, -d * (np.log(widths) - np.log(widths.min()))
