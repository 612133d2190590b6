import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import information as slow
from scipy import integrate

from spectralcls import ParzenDensity
from spectralcls import information as info
from spectralcls.information._bandwidth_words import RULES
from spectralcls.information._samples import Sample, mean_of
from spectralcls.kernels import KERNELS, kernel_sums

ROOT2 = np.sqrt(2)
TWO_SAMPLE = [
    info.integrated_squared_error,
    info.cauchy_schwarz_divergence,
    info.kullback_leibler_divergence,
    info.laplacian_pdf_divergence,
    info.renyi_divergence,
]


def samples(n=(23, 17), d=3, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n[0], d)), shift + 1.3 * rng.normal(size=(n[1], d))
    return X, Y, rng.uniform(0.2, 3, n[0]), rng.uniform(0.2, 3, n[1])


def product_bandwidths(kernel, h, potential="convolved"):
    return (ROOT2 * h if kernel == "gaussian" and potential == "convolved" else h,) * 3


@pytest.mark.parametrize("potential", ["convolved", "same"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_potentials_and_divergences_equal_double_loops(kernel, potential):
    X, Y, w, v = samples()
    h = 0.8 if kernel == "gaussian" else 2.5
    weights = {"sample_weight_X": w, "sample_weight_Y": v}
    common = {"kernel": kernel, "bandwidth": h, "potential": potential}
    hs = product_bandwidths(kernel, h, potential)
    pp, pq, qq = slow.gram(X, Y, w, v, kernel, *hs)
    assert info.information_potential(X, sample_weight=w, **common) == pytest.approx(pp, rel=1e-12)
    assert info.cross_information_potential(X, Y, **weights, **common) == pytest.approx(pq, rel=1e-12)
    ise = info.integrated_squared_error(X, Y, **weights, **common)
    assert ise == pytest.approx(pp - 2 * pq + qq, abs=1e-13 * max(pp, qq))
    expected = slow.cauchy_schwarz(X, Y, w, v, kernel, *hs)
    assert info.cauchy_schwarz_divergence(X, Y, **weights, **common) == pytest.approx(expected, rel=1e-12)
    expected = slow.laplacian_pdf(X, Y, w, v, kernel, h, *hs)
    assert info.laplacian_pdf_divergence(X, Y, **weights, **common) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_entropies_equal_double_loops(kernel, leave_one_out):
    X, _, w, _ = samples()
    h = 0.8 if kernel == "gaussian" else 6.0
    p = slow.densities(X, X, w, kernel, h, leave_one_out)
    share = w / w.sum()
    common = {"bandwidth": h, "sample_weight": w, "kernel": kernel, "leave_one_out": leave_one_out}
    assert info.shannon_entropy(X, **common) == pytest.approx(-share @ np.log(p), rel=1e-12)
    for alpha in (0.5, 2, 3, 7.5):
        expected = np.log(share @ p ** (alpha - 1)) / (1 - alpha)
        assert info.renyi_entropy(X, alpha=alpha, potential="same", **common) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kullback_leibler_equals_double_loops(kernel):
    X, Y, w, v = samples()
    h = (0.8, 1.1) if kernel == "gaussian" else (7.0, 8.0)
    q = slow.densities(X, Y, v, kernel, h[1])
    for leave_one_out in (False, True):
        p = slow.densities(X, X, w, kernel, h[0], leave_one_out)
        value = info.kullback_leibler_divergence(
            X,
            Y,
            bandwidth=h,
            sample_weight_X=w,
            sample_weight_Y=v,
            kernel=kernel,
            leave_one_out=leave_one_out,
        )
        assert value == pytest.approx(w / w.sum() @ np.log(p / q), rel=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_renyi_divergence_equals_double_loops(kernel):
    X, Y, w, v = samples()
    h, share = (0.8, 1.1), w / w.sum()
    options = {"bandwidth": h, "sample_weight_X": w, "sample_weight_Y": v, "kernel": kernel}
    q = slow.densities(X, Y, v, kernel, h[1])
    for leave_one_out in (False, True):
        p = slow.densities(X, X, w, kernel, h[0], leave_one_out)
        for alpha in (0.5, 2, 3.5):
            expected = np.log(share @ (p / q) ** (alpha - 1)) / (alpha - 1)
            found = info.renyi_divergence(X, Y, alpha=alpha, leave_one_out=leave_one_out, **options)
            assert found == pytest.approx(expected, rel=1e-11)
    limit = info.kullback_leibler_divergence(X, Y, **options)
    assert info.renyi_divergence(X, Y, alpha=1, **options) == limit
    assert info.renyi_divergence(X, Y, alpha=1 + 1e-7, **options) == pytest.approx(limit, rel=1e-5)
    orders = [info.renyi_divergence(X, Y, alpha=alpha, **options) for alpha in (0.3, 0.9, 1, 1.5, 4)]
    assert np.all(np.diff(orders) > 0)


def test_renyi_divergence_of_normal_densities():
    """alpha times squared distance over twice the variance; smoothed to variance 1 + h^2."""
    rng, h = np.random.default_rng(4), 0.3
    X, Y = rng.normal(size=(4000, 2)), [1.0, 0.0] + rng.normal(size=(4000, 2))
    for alpha in (0.5, 1):
        found = info.renyi_divergence(X, Y, alpha=alpha, bandwidth=h)
        assert found == pytest.approx(alpha / (2 * (1 + h**2)), rel=0.2)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_mutual_information_equals_double_loops(leave_one_out):
    X, _, w, _ = samples()
    X, Y, share = X[:, :2], X[:, 2:] + X[:, :1], w / w.sum()
    joint = slow.densities(
        np.hstack([X / 0.7, Y / 1.2]), np.hstack([X / 0.7, Y / 1.2]), w, "gaussian", 1, leave_one_out
    )
    f, g = (slow.densities(A / h, A / h, w, "gaussian", 1, leave_one_out) for A, h in ((X, 0.7), (Y, 1.2)))
    options = {"bandwidth": (0.7, 1.2), "sample_weight": w, "leave_one_out": leave_one_out}
    expected = share @ np.log(joint / (f * g))
    assert info.mutual_information(X, Y, **options) == pytest.approx(expected, rel=1e-10)
    expected = np.log(share @ (joint / (f * g)))
    assert info.mutual_information(X, Y, alpha=2, **options) == pytest.approx(expected, rel=1e-10)


def test_mutual_information_of_a_normal_density():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(2, 1500, 1))
    for correlation in (0.0, 0.6, 0.9):
        Y = correlation * X + np.sqrt(1 - correlation**2) * Z
        exact = -np.log(1 - correlation**2) / 2
        assert info.mutual_information(X, Y) == pytest.approx(exact, abs=0.03 + 0.1 * exact)


def test_mutual_information_is_symmetric_and_knows_no_units():
    X, _, w, _ = samples(n=(60, 1))
    X, Y = X[:, :2], X[:, 2:] + X[:, :1]
    w = w[:60]
    for options in ({}, {"bandwidth": "silverman"}, {"sample_weight": w, "alpha": 2}):
        value = info.mutual_information(X, Y, **options)
        assert info.mutual_information(Y, X, **options) == pytest.approx(value, rel=1e-10)
        for scale in (2.0**-400, 2.0**400):
            assert info.mutual_information(scale * X, Y / scale, **options) == pytest.approx(value, rel=1e-10)
    constant = np.ones((60, 1))
    assert info.mutual_information(X, constant) == pytest.approx(0, abs=1e-13)
    only = np.where(np.arange(60) < 40, 1.0, 0.0)
    options = {"bandwidth": "silverman"}
    found = info.mutual_information(X, Y, sample_weight=only, **options)
    assert found == pytest.approx(info.mutual_information(X[:40], Y[:40], **options), rel=1e-10)


def test_two_bandwidths_convolve_to_the_root_of_the_sum_of_squares():
    X, Y, w, v = samples()
    hs = (0.5 * ROOT2, np.hypot(0.5, 0.9), 0.9 * ROOT2)
    common = {"bandwidth": (0.5, 0.9), "sample_weight_X": w, "sample_weight_Y": v}
    ise = slow.integrated_squared_error(X, Y, w, v, "gaussian", *hs)
    assert info.integrated_squared_error(X, Y, **common) == pytest.approx(ise, rel=1e-11)
    cs = slow.cauchy_schwarz(X, Y, w, v, "gaussian", *hs)
    assert info.cauchy_schwarz_divergence(X, Y, **common) == pytest.approx(cs, rel=1e-12)
    laplacian = slow.laplacian_pdf(X, Y, w, v, "gaussian", 0.7, *hs)
    value = info.laplacian_pdf_divergence(X, Y, overall_bandwidth=0.7, **common)
    assert value == pytest.approx(laplacian, rel=1e-12)


def test_convolved_potentials_are_the_integrals_of_the_densities():
    X, Y, w, v = samples(n=(6, 5), d=1)
    h_p, h_q = 0.4, 0.7

    def p(x):
        return slow.densities([[x]], X, w, "gaussian", h_p)[0]

    def q(x):
        return slow.densities([[x]], Y, v, "gaussian", h_q)[0]

    squared = integrate.quad(lambda x: (p(x) - q(x)) ** 2, -12, 12, limit=200)[0]
    value = info.integrated_squared_error(X, Y, bandwidth=(h_p, h_q), sample_weight_X=w, sample_weight_Y=v)
    assert value == pytest.approx(squared, rel=1e-7)
    entropy = -np.log(integrate.quad(lambda x: p(x) ** 2, -12, 12, limit=200)[0])
    assert info.renyi_entropy(X, bandwidth=h_p, sample_weight=w) == pytest.approx(entropy, rel=1e-7)


def test_one_and_two_points_in_closed_form():
    h, d = 0.3, 4
    X = np.zeros((1, d))
    assert info.information_potential(X, bandwidth=h) == pytest.approx((4 * np.pi * h**2) ** (-d / 2), rel=1e-13)
    assert info.shannon_entropy(X, bandwidth=h) == pytest.approx(d / 2 * np.log(2 * np.pi * h**2), rel=1e-13)
    Y = X.copy()
    Y[0, 0] = distance = 0.9
    # Two Gaussians of the same width: the cosine of their angle is exp(-distance^2 / (4 h^2)).
    expected = distance**2 / (4 * h**2)
    assert info.cauchy_schwarz_divergence(X, Y, bandwidth=h) == pytest.approx(expected, rel=1e-12)
    # f is the same at both, so the weights cancel.
    assert info.laplacian_pdf_divergence(X, Y, bandwidth=h) == pytest.approx(expected, rel=1e-12)
    expected = distance**2 / (2 * h**2)
    assert info.kullback_leibler_divergence(X, Y, bandwidth=h) == pytest.approx(expected, rel=1e-12)


def test_estimates_approach_the_entropies_of_a_normal_density():
    """The estimate of a smoothed density, so compared with the normal of variance s^2 + h^2."""
    s, h, d = 1.5, 0.4, 2
    X = s * np.random.default_rng(3).normal(size=(6000, d))
    variance = s**2 + h**2
    renyi = d / 2 * np.log(4 * np.pi * variance)
    assert info.renyi_entropy(X, bandwidth=h) == pytest.approx(renyi, abs=0.03)
    cross_entropy = d / 2 * np.log(2 * np.pi * variance) + d / 2 * s**2 / variance
    assert info.shannon_entropy(X, bandwidth=h, leave_one_out=True) == pytest.approx(cross_entropy, abs=0.05)


def test_divergences_approach_those_of_two_normal_densities():
    """Two unit normals a distance 2 apart, smoothed to variance 1 + h^2."""
    rng = np.random.default_rng(4)
    h, shift = 0.3, np.array([2.0, 0.0])
    X, Y = rng.normal(size=(5000, 2)), shift + rng.normal(size=(5000, 2))
    variance = 1 + h**2
    cs = shift @ shift / (4 * variance)
    assert info.cauchy_schwarz_divergence(X, Y, bandwidth=h) == pytest.approx(cs, rel=0.05)
    ise = 2 / (4 * np.pi * variance) * (1 - np.exp(-cs))
    assert info.integrated_squared_error(X, Y, bandwidth=h) == pytest.approx(ise, rel=0.05)


def test_renyi_entropy_is_shannons_in_the_limit_and_decreases_with_its_order():
    X, _, w, _ = samples()
    common = {"bandwidth": 0.7, "sample_weight": w, "potential": "same"}
    shannon = info.shannon_entropy(X, bandwidth=0.7, sample_weight=w)
    assert info.renyi_entropy(X, alpha=1, **common) == pytest.approx(shannon, rel=1e-14)
    assert info.renyi_entropy(X, alpha=1 + 1e-6, **common) == pytest.approx(shannon, abs=1e-5)
    entropies = [info.renyi_entropy(X, alpha=alpha, **common) for alpha in (0.3, 0.9, 1, 1.5, 2, 4, 20)]
    assert np.all(np.diff(entropies) < 0)
    potential = info.information_potential(X, bandwidth=0.7, sample_weight=w, potential="same")
    assert info.renyi_entropy(X, alpha=2, **common) == pytest.approx(-np.log(potential), rel=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("function", TWO_SAMPLE)
def test_equal_samples_do_not_diverge(function, kernel):
    X = samples()[0]
    assert function(X, X.copy(), bandwidth=0.9, kernel=kernel) == 0
    order = np.random.default_rng(1).permutation(len(X))
    assert function(X, X[order], bandwidth=0.9, kernel=kernel) == pytest.approx(0, abs=1e-13)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 6),
    n=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    h=st.floats(0.05, 20),
)
def test_divergences_are_not_negative_and_cs_and_ise_are_symmetric(seed, d, n, h):
    X, Y, w, v = samples(n, d, seed)
    for function in (
        info.integrated_squared_error,
        info.cauchy_schwarz_divergence,
        info.laplacian_pdf_divergence,
    ):
        there = function(X, Y, bandwidth=h, sample_weight_X=w, sample_weight_Y=v)
        back = function(Y, X, bandwidth=h, sample_weight_X=v, sample_weight_Y=w)
        assert there >= 0
        assert there == pytest.approx(back, rel=1e-9, abs=1e-12)
    # Not only by clipping: log <p, p> + log <q, q> - 2 log <p, q> from its parts.
    logs = [info.cross_information_potential(*pair, bandwidth=h, log=True) for pair in ((X, X), (X, Y), (Y, Y))]
    assert (logs[0] + logs[2]) / 2 - logs[1] >= -1e-13 * np.abs(logs).max()


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_error_and_the_potential_of_both_are_of_the_potentials(kernel):
    X, Y, _, _ = samples()
    common = {"bandwidth": 2.0, "kernel": kernel}
    pp, qq = info.information_potential(X, **common), info.information_potential(Y, **common)
    pq, n, m = info.cross_information_potential(X, Y, **common), len(X), len(Y)
    assert info.integrated_squared_error(X, Y, **common) == pytest.approx(pp + qq - 2 * pq, abs=1e-14)
    both = (n + m) ** 2 * info.information_potential(np.concatenate([X, Y]), **common)
    assert both == pytest.approx(n**2 * pp + 2 * n * m * pq + m**2 * qq, rel=1e-13)


def test_a_point_that_outweighs_all_others_is_left_out():
    X = samples()[0]
    weights = np.where(np.arange(len(X)) == 3, 1.0, 1e-20)
    others = np.delete(X, 3, axis=0)
    density = kernel_sums(X[3:4], others, bandwidth=0.8, normalize=True)[0] / len(others)
    found = info.shannon_entropy(X, bandwidth=0.8, sample_weight=weights, leave_one_out=True)
    assert found == pytest.approx(-np.log(density), rel=1e-12)


@pytest.mark.parametrize("function", TWO_SAMPLE)
def test_weights_count_repetitions_and_zero_leaves_out(function):
    X, Y, _, _ = samples()
    times = np.random.default_rng(5).integers(0, 4, len(X))
    weighted = function(X, Y, bandwidth=0.8, sample_weight_X=times)
    assert weighted == pytest.approx(function(np.repeat(X, times, axis=0), Y, bandwidth=0.8), rel=1e-10)
    if function is not info.laplacian_pdf_divergence:  # there the weights set the priors in f
        assert function(X, Y, bandwidth=0.8, sample_weight_X=7.0 * times) == pytest.approx(weighted, rel=1e-10)


@pytest.mark.parametrize("function", TWO_SAMPLE)
def test_moving_turning_and_scaling_both_samples(function):
    X, Y, _, _ = samples(d=3)
    rng = np.random.default_rng(6)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    value = function(X, Y, bandwidth=0.8)
    assert function(X @ turn, Y @ turn, bandwidth=0.8) == pytest.approx(value, rel=1e-11)
    # A shift by 2^20 is exact but for the rounding of the coordinates themselves.
    X, Y = np.round(X * 2**20) / 2**20, np.round(Y * 2**20) / 2**20
    value = function(X, Y, bandwidth=0.8)
    assert function(X + 2.0**20, Y + 2.0**20, bandwidth=0.8) == pytest.approx(value, rel=1e-11)
    for scale in (1e-8, 1e8):
        scaled = function(scale * X, scale * Y, bandwidth=scale * 0.8)
        density = scale**-3 if function is info.integrated_squared_error else 1
        assert scaled == pytest.approx(density * value, rel=1e-10)


def test_entropy_of_scaled_data_grows_by_the_logarithm():
    X = samples()[0]
    for entropy in (info.renyi_entropy, info.shannon_entropy):
        value = entropy(X, bandwidth=0.5)
        assert entropy(1e6 * X, bandwidth=0.5e6) == pytest.approx(value + 3 * np.log(1e6), rel=1e-12)


def test_nothing_underflows():
    """Samples 1e4 bandwidths apart, and dimensions in which the potentials themselves are no floats."""
    X, Y, _, _ = samples(d=2)
    Y = Y + 1e4
    mp = mpmath.mp
    with mpmath.workdps(50):
        logs = [
            mp.log(
                mp.fsum(
                    mp.exp(-mp.fsum((mp.mpf(a) - mp.mpf(b)) ** 2 for a, b in zip(x, y, strict=True)) / 4)
                    for x in A
                    for y in B
                )
                / (len(A) * len(B))
            )
            for A, B in ((X, X), (X, Y), (Y, Y))
        ]
        expected = float((logs[0] + logs[2]) / 2 - logs[1])
    assert info.cauchy_schwarz_divergence(X, Y, bandwidth=1.0) == pytest.approx(expected, rel=1e-12)
    ise = info.integrated_squared_error(X, Y, bandwidth=1.0)
    parts = info.information_potential(X, bandwidth=1.0) + info.information_potential(Y, bandwidth=1.0)
    assert ise == pytest.approx(parts, rel=1e-13)
    assert np.isfinite(info.kullback_leibler_divergence(X, Y, bandwidth=1.0))

    wide = np.random.default_rng(7).normal(size=(10, 2000))
    assert info.information_potential(wide, bandwidth=100.0) == 0  # underflows as a number
    log_v = info.information_potential(wide, bandwidth=100.0, log=True)
    assert info.renyi_entropy(wide, bandwidth=100.0) == pytest.approx(-log_v)
    self_terms = -1000 * np.log(4 * np.pi * 1e4)
    assert self_terms - np.log(10) < log_v < self_terms
    log_ise = info.integrated_squared_error(wide[:5], wide[5:], bandwidth=100.0, log=True)
    assert log_ise < np.log(2) + self_terms


@pytest.mark.parametrize("scale, number", [(1e-300, np.inf), (1e300, 0.0)])
def test_numbers_that_no_float_holds_are_zero_or_infinite(scale, number):
    X, Y, _, _ = samples()
    X, Y = scale * X, scale * Y
    assert info.information_potential(X) == info.cross_information_potential(X, Y) == number
    assert info.integrated_squared_error(X, Y) == number
    assert np.isfinite(info.information_potential(X, log=True)) and np.isfinite(info.renyi_entropy(X))
    assert np.isfinite(info.integrated_squared_error(X, Y, log=True))


def test_compact_kernels_out_of_reach():
    X, Y, _, _ = samples()
    Y = Y + 100
    common = {"bandwidth": 3.0, "kernel": "epanechnikov"}
    assert info.cross_information_potential(X, Y, **common) == 0
    assert info.cross_information_potential(X, Y, log=True, **common) == -np.inf
    assert info.cauchy_schwarz_divergence(X, Y, **common) == np.inf
    assert info.kullback_leibler_divergence(X, Y, **common) == np.inf
    lone = np.array([[0.0], [0.1], [50.0]])
    assert info.shannon_entropy(lone, bandwidth=1.0, kernel="uniform", leave_one_out=True) == np.inf
    assert np.isfinite(info.shannon_entropy(lone, bandwidth=1.0, kernel="uniform"))


def test_float32_integers_and_any_memory_layout_give_float64_accuracy():
    X = samples()[0].astype(np.float32)
    value = info.information_potential(X.astype(np.float64), bandwidth=0.5)
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for same in (X, frozen, strided, X.tolist()):
        assert info.information_potential(same, bandwidth=0.5) == value
    assert info.shannon_entropy(np.arange(6).reshape(3, 2), bandwidth=1) == pytest.approx(
        info.shannon_entropy(np.arange(6.0).reshape(3, 2), bandwidth=1.0)
    )


def test_the_same_bits_for_any_number_of_threads():
    X, Y, w, v = samples(n=(700, 300))
    values = {
        info.laplacian_pdf_divergence(X, Y, bandwidth=0.5, sample_weight_X=w, sample_weight_Y=v, n_jobs=n_jobs)
        for n_jobs in (1, 2, 5)
    }
    assert len(values) == 1


ONE_SAMPLE = [info.information_potential, info.renyi_entropy, info.shannon_entropy]


@pytest.mark.parametrize("function", [*ONE_SAMPLE, info.cross_information_potential, *TWO_SAMPLE])
def test_a_word_is_a_bandwidth_of_all_points_together(function):
    X, Y, w, v = samples()
    given, points = ((X,), X) if function in ONE_SAMPLE else ((X, Y), np.concatenate([X, Y]))
    for word in RULES:
        h = ParzenDensity(word, scale=None).fit(points).bandwidth_
        assert function(*given, bandwidth=word) == function(*given, bandwidth=h)
    assert function(*given) == function(*given, bandwidth="cv")
    scaled = [2.0**400 * part for part in given]
    if function in (info.kullback_leibler_divergence, info.cauchy_schwarz_divergence, info.laplacian_pdf_divergence):
        assert function(*scaled) == pytest.approx(function(*given), rel=1e-12)
    if function in ONE_SAMPLE:  # only the ratios of weights count
        values = [function(X, bandwidth="silverman", sample_weight=c * w) for c in (1e-250, 1.0, 1e250)]
        assert values[0] == pytest.approx(values[1], rel=1e-12) == pytest.approx(values[2], rel=1e-12)
        tripled = function(X, bandwidth="scott", sample_weight=np.full(len(X), 3))
        assert tripled == pytest.approx(function(X, bandwidth="scott"), rel=1e-12)


@pytest.mark.parametrize("word", RULES)
@pytest.mark.parametrize("far", [1e4, 1e300])
def test_one_far_point_changes_no_entropy_much(word, far):
    """It adds its share, -log(1 / n) and its own window, to Shannon's."""
    X = np.random.default_rng(0).normal(size=(500, 1))
    with_far = np.append(X, [[far]], axis=0)
    for entropy, change in ((info.shannon_entropy, 0.05), (info.renyi_entropy, 0.05)):
        assert entropy(with_far, bandwidth=word) == pytest.approx(entropy(X, bandwidth=word), abs=change)
    Y = X + 1
    plain = info.cauchy_schwarz_divergence(X, Y, bandwidth=word)
    assert info.cauchy_schwarz_divergence(with_far, Y, bandwidth=word) == pytest.approx(plain, abs=0.01)


def test_a_single_sample_that_decides_a_mean_is_named():
    """Where a sample is left out of its own density, the logarithm of that of one far point may be any number."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    far = np.vstack([X, [[1e6, 1e6]]])
    calls = (
        lambda X: info.shannon_entropy(X, leave_one_out=True),
        lambda X: info.renyi_entropy(X, alpha=1, leave_one_out=True),
        lambda X: info.mutual_information(X[:, :1], X[:, 1:]),
        lambda X: info.kullback_leibler_divergence(X, X[:50] + 0.1),
    )
    for call in calls:
        with pytest.warns(UserWarning, match=r"sample \[1000000. 1000000.\] is far from all others") as record:
            call(far)
        assert record[0].filename == __file__
        call(X)  # says nothing
    wide = np.vstack([np.random.default_rng(0).normal(size=(50, 5)), np.full((1, 5), 1e6)])
    with pytest.warns(UserWarning, match="its first features"):
        info.shannon_entropy(wide, leave_one_out=True)
    for draw in ("normal", "exponential", "uniform"):
        for seed in range(5):
            X = getattr(np.random.default_rng(seed), draw)(size=(30, 1))
            info.shannon_entropy(X, leave_one_out=True)


def test_the_words_are_those_of_densities():
    words = {word for word in ParzenDensity._parameter_constraints["bandwidth"][1].options}
    assert words == set(RULES)


GOOD = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: info.information_potential(GOOD, bandwidth=0.0), "bandwidth"),
        (lambda: info.information_potential(GOOD, bandwidth=np.nan), "bandwidth"),
        (lambda: info.information_potential(GOOD, bandwidth="wide"), "bandwidth"),
        (lambda: info.information_potential(GOOD, bandwidth=1.0, kernel="box"), "kernel"),
        (lambda: info.information_potential(GOOD * np.nan, bandwidth=1.0), "NaN"),
        (lambda: info.information_potential(np.empty((0, 2)), bandwidth=1.0), "0 sample"),
        (lambda: info.information_potential(GOOD[0], bandwidth=1.0), "2D"),
        (lambda: info.information_potential(GOOD, bandwidth=1.0, sample_weight=[1, -1, 1]), "[Nn]egative"),
        (lambda: info.information_potential(GOOD, bandwidth=1.0, sample_weight=[0, 0, 0]), "zero"),
        (lambda: info.information_potential(GOOD, bandwidth=1.0, sample_weight=[1, 1]), "sample_weight"),
        (lambda: info.renyi_entropy(GOOD, bandwidth=1.0, alpha=0), "alpha"),
        (lambda: info.renyi_entropy(GOOD, bandwidth=1.0, alpha=np.inf), "alpha"),
        (lambda: info.renyi_entropy(GOOD, bandwidth=1.0, leave_one_out=True), "potential='same'"),
        (lambda: info.shannon_entropy(GOOD[:1], bandwidth=1.0, leave_one_out=True), "at least two"),
        (lambda: info.integrated_squared_error(GOOD, GOOD[:, :1], bandwidth=1.0), "features"),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=(1.0, 2.0, 3.0)), "for X and for Y"),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=(1.0, -2.0)), "positive"),
        (
            lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=(1.0, 2.0), kernel="uniform"),
            "Gaussian",
        ),
        (
            lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=1.0, kernel="uniform", log=True),
            "Gaussian",
        ),
        (lambda: info.laplacian_pdf_divergence(GOOD, GOOD, bandwidth=(1.0, 2.0)), "overall_bandwidth"),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=[1.0, 2.0]), "not one for each feature"),
        (
            lambda: info.kullback_leibler_divergence(GOOD, GOOD, bandwidth=np.ones(2)),
            "a tuple of two numbers, for X and for Y",
        ),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth={0: 1.0}), "a tuple of two numbers"),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=(1.0, "cv")), "a tuple of two numbers"),
        (lambda: info.integrated_squared_error(GOOD, GOOD, bandwidth=(1.0, 2.0, 3.0)), "a tuple of two numbers"),
        (lambda: info.shannon_entropy(GOOD, bandwidth=np.ones(2)), "'bandwidth' parameter of shannon_entropy"),
        (lambda: info.shannon_entropy(np.ones((5, 2))), "All samples are equal"),
        (lambda: info.cauchy_schwarz_divergence(np.ones((5, 2)), np.ones((3, 2))), "Give a number"),
        (lambda: info.shannon_entropy(GOOD, bandwidth="median"), "'bandwidth' parameter"),
        (lambda: info.mutual_information(GOOD, GOOD[:2]), "inconsistent numbers of samples"),
        (lambda: info.mutual_information(GOOD[:1], GOOD[:1], bandwidth=1.0), "at least two"),
        (lambda: info.mutual_information(np.ones((3, 1)), np.ones((3, 1))), "All samples are equal"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("share, named", [(0.88, False), (0.92, True)])
def test_a_sample_with_nine_tenths_of_a_mean_is_named(share, named):
    points = np.arange(41.0)[:, None]
    terms = np.append(np.ones(40), 40 * share / (1 - share))
    sample = Sample(points, np.full(41, 1 / 41))
    if named:
        with pytest.warns(UserWarning, match=r"sample \[40.\]"):
            mean_of(terms, sample)
    else:
        mean_of(terms, sample)
