"""Paper 000: experiments 1 to 3, figures 1 and 2."""

from .cells import cell
from .data import published
from .registry import Entry, Figure, Table

EXPERIMENT_3_TRIALS = 20  # as the paper says
REASONS = ()


def tables(trials):
    paper = published("000")
    two = cell("laplacian_spectral.gaussians", 20, trials=trials)
    yield Table(
        "000:1",
        "Experiment 1: two Gaussians, 100 and 5 training points",
        tuple(
            Entry(f"{name} classifier", f"wrong of {c}", count, None, two, ("wrong", name, c), None)
            for name, counts in paper["experiment 1"].items()
            for c, count in counts.items()
        ),
        "The numbers are the mean and the deviation over random draws of the number of misclassified test points, of "
        "200 and 10 in the two classes. The paper shows a single draw, so our deviation is used for its number. Its "
        "Bayes classifier is the linear discriminant.",
    )
    yield Table(
        "000:2",
        "Experiment 2: two rings",
        (
            Entry(
                "spectral classifier",
                "rate",
                paper["experiment 2"]["rate"],
                None,
                cell("laplacian_spectral.rings", 20, trials=trials),
                ("rate",),
                specified=False,
            ),
        ),
        "There are 100 training and 844 test points. The paper gives no radii, and its figure shows separate rings. "
        "Our rings are concentric and separated; the rate depends on this choice.",
    )
    rate = paper["experiment 3"]["rate"]
    ours = cell("laplacian_spectral.breast_cancer", 5, trials=min(trials, EXPERIMENT_3_TRIALS))
    plain = cell("laplacian_spectral.breast_cancer", 5, trials=min(trials, EXPERIMENT_3_TRIALS), printed=True)
    yield Table(
        "000:3",
        "Experiment 3: Wisconsin breast cancer, 683 x 9",
        (
            Entry("test kernel plain", "rate", *rate, plain, ("rate",), trials=EXPERIMENT_3_TRIALS),
            Entry("test kernel convolved", "rate", *rate, ours, ("rate",), trials=EXPERIMENT_3_TRIALS, counted=False),
        ),
        "Each of 20 trials trains on 100 random points, with unscaled features. The deviation of 0.01 % in the paper "
        "is taken as the fraction 0.01. The text of the paper asks for the plain test kernel (`as_printed`); the "
        "convolved one is the inner product that its equations imply. The number is counted once.",
    )


def figures(trials):
    two = cell("laplacian_spectral.gaussians", 20, trials=trials)
    yield Figure("000:fig1", "Two Gaussian classes of very different priors", "figures_000.gaussians", (two,))
    yield Figure("000:fig2", "Two ring-shaped classes", "figures_000.rings")
