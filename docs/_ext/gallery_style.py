"""Every example of the gallery starts from the package's style."""


def reset(gallery_conf, fname):
    import matplotlib.pyplot as plt

    plt.style.use(["default", "spectralcls.plotting.spectralcls"])
