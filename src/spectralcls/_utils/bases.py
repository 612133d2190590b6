"""scikit-learn's base classes. Their types are in the stub, because scikit-learn has no annotations: for a type
checker, a class that derives from an unknown one would accept any argument."""

from sklearn.base import BaseEstimator as BaseEstimator
from sklearn.base import ClassifierMixin as ClassifierMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin
from sklearn.base import DensityMixin as DensityMixin
from sklearn.base import MultiOutputMixin as MultiOutputMixin
from sklearn.base import OutlierMixin as OutlierMixin
from sklearn.base import RegressorMixin as RegressorMixin
from sklearn.base import TransformerMixin as TransformerMixin
