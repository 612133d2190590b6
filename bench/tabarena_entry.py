"""AutoClassifier and AutoRegressor as a model of TabArena: threads and time from what it passes, metrics its own

One command runs all data sets that TabArena downloads::

    python -m bench.tabarena_entry FOLDER [name of a data set ...]

TabArena gives each fit one hour and bags eight folds; names of data sets select a quick trial. Without TabArena,
AutoGluon takes the class as it is: ``TabularPredictor(...).fit(table, hyperparameters={SpectralVote: {}})``.
"""

import sys

import numpy as np
from autogluon.core.models import AbstractModel

from spectralcls import AutoClassifier, AutoRegressor

_OF_TIME = 0.9  # share of the time that the fit may use; AutoGluon scores the validation part in the rest


class SpectralVote(AbstractModel):
    """The vote learns from the training part only: it holds rows out itself, so the validation part stays unseen."""

    ag_key = "SPECTRALCLS"
    ag_name = "spectralcls"
    seed_name = "random_state"

    def _fit(self, X, y, time_limit=None, sample_weight=None, num_cpus=1, **kwargs):
        vote = AutoRegressor if self.problem_type == "regression" else AutoClassifier
        budget = None if time_limit is None else _OF_TIME * time_limit
        # A fit limits BLAS to one thread by itself; n_jobs are the threads of the core.
        self.model = vote(n_jobs=num_cpus, time_budget=budget, **self._get_model_params())
        self.model.fit(self.preprocess(X), y, sample_weight)

    def _predict_proba(self, X, **kwargs):
        X = self.preprocess(X, **kwargs)
        if self.problem_type == "regression":
            return self.model.predict(X)
        p = np.zeros((len(X), self.num_classes or 2))  # a fold may lack a class
        p[:, self.model.classes_.astype(int)] = self.model.predict_proba(X)
        return self._convert_proba_to_unified_form(p)

    def _get_default_auxiliary_params(self):
        kept = {"valid_raw_types": ["int", "float", "category", "bool"]}
        return super()._get_default_auxiliary_params() | kept

    def _get_default_resources(self):
        return 1, 0  # processors and accelerators of one fit: TabArena runs the folds of a bag side by side

    @classmethod
    def supported_problem_types(cls):
        return ["binary", "multiclass", "regression"]


def main(folder, *names):
    from tabarena.benchmark.experiment import TabArenaV0pt1ExperimentBundle
    from tabarena.contexts import TabArenaContext
    from tabarena.utils.config_utils import ConfigGenerator

    configurations = ConfigGenerator(model_cls=SpectralVote, manual_configs=[{}], search_space={})
    context = TabArenaContext()
    context.build_and_run_jobs(
        TabArenaV0pt1ExperimentBundle(models=[(configurations, 0)]).build_experiments(),
        expname=f"{folder}/results",
        **({"subset": "lite", "build_kwargs": {"dataset_names": list(names)}} if names else {}),
    )
    board = context.compare(output_dir=f"{folder}/compared")
    print(context.leaderboard_to_website_format(leaderboard=board).to_markdown(index=False))


if __name__ == "__main__":
    from bench.tabarena_entry import main  # under its own name, which workers import

    main(*sys.argv[1:])
