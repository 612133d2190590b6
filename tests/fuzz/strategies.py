"""What random calls are made of: points, layouts, labels, weights and tables that real data have, or that break
things."""

import numpy as np
import pandas as pd
import reference
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

DTYPES = st.sampled_from([np.dtype(np.float64), np.dtype(np.float32)])
SEEDS = st.integers(0, 2**32 - 1)
FOREIGN = (  # words of Python and of pybind11, which tell nothing about the argument
    "incompatible function arguments",
    "Unable to cast",
    "to unpack",
    "cannot unpack",
    "unhashable",
    "has no attribute",
    "not supported between",
    "unsupported operand",
    "'NoneType' object",
    "cannot be interpreted",
    "ufunc",
    "expected str, bytes or os.PathLike",
)


def examples(share):
    """Settings for a property whose call takes long: a share of the examples of the profile."""
    return settings(max_examples=max(2, int(share * settings().max_examples)))


def refused(error):
    """A refusal has to be in words of our own."""
    message = str(error)
    assert message and not any(words in message for words in FOREIGN), f"refused in foreign words: {message[:200]!r}"


KINDS = {  # what happens to plain coordinates; `a` in [0, 1] sets how much
    "plain": lambda X, a: X,
    "ties and duplicates": lambda X, a: np.round(X),
    "copies of few": lambda X, a: X[np.arange(len(X)) % max(1, len(X) // 3)],
    "far from the origin": lambda X, a: X + 10.0 ** round(6 * a),
    "a constant feature": lambda X, a: np.where(np.arange(X.shape[1]) == int(a * (X.shape[1] - 1)), 3.0, X),
    "features in different units": lambda X, a: X * 10.0 ** np.linspace(-3 * a, 3 * a, X.shape[1]),
}


@st.composite
def points(draw, n, d, dtype=np.float64):
    """Samples of one of the kinds; small ones number by number, which shrink."""
    if n * d <= 24:
        X = draw(arrays(np.int8, (n, d), elements=st.integers(-24, 24))) / 8.0
    else:
        X = np.random.default_rng(draw(SEEDS)).standard_normal((n, d))
    return KINDS[draw(st.sampled_from(sorted(KINDS)))](X, draw(st.floats(0, 1))).astype(dtype)


@st.composite
def shapes(draw):
    """(m, n, d): mostly small, sometimes many features or more points than a block of the core."""
    most = draw(st.sampled_from([(8, 20, 6), (40, 60, 20), (8, 20, 6), (40, 60, 20), (40, 2500, 8), (4, 8, 1500)]))
    return tuple(draw(st.integers(1, size)) for size in most)


def unaligned(A):
    shifted = np.zeros(A.nbytes + 1, np.uint8)[1:].view(A.dtype).reshape(A.shape)
    shifted[...] = A
    assert not shifted.flags.aligned
    return shifted


def _read_only(A):
    A = A.copy()
    A.setflags(write=False)
    return A


LAYOUTS = {  # the same numbers another way in memory
    "as it is": lambda A: A,
    "Fortran order": np.asfortranarray,
    "every other row and third column": lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda A: np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1],
    "read only": _read_only,
    "not aligned": unaligned,
    # of other numbers scikit-learn makes float64
    "other byte order": lambda A: A.astype(A.dtype.newbyteorder()) if A.dtype == np.float64 else A,
}
layouts = st.sampled_from(sorted(LAYOUTS)).map(LAYOUTS.get)


def spread(Q, X):
    """A length that distances between these points are of."""
    D = reference.distances(Q[:30], X[:30])
    return float(np.median(D[D > 0])) if (D > 0).any() else 1.0


def widths(Q, X, low=0.3, high=3.0):
    """Bandwidths of the size of the distances."""
    return st.floats(low, high).map(lambda factor: spread(Q, X) * factor)


@st.composite
def codes(draw, n, n_labels):
    """Labels of one of the integer types, some points with none."""
    kind = draw(st.sampled_from(["i8", "i4", "i1", "u1", "u2", "u8"]))
    labels = draw(arrays(np.int64, n, elements=st.integers(-1 if kind[0] == "i" else 0, n_labels - 1)))
    return labels.astype(kind)


@st.composite
def sums(draw):
    """(Q, X, options) of `kernel_sums`; without the derivative, whose relative error grows as points meet."""
    (m, n, d), dtype = draw(shapes()), draw(DTYPES)
    X = draw(points(n, d, dtype))
    Q = X if draw(st.booleans()) else draw(points(m, d, dtype))
    m, unit, maybe = len(Q), spread(Q, X), st.booleans()
    options = {"kernel": draw(st.sampled_from(sorted(set(reference.PROFILES) - {"laplace_derivative"})))}
    h = draw(st.floats(0.2, 5) | st.lists(st.floats(0.2, 5), min_size=1, max_size=5).map(sorted).map(np.array))
    options["bandwidth"] = unit * h
    if draw(maybe):
        options["log"] = True
    if draw(maybe):
        options["labels"] = draw(codes(n, draw(st.integers(1, 5))))
        options["n_labels"] = int(max(options["labels"].max(), 0)) + 1 + draw(st.integers(0, 2))
    if draw(maybe):
        W = np.random.default_rng(draw(SEEDS)).standard_normal(draw(st.sampled_from([(n,), (n, 1), (n, 4)])))
        options["weights"] = (np.abs(W) if options.get("log") else W).astype(dtype)
    if draw(maybe):
        options["exclude_self"] = True if Q is X else draw(arrays(np.int64, m, elements=st.integers(-1, n - 1)))
    if draw(maybe):
        groups = st.integers(0, 3)
        options["exclude_groups"] = (
            draw(arrays(np.int64, m, elements=groups)),
            draw(arrays(np.int64, n, elements=groups)),
        )
    if draw(maybe):
        options["n_jobs"] = draw(st.integers(1, 4))
    return Q, X, options


NAMES = [[0, 1, 2], [True, False, True], ["b", "a", "ç"], [-5, 0, 2**40], [2.0, 1.0, 7.0]]


@st.composite
def labeled(draw, least=2, most=50, dtype=DTYPES):
    """(X, y, Q, weights or None): training points, labels of one of the kinds, queries, and odd weights."""
    n, d = draw(st.integers(least, most)), draw(st.integers(1, 5))
    P = draw(points(n + 8, d, draw(dtype)))
    y = np.array(draw(st.sampled_from(NAMES)))[draw(arrays(np.int64, n, elements=st.integers(0, 2)))]
    weights = draw(st.none() | arrays(np.float64, n, elements=st.sampled_from([1.0, 2.0, 3.0])))
    return P[:n], y, P[n:], weights


@st.composite
def columns(draw, n):
    """A column of a table: numbers, words, truth values, categories or integers, some missing."""
    kind, rng = draw(st.integers(0, 4)), np.random.default_rng(draw(SEEDS))
    values = pd.Series(
        [
            lambda: np.round(rng.standard_normal(n), 2),
            lambda: rng.choice(["red", "green", "", "ü"], n),
            lambda: rng.random(n) < 0.5,
            lambda: pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            lambda: rng.integers(-3, 3, n),
        ][kind]()
    )
    if draw(st.booleans()):
        values = values.convert_dtypes() if kind in (2, 4) else values
        values = values.mask(rng.random(n) < draw(st.floats(0, 0.7)))
    return values


@st.composite
def damaged(draw, content, most=4):
    """Bytes of which some were changed, and the end perhaps cut off."""
    content = bytearray(content)
    odd = st.sampled_from([b"\x00", b",", b"\n", b'"', b"\xff", b"_", b"nan", b"1e999", b";"]) | st.binary(max_size=40)
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, len(content) - 1))
        content[place : place + draw(st.integers(0, 40))] = draw(odd)
        if not content:
            return b""
    return bytes(content[: draw(st.none() | st.integers(0, len(content)))])


ODD = [
    *(None, True, -1, 0, 1.5, 2**31, 2**40, 2**62, -(2**63), np.nan, np.inf, -np.inf, 1e308, 1e-310, "a", "", b"x"),
    *([], [[]], (), {}, object(), 1j, [1, [2, 3]], [np.nan] * 4, np.float32(0.5), np.array(2.5), np.int8(3)),
    *(
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros((5, 1, 0)),
        np.zeros((2, 2, 2)),
        np.full((4, 3), np.nan),
    ),
    *(np.full(4, 2**31 - 2), np.full(4, -7), np.ones(4, "u8"), np.ones(4, bool), np.ones((4, 3), "f2")),
    *(np.ones((4, 3), "O"), np.array(["a", 1, None, 2.0], dtype=object), np.ma.masked_all(4), np.array([1 + 2j] * 4)),
    np.array(["2020-01-01"] * 4, "M8[D]"),
]
AS_LONG_AS_ASKED = {
    "max_iter",
    "n_queries",
    "n_repeats",
    "n_resamples",
    "n_permutations",
    "n_samples",
}  # huge numbers are meant


@st.composite
def odd(draw, name):
    """A value of another kind for an argument."""
    value = draw(st.sampled_from(range(len(ODD))).map(ODD.__getitem__))
    return 3 if name in AS_LONG_AS_ASKED and isinstance(value, int) and value > 1000 else value
