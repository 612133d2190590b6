"""Tools for all subpackages.

- Data: `conversion` makes arrays of numbers, `validation` checks labels and weights, `copies` finds equal rows;
  `typing` has the types of public signatures, `bases` those of scikit-learn's base classes, `quantile` the quantiles of
  weighted values.
- Infrastructure: `advice` (warnings that a caller can suppress), `cached` (attributes computed on first use),
  `atomic_files` (written whole or not at all), `progress`.
- `from_sklearn` holds every private name of scikit-learn that the package uses.
"""
