"""Model files by strangers: `load` reads them or raises ValueError, and does nothing else; no process ends by them."""

import io
import json
import subprocess
import sys
import warnings
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import every_estimator as estimators
import numpy as np
import pandas as pd
import pytest
from fuzz.strategies import SEEDS
from hypothesis import given
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import spectralcls
from spectralcls.ccdr import CCDRClassifier
from spectralcls.cli import main
from spectralcls.spectral import SpectralKernelClassifier
from spectralcls.storage import _allowed

skops = pytest.importorskip("skops.io")

MODULES = """os sys subprocess builtins ctypes numpy numpy.f2py.__main__ numpy.distutils numpy.testing scipy.io idlelib
scipy._lib._uarray sklearn.conftest sklearn.utils._testing sklearn.datasets spectralcls.__main__ spectralcls.cli.main
spectralcls.datasets sklearn.preprocessing sklearn.preprocessing.__main__ spectralcls._core antigravity this __main__
pickle functools operator numpy.random importlib.metadata sklearn.__init__ ../evil \ud800 x\ny .""".split(" ")
NAMES = """system eval exec memmap load loads ndarray __class__ __subclasses__ __import__ __builtins__ Path run Popen
DataSource fetch_openml load_files kernel_sums StandardScaler ParzenClassifier OneHotEncoder Tree KDTree partial
attrgetter _reconstruct float64 str object type check_array log1p read_table save main \x1b[2J""".split(" ")
LOADERS = """DictNode ListNode SetNode TupleNode JsonNode NdArrayNode MaskedArrayNode DTypeNode SliceNode BytesNode
BytearrayNode ObjectNode TypeNode FunctionNode PartialNode MethodNode OperatorFuncNode ConstructorFromReduceNode
TreeNode LossNode SparseMatrixNode RandomStateNode RandomGeneratorNode CachedNode DefaultDictNode QuantileForestNode
Evil""".split()
VALUES = [None, -1, 2**31, 2**70, 1e308, float("nan"), "", "\ud800", "[" * 3000, [], [[]], {}, True, "__class__", "os"]
FIELDS = [
    "__id__",
    "__loader__",
    "__class__",
    "__module__",
    "content",
    "type",
    "file",
    "shape",
    "key_types",
    "protocol",
]


@cache
def models():
    """Files of small models: all of the parts that compiled code evaluates, and a table with categories."""
    X, y, Q = estimators.problem(n=24)
    words, levels = np.array([f"{'abc'[k]} {k}" for k in y]), np.column_stack([y, y[::-1]])
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(np.array(["p", "q", "r"])[y])})
    boosting = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3, categorical_features="from_dtype")
    vote = estimators.make("AutoClassifier", fixed=True)
    fitted = [
        *((make.fit(X, y), Q) for make in (spectralcls.ParzenClassifier(1.0), SVC(), KNeighborsClassifier(3), vote)),
        *((make.fit(X, y), Q) for make in (spectralcls.PerTurboClassifier(bandwidth=1.0), SpectralKernelClassifier())),
        (CCDRClassifier(n_components=2).fit(X, y), Q),
        (RandomForestClassifier(3).fit(X, y), Q),
        (boosting.fit(frame, y), frame),
        (make_pipeline(OneHotEncoder(min_frequency=9, drop="first"), SVC(kernel="linear")).fit(levels, y), levels),
        (make_pipeline(TfidfVectorizer(token_pattern=r"\w"), SpectralKernelClassifier()).fit(words, y), words),
    ]
    for (
        kind,
        places,
    ) in _allowed._PLACES.items():  # imports all that the table names, for the files that name more of it
        for (_, name), place in places.items():
            _allowed.named(kind, place, name)
    assert "cp437".encode("cp437") and repr(fitted)  # for names in archives, and for messages
    return [(skops.dumps(model), queries) for model, queries in fitted]


def nodes(value):
    """All dictionaries in a JSON value."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(child)


def with_another_node(random, schema):
    """A schema in which one to three nodes are not what they were."""
    for _ in range(random.randint(1, 3)):
        every = [*nodes(schema)]
        node, other = random.choice(every), json.loads(json.dumps(random.choice(every)))
        change = random.randrange(8)
        if change == 0:
            node["__module__"], node["__class__"] = random.choice(MODULES), random.choice(NAMES)
        elif change == 1:
            node["__class__"] = random.choice(NAMES)
        elif change == 2:
            node["__loader__"] = random.choice(LOADERS)
        elif change == 3:
            node.update({name: other[name] for name in other if name in FIELDS and random.random() < 0.5})
        elif change == 4:
            node[random.choice([*FIELDS, *node])] = random.choice(VALUES)
        elif change == 5 and node:
            del node[random.choice([*node])]
        elif change == 6:
            kind = {"__module__": random.choice(MODULES), "__class__": random.choice(NAMES)}
            node["content"] = {**kind, "__loader__": random.choice(LOADERS), "content": {}, "attrs": {}, "file": "x"}
        elif isinstance(node.get("content"), dict):
            node["content"][random.choice(["__class__", "__dict__", "__init__", "predict"])] = other
    return schema


def with_other_numbers(random, content):
    """An ``.npy`` or ``.npz`` part with indices far outside, another shape or type, or fewer bytes."""
    change = random.randrange(6)
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            parts = {name: parts.read(name) for name in parts.namelist()}
        name = random.choice([*parts])
        return zipped({**parts, name: with_other_numbers(random, parts[name])})
    if change == 0:
        return content[: random.randrange(len(content))]
    if change == 1:  # bytes, of the header for the most part
        content = bytearray(content)
        for _ in range(random.randint(1, 4)):
            content[random.randrange(len(content) if random.random() < 0.5 else 128) % len(content)] = random.randrange(
                256
            )
        return bytes(content)
    if change == 2:
        shape = random.choice(["(9999999999, 99999)", "(-1,)", "(0, 99999999999)", "()", "(2, 2)", "(1, 0)"])
        kind = random.choice(["<f8", "|O", "|V0", "<U0", "<U99999999", "<M8[D]", "|V2147483647", "|S1"])
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content[128:]
    array = np.load(io.BytesIO(content)).copy()
    flat = array.reshape(-1)
    for field in array.dtype.names or ("",):
        values = flat[field] if field else flat
        if values.dtype.kind in "iu" and len(values):
            wrong = random.choice([-1, 0, 1, len(flat), 10**8, -(10**6), 2**31 - 1])
            values[random.randrange(len(values)) if random.random() < 0.5 else slice(None)] = values.dtype.type(
                np.int64(wrong).astype(values.dtype)
            )
    if change == 5:
        array = random.choice([array[:-1] if array.ndim else array, array[None], array.T, flat])
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(parts, method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
        warnings.simplefilter("ignore")  # two parts of one name are meant
        for name, part in parts.items() if isinstance(parts, dict) else parts:
            archive.writestr(name, part)
    return stream.getvalue()


def hostile(random):
    """A model file that was tampered with, and queries for the model that it was."""
    content, queries = random.choice(models())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in parts if name != "schema.json"]
    change = random.randrange(10)
    if change < 5:
        parts["schema.json"] = json.dumps(with_another_node(random, json.loads(parts["schema.json"])))
    elif change < 8:
        for name in random.sample(arrays, min(len(arrays), random.randint(1, 3))):
            parts[name] = with_other_numbers(random, parts[name])
    if change == 8:
        tricks = [
            lambda: zipped([*parts.items(), ("schema.json", b"[]"), ("../../evil", b"x")]),
            lambda: zipped(parts, random.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])),
            lambda: zipped({**parts, random.choice([*parts]): bytes(2**28 + 1)}, zipfile.ZIP_DEFLATED),
            lambda: zipped({**parts, "schema.json": "[" * 10**5}),
            lambda: zipped({**parts, "schema.json": '{"content":' * 10**4 + "1" + "}" * 10**4}),
            lambda: zipped({"schema.json": parts["schema.json"]}),
            lambda: zipped({"schema.json": "1" * random.choice([1, 10**5])}),
            lambda: zipped({"schema.json": b"\xff\xfe\x00"}),
        ]
        return random.choice(tricks)(), queries
    content = zipped(parts)
    if change == 9:  # a byte of the directory or of a header of the archive
        content = bytearray(content)
        for _ in range(random.randint(1, 3)):
            content[random.choice([random.randrange(len(content)), -random.randrange(1, 400)])] = random.randrange(256)
        content = bytes(content[: random.choice([None, random.randrange(len(content))])])
    return content, queries


EVENTS = []  # what the interpreter did while a file was read
QUIET = ("compile", "marshal", "object.", "sys._getframe", "array.", "code.__new__", "gc.", "builtins.id")


def watch(event, arguments):
    # From Python 3.13 on, a traceback looks for the source of `python -c`.
    allowed = event == "open" and str(arguments[0]) in (*WATCHED, "<string>")
    if WATCHED and not event.startswith(QUIET) and not allowed:
        EVENTS.append((event, str(arguments)[:200]))


WATCHED = []
sys.addaudithook(watch)


def loaded(content):
    """The model in a file, or None if it is refused as it should be."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        path.write_bytes(content)
        del EVENTS[:]
        WATCHED.append(str(path))
        try:
            return spectralcls.load(path)
        except ValueError as error:
            message = str(error).removeprefix(f"{path}: ")
            assert message.isprintable() and len(message) < 500, message
        finally:
            WATCHED.clear()
            assert not EVENTS, EVENTS
            assert [each.name for each in Path(folder).iterdir()] == ["model.skops"]


@given(SEEDS)
def test_a_strange_file_is_refused_and_does_nothing(seed):
    models()
    random = Random(seed)
    for _ in range(5):
        loaded(hostile(random)[0])


def answer(seed, n):
    """Let the models in `n` strange files, as far as they are read, predict: they may fail, in any way but a signal."""
    random, n_read = Random(seed), 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(n):
            content, queries = hostile(random)
            model = loaded(content)
            for method in ("predict", "predict_proba", "decision_function"):
                try:
                    getattr(model, method)(queries)
                    n_read += 1
                except Exception:
                    pass
    return n_read


def test_predict_succeeds_only_with_its_output(capsys):
    random = Random(7)
    with TemporaryDirectory() as folder:
        model, data, out = (str(Path(folder) / name) for name in ("m.skops", "d.csv", "o.csv"))
        Path(data).write_text("a,b\n" + "0.5,1.5\n2.5,0.5\n" * 10)
        for _ in range(60):
            Path(model).write_bytes(hostile(random)[0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    code = main(["predict", model, data, "--out", out, "--quiet"])
                except Exception:  # of a model whose parts do not fit together: Python's exit status is 1
                    code = 1
            assert (code == 0) == Path(out).exists(), (code, capsys.readouterr())
            Path(out).unlink(missing_ok=True)


@pytest.mark.parametrize("seed", range(2))
def test_no_process_ends_by_a_prediction_of_a_strange_model(seed):
    program = f"from fuzz import test_model_files as files; assert files.answer({seed}, 100)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[1], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
