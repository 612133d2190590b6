"""An attribute that is computed when it is first asked for."""


class cached_property:
    """As that of ``functools``, which before Python 3.12 holds a lock of the whole class while it computes.

    A process that forks meanwhile leaves the lock to its child, which then waits for ever. Without a lock two threads
    may compute the value twice.
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
