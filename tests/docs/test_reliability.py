"""The page about reliability says what the suite of invariances tries."""

import pytest
from every_estimator import KINDS
from invariances import EXCEPTIONS, PAGE, PROMISES, written


@pytest.mark.skipif(not PAGE.exists(), reason="the tests run without the source folder")
def test_the_page_lists_promises_and_exceptions():
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "write it by python -m tests.invariances"


def test_exceptions_are_of_promises_and_estimators():
    assert EXCEPTIONS.keys() <= PROMISES.keys()
    assert {name for reasons in EXCEPTIONS.values() for name in reasons} <= KINDS.keys()
