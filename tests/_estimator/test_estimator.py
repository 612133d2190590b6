"""The skeleton: a fit happens as a whole or not at all; parameters of shared names have one constraint and one text."""

import numpy as np
import pytest
from every_estimator import make
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spectralcls
from spectralcls import ISEClassifier, KernelMap, ParzenClassifier
from spectralcls._estimator import CONSTRAINTS, Estimator, finite_scores, log_posterior, transactional
from spectralcls.spectral import SpectralISEClassifier


class Steps(Estimator):
    """Learns in steps.

    Parameters
    ----------
    stop : exception class or None, default=None
    tolerance : float or None, default=0.25
        Relative error allowed in kernel sums.
    """

    _parameter_constraints = {"stop": "no_validation"}

    def __init__(self, stop=None, *, tolerance=0.25):
        self.stop = stop
        self.tolerance = tolerance

    @transactional
    def fit(self, value, optional=None):
        self.first_ = value
        if optional is not None:
            self.optional_ = optional
        if self.stop is not None:
            raise self.stop("midway")
        self._private = value
        return self

    @transactional(keep=True)
    def partial_fit(self, value):
        self.first_ = self.first_ + value
        if self.stop is not None:
            raise self.stop("midway")
        return self

    @transactional
    def fit_transform(self, value):
        return self.fit(value).first_ * 2


@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_transform"])
@pytest.mark.parametrize("stop", [ValueError, MemoryError, KeyboardInterrupt])
def test_what_ends_early_changes_nothing(method, stop):
    model = Steps().fit(1, optional=2)
    before = dict(vars(model))
    model.stop = stop
    with pytest.raises(stop, match="midway"):
        getattr(model, method)(5)
    assert vars(model) == before | {"stop": stop}


def test_a_fit_starts_from_the_parameters_alone():
    model = Steps().fit(1, optional=2)
    assert model.optional_ == 2 and model.fit(3) is model
    learned = {"first_": 3, "_private": 3, "_learned_names": ["_private", "first_"]}
    assert vars(model) == {"stop": None, "tolerance": 0.25, **learned}
    assert model.partial_fit(4) is model and model.first_ == 7 and model._private == 3
    assert model.fit_transform(5) == 10 and model.first_ == 5


def test_what_a_user_set_on_the_estimator_stays():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = KernelMap(2).set_output(transform="pandas").fit(X)
    assert list(model.fit(X).transform(X).columns) == ["kernelmap0", "kernelmap1"]


def test_parameters_of_shared_names_are_validated():
    with pytest.raises(ValueError, match="The 'tolerance' parameter of Steps must be a float"):
        Steps(tolerance=2).fit(1)
    for kind in (ParzenClassifier, SpectralISEClassifier, KernelMap):
        assert set(kind._parameter_constraints) == set(kind().get_params())
    assert ISEClassifier._parameter_constraints["cv"] is CONSTRAINTS["cv"]


def test_scores_become_finite_and_posteriors():
    scores = np.array([[-np.inf, 2.0, 3.0], [1.0, 2.0, 3.0]])
    finite = finite_scores(scores)
    assert np.isfinite(finite).all() and finite[0].argmin() == 0
    np.testing.assert_array_equal(finite[1], scores[1])
    far = finite_scores(np.array([[-np.inf, -1e30, -2e30], [-2e30, -np.inf, -1e30]]))  # a shift is lost
    np.testing.assert_array_equal(far.argsort(axis=1), [[0, 2, 1], [1, 0, 2]])
    posterior = np.exp(log_posterior(np.array([[-1e40, -1e40, -np.inf], [0.0, np.log(3), -np.inf]])))
    np.testing.assert_allclose(posterior, [[0.5, 0.5, 0], [0.25, 0.75, 0]], rtol=1e-14)


@pytest.mark.parametrize("name", ["ParzenClassifier", "KernelRidgeClassifier", "CCDRClassifier", "PerTurboClassifier"])
@pytest.mark.parametrize("dtype", ["Int8", "Int64", "boolean", "int64[pyarrow]", "bool[pyarrow]"])
def test_labels_of_nullable_dtypes_stay_what_they_are(name, dtype):
    pd = pytest.importorskip("pandas")
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    X, codes = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    plain = codes if "int" in dtype.lower() else codes == 1
    if "64" in dtype:
        plain = plain + 2**62  # which no float tells apart
    model = make(name).fit(X, pd.Series(plain, dtype=dtype))
    assert model.classes_.dtype.kind == plain.dtype.kind
    np.testing.assert_array_equal(model.classes_, np.unique(plain))
    np.testing.assert_array_equal(model.predict(X), make(name).fit(X, plain).predict(X))
    if name != "CCDRClassifier":  # to which a missing label says that the sample has none
        with pytest.raises(ValueError, match="y contains NaN: row 3"):
            make(name).fit(X, pd.Series(plain, dtype=dtype).mask(np.arange(30) == 3))


@pytest.mark.parametrize("dtype", [int, bool, float])
def test_labels_that_are_objects_of_numbers_are_numbers(dtype):
    """As the last column of a table that also holds text has them."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    plain = (np.arange(30) % 2).astype(dtype)
    pd = pytest.importorskip("pandas")
    for y in (plain.astype(object), pd.Series(plain, dtype=object)):
        model = spectralcls.ParzenClassifier(1.0).fit(X, y)
        assert model.classes_.dtype == plain.dtype
        np.testing.assert_array_equal(model.predict(X), spectralcls.ParzenClassifier(1.0).fit(X, plain).predict(X))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        spectralcls.ParzenClassifier(1.0).fit(X, np.linspace(0.1, 0.9, 30).astype(object))


def test_a_warning_points_at_the_line_of_the_user():
    x = np.r_[np.linspace(0, 1, 20), 50.0][:, None]
    model = make_pipeline(StandardScaler(), spectralcls.KernelRegressor(0.5, kernel="epanechnikov"))
    with pytest.warns(UserWarning, match="in column 0, row 20"), pytest.warns(match="reaches row 20") as caught:
        model.fit(x, np.sin(x[:, 0]))
    assert {warning.filename for warning in caught} == {__file__}


def test_records_and_amounts_are_refused_as_labels_and_say_what_to_do():
    X = np.random.default_rng(0).normal(size=(30, 2))
    survival = np.array([(True, 3.0), (False, 5.0)] * 15, dtype=[("event", bool), ("days", float)])
    for name in ("AutoClassifier", "AutoRegressor", "ParzenClassifier", "KernelRegressor", "KernelRidgeRegressor"):
        with pytest.raises(ValueError, match=r"records with the fields 'event', 'days': .* y\['days'\]"):
            make(name).fit(X, survival)
    with pytest.raises(ValueError, match="continuous.*AutoRegressor predicts numbers"):
        spectralcls.AutoClassifier().fit(X, X[:, 0])


def test_a_frame_without_columns_and_folds_without_groups_are_refused():
    pd = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    for name in ("ParzenClassifier", "KernelRidgeRegressor", "ParzenDensity", "CCDR"):
        with pytest.raises(ValueError, match=r"0 feature\(s\).* required by " + name):
            make(name).fit(pd.DataFrame(index=range(30)), y)
    with pytest.raises(ValueError, match="GroupKFold splits by groups.*groups="):
        ParzenClassifier(cv=GroupKFold(2)).fit(X, y)
    ParzenClassifier(cv=list(GroupKFold(2).split(X, y, y // 2 + np.arange(30) // 4))).fit(X, y)


@pytest.mark.parametrize(
    "name", ["KernelRidgeRegressor", "AutoRegressor", "KernelRidgeClassifier", "PerTurboClassifier"]
)
def test_a_missing_argument_is_named_with_the_class_of_the_object(name):
    with pytest.raises(TypeError, match=rf"^{name}.fit\(\) missing 2 required positional arguments: 'X' and 'y'"):
        make(name).fit()
    with pytest.raises(TypeError, match=rf"^{name}.predict\(\) missing 1 required"):
        make(name).predict()
    with pytest.raises(TypeError, match="^midway$"):
        Steps(TypeError).fit(1)


@pytest.mark.parametrize("name", ["ParzenDensity", "KernelRidgeClassifier", "KernelRegressor"])
def test_an_unknown_parameter_is_refused_in_the_name_of_the_class(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'algorithm'"):
        getattr(spectralcls, name)(algorithm=1)
