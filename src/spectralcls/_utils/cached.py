"""An attribute that is computed at its first use."""


class cached_property:
    """Like ``functools.cached_property``, but without the lock that Python before 3.12 holds during the computation.

    If the process forks while the lock is held, the child inherits it and deadlocks. Without a lock, two threads may
    both compute the value.
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
