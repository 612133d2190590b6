"""Peers that need PyTorch: neighborhood components by stochastic gradients, and recursive feature machines."""

import copy

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import train_test_split


class HeldOut(ClassifierMixin, BaseEstimator):
    """A classifier of codes 0, 1, ... whose `fit` also takes a fifth of the points, held out."""

    def __init__(self, estimator, *, random_state=0):
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X, y):
        """Fit a clone of the estimator."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        stratify = codes if np.bincount(codes).min() > 1 and 0.2 * len(X) > len(self.classes_) else None
        train, held_out = train_test_split(
            np.arange(len(X)), test_size=0.2, random_state=self.random_state, stratify=stratify
        )
        self.estimator_ = clone(self.estimator).fit(X[train], codes[train], X[held_out], codes[held_out])
        return self

    def predict(self, X):
        """Labels, (n,)."""
        return self.classes_[self.estimator_.predict(X)]

    def predict_proba(self, X):
        """Probabilities of the classes, (n, n_classes)."""
        return self.estimator_.predict_proba(X)


class TorchNCA(ClassifierMixin, BaseEstimator):
    """Neighborhood components with a small network and stochastic neighborhoods, in the manner of ModernNCA [1]_.

    Points are embedded by a linear map and a residual block; a query's class probabilities are the softmax of minus its
    Euclidean distances to training points, summed by class. Batches meet a random half of the training points.

    Parameters
    ----------
    width : int, default=128
    rate : float, default=0.005
        Of AdamW.
    max_epochs, patience : int, default=100, 15
    random_state : int, default=0

    References
    ----------
    .. [1] H.-J. Ye, H.-H. Yin, D.-C. Zhan, W.-L. Chao, "Revisiting nearest neighbor for tabular data: a deep tabular
       baseline two decades later", ICLR 2025, arXiv:2407.03257.
    """

    def __init__(self, width=128, *, rate=0.005, max_epochs=100, patience=15, random_state=0):
        self.width = width
        self.rate = rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.random_state = random_state

    def fit(self, X, y, X_held_out, y_held_out):
        """Train on codes y, until the log loss of the held-out points has not fallen for `patience` epochs."""
        torch.manual_seed(self.random_state)
        rng = np.random.RandomState(self.random_state)
        self._X, self._y = _tensor(X), torch.as_tensor(y)
        self.n_classes_ = int(max(y.max(), y_held_out.max())) + 1
        self._network = network = _Embedding(X.shape[1], self.width)
        optimizer = torch.optim.AdamW(network.parameters(), lr=self.rate, weight_decay=1e-4)
        Q, truth = _tensor(X_held_out), torch.as_tensor(y_held_out)
        best, kept, waited = np.inf, copy.deepcopy(network.state_dict()), 0
        for _ in range(self.max_epochs):
            network.train()
            for batch in np.array_split(rng.permutation(len(X)), max(1, len(X) // 512)):
                if len(batch) < 2:
                    continue
                others = np.union1d(rng.choice(len(X), max(2, len(X) // 2), replace=False), batch)
                Z = network(self._X[others])
                own = np.searchsorted(others, batch)
                own_distance = torch.nn.functional.one_hot(torch.as_tensor(own), len(others)).bool()
                log_p = _log_posterior(Z[own], Z, self._y[others], self.n_classes_, own_distance)
                optimizer.zero_grad()
                torch.nn.functional.nll_loss(log_p, self._y[batch]).backward()
                optimizer.step()
            loss = float(torch.nn.functional.nll_loss(self._log_posterior(Q), truth))
            waited += 1
            if loss < best:
                best, kept, waited = loss, copy.deepcopy(network.state_dict()), 0
            if waited >= self.patience:
                break
        network.load_state_dict(kept)
        return self

    @torch.no_grad()
    def _log_posterior(self, Q):
        self._network.eval()
        return _log_posterior(self._network(Q), self._network(self._X), self._y, self.n_classes_)

    def predict_proba(self, X):
        """Probabilities, (n, n_classes)."""
        return np.concatenate([self._log_posterior(part).exp().numpy() for part in _tensor(X).split(2000)])

    def predict(self, X):
        """Codes of the most probable classes."""
        return self.predict_proba(X).argmax(axis=1)


class _Embedding(torch.nn.Module):
    def __init__(self, d, width):
        super().__init__()
        self.first = torch.nn.Linear(d, width)
        self.block = torch.nn.Sequential(
            torch.nn.BatchNorm1d(width),
            torch.nn.Linear(width, width),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(width, width),
        )

    def forward(self, X):
        Z = self.first(X)
        return Z + self.block(Z)


def _tensor(X):
    return torch.as_tensor(np.asarray(X, dtype=np.float32))


def _log_posterior(Z_q, Z, y, n_classes, left_out=None):
    distances = torch.cdist(Z_q, Z)
    if left_out is not None:
        distances = distances.masked_fill(left_out, torch.inf)
    mass = torch.softmax(-distances, dim=1) @ torch.nn.functional.one_hot(y, n_classes).float()
    return torch.log(mass + 1e-7)


class RecursiveFeatureMachine(ClassifierMixin, BaseEstimator):
    """xRFM with its defaults, on the processor."""

    def fit(self, X, y, X_held_out, y_held_out):
        """Fit to codes y."""
        from xrfm import xRFM

        self.model_ = xRFM(device=torch.device("cpu"), tuning_metric="accuracy", verbose=False)
        labels = torch.as_tensor(y), torch.as_tensor(y_held_out)
        self.model_.fit(_tensor(X), labels[0], _tensor(X_held_out), labels[1])
        return self

    def predict(self, X):
        """Codes of the most probable classes."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        """Probabilities, (n, n_classes)."""
        return np.asarray(self.model_.predict_proba(_tensor(X)))
