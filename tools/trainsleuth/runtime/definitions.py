"""Words for classes and functions of the running program: name, module, and the line where the user defines it."""

import inspect

from . import registered

MOST_INSIDE = 16  # classes of the user inside a model


class Definitions:
    """`sites` tells the user's code from that of libraries."""

    def __init__(self, sites):
        self.sites = sites

    def of_class(self, cls):
        return {"cls": cls.__name__, "module": cls.__module__, "defined": self._line(cls)}

    def of_function(self, function):
        name = getattr(function, "__qualname__", type(function).__name__)
        return {"name": name, "module": getattr(function, "__module__", None), "defined": self._line(function)}

    def _line(self, thing):
        """Where the user's own code defines a class or function; None for code of libraries."""
        try:
            thing = inspect.unwrap(thing)
            origin, shown = self.sites.classify(inspect.getsourcefile(thing))
            if origin != "user":
                return None
            lines, first = inspect.getsourcelines(thing)
        except (OSError, TypeError, IndexError, SyntaxError, ValueError):
            return None
        decorated = (n for n, text in enumerate(lines) if text.lstrip().startswith(("class ", "def ", "async def ")))
        return "%s:%d" % (shown, first + next(decorated, 0))

    def bases(self, cls):
        """Where the user defines the classes that this one is built on."""
        return [line for line in map(self._line, cls.__mro__[1:8]) if line]

    def inner(self, dataset):
        """The data sets behind a Subset, a ConcatDataset or a wrapper of that shape, nearest first."""
        found = []
        while len(found) < 4:
            inner = getattr(dataset, "dataset", None)
            several = getattr(dataset, "datasets", None)
            if inner is None and isinstance(several, (list, tuple)) and len(several):
                inner = several[0]
            raw = hasattr(inner, "dtype") or isinstance(inner, (list, tuple, dict))  # the examples themselves
            if inner is None or inner is dataset or raw or not hasattr(inner, "__getitem__"):
                break
            found.append(self.of_class(type(inner)))
            dataset = inner
        return found

    def inside(self, root):
        """Classes of the user inside a model, with how often each occurs."""
        found = {}
        for module in registered.modules(root):
            if module is not root and not type(module).__module__.startswith("torch."):
                found.setdefault(type(module), []).append(module)
        named = [dict(self.of_class(cls), count=len(those)) for cls, those in list(found.items())[:100]]
        return [one for one in named if one["defined"]][:MOST_INSIDE]
