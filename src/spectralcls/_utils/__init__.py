"""Tools for all rooms.

- Data: `conversion` makes arrays of numbers, `validation` checks them, `training_data` holds them checked; `typing` has
  the types of public signatures, `quantile` the quantiles of weighted values.
- Around the work: `advice` (warnings that a caller can withhold), `cached` (attributes computed on first use), `files`
  (written whole or not at all), `progress`.
- `from_sklearn` holds every private name of scikit-learn that the package uses.
"""
