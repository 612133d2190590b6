"""scikit-learn's base classes. Their types are in the stub: scikit-learn has no annotations, and a class that derives
from an unknown one takes any argument as far as a type checker can tell."""

from sklearn.base import BaseEstimator as BaseEstimator
from sklearn.base import ClassifierMixin as ClassifierMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin
from sklearn.base import DensityMixin as DensityMixin
from sklearn.base import MultiOutputMixin as MultiOutputMixin
from sklearn.base import OutlierMixin as OutlierMixin
from sklearn.base import RegressorMixin as RegressorMixin
from sklearn.base import TransformerMixin as TransformerMixin
