"""The first three moments of ``T = sum_ij A_ij B_p(i)p(j)`` over all permutations p, and the resulting tail
probability.

T^m is a sum over 2m indices. Coinciding indices form a set partition, and the factors form a graph of m edges between
its blocks. The mean of such a part over all permutations is its sum over distinct indices in A, times the same sum in
B, divided by the number of choices of distinct indices. Sums over distinct indices are sums over all indices of graphs
in which more vertices have been merged (Moebius inversion). If the rows and the diagonal of a symmetric matrix add up
to zero, only the graphs of `PATTERNS` have nonzero sums: each vertex has degree two or more, and no loop is isolated.
The moments are those of Kazi-Aoual, Hitier, Sabatier and Lebreton (Computational Statistics and Data Analysis 20,
1995).
"""

from functools import cache
from math import lgamma

import numpy as np
from scipy.special import gammainc, gammaincc, ndtr

from ._gram import mean_of_permutations

# (vertices, loops) of the graphs with two and with three edges.
PATTERNS = {2: ((1, 2), (2, 0)), 3: ((1, 3), (2, 1), (2, 2), (2, 0), (3, 0))}
MOST_SKEWED = 8**0.5  # the skewness of the square of one normal variable


def permutation_moments(A, B):
    """Mean, standard deviation and skewness of T over all permutations.

    Parameters
    ----------
    A, B : Gram
        Matrices of the same number of points.
    """
    n = len(A)
    mean = mean_of_permutations(A, B)
    second, third = (_moment(n, m, a, b) for m, a, b in zip((2, 3), A.graph_sums(), B.graph_sums(), strict=True))
    if second <= 1e-18 * mean**2:  # zero up to rounding
        return mean, 0.0, 0.0
    return mean, float(np.sqrt(second)), float(third / second**1.5)


def _moment(n, m, a, b):
    """E T^m from the sums over graphs with m edges for two matrices of trace zero."""
    total = 0.0
    for blocks, coefficients in enumerate(_distinct(m), start=1):
        if blocks <= n and len(coefficients):
            total += (coefficients @ a) @ (coefficients @ b) / np.prod(n - np.arange(blocks, dtype=float))
    return total


@cache
def _distinct(m):
    """Sums over distinct indices for each number of blocks: one row for each partition, in terms of PATTERNS[m]."""
    partitions = list(_set_partitions(2 * m))
    merged = np.array([[_refines(p, q) for q in partitions] for p in partitions], dtype=float)
    sums = np.array([[float(_pattern(p) == name) for name in PATTERNS[m]] for p in partitions])
    distinct = np.linalg.solve(merged, sums).round()  # the inverse of a zeta matrix holds integers
    blocks = np.array([max(p) + 1 for p in partitions])
    return [distinct[blocks == k] for k in range(1, 2 * m + 1)]


def _set_partitions(size):
    """All partitions of `size` elements, each as a tuple with the block of every element."""
    if size == 0:
        yield ()
        return
    for part in _set_partitions(size - 1):
        for block in range(max(part, default=-1) + 2):
            yield (*part, block)


def _refines(p, q):
    """Whether each block of p lies in a block of q."""
    return len(set(zip(p, q, strict=True))) == max(p) + 1


def _pattern(partition):
    """(vertices, loops) of the graph, or None if its sum vanishes."""
    edges = list(zip(partition[::2], partition[1::2], strict=True))
    loops = [i for i, j in edges if i == j]
    for vertex in range(max(partition) + 1):
        met = partition.count(vertex)
        if met == 1 or (met == 2 and vertex in loops):
            return None
    return max(partition) + 1, len(loops)


def tail(z, skewness, log_orders):
    """Fraction of the permutations whose standardized T is at least z, by a Pearson III distribution.

    At least 1 / exp(log_orders), the inverse of the number of distinct values of T. Sums of squares of normal variables
    are less skewed than `MOST_SKEWED`. A more skewed T nearly always takes its smallest value, and moments do not
    describe its tail; Cantelli's inequality then gives a bound.
    """
    if skewness > MOST_SKEWED:
        p = 1 / (1 + max(z, 0.0) ** 2)
    elif abs(skewness) < 1e-6:
        p = ndtr(-z)
    else:
        shape = 4 / skewness**2
        p = (gammaincc if skewness > 0 else gammainc)(shape, max(shape + 2 * z / skewness, 0.0))
    return float(min(max(p, np.exp(-log_orders)), 1.0))


def log_choices(*sizes):
    """Logarithm of the multinomial coefficient: the number of ways to divide a set into parts of these sizes."""
    return lgamma(sum(sizes) + 1) - sum(lgamma(size + 1) for size in sizes)
