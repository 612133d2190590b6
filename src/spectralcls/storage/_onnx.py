"""Fitted kernel expansions as ONNX graphs, which predict without Python."""

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._estimator import affine, fitted_form, temperature, within
from ..density import ParzenDensity, density_form
from ..kernels import log_normalizer
from ..regression import expanded_targets

FAR = 1e140  # scaled features are at most so large: squares of more would overflow
OPSET = 18  # first version whose reductions take axes as an input; read by runtimes since 2022
_KERNELS = {
    "gaussian": lambda h: -0.5 / h**2,
    "laplace": lambda h: -1 / h,
}  # factor of the squared distance, or of its root, in log k


def to_onnx(model: Any) -> Any:
    """Write a fitted kernel expansion as an ONNX graph.

    The graph has the input ``X`` of shape (n_queries, n_features), float64. Its outputs are ``label`` and
    ``probabilities`` for a classifier (``scores`` if it has no probabilities), ``y`` for a regressor, and
    ``log_density`` for a density.

    Parameters
    ----------
    model : estimator
        A fitted classifier of :mod:`spectralcls.kernel_mean` or :mod:`spectralcls.spectral`,
        :class:`~spectralcls.KernelRidgeClassifier`, :class:`~spectralcls.KernelRidgeRegressor`,
        :class:`~spectralcls.KernelRegressor` with local means, or :class:`~spectralcls.ParzenDensity`; with the
        Gaussian or the Laplace kernel, on numeric columns. For a search, the best estimator is written.

    Returns
    -------
    graph : onnx.ModelProto
        ``graph.SerializeToString()`` returns the bytes of an ``.onnx`` file.

    Raises
    ------
    ImportError
        If onnx is not installed.
    ValueError
        If the model is not such an expansion, such as :class:`~spectralcls.AutoClassifier`, whose members are of many
        kinds, or its labels are dates; the message gives the reason.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    The graph computes in float64, and agrees with what the model answers to float64 queries: probabilities and
    densities to 1e-9 for the Gaussian kernel, to 1e-6 for the Laplace kernel, whose distances are roots of differences,
    and for models fitted to float32; the same labels, far from all points too. To float32 queries the model itself
    answers in float32, a machine's rounding (1e-7) times the size of the coefficients away, which for kernel ridge may
    be 1e-3. `scores` are a positive multiple of the model's for each query. A query with a missing value gets NaN. The
    file contains all training points, and a batch needs memory for n_queries x n_samples numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import KernelRidgeClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(KernelRidgeClassifier().fit(X, y))  # doctest: +SKIP
    >>> open("iris.onnx", "wb").write(graph.SerializeToString())  # doctest: +SKIP
    """
    graph = _Graph(_onnx())
    model, steps = within(model)
    if steps:
        names = ", ".join(type(step).__name__ for step in steps)
        raise ValueError(
            f"to_onnx cannot write steps before a model: {names}. Transform X first, and fit the model alone."
        )
    if hasattr(model, "to_local"):
        raise ValueError("to_onnx takes an estimator whose points are in memory: pass estimator.to_local().")
    if isinstance(model, ParzenDensity):
        _density(graph, model)
    elif is_regressor(model):
        _targets(graph, model)
    else:
        _classes(graph, model)
    return graph.model(model.n_features_in_)


def _onnx():
    """Import the library, or raise an error that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ImportError('ONNX files need onnx: pip install "spectralcls[onnx]"') from None
    return onnx


class _Graph:
    """A graph under construction. Calling it adds a node and returns the name of its result."""

    def __init__(self, onnx):
        self.onnx, self.nodes, self.constants, self.outputs = onnx, [], [], []

    def __call__(self, operator, *inputs, output=None, **attributes):
        inputs = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        output = output or f"{operator}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def _constant(self, values):
        values = np.asarray(values)
        name = f"constant{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def reduced(self, operator, values):
        """Reduce over the last axis, which is kept with length one."""
        return self(operator, values, np.array([1]), keepdims=1)

    def part(self, values, start, stop):
        """Some columns."""
        return self("Slice", values, np.array([start]), np.array([stop]), np.array([1]))

    def output(self, name, element, *shape):
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, ["n", *shape]))

    def model(self, n_features):
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        inputs = [helper.make_tensor_value_info("X", double, ["n", n_features])]
        graph = helper.make_graph(self.nodes, "spectralcls", inputs, self.outputs, self.constants)
        opset = [helper.make_opsetid("", OPSET)]
        made = helper.make_model(graph, producer_name="spectralcls", opset_imports=opset, ir_version=8)
        self.onnx.checker.check_model(made)
        return made


def _exponents(graph, model, points, kernel, bandwidth, space=None):
    """log k (n_queries, n_points) between the queries and the points of an expansion."""
    if kernel not in _KERNELS:
        raise ValueError(f"to_onnx writes the kernels {' and '.join(_KERNELS)}, not {kernel!r}.")
    center, axes = affine(model)
    points = points.astype(np.float64)
    middle = points.mean(axis=0)  # subtracted, because the differences below lose digits far from the origin
    points, shift = points - middle, middle
    if space is not None:
        into = np.linalg.inv(space.stretch(np.eye(len(middle))))
        axes, shift = axes @ into, middle + space.center @ into
    units = np.ldexp(1.0, np.frexp(np.abs(axes).max(axis=1))[1])  # runtimes take a lone constant of 1e-60 for 0
    X = graph("Sub", graph("Mul", "X", units), center * units)
    X = graph("Min", graph("Max", X, np.float64(-FAR)), np.float64(FAR))
    Z = graph("Sub", graph("MatMul", X, axes / units[:, None]), shift)
    products, squares = graph("MatMul", Z, -2 * points.T), graph.reduced("ReduceSumSquare", Z)
    distance = graph("Add", graph("Add", products, squares), (points**2).sum(axis=1))
    distance = graph("Max", distance, np.float64(0))
    if kernel == "laplace":
        distance = graph("Sqrt", distance)
    return graph("Mul", distance, _KERNELS[kernel](np.asarray(bandwidth, dtype=np.float64)))


def _sums(graph, exponents, columns):
    """Logarithm (n, 1) of each query's scale, and exp(exponents) @ columns divided by the scale."""
    scale = graph.reduced("ReduceMax", exponents)
    return scale, graph("MatMul", graph("Exp", graph("Sub", exponents, scale)), columns.astype(np.float64))


def _log_sums(graph, exponents, codes, n_classes):
    """log sum exp(exponents) over the points of each class, (n, C); each sum has a scale, so that none underflows."""
    parts = []
    for c in range(n_classes):
        own = graph("Gather", exponents, np.flatnonzero(codes == c), axis=1) if n_classes > 1 else exponents
        scale = graph("Max", graph.reduced("ReduceMax", own), np.float64(-1e300))  # -inf minus -inf is no number
        sums = graph.reduced("ReduceSum", graph("Exp", graph("Sub", own, scale)))
        parts.append(graph("Add", graph("Log", sums), scale))
    return graph("Concat", *parts, axis=1)


def _density(graph, model):
    form = density_form(model)
    shape = (model, form.X, form.kernel)
    with np.errstate(divide="ignore"):
        terms = np.log(form.weights) - log_normalizer(form.kernel, form.X.shape[1], form.widths) - form.space.log_volume
    parts = [
        graph("Add", _exponents(graph, *shape, width, form.space), term)
        for width, term in zip(form.widths, terms.T, strict=True)
    ]
    log_sum = _log_sums(graph, graph("Concat", *parts, axis=1), None, 1)
    graph("Squeeze", log_sum, np.array([1]), output="log_density")
    graph.output("log_density", graph.onnx.TensorProto.DOUBLE)


def _targets(graph, model):
    found = expanded_targets(model)
    exponents = _exponents(graph, model, found.points, found.kernel, found.bandwidth)
    scale, sums = _sums(graph, exponents, found.columns)
    if found.are_means:
        total, parts = (
            graph("Slice", sums, *np.array([[a], [b], [1]])) for a, b in ((0, 1), (1, found.columns.shape[1]))
        )
        values = graph("Div", parts, total)
    else:
        values = graph("Mul", graph("Exp", scale), sums)
    values = graph("Add", values, found.offset / found.factor)  # first, because runtimes take 1e-60 for 0
    values = graph("Mul", values, found.factor, output="y" if not found.is_vector else None)
    if found.is_vector:
        graph("Squeeze", values, np.array([1]), output="y")
    graph.output("y", graph.onnx.TensorProto.DOUBLE, *([] if found.is_vector else [len(found.factor)]))


def _classes(graph, model):
    form, _ = fitted_form(model)
    if form is None:
        raise ValueError(
            f"to_onnx writes kernel expansions, and this {type(model).__name__} is not one: fit KernelRidgeClassifier "
            "(up to 20 000 samples) or ParzenClassifier, which are."
        )
    classes, TensorProto = model.classes_, graph.onnx.TensorProto
    if classes.dtype.kind in "OUST":
        classes = np.array([str(label) for label in classes], dtype=object)
    try:
        text = classes.dtype == object
        kind = TensorProto.STRING if text else graph.onnx.helper.np_dtype_to_tensor_dtype(classes.dtype)
    except ValueError:
        raise ValueError(
            f"to_onnx writes labels that are text or numbers, and those of this {type(model).__name__} are "
            f"{classes.dtype}, a type that ONNX lacks: fit the model to text, such as y.astype(str)."
        ) from None
    scores, order = _scores(graph, model, form)
    best = graph("Equal", scores, graph.reduced("ReduceMax", scores))
    winner = graph("ArgMax", graph("Where", best, order, np.float64(-np.inf)), axis=1, keepdims=0)
    graph("Gather", classes, winner, output="label")
    graph.output("label", kind)
    softened = temperature(model)
    if softened is None:
        graph("Identity", scores, output="scores")
    else:
        graph("Softmax", graph("Div", scores, np.float64(softened)), axis=1, output="probabilities")
    graph.output("scores" if softened is None else "probabilities", TensorProto.DOUBLE, len(classes))


def _scores(graph, model, form):
    """Scores (n, C), as `Rule.scores` computes them, and the values by which equal ones are ordered."""
    distance, points = form.rule.decision == "distance", form.points
    if form.by_class:
        exponents = _of_classes(graph, model, form)
        columns = [None] if form.columns is None else np.reshape(form.columns, (len(points.X), -1)).T
        log_sums = order = _log_sums(graph, exponents(columns[0], form.log_scale), points.codes, points.n_classes)
        if not distance:
            return log_sums, order
        if len(columns) > 1:
            density = _log_sums(graph, exponents(columns[1], form.log_share), points.codes, 1)
            log_sums = graph("Sub", log_sums, graph("Mul", density, np.float64(0.5)))
        return graph("Sub", graph("Exp", log_sums), form.offsets), order
    n_classes, exponents = len(form.offsets), _of_classes(graph, model, form)(None, form.log_scale)
    scale, sums = _sums(graph, exponents, form.columns[:, :n_classes])
    order = sums
    if not distance:
        return sums, order
    if form.columns.shape[1] > n_classes:
        _, densities = _sums(graph, exponents, form.columns[:, n_classes:])
        sums = graph("Div", sums, graph("Sqrt", graph.reduced("ReduceMax", densities)))
        scale = graph("Mul", scale, np.float64(0.5))
    return graph("Sub", graph("Mul", graph("Exp", scale), sums), form.offsets), order


def _of_classes(graph, model, form, space=None):
    """Return a function that adds the logarithms of columns (positive, or None for ones) and class-wise logarithms to
    log k.
    """
    points = form.points
    widths = np.broadcast_to(form.bandwidth, points.n_classes)[points.codes]
    exponents = _exponents(graph, model, points.X, form.kernel, widths, space)

    def added(columns, by_class):
        with np.errstate(divide="ignore"):
            logs = 0.0 if columns is None else np.log(np.asarray(columns, dtype=np.float64))
        logs = logs + np.broadcast_to(by_class, points.n_classes)[points.codes]
        return graph("Add", exponents, logs)

    return added
