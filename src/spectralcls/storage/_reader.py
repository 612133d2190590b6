"""Our own reader of the files that skops writes: a tree of nodes in JSON, and arrays in the format of NumPy.

It builds plain values, arrays, and what ``_allowed.py`` names; it imports, calls and looks up nothing else. Sizes are
compared with the bytes that are there before memory is taken.
"""

import json
import math
import re
from functools import partial
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import sklearn

from . import _indices
from ._allowed import named

_SKLEARN = re.compile(r'"_sklearn_version": \{[^{}]*"content": "\\"([^"\\]+)')
_UNFINISHED = object()
_SMALL, _RATIO = 2**28, 100  # a file may take so many bytes of memory, or so many times its size
_JSON = 16  # bytes of memory for a byte of JSON


class Refused(ValueError):
    """The file is whole, but is not read. The message continues a sentence that begins with its name."""


def _foreign(what):
    return Refused(
        f"refused, because it holds {what}, which no model of this package contains; if you trust its author, read it "
        "with skops.io.load"
    )


def read(file, size):
    """Build and return the object in an open file of `size` bytes."""
    with ZipFile(file) as archive:
        reader = _Reader(archive, max(_SMALL, _RATIO * size))
        schema = reader.part(archive, "schema.json", _JSON).decode()
        here = sklearn.__version__
        for version in _SKLEARN.findall(schema):
            if version.split(".")[:2] != here.split(".")[:2]:
                raise Refused(
                    f"was written with scikit-learn {version}, but this is {here}, which may not read it: install "
                    f"scikit-learn {'.'.join(version.split('.')[:2])}, or fit the model again"
                )
        return reader.built(json.loads(schema))


class _Reader:
    """Builds the objects of an archive in a certain number of bytes. Nodes of the same number are the same object."""

    def __init__(self, archive, n_bytes):
        self._archive, self._n_bytes, self._numbered = archive, n_bytes, {}

    def take(self, n_bytes):
        """Count memory that is taken next."""
        self._n_bytes -= n_bytes
        if self._n_bytes < 0:
            raise ValueError("it takes more memory than a model of its size")

    def part(self, archive, name, times=1):
        """The bytes of a part of an archive."""
        part = archive.getinfo(name)
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError("a part is packed in an unknown way")
        self.take(times * part.file_size)
        return archive.read(part)

    def built(self, node):
        number, kind = node.get("__id__"), node["__loader__"]
        if number is not None and number in self._numbered:
            if self._numbered[number] is _UNFINISHED:
                raise ValueError("an object contains itself")
            return self._numbered[number]
        if kind not in _BUILDERS:
            raise _foreign(f"a {kind}")
        self._numbered[number] = _UNFINISHED
        made = self._numbered[number] = _BUILDERS[kind](self, node)
        _indices.check(made)
        return made

    def all(self, nodes):
        return [self.built(node) for node in nodes]

    def named(self, kind, node):
        module, name = node["__module__"], node["__class__"]
        try:
            return named(kind, module, name)
        except LookupError:
            raise _foreign(f"{module}.{name}") from None

    def bytes(self, node):
        return self.part(self._archive, node["file"])

    def sparse(self, node):
        kind = self.named("sparse", node)
        with ZipFile(BytesIO(self.bytes(node))) as archive:
            data, indices, indptr, shape = (
                _array(self.part(archive, f"{name}.npy")) for name in ("data", "indices", "indptr", "shape")
            )
        made = kind((data, indices, indptr), shape=tuple(shape.tolist()))
        made.check_format(full_check=True)
        return made


def _array(content):
    """The array in an ``.npy`` file, whose size agrees with the header."""
    stream, headers = BytesIO(content), (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
    shape, _, dtype = headers[np.lib.format.read_magic(stream)[0] - 1](stream)
    n_values, n_bytes = math.prod(shape), len(content) - stream.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or n_values * dtype.itemsize != n_bytes or n_values > len(content):
        raise ValueError("the size of an array is not that of its bytes")
    stream.seek(0)
    return np.load(stream, allow_pickle=False)


def _values(read, node):
    """An array of numbers or text, a number of NumPy's, or an array of objects."""
    if node["type"] == "numpy":
        array = _array(read.bytes(node))
        if node["__class__"] == "ndarray":
            return array
        if not isinstance(array[()], read.named("type", node)):
            raise ValueError("a number is not of its type")
        return array[()]
    items, shape = read.all(node["content"]), read.built(node["shape"])
    for _ in shape[1:]:
        items = [item for row in items if isinstance(row, list) for item in row]
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(shape)


def _masked(read, node):
    return np.ma.MaskedArray(*(read.built(node["content"][name]) for name in ("data", "mask")))


def _mapping(read, node):
    mapping = read.named("container", node)()
    for kind, (key, value) in zip(read.built(node["key_types"]), node["content"].items(), strict=True):
        if not issubclass(kind, (str, int, float, np.generic)):
            raise _foreign(f"keys of type {kind.__name__}")
        mapping[key == "true" if issubclass(kind, (bool, np.bool_)) else kind(key)] = read.built(value)
    return mapping


def _sequence(read, node):
    items = read.all(node["content"])
    if not node["__module__"].startswith("spectralcls"):
        return read.named("container", node)(items)
    kind = read.named("class", node)
    if not issubclass(kind, tuple):
        raise ValueError(f"a {kind.__name__} is not a tuple")
    return kind(*items)


def _state(read, node):
    """The attributes that an object gets."""
    state = None if node.get("content") is None else read.built(node["content"])
    if isinstance(state, dict) and any(not isinstance(name, str) or name.startswith("__") for name in state):
        raise _foreign("an attribute of Python's own")
    return state


def _object(read, node):
    """An instance made without its constructor, as pickle makes it."""
    if node["__module__"] == "builtins" and node["__class__"] == "object":
        return object()
    kind, state = read.named("class", node), _state(read, node)
    if kind.__name__ == "KDTree":  # built anew, because its code trusts its arrays
        read.take(2 * state[0].nbytes)
        return kind(state[0], leaf_size=state[4], metric=state[11])
    if kind.__name__.endswith("Distance64"):
        return kind()
    made = kind.__new__(kind)
    if state is not None:
        update = getattr(made, "__setstate__", None) or made.__dict__.update
        update(state)
    return made


def _tree(read, node):
    from sklearn.tree._tree import Tree

    arguments, state = read.built(node["__reduce__"]["args"]), _state(read, node)
    _indices.tree(*arguments, state)
    read.take(state["nodes"].nbytes + state["values"].nbytes)
    made = Tree(*arguments)
    made.__setstate__(state)
    return made


def _partial(read, node):
    parts = {name: read.built(node["content"][name]) for name in ("args", "kwds")}
    return partial(read.named("function", node["content"]["func"]), *parts["args"], **parts["kwds"])


def _random_state(read, node):
    state = read.built(node["content"])
    _indices.within(state["state"]["pos"], len(state["state"]["key"]) + 1)
    made = np.random.RandomState()
    made.set_state(state)
    return made


def _generator(read, node):
    made = np.random.Generator(np.random.PCG64())
    made.bit_generator.state = read.built(node["content"]["bit_generator"])
    return made


_BUILDERS = {
    "BytesNode": _Reader.bytes,
    "DTypeNode": lambda read, node: read.built(node["content"]).dtype,
    "DictNode": _mapping,
    "FunctionNode": lambda read, node: read.named("function", node),
    "JsonNode": lambda read, node: json.loads(node["content"]),
    "ListNode": _sequence,
    "LossNode": lambda read, node: read.named("loss", node)(*read.built(node["__reduce__"]["args"])),
    "MaskedArrayNode": _masked,
    "NdArrayNode": _values,
    "ObjectNode": _object,
    "PartialNode": _partial,
    "RandomGeneratorNode": _generator,
    "RandomStateNode": _random_state,
    "SetNode": _sequence,
    "SliceNode": lambda read, node: slice(*(node["content"][name] for name in ("start", "stop", "step"))),
    "SparseMatrixNode": _Reader.sparse,
    "TreeNode": _tree,
    "TupleNode": _sequence,
    "TypeNode": lambda read, node: read.named("type", node),
}
