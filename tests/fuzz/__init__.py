"""Random calls of every public function and estimator against slow truth; Hypothesis shrinks what it finds.

`pytest tests/fuzz` draws a few calls of each, always the same. `pytest --hypothesis-profile=many tests/fuzz` draws a
million new ones; with `-n 2` a crash ends one worker only, and is reported."""
