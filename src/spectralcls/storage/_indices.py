"""What scikit-learn's compiled code reads without looking: sizes and indices of the arrays that a model file holds.

Compiled code that gets a wrong index reads or writes elsewhere, which ends the process at best. Each function raises
for a state that could do so. All other types of ``_allowed.py`` are evaluated by NumPy, SciPy and our core,
which check what they get.
"""

from itertools import chain

import numpy as np


def _demand(holds):
    if not holds:
        raise ValueError("an index or a size points outside of its array")


def within(values, stop):
    """Whether all integers lie in [0, stop)."""
    values = np.asarray(values)
    _demand(values.dtype.kind in "iu" and (values.size == 0 or (values.min() >= 0 and values.max() < stop)))


def _children(left, right, is_leaf):
    """Every inner node of a tree is followed by its children, so that each walk ends at a leaf."""
    n_nodes, inner = len(left), np.flatnonzero(~is_leaf)
    _demand(n_nodes > 0)
    for child in (left[inner], right[inner]):
        within(child, n_nodes)
        _demand(np.all(child > inner))


def tree(n_features, n_classes, n_outputs, state):
    """Arguments and state of a `sklearn.tree._tree.Tree`."""
    nodes, values = state["nodes"], state["values"]
    is_leaf = nodes["left_child"] == -1
    _demand(type(n_features) is type(n_outputs) is int and n_classes.shape == (n_outputs,) and n_outputs > 0)
    within(n_classes, values.shape[2] + 1)
    _demand(nodes.ndim == 1 and state["node_count"] == len(nodes))
    _demand(values.shape == (len(nodes), n_outputs, n_classes.max()))
    _children(nodes["left_child"], nodes["right_child"], is_leaf)
    within(nodes["feature"][~is_leaf], n_features)


def _boosted_tree(tree):
    nodes, bits = tree["nodes"], tree["raw_left_cat_bitsets"]
    _demand(nodes.ndim == 1 and bits.ndim == 2 and bits.shape[1] == 8)
    is_leaf = nodes["is_leaf"] != 0
    _children(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), is_leaf)
    within(nodes["bitset_idx"][nodes["is_categorical"] != 0], len(bits))


def _boosting(model):
    n_features, is_categorical = model["n_features_in_"], model["_bin_mapper"].is_categorical_
    _demand(is_categorical.shape == (n_features,))
    if model["_preprocessor"] is not None:  # the encoded categories, then the numbers: each column once
        encoder = vars(model["_preprocessor"])
        places, steps = encoder["_transformer_to_input_indices"], encoder["transformers_"][:2]
        _demand([type(each).__name__ for _, each, _ in steps] == ["OrdinalEncoder", "FunctionTransformer"])
        _demand(all(np.array_equal(np.flatnonzero(chosen), places[name]) for name, _, chosen in steps))
        _demand(sorted(chain(*(places[name] for name, _, _ in steps))) == [*range(n_features)])
    for each in chain(*model["_predictors"]):
        inner = each.nodes[each.nodes["is_leaf"] == 0]
        within(inner["feature_idx"], n_features)
        _demand(np.all(is_categorical[inner["feature_idx"][inner["is_categorical"] != 0]]))


def _decision_tree(model):
    _demand(model["tree_"].n_features == model["n_features_in_"])


def _forest(model):
    for each in model["estimators_"]:
        _demand(each.tree_.n_features == each.n_features_in_ == model["n_features_in_"])


def _support_vectors(model):
    vectors, counts, slopes = model["support_vectors_"], model["_n_support"], model["_probA"]
    n_classes, n_vectors = len(counts), len(vectors)
    n_pairs = n_classes * (n_classes - 1) // 2
    _demand(isinstance(model["kernel"], str) and model["_sparse"] is False and "_impl" not in model and n_pairs > 0)
    _demand(vectors.ndim == 2 and vectors.shape[1] == model["n_features_in_"])
    within(counts, n_vectors + 1)
    _demand((counts.sum() if "classes_" in model else counts[0]) == n_vectors)
    _demand(model["_dual_coef_"].shape == (n_classes - 1, n_vectors) and model["_intercept_"].shape == (n_pairs,))
    _demand(model["support_"].shape == (n_vectors,))
    within(model["support_"], model["shape_fit_"][0])
    _demand(len(slopes) == len(model["_probB"]) and len(slopes) in (0, n_pairs))


def _neighbors(model):
    _demand(model["_fit_X"].shape == (len(model["_y"]), model["n_features_in_"]))


def _one_hot(model):
    n_columns, mappings = model["_n_features_outs"], model.get("_default_to_infrequent_mappings")
    for place, (categories, n_out) in enumerate(zip(model["categories_"], n_columns, strict=True)):
        n_codes, dropped = len(categories), None
        if categories.dtype.kind not in "OUS":  # these are searched for by bisection
            _demand(np.array_equal(np.sort(categories), categories, equal_nan=categories.dtype.kind == "f"))
        if model["_infrequent_enabled"] and mappings[place] is not None:
            within(mappings[place], len(mappings[place]))
            n_codes = mappings[place].max() + 1
        if model["_drop_idx_after_grouping"] is not None:
            dropped = model["_drop_idx_after_grouping"][place]
        _demand(n_out == n_codes - (dropped is not None) and (dropped is None or 0 <= dropped < n_codes))


def _words(model):
    _demand(sorted(model["vocabulary_"].values()) == [*range(len(model["vocabulary_"]))])


_OF_CLASS = {  # the attribute that a fitted one has, and its check
    "CountVectorizer TfidfVectorizer": ("vocabulary_", _words),
    "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor": ("tree_", _decision_tree),
    "ExtraTreesClassifier ExtraTreesRegressor": ("estimators_", _forest),
    "HistGradientBoostingClassifier HistGradientBoostingRegressor": ("_predictors", _boosting),
    "KNeighborsClassifier KNeighborsRegressor": ("_fit_X", _neighbors),
    "OneHotEncoder": ("categories_", _one_hot),
    "RandomForestClassifier RandomForestRegressor": ("estimators_", _forest),
    "SVC SVR": ("support_vectors_", _support_vectors),
    "TreePredictor": ("nodes", _boosted_tree),
}
_CHECKS = {name: check for names, check in _OF_CLASS.items() for name in names.split()}


def check(made):
    """Raise ValueError for an object whose compiled code would read outside of its arrays."""
    attribute, function = _CHECKS.get(type(made).__name__, ("", None))
    if attribute in getattr(made, "__dict__", ()):
        function(vars(made))
