"""An attribute that is computed at its first use."""


class cached_property:
    """Like that of ``functools``, which before Python 3.12 holds a lock of the whole class while it computes.

    If the process forks meanwhile, its child inherits the lock and waits forever. Without a lock two threads may
    compute the value twice.
    """

    def __init__(self, compute):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return vars(instance).setdefault(self.name, self.compute(instance))
