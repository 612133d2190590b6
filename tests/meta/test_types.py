"""A type checker knows constructors and their options, return types, and every documented attribute."""

import importlib
import inspect
import pkgutil
import types
import typing
from pathlib import Path

import numpydoc.docscrape
import pytest
from mypy import api

import spectralcls
from spectralcls._utils.from_sklearn import Options, StrOptions

ROOMS = [room.name for room in pkgutil.iter_modules(spectralcls.__path__) if not room.name.startswith("_")]
MODULES = [importlib.import_module(f"spectralcls.{room}") for room in ROOMS]
PUBLIC = [getattr(module, name) for module in MODULES for name in getattr(module, "__all__", ())]
ESTIMATORS = [found for found in PUBLIC if inspect.isclass(found) and hasattr(found, "fit")]
CHECKED = [found for found in ESTIMATORS if hasattr(found, "_parameter_constraints")]
CHECKED += [found for found in PUBLIC if hasattr(found, "_skl_parameter_constraints")]


def words_checked(constraints):
    """Returns the strings that scikit-learn's constraints of a parameter allow."""
    return {
        word
        for one in (constraints if isinstance(constraints, list) else [])
        if isinstance(one, StrOptions | Options)
        for word in one.options
        if isinstance(word, str)
    }


def words_told(annotation):
    """Returns the strings of the `Literal` in an annotation; None if it allows any string."""
    kind, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if kind is typing.Literal:
        return {word for word in parts if isinstance(word, str)}
    if annotation in (str, typing.Any) or kind is typing.Annotated:
        return None
    told = [words_told(part) for part in parts] if kind in (typing.Union, types.UnionType) else []
    return None if None in told else set().union(*told)


@pytest.mark.parametrize("checked", CHECKED, ids=lambda checked: checked.__name__)
def test_words_that_are_checked_are_those_of_the_types(checked):
    is_class = inspect.isclass(checked)
    constraints = checked._parameter_constraints if is_class else checked._skl_parameter_constraints
    hints = typing.get_type_hints(checked.__init__ if is_class else checked, include_extras=True)
    for name, allowed in constraints.items():
        if words_checked(allowed):
            assert words_told(hints[name]) == words_checked(allowed), name


def public_functions():
    """Yields public functions, and public methods of public classes, that are defined in the package."""
    for found in filter(callable, PUBLIC):
        members = inspect.getmembers(found, callable) if inspect.isclass(found) else [(found.__name__, found)]
        for name, member in members:
            function = inspect.unwrap(member)
            if not name.startswith("_") and inspect.isfunction(function) and "spectralcls" in function.__module__:
                yield f"{found.__name__}.{name}", function


def test_every_public_function_tells_what_it_takes_and_returns():
    silent = [
        name
        for name, function in public_functions()
        if inspect.signature(function).return_annotation is inspect.Signature.empty
        or any(
            parameter.annotation is inspect.Parameter.empty and parameter.name not in ("self", "cls")
            for parameter in inspect.signature(function).parameters.values()
        )
    ]
    assert not silent


def messages_of(program, folder):
    """Returns {line: message} of mypy's errors in a program."""
    path = folder / "program.py"
    path.write_text(program)
    source = Path(spectralcls.__file__).parents[1]
    options = ("--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={folder}", "--config-file=")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MYPYPATH", raising=False)
        if source.name != "site-packages":  # mypy finds installed packages by itself
            patch.setenv("MYPYPATH", str(source))
        found, errors, _ = api.run([*options, "--no-error-summary", str(path)])
    assert not errors, errors
    said = found.splitlines()
    return {int(line.split(":")[1]): line.split(":", 2)[2] for line in said if ": error:" in line}


RIGHT = """
from typing import Any, assert_type
import numpy as np
import spectralcls as s

X, y = np.zeros((4, 2)), [0, 0, 1, 1]
assert_type(s.ParzenClassifier(0.5, kernel="laplace", scale=None).fit(X, y), s.ParzenClassifier)
answers: list[np.ndarray] = [
    s.AutoClassifier().fit(X, y).predict_proba(X),
    s.CCDRClassifier().fit(X, y).predict_proba(X),
    s.PerTurboClassifier(bandwidth={0: 1.0, 1: 2.0}).fit(X, y).predict(X),
    s.KernelRegressor("silverman", cv=3).fit(X, y).predict(X),
    s.CCDR().set_params(n_components=1).fit_transform(X, y),
]
assert_type(s.silverman_bandwidth if False else s.kernels.silverman_bandwidth(X, rule="scott"), float)
s.kernel_sums(X, X, bandwidth=[1.0, 2.0], log="pair", kernel="cosine")
s.knn(X, X, 1, algorithm="kd_tree")
s.top_eigenpairs(X @ X.T, 1, solver="arpack")
s.neighbors.knn_graph(X, 1, mode="heat", symmetrize="mean", epsilon=None)
assert_type(s.load("m.skops").predict(X), np.ndarray[Any, np.dtype[Any]])
assert_type(s.datasets.read_table("t.csv").feature_names, list[str])
score: float = s.ISEClassifier().fit(X, y).score(X, y)
"""
WRONG = """
import spectralcls as s

s.ParzenClassifier(kernal="gaussian")
s.ParzenClassifier(kernel="gausian")
s.ParzenClassifier("silvermann")
s.ParzenClassifier(metric="diagnoal")
s.ISEClassifier(scoring="acuracy")
s.PerTurboClassifier(cv="lou")
s.CCDRClassifier(beta="vc")
s.AutoClassifier(class_weight="balance")
s.KernelRegressor(degree=2)
s.SpectralKernel(weighting="none")
s.ParzenDensity(covariance_type="diagonal")
s.ParzenClassifier().fit([[0.0]], [0], wights=[1.0])
s.ParzenClassifier().predict_prob([[0.0]])
s.AutoClassifier().predict_prob([[0.0]])
s.AutoRegressor().predit([[0.0]])
s.metric.KernelMetric().transfrom([[0.0]])
s.load("m.skops").predict_prob([[0.0]])
s.kernels.silverman_bandwidth([[0.0]], rule="scot")
s.kernel_sums([[0.0]], [[0.0]], bandwidth=1.0, kernel="gausian")
"""


def typed():
    """Returns a program in which these attributes of the estimators are given a wrong type."""
    lines, kinds = [], ("bandwidth_", "classes_", "feature_names_in_", "n_features_in_", "scale_")
    for estimator in ESTIMATORS:
        home = estimator.__module__.split("._")[0]
        names = [
            name for entry in numpydoc.docscrape.ClassDoc(estimator)["Attributes"] for name in entry.name.split(", ")
        ]
        lines += [
            f"from {home} import {estimator.__name__}",
            f"def of_{estimator.__name__}(m: {estimator.__name__}) -> None:",
        ]
        lines += [f"    wrong_{name}: set[int] = m.{name}" for name in names if name in kinds] + ["    pass"]
    return "\n".join(lines) + "\n"


def documented():
    """Returns a program that accesses every documented attribute and public method of the estimators."""
    lines = []
    for estimator in ESTIMATORS:
        home = estimator.__module__.split("._")[0]
        attributes = [
            name for entry in numpydoc.docscrape.ClassDoc(estimator)["Attributes"] for name in entry.name.split(", ")
        ]
        methods = [name for name, _ in inspect.getmembers(estimator, callable) if not name.startswith("_")]
        lines += [f"from {home} import {estimator.__name__}", f"def of_{estimator.__name__}(m: {estimator.__name__}):"]
        lines += [f"    m.{name}" for name in attributes + methods]
    return "\n".join(lines).replace("):", ") -> None:") + "\n"


def test_a_type_checker_finds_typos_and_nothing_else(tmp_path):
    first = WRONG.index("s.ParzenClassifier(kernal")
    lines = range(WRONG[:first].count("\n") + 1, WRONG.count("\n") + 1)
    assert sorted(messages_of(WRONG, tmp_path)) == list(lines)
    assert messages_of(RIGHT, tmp_path) == {}
    assert len(messages_of(typed(), tmp_path)) == typed().count("wrong_"), "an attribute is Any"
    assert messages_of(documented(), tmp_path) == {}


def test_the_words_of_a_type():
    assert words_told(typing.Literal["a", "b"] | float | None) == {"a", "b"}
    assert words_told(str | float) is None and words_told(list[str] | float) == set()
    assert importlib.import_module("spectralcls._utils.bases").BaseEstimator.__module__ == "sklearn.base"
