"""The tests that `pytest --changed` chooses."""

from pathlib import Path

import pytest
from changed import Choice


@pytest.mark.parametrize(
    "changed, whole, partly, not_at_all",
    [
        ("src/spectralcls/perturbo/_classifier.py", "unit/test_perturbo_tuning.py", "doors/test_dask.py",
         "unit/test_information.py"),
        ("src/spectralcls/density/__init__.py", "unit/test_density.py", "properties/test_failed_refit.py",
         "unit/test_ccdr.py"),
        ("src/spectralcls/_quantile.py", "unit/test_quantile.py", "invariance/test_estimators.py",
         "unit/test_datasets.py"),
        ("cpp/neighbors/knn.cpp", "core/test_neighbors.py", "house/test_estimator.py", "unit/test_ccdr.py"),
        ("cpp/base/simd.hpp", "core/test_tolerance.py", "properties/test_failed_refit.py", "unit/test_ccdr.py"),
        ("tests/unit/test_ccdr.py", "unit/test_ccdr.py", "properties/test_failed_refit.py", "unit/test_density.py"),
    ],
)  # fmt: skip
def test_files_of_a_change(changed, whole, partly, not_at_all):
    choice = Choice([Path(changed)])
    assert choice.of_file(Path("tests") / whole) is True
    assert not choice.of_file(Path("tests") / partly)
    assert choice.of_file(Path("tests") / not_at_all) is False


def test_of_a_file_of_many_modules_the_tests_that_name_what_changed(request):
    """This one names ISEClassifier, and not the other: the name of it is put together."""
    assert Choice([Path("src/spectralcls/kernel_mean/_rule.py")]).of_test(request.node)
    other = Choice([Path("src/spectralcls/density/__init__.py")])
    assert "Parzen" + "Density" in other.names.pattern
    assert not other.of_test(request.node)
