"""One class in memory and on Dask: what it is fitted to says where it works; what cannot be distributed says so."""

import pytest

pytest.importorskip("dask.array")
