"""Benchmarks: every one times this package and its peers in one run and checks that their answers agree."""
