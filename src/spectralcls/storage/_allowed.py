"""All types and functions that a model file may name. Nothing else is ever looked up.

The first word of a line is where this program finds the names that follow. A file names the module in which a class is
defined, of which only the room counts (``sklearn.preprocessing``, ``spectralcls.density``): classes may move inside it.
Classes whose C code trusts what they hold are examined by ``_indices.py``, or are not here.
"""

from collections import OrderedDict
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

_CLASSES = """
sklearn.calibration CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration
sklearn.compose ColumnTransformer TransformedTargetRegressor make_column_selector
sklearn.decomposition PCA TruncatedSVD
sklearn.discriminant_analysis LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis
sklearn.dummy DummyClassifier DummyRegressor
sklearn.ensemble BaggingClassifier BaggingRegressor ExtraTreesClassifier ExtraTreesRegressor
sklearn.ensemble HistGradientBoostingClassifier HistGradientBoostingRegressor RandomForestClassifier
sklearn.ensemble RandomForestRegressor StackingClassifier StackingRegressor VotingClassifier VotingRegressor
sklearn.ensemble._hist_gradient_boosting.binning _BinMapper
sklearn.ensemble._hist_gradient_boosting.predictor TreePredictor
sklearn.feature_extraction.text CountVectorizer TfidfTransformer TfidfVectorizer
sklearn.feature_selection GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest
sklearn.feature_selection SelectPercentile SequentialFeatureSelector VarianceThreshold
sklearn.frozen FrozenEstimator
sklearn.impute KNNImputer MissingIndicator SimpleImputer
sklearn.impute._iterative IterativeImputer _ImputerTriplet
sklearn.isotonic IsotonicRegression
sklearn.kernel_approximation Nystroem RBFSampler
sklearn.linear_model BayesianRidge LinearRegression LogisticRegression LogisticRegressionCV Ridge RidgeCV
sklearn.linear_model RidgeClassifier RidgeClassifierCV
sklearn.metrics._dist_metrics EuclideanDistance64 ManhattanDistance64
sklearn.metrics._scorer _CurveScorer _MultimetricScorer _PassthroughScorer _Scorer
sklearn.model_selection FixedThresholdClassifier GridSearchCV GroupKFold KFold LeaveOneOut RandomizedSearchCV
sklearn.model_selection RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold
sklearn.model_selection StratifiedShuffleSplit TimeSeriesSplit TunedThresholdClassifierCV
sklearn.model_selection._search_successive_halving HalvingGridSearchCV HalvingRandomSearchCV
sklearn.multiclass OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier _ConstantPredictor
sklearn.multioutput ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain
sklearn.naive_bayes GaussianNB
sklearn.neighbors KDTree KNeighborsClassifier KNeighborsRegressor NeighborhoodComponentsAnalysis
sklearn.pipeline FeatureUnion Pipeline
sklearn.preprocessing Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler
sklearn.preprocessing MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer
sklearn.preprocessing QuantileTransformer RobustScaler StandardScaler TargetEncoder
sklearn.semi_supervised SelfTrainingClassifier
sklearn.svm LinearSVC LinearSVR SVC SVR
sklearn.tree DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor
sklearn.utils._metadata_requests MetadataRequest MethodMetadataRequest
sklearn._loss.link HalfLogitLink IdentityLink Interval LogLink LogitLink MultinomialLogit
sklearn._loss.loss AbsoluteError HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss HalfPoissonLoss HalfSquaredError
sklearn._loss.loss PinballLoss
"""
_LOSSES = """
sklearn._loss._loss CyAbsoluteError CyHalfBinomialLoss CyHalfGammaLoss CyHalfMultinomialLoss CyHalfPoissonLoss
sklearn._loss._loss CyHalfSquaredError CyPinballLoss
"""
_OWN = """
spectralcls._expansion Expansion LowRankOperator LowRankSpectrum Rule Spectrum Standardization TrainingPoints
spectralcls._inputs ColumnEncoder Completion Donors GivenKernel Indicators Inputs Table TrainingData
spectralcls._utils TargetUnits
spectralcls.ccdr CCDR CCDRClassifier VoteWeights
spectralcls.datasets Schema
spectralcls.density DensityForm ParzenDensity ParzenOutlierDetector Space
spectralcls.ensemble AutoClassifier AutoRegressor Blend BoostedRegression BoostedTrees GrownTrees Positions TargetMap
spectralcls.ensemble Vote VotingMember VotingRegressor
spectralcls.kernel_mean CauchySchwarzClassifier ISEClassifier LaplacianISEClassifier ParzenClassifier
spectralcls.kernels PackedPoints
spectralcls.linalg KernelOperator
spectralcls.metric GradientMetric KernelMetric LearnedMap _Kernel
spectralcls.perturbo ClassModel NearestModel PerTurboClassifier Regularization
spectralcls.regression KernelRegressor KernelRidgeClassifier KernelRidgeRegressor LocalMoments
spectralcls.regression GivenForm RegressionForm RegressionKinds
spectralcls.spectral ClasswiseMap GrowingEigenpairs KernelMap LaplacianSpectralClassifier LeastSquares
spectralcls.spectral SpectralISEClassifier SpectralKernel SpectralKernelClassifier SpectralLaplacianISEClassifier
"""
_FUNCTIONS = """
sklearn.feature_selection chi2 f_classif f_regression mutual_info_classif mutual_info_regression r_regression
sklearn.metrics accuracy_score average_precision_score balanced_accuracy_score brier_score_loss f1_score log_loss
sklearn.metrics matthews_corrcoef max_error mean_absolute_error mean_absolute_percentage_error mean_pinball_loss
sklearn.metrics mean_squared_error median_absolute_error precision_score r2_score recall_score roc_auc_score
sklearn.metrics root_mean_squared_error
sklearn.utils check_array
"""
_UFUNCS = "absolute cbrt exp exp2 expm1 log log10 log1p log2 negative reciprocal sign sqrt square tanh"
_SPARSE = "csc_array csc_matrix csr_array csr_matrix"
_BUILTINS = (bool, float, int, object, str)


def _room(module):
    """The part of a module's name that counts: packages of scikit-learn and of this package, the root of others."""
    root, *inner = module.split(".")
    return ".".join([root, *inner[:1]]) if root in ("sklearn", "spectralcls") else root


def _places(text):
    return {
        (_room(place), name): place
        for place, *names in map(str.split, filter(None, text.splitlines()))
        for name in names
    }


_PLACES = {"class": _places(_CLASSES + _OWN), "function": _places(_FUNCTIONS), "loss": _places(_LOSSES)}
_PLACES["loss"] |= {("_loss", name): place for (_, name), place in _PLACES["loss"].items()}  # before scikit-learn 1.9
_THINGS = {
    "container": {("builtins", kind.__name__): kind for kind in (dict, list, set, tuple)}
    | {("collections", "OrderedDict"): OrderedDict, ("sklearn.utils", "Bunch"): Bunch},
    "type": {("builtins", kind.__name__): kind for kind in _BUILTINS}
    | {("numpy", kind.__name__): kind for kind in {*np.sctypeDict.values()}}
    | {("numpy", "bool"): np.bool_, ("numpy", "bool_"): np.bool_},
    "sparse": {("scipy", name): getattr(sparse, name) for name in _SPARSE.split()},
    "function": {("numpy", name): getattr(np, name) for name in _UFUNCS.split()},
}


def named(kind, module, name):
    """What the table holds under a name that a file gives.

    Parameters
    ----------
    kind : {"class", "container", "function", "loss", "sparse", "type"}
        What may stand at this place of the file.

    Raises
    ------
    LookupError
        If the table does not hold it.
    """
    key = (_room(module), name)
    if "__" in module:
        raise LookupError
    if key in _THINGS.get(kind, {}):
        return _THINGS[kind][key]
    return _imported(_PLACES.get(kind, {})[key], name)


@cache
def _imported(place, name):
    """Import what this table, never a file, says; in a room of this package from the module that defines it."""
    package = import_module(place)
    if hasattr(package, name) or not place.startswith("spectralcls"):
        return getattr(package, name)
    for part in iter_modules(package.__path__):
        found = getattr(import_module(f"{place}.{part.name}"), name, None)
        if found is not None:
            return found
    raise LookupError
