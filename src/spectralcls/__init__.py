"""Information-theoretic and spectral classifiers over four compiled primitives."""

__version__ = "0.1.0"
