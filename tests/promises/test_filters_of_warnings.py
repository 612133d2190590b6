"""Filters of warnings belong to the whole process: a fit that sets them for a while changes what other threads raise.

scikit-learn's checks of input set them too, so the filters themselves may differ after fits in several threads; what is
asserted is that this package leaves them alone.
"""

import sys
import warnings

import pytest
import scipy.sparse as sp
from every_estimator import make, names, problem, responses

from spectralcls.spectral import SpectralKernelClassifier

X, y, Q = problem()


@pytest.fixture
def setters(monkeypatch):
    """Names of the modules that set filters for a while, filled as they do."""
    found, enter = set(), warnings.catch_warnings.__enter__

    def recorded(context):
        found.add(sys._getframe(1).f_globals["__name__"])
        return enter(context)

    monkeypatch.setattr(warnings.catch_warnings, "__enter__", recorded)
    return found


def own(modules):
    return [name for name in modules if name.partition(".")[0] == "spectralcls"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", names())
def test_fits_and_answers_leave_them_alone(name, setters):
    responses(make(name).fit(X, y), Q)
    assert setters and not own(setters)


def test_fits_of_sparse_data_leave_them_alone(setters):
    documents = sp.random(200, 60, density=0.1, random_state=0, format="csr")
    SpectralKernelClassifier().fit(documents, [0, 1, 2, 3] * 50)
    assert setters and not own(setters)
