"""Permutation tests against statistics computed one permutation at a time, and their moments against all of them."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import kernel_matrix
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

from spectralcls import information
from spectralcls.information import _gram as gram_module
from spectralcls.information._gram import Gram, correlations, inner
from spectralcls.information._permutation import _by_draws
from spectralcls.information._permutation_moments import permutation_moments, tail


def samples(n=30, m=20, d=2, shift=0.0):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift


@pytest.mark.parametrize("kernel, potential", [("gaussian", "convolved"), ("gaussian", "same"), ("laplace", "same")])
@pytest.mark.parametrize("statistic", ["ise", "cauchy_schwarz"])
def test_every_permutation_is_the_divergence_of_its_two_parts(statistic, kernel, potential):
    X, Y = samples()
    divergence = {
        "ise": information.integrated_squared_error,
        "cauchy_schwarz": information.cauchy_schwarz_divergence,
    }[statistic]
    options = dict(bandwidth=0.7, kernel=kernel, potential=potential)
    found = information.two_sample_test(X, Y, statistic=statistic, n_permutations=5, random_state=3, **options)
    assert_allclose(found.statistic, divergence(X, Y, **options), rtol=1e-10)
    rng, both = np.random.RandomState(3), np.concatenate([X, Y])
    for value in found.null_distribution:
        order = rng.permutation(50)
        assert_allclose(value, divergence(both[order[:30]], both[order[30:]], **options), rtol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.8, (0.5, 1.1)])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_independence_is_the_error_of_the_product_of_the_marginal_densities(kernel, bandwidth):
    X, Y = samples(40, 40)
    Y[:, 0] += X[:, 0]
    h_x, h_y = np.broadcast_to(bandwidth, 2) * (np.sqrt(2) if kernel == "gaussian" else 1)
    K, L = (kernel_matrix(A, A, kernel, h, normalize=True) for A, h in ((X, h_x), (Y, h_y)))
    joint, product = np.mean(K * L), K.mean() * L.mean()
    found = information.independence_test(X, Y, bandwidth=bandwidth, kernel=kernel, n_permutations=25)
    assert_allclose(found.statistic, joint - 2 * np.mean(K.mean(axis=1) * L.mean(axis=1)) + product, rtol=1e-6)


def centered(rng, n, r):
    F = rng.exponential(size=(n, r))
    return F - F.mean(axis=0)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 30])
@pytest.mark.parametrize("way", ["factors", "factors of many points", "matrix"])
def test_shifts_of_random_orders_are_permutations_one_at_a_time(n, way, monkeypatch):
    rng = np.random.default_rng(n)
    F, G = centered(rng, n, 3), centered(rng, n, 2)
    if way == "factors of many points":
        monkeypatch.setattr(gram_module, "MOST_PAIRED", 0)
    A, B, orders = F @ F.T, G @ G.T, np.array([rng.permutation(n) for _ in range(3)])
    found = correlations(Gram(matrix=A) if way == "matrix" else Gram(F), Gram(G), orders)
    shifted = [np.roll(order, -s) for order in orders for s in range(n)]
    first = A[np.ix_(orders[0], orders[0])]
    assert_allclose(found, [np.sum(first * B[np.ix_(o, o)]) for o in shifted], atol=1e-12 * n**2)
    assert inner(Gram(F), Gram(G)) == pytest.approx(np.sum(A * B), abs=1e-12) == pytest.approx(found[0], abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("columns", [1, 4])
def test_moments_are_those_of_all_permutations(n, columns):
    """Of factors and of matrices; two samples are the case of one column."""
    rng = np.random.default_rng(n)
    F, G = centered(rng, n, 3), centered(rng, n, columns)
    A, B = F @ F.T, G @ G.T
    values = np.array([np.sum(A * B[np.ix_(p, p)]) for p in permutations(range(n))])
    mean, deviation = values.mean(), values.std()
    expected = [mean, deviation, np.mean((values - mean) ** 3) / deviation**3] if n > 2 else [mean, 0, 0]
    for of_a in (Gram(F), Gram(matrix=A)):
        assert_allclose(permutation_moments(of_a, Gram(G)), expected, rtol=1e-10, atol=1e-13)
        assert_allclose(permutation_moments(Gram(G), of_a), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("columns", [3, 30])
def test_moments_of_factors_are_those_of_their_matrices(columns, monkeypatch):
    """Cubes of pairs are sums of products of few columns, and estimated from some of many points."""
    rng = np.random.default_rng(0)
    F, G = centered(rng, 400, columns), centered(rng, 400, 1)
    exact = permutation_moments(Gram(matrix=F @ F.T), Gram(matrix=G @ G.T))
    assert_allclose(permutation_moments(Gram(F), Gram(G)), exact, rtol=1e-9)
    monkeypatch.setattr(gram_module, "MOST_PAIRED", 200)
    assert_allclose(permutation_moments(Gram(F), Gram(G)), exact, rtol=1e-3)


def test_the_tail_is_exact_for_the_square_of_a_normal_variable():
    from scipy.stats import chi2, norm

    z = np.array([-0.5, 0.0, 1.0, 3.0])
    assert_allclose([tail(v, 8**0.5, 100) for v in z], chi2.sf(1 + z * 2**0.5, 1), rtol=1e-10)
    assert_allclose([tail(v, 0.0, 100) for v in z], norm.sf(z), rtol=1e-12)
    assert_allclose([tail(v, -(8**0.5), 100) for v in -z], chi2.cdf(1 + z * 2**0.5, 1), rtol=1e-10)
    assert tail(40.0, 1.0, np.log(20)) == pytest.approx(1 / 20)  # twenty orders, all the same likely
    assert tail(3.0, 50.0, 100) == pytest.approx(1 / 10)  # Cantelli


@pytest.mark.parametrize("bandwidth", ["median", 0.8])
def test_moments_give_the_p_value_of_many_permutations(bandwidth):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 0.25
    A, B = rng.normal(size=(2, 80, 2))
    B += 0.25 * A
    for test, pair in ((information.two_sample_test, (X, Y)), (information.independence_test, (A, B))):
        drawn = test(*pair, bandwidth=bandwidth, n_permutations=4999)
        found = test(*pair, bandwidth=bandwidth, n_permutations=None)
        assert 0.002 < drawn.p_value < 0.5
        assert found.p_value == pytest.approx(drawn.p_value, rel=0.25)
        assert found.statistic == pytest.approx(drawn.statistic, rel=1e-9)
        assert found.null_distribution is None


def test_p_values_count_what_is_as_large():
    X, Y = samples(shift=1.5)
    assert information.two_sample_test(X, Y, bandwidth=0.5, n_permutations=199).p_value == 1 / 200
    same = information.two_sample_test(X, X, bandwidth=0.5, n_permutations=49)
    assert same.statistic == pytest.approx(0, abs=1e-12) and same.p_value == 1.0
    test = information.two_sample_test(X, Y - 1.5, bandwidth=0.5, n_permutations=99)
    assert test.p_value == (1 + (test.null_distribution >= test.statistic).sum()) / 100


def test_samples_far_apart():
    X, Y = samples(shift=12.0)
    found = information.two_sample_test(X, Y, statistic="cauchy_schwarz", bandwidth=0.7, n_permutations=9)
    assert_allclose(found.statistic, information.cauchy_schwarz_divergence(X, Y, bandwidth=0.7), rtol=1e-12)
    # Out of each other's reach: the divergence is infinite, and a third of the permutations exchange no pair.
    pairs = np.array([[0.0], [0.1]])
    found = information.two_sample_test(pairs, pairs + 100, statistic="cauchy_schwarz", bandwidth=0.1)
    assert found.statistic == np.inf
    assert found.p_value == (1 + np.isinf(found.null_distribution).sum()) / 1000
    assert 0.25 < found.p_value < 0.42


@pytest.mark.parametrize("bandwidth", ["grid", "median"])
@pytest.mark.parametrize("draw", ["normal", "ties", "heavy tails"])
def test_levels_if_nothing_differs(draw, bandwidth):
    """At most 10 % of p-values are at most 0.1, up to 3 standard errors; `bench/bench_information.py` draws more."""
    rng = np.random.default_rng(0)
    drawn = {
        "normal": lambda n: rng.normal(size=(n, 2)),
        "ties": lambda n: rng.integers(0, 3, size=(n, 1)).astype(float),
        "heavy tails": lambda n: rng.standard_cauchy(size=(n, 1)),
    }[draw]
    p, options = [], dict(bandwidth=bandwidth, n_permutations=19)
    for seed in range(150):
        p.append(information.two_sample_test(drawn(8), drawn(5), random_state=seed, **options).p_value)
        p.append(information.independence_test(drawn(9), drawn(9), random_state=seed, **options).p_value)
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)


@pytest.mark.parametrize("bandwidth", ["grid", "median"])
def test_levels_by_moments(bandwidth):
    rng = np.random.default_rng(0)
    p, options = [], dict(bandwidth=bandwidth, n_permutations=None)
    for _ in range(200):
        X, Y, Z = rng.normal(size=(3, 20, 1)).round(1)
        p.append(information.two_sample_test(X, Y[:12], **options).p_value)
        p.append(information.independence_test(X, Z, **options).p_value)
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)


def test_the_grid_sees_what_the_median_is_too_wide_for():
    """Three groups far apart, whose shape changes: the median distance is that between the groups."""
    rng = np.random.default_rng(0)

    def groups(n, ratio):
        return rng.normal(size=(n, 2)) * [1, ratio] + 10 * rng.integers(0, 3, (n, 1))

    X, Y = groups(150, 1.0), groups(150, 2.5)
    found = information.two_sample_test(X, Y)
    assert found.p_value <= 0.01 < information.two_sample_test(X, Y, bandwidth="median").p_value
    assert found.bandwidth < information.two_sample_test(X, Y, bandwidth="median").bandwidth


def test_the_grid_is_six_bandwidths_about_half_the_median_distance(monkeypatch):
    """Its ends are measured: the study stands beside the constant."""
    tried = []
    of_kernel = Gram.of_kernel
    monkeypatch.setattr(
        Gram, "of_kernel", lambda X, kernel, h, n_jobs: tried.append(h) or of_kernel(X, kernel, h, n_jobs)
    )
    X, Y = samples()
    median = information.two_sample_test(X, Y, bandwidth="median")
    assert median.bandwidth == pytest.approx(np.median(pdist(np.concatenate([X, Y]))) / 2)
    information.two_sample_test(X, Y)
    assert_allclose(np.array(tried[1:]) / tried[0], [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2])


DIGITS, LABELS = load_digits(return_X_y=True)


def digits(label):
    """Each pixel four times: 256 features."""
    images = DIGITS[LABELS == label][:60].reshape(-1, 8, 8)
    return np.kron(images, np.ones((2, 2))).reshape(60, -1)


@pytest.mark.parametrize("options", [{}, {"bandwidth": "median"}, {"kernel": "laplace"}, {"n_permutations": None}])
@pytest.mark.parametrize("exponent", [-900, -300, 8, 300, 900])
def test_units_do_not_matter(options, exponent):
    """The constant of a density in 256 features, or in other units, is no float; p-values do not depend on it."""
    A, B = digits(3), digits(8)
    scale = 2.0**exponent
    for test, pair in (
        (information.two_sample_test, (A, B)),
        (information.two_sample_test, (A[:30], A[30:])),
        (information.independence_test, (A, A[:, ::-1] + B)),
    ):
        plain = test(*pair, **options)
        scaled = test(*(scale * part for part in pair), **options)
        assert scaled.p_value == plain.p_value
        assert_allclose(scaled.bandwidth, np.multiply(plain.bandwidth, scale), rtol=1e-12)
    assert information.two_sample_test(A, B, **options).p_value < 0.01


def test_a_bandwidth_in_large_units_is_the_same_bandwidth():
    X, Y = samples(shift=0.6)
    plain = information.two_sample_test(X, Y, bandwidth=0.7)
    for exponent in (-800, 800):
        scale = 2.0**exponent
        scaled = information.two_sample_test(scale * X, scale * Y, bandwidth=scale * 0.7)
        assert scaled.p_value == plain.p_value and scaled.bandwidth == scale * 0.7
    thousandth = information.two_sample_test(X / 1024, Y / 1024, bandwidth=0.7 / 1024)
    assert_allclose(thousandth.statistic, plain.statistic * 1024**2, rtol=1e-12)
    assert_allclose(thousandth.null_distribution, plain.null_distribution * 1024**2, rtol=1e-10)


def test_the_order_of_the_rows_does_not_matter():
    X, Y = samples(70, 60, shift=0.3)
    order = np.random.default_rng(5).permutation(60)
    for statistic in ("ise", "cauchy_schwarz"):
        values = [information.two_sample_test(X, B, statistic=statistic).statistic for B in (Y, Y[order])]
        assert abs(values[0] - values[1]) < 0.3  # standardized by other permutations
    plain = information.two_sample_test(X, Y, n_permutations=None)
    mixed = information.two_sample_test(X, Y[order], n_permutations=None)
    assert mixed.p_value == pytest.approx(plain.p_value, rel=1e-6)


@pytest.mark.parametrize("test", [information.two_sample_test, information.independence_test])
@pytest.mark.parametrize("options", [{}, {"bandwidth": "median"}, {"bandwidth": 1.0}, {"n_permutations": None}])
def test_samples_that_say_nothing(test, options):
    same, one = np.ones((6, 2)), np.array([[3.0, 4.0]])
    for pair in ((same, same), (one, one), (one, 2 * one)):
        found = test(*pair, **options)
        assert found.p_value == 1.0 and np.isfinite(found.statistic)


@pytest.mark.parametrize("options", [{}, {"bandwidth": "median"}, {"bandwidth": 1.0}, {"n_permutations": None}])
def test_a_constant_is_independent_of_everything(options):
    X = samples()[0]
    for pair in ((X, np.ones((30, 1))), (np.ones((30, 1)), X)):
        assert information.independence_test(*pair, **options).p_value == 1.0


def test_two_places():
    places = np.array([[0.0], [1.0]])
    X, Y = np.repeat(places, [18, 2], axis=0), np.repeat(places, [2, 18], axis=0)
    for options in ({}, {"bandwidth": "median"}, {"n_permutations": None}):
        assert information.two_sample_test(X, Y, **options).p_value < 0.01
        assert information.two_sample_test(X, X, **options).p_value == 1.0
        assert information.independence_test(X, X, **options).p_value < 0.1  # 1 / 190 of the orders are as good
        assert information.independence_test(X, Y, **options).p_value > 0.5


@pytest.mark.parametrize("far", [1e3, 1e30, 1e300])
def test_one_far_point_hides_nothing(far):
    X, Y = samples(60, 60, shift=1.0)
    X[0, 0] = far
    assert information.two_sample_test(X, Y).p_value <= 0.002
    assert information.independence_test(X, X + Y * (X < 10)).p_value <= 0.002


def test_single_precision_without_normal_numbers():
    X, Y = samples(40, 40, shift=1.0)
    tiny = [(A * 1e-41).astype(np.float32) for A in (X, Y)]
    assert information.two_sample_test(*tiny).p_value <= 0.002


def test_many_points_by_a_factor(monkeypatch):
    """Beyond the points whose matrix is formed the kernel is that of its factor, at the level of any other."""
    X, Y = samples(150, 150, d=3)
    A, B = samples(200, 200, d=3)
    exact = information.two_sample_test(X, Y, bandwidth=1.0, n_permutations=None)
    exact_mean = information.two_sample_test(X, Y, bandwidth=1.0).null_distribution.mean()
    monkeypatch.setattr(gram_module, "MOST_PAIRED", 100)
    monkeypatch.setattr(gram_module, "SMALL", 100)
    found = information.two_sample_test(X, Y, bandwidth=1.0, n_permutations=None)
    assert found.p_value == pytest.approx(exact.p_value, abs=1e-4)
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-5)
    monkeypatch.setattr(gram_module, "MOST_COLUMNS", 20)
    short = information.two_sample_test(X, Y, bandwidth=1.0)
    assert short.statistic == pytest.approx(exact.statistic, rel=0.1)  # what the factor misses has its mean
    assert_allclose(short.null_distribution.mean(), exact_mean, rtol=0.02)
    assert information.two_sample_test(X, Y + 0.5).p_value <= 0.01
    assert information.independence_test(A, A + B).p_value <= 0.01
    p = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X, Y, A, B = rng.normal(size=(4, 60, 4))
        p += [information.two_sample_test(X, Y, n_permutations=39).p_value]
        p += [information.independence_test(np.vstack([A, X]), np.vstack([B, Y]), n_permutations=39).p_value]
    assert 0.4 < np.mean(p) < 0.6 and np.mean(np.array(p) <= 0.1) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 160)


def test_a_result_is_short_to_read():
    X, Y = samples(shift=1.0)
    assert repr(information.two_sample_test(X, Y, bandwidth=0.5)) == (
        "PermutationTest(statistic=0.065, p_value=0.002, n_permutations=999)"
    )
    assert "n_permutations=all" in repr(information.two_sample_test(X, Y, n_permutations=None))


def test_dependence_without_correlation_is_seen():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=(150, 1))
    assert information.independence_test(np.cos(angle), np.sin(angle), bandwidth=0.3, n_permutations=99).p_value == 0.01


@pytest.mark.parametrize("bandwidth", [1e-9, 1e300])
@pytest.mark.parametrize("n_permutations", [99, None])
def test_a_bandwidth_that_sees_nothing_says_so(bandwidth, n_permutations):
    X, Y = samples(30, 30, shift=3.0)
    for test in (information.two_sample_test, information.independence_test):
        with pytest.warns(UserWarning, match="All permutations have the same statistic: bandwidth=") as record:
            found = test(X, Y, bandwidth=bandwidth, n_permutations=n_permutations)
        assert found.p_value == 1.0 and record[0].filename == __file__


def test_bad_input():
    X, Y = samples()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        information.independence_test(X, Y, bandwidth=1.0)
    with pytest.raises(ValueError, match="positive"):
        information.independence_test(X, X, bandwidth=(1.0, -1.0))
    with pytest.raises(ValueError, match="features"):
        information.two_sample_test(X, Y[:, :1])
    with pytest.raises(ValueError, match="'n_permutations' parameter"):
        information.two_sample_test(X, Y, n_permutations=0)
    with pytest.raises(ValueError, match="'n_permutations' parameter"):
        information.independence_test(X, X, n_permutations=2**31)  # hours, in all the memory there is
    with pytest.raises(ValueError, match="n_permutations=None needs statistic='ise'"):
        information.two_sample_test(X, Y, statistic="cauchy_schwarz", n_permutations=None)
    with pytest.raises(ValueError, match="'bandwidth' parameter"):
        information.two_sample_test(X, Y, bandwidth=(1.0, 2.0))
    with pytest.raises(ValueError, match="for X and for Y"):
        information.independence_test(X, X, bandwidth=[1.0, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        information.two_sample_test(X * np.nan, Y)


@pytest.mark.parametrize("apart, tied", [(0.8e-9, True), (1.2e-9, False)])
def test_statistics_that_differ_by_rounding_are_as_large(apart, tied):
    values = np.array([[1.0, 1 - apart, 0.5, 0.2]])
    tested = SimpleNamespace(bandwidths=[1.0], varies=True)
    assert _by_draws(values, tested, np.zeros(1)).p_value == (0.5 if tied else 0.25)


@pytest.mark.parametrize("varies, counts", [(0.8e-6, False), (1.2e-6, True)])
def test_a_bandwidth_whose_statistic_hardly_varies_does_not_count(varies, counts):
    """By a millionth of itself; here it would say most."""
    signs = np.array([1.0, *[-0.2] * 5, *[0.2] * 5])
    steady, usual = 1 + varies * signs / signs.std(), 1 + 0.1 * np.array([0.5, *[1.0, -1.0] * 5])
    tested = SimpleNamespace(bandwidths=[1.0, 2.0], varies=True)
    assert _by_draws(np.array([steady, usual]), tested, np.zeros(2)).bandwidth == (1.0 if counts else 2.0)


@pytest.mark.parametrize("skewness, bounded", [(2.82, False), (2.84, True)])
def test_a_statistic_more_skewed_than_a_square_has_a_bound(skewness, bounded):
    """Cantelli's, 1 / (1 + z^2), beyond the skewness sqrt(8) of the square of a normal variable."""
    assert (tail(3.0, skewness, 99.0) == pytest.approx(0.1, rel=1e-12)) == bounded
