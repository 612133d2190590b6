"""The tables of ``pytest bench/`` say how many times as long each peer took, next to the times of this package."""

import pytest


def ratios(extra_info):
    """What a bench noted as so many times something: 'times NumPy 29.1, times KeOps 38'."""
    found = {key: value for key, value in extra_info.items() if "times" in key and isinstance(value, int | float)}
    return ", ".join(f"{key} {value:.3g}" for key, value in found.items())


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_benchmark_group_stats(config, benchmarks, group_by):
    groups = yield
    for _, group in groups:
        for bench in group:
            if text := ratios(bench.get("extra_info", {})):
                bench["name"] += f"   {text}"
    return groups
