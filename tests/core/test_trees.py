"""Sums of trees are those of a walk from the root, row by row; damaged nodes are refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spectralcls._core import compiled

LEAF, MISSING_LEFT, MISSING_RIGHT, CATEGORY = range(4)
D = 4  # the last column holds levels


def grow(rng, nodes, levels, n_leaves):
    """Appends a random tree, the left child of a split right after it."""
    at = len(nodes)
    nodes.append([LEAF, 0, rng.normal(), 0])
    if n_leaves == 1:
        return
    kind = rng.integers(1, 4)
    if kind == CATEGORY:
        nodes[at][:3] = kind, D - 1, len(levels)
        levels.append(rng.random(256) < 0.5)
    else:
        nodes[at][:3] = kind, rng.integers(D - 1), rng.choice([-1.0, 0.0, 0.5, np.inf])
    n_left = rng.integers(1, n_leaves)
    grow(rng, nodes, levels, n_left)
    nodes[at][3] = len(nodes)
    grow(rng, nodes, levels, n_leaves - n_left)


def forest(n_trees, n_leaves, seed=0):
    rng, nodes, levels, roots = np.random.default_rng(seed), [], [], []
    for _ in range(n_trees):
        roots.append(len(nodes))
        grow(rng, nodes, levels, n_leaves)
    kinds, features, numbers, rights = zip(*nodes, strict=True)
    return {
        "kinds": np.array(kinds, np.uint8),
        "features": np.array(features, np.int32),
        "numbers": np.array(numbers, np.float64),
        "rights": np.array(rights, np.int32),
        "roots": np.array(roots, np.int32),
        "levels": np.array(levels, bool).reshape(-1, 256),
    }


def rows(n, seed=1):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.choice([-1.0, -0.5, 0.5, 3.0, np.nan], (n, D - 1)), rng.integers(0, 255, n)])
    X[::5, -1] = rng.choice([np.nan, -3.0, 255.0, 1e300, np.inf], len(X[::5]))  # levels that nobody knows
    return X


def value(nodes, root, x):
    at = root
    while (kind := nodes["kinds"][at]) != LEAF:
        number, entry = nodes["numbers"][at], x[nodes["features"][at]]
        if kind == CATEGORY:
            known = 0 <= entry < 255
            left = nodes["levels"][int(number), int(entry) if known else 255]
        else:
            left = kind == MISSING_LEFT if np.isnan(entry) else entry <= number
        at = at + 1 if left else nodes["rights"][at]
    return nodes["numbers"][at]


@pytest.mark.parametrize("n_leaves", [1, 2, 8, 31, 64])
@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 33, 200])
def test_sums_are_those_of_a_walk_from_the_root(n_rows, n_leaves):
    nodes, X = forest(6, n_leaves), rows(n_rows)
    start = np.random.default_rng(2).normal(size=(n_rows, 3))
    expected = start.copy()
    for i, x in enumerate(X):
        for t, root in enumerate(nodes["roots"]):
            expected[i, t % 3] += value(nodes, root, x)
    for n_threads in (1, 3):
        out = start.copy()
        compiled.tree_sums(compiled.forest(**nodes), X, out, n_threads)
        assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("name", "at", "wrong", "message"),
    [
        ("roots", 1, 10**6, "node 1000000"),
        ("roots", 0, -1, "node -1"),
        ("kinds", 0, 4, "kind of node 0"),
        ("rights", 0, 0, "right child of node 0"),  # a walk without end
        ("rights", 0, 10**6, "node 1000000"),
        ("features", 0, -2, "feature of node 0"),
    ],
)
def test_nodes_that_refer_to_nothing_are_refused(name, at, wrong, message):
    nodes = forest(3, 8)
    nodes["kinds"][nodes["kinds"] == CATEGORY] = MISSING_LEFT
    nodes[name][at] = wrong
    with pytest.raises(ValueError, match=f"damaged: {message}"):
        compiled.forest(**nodes)


def test_levels_leaves_columns_and_shapes_are_checked():
    nodes = forest(3, 8)
    for wrong in (-1.0, 1e18, np.nan):
        damaged = nodes | {"numbers": np.where(nodes["kinds"] == CATEGORY, wrong, nodes["numbers"])}
        with pytest.raises(ValueError, match="damaged: levels of node"):
            compiled.forest(**damaged)
    with pytest.raises(ValueError, match="more than 64 leaves"):
        compiled.forest(**forest(1, 65))
    chain = nodes | {"kinds": np.ones(10**5, np.uint8), "features": np.zeros(10**5, np.int32)}
    chain |= {"rights": np.arange(10**5, dtype=np.int32) + 2, "numbers": np.zeros(10**5)}
    with pytest.raises(ValueError, match="more than 64 leaves"):
        compiled.forest(**chain)
    with pytest.raises(ValueError, match="levels must have 256 columns"):
        compiled.forest(**nodes | {"levels": np.ones((2, 8), bool)})
    with pytest.raises(ValueError, match="numbers must have"):
        compiled.forest(**nodes | {"numbers": nodes["numbers"][1:]})
    trees, X = compiled.forest(**nodes), rows(5)
    with pytest.raises(ValueError, match="X has 2 columns, but the trees use column 3"):
        compiled.tree_sums(trees, X[:, :2].copy(), np.zeros((5, 1)), 1)
    with pytest.raises(ValueError, match="out must be"):
        compiled.tree_sums(trees, X, np.zeros((4, 1)), 1)


@pytest.mark.parametrize("seed", range(50))
def test_no_damage_crashes(seed):
    rng, nodes, X = np.random.default_rng(seed), forest(5, 12, seed), rows(20)
    name = rng.choice([*nodes])
    part = nodes[name].reshape(-1)
    part.view(np.uint8)[rng.integers(part.nbytes, size=8)] = rng.integers(2 if name == "levels" else 256, size=8)
    try:
        compiled.tree_sums(compiled.forest(**nodes), np.tile(X, 100), np.zeros((20, 2)), 1)
    except ValueError as error:
        assert "damaged" in str(error) or "trees use column" in str(error)
