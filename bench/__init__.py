"""Benchmarks. Each times this package and its peers in one run, and checks that their results agree."""
