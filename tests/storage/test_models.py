"""Models that other versions have stored (``tests/make_models.py``) answer as they did, or say which version to use."""

import lzma
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from every_estimator import make, names, problem, responses

import spectralcls
from spectralcls._estimator import state

skops_io = pytest.importorskip("skops.io")
FOLDER = Path(__file__).parents[1] / "models"
STORED = sorted(FOLDER.glob("*.xz"))


def load(file):
    content = lzma.decompress(file.read_bytes())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Trying to unpickle")  # parts by another version of scikit-learn
        if file.suffixes[-2] == ".pkl":
            return pickle.loads(content)
        return skops_io.loads(content, trusted=skops_io.get_untrusted_types(data=content))


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.name)
def test_stored_models_answer_as_they_did(file):
    with np.load(file.with_suffix("").with_suffix(".npz")) as content:
        answers = dict(content)
    queries = answers.pop("queries")
    asked = set()
    for name, model in load(file).items():
        for what, answer in responses(model, queries).items():
            expected, key = answers[f"{name} {what}"], f"{name} {what}"
            asked.add(key)
            if np.asarray(answer).dtype.kind != "f":  # labels
                np.testing.assert_array_equal(answer, expected, err_msg=key)
            else:
                np.testing.assert_allclose(answer, expected, rtol=1e-6, atol=1e-9, err_msg=key)
    assert asked == set(answers)


def test_models_of_this_version_are_stored_in_both_formats():
    mine = {file.name for file in STORED if file.name.startswith(spectralcls.__version__)}
    assert mine == {f"{spectralcls.__version__}{suffix}.xz" for suffix in (".pkl", ".skops")}


@pytest.mark.parametrize("name", names())
def test_no_generator_of_random_numbers_is_stored(name):
    X, y, _ = problem(n=24, d=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name, fixed=True).fit(X, y)
    assert b"MT19937" not in pickle.dumps(model)  # NumPy 1 cannot read one by NumPy 2


@pytest.mark.parametrize("name", names())
def test_a_model_of_a_version_that_is_not_read_names_it(name, monkeypatch):
    X, y, _ = problem(n=24, d=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name, fixed=True).fit(X, y)
    for version in ("0.0.9", "99.1.0"):
        with monkeypatch.context() as patched:
            patched.setattr(state, "__version__", version)
            pickled, stored = pickle.dumps(model), skops_io.dumps(model)
        with pytest.raises(ValueError, match=f"install spectralcls=={version}"):
            pickle.loads(pickled)
        with pytest.raises(ValueError, match=f"install spectralcls=={version}"):
            skops_io.loads(stored, trusted=skops_io.get_untrusted_types(data=stored))
