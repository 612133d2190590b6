"""
=================================================
Which library is this docstring from?
=================================================

This example classifies raw text with the spectral kernel. The documents are the
docstrings of the public functions and classes of six installed modules, and the labels
are the modules. The embedding is computed once; cross-validation then chooses the
number of components for the linear SVM of each class.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from spectralcls import SpectralKernelClassifier

MODULES = [
    "numpy",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
]


def docstrings(module_name):
    """The beginnings of all public docstrings, without the names of the modules."""
    module = importlib.import_module(module_name)
    names = [name for name in dir(module) if not name.startswith("_")]
    texts = (inspect.getdoc(getattr(module, name)) or "" for name in names)
    texts = {text[:600] for text in texts if len(text) > 100}
    for word in ("numpy", "scipy", *module_name.split(".")):
        texts = {text.replace(word, "") for text in texts}
    return sorted(texts)


texts, labels = [], []
for name in MODULES:
    found = docstrings(name)
    texts += found
    labels += [name] * len(found)
train, test, y_train, y_test = train_test_split(
    texts, labels, test_size=0.4, stratify=labels, random_state=0
)

words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
spectral = make_pipeline(words, SpectralKernelClassifier(random_state=0)).fit(
    train, y_train
)
linear = make_pipeline(words, LinearSVC(random_state=0)).fit(train, y_train)
for name, model, size in (
    ("spectral kernel", spectral, len(spectral[-1].spectral_kernel_.eigenvalues_)),
    ("all terms", linear, len(linear[0].vocabulary_)),
):
    score = f1_score(y_test, model.predict(test), average="macro")
    print(f"{name}: macro F1 {score:.3f} with {size} numbers a document")

# %%
# The left plot shows the cross-validated scores, and the number of components chosen
# for each class. The right plot shows two components of the documents, which are all on
# the unit sphere.
classifier = spectral[-1]
results = classifier.cv_results_
embedded = classifier.spectral_kernel_.transform(spectral[0].transform(train))
embedded /= np.linalg.norm(embedded, axis=1, keepdims=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4))
chosen_and_marked = zip(classifier.n_components_, "o^sDvP", strict=True)
for i, (chosen, marker) in enumerate(chosen_and_marked):
    label = classifier.classes_[i]
    scores = results[f"split{i}_test_score"]
    (line,) = left.plot(results["param_n_components"], scores, label=label)
    left.plot(chosen, scores.max(), marker, color=line.get_color())
    members = np.array(y_train) == label
    right.scatter(
        embedded[members, 1], embedded[members, 2], s=10, marker=marker, label=label
    )
left.set(
    xscale="log",
    xlabel="number of components",
    ylabel="cross-validated F1",
    title="Each class has its own number of components",
)
left.legend()
right.set(
    xlabel="component 2",
    ylabel="component 3",
    title="Each component separates a module",
    aspect="equal",
)
plt.show()
