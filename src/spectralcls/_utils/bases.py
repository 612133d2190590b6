"""scikit-learn's base classes. Their types are in the stub, because scikit-learn has no annotations, and a type checker
accepts any argument for a class with an unknown base."""

from sklearn.base import BaseEstimator as BaseEstimator
from sklearn.base import ClassifierMixin as ClassifierMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin
from sklearn.base import DensityMixin as DensityMixin
from sklearn.base import MultiOutputMixin as MultiOutputMixin
from sklearn.base import OutlierMixin as OutlierMixin
from sklearn.base import RegressorMixin as RegressorMixin
from sklearn.base import TransformerMixin as TransformerMixin
from sklearn.utils import Bunch as Bunch

from .from_sklearn import CallbackSupport as CallbackSupport
