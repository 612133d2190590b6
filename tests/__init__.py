"""The tests; a package, so that no other one called `tests` takes its place."""
