"""When to take a classifier and when not: the only part of the page that no run can write."""

WORDS = {  # class: (use when, avoid when)
    "AutoClassifier": ("you would rather not choose", "fitting time is tight"),
    "KernelRidgeClassifier": ("accuracy and probabilities for little time", "values are missing; beyond 1e5 samples"),
    "PerTurboClassifier": ("accuracy counts most; novelty; labels one at a time", "a class has more than 1e4 samples"),
    "CauchySchwarzClassifier": ("accuracy per second counts", "you need probabilities"),
    "LaplacianISEClassifier": ("classes overlap and the border matters", "there are outliers, which would weigh most"),
    "ISEClassifier": ("classes differ in spread; many features", "many classes with few samples each"),
    "ParzenClassifier": ("you need probabilities, densities, priors", "classes differ much in spread"),
    "LaplacianSpectralClassifier": ("classes differ much in width", "there are many classes"),
    "SpectralISEClassifier": ("you want to see the data in eigenvectors", "only accuracy counts"),
    "SpectralLaplacianISEClassifier": ("you want eigenvectors; clusters of unequal density", "only accuracy counts"),
    "CCDRClassifier": ("many samples have no label; a picture in the plane", "classes surround each other"),
    "SpectralKernelClassifier": ("text and other sparse counts; smooth borders", "you need probabilities"),
}
