import warnings

import pytest


@pytest.fixture(autouse=True)
def odd_data_may_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
