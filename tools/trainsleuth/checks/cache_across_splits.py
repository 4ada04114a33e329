"""Datasets of different splits share one cache.

A dict on the class belongs to all its objects. Keyed by the index alone, example 7 of the training set is what
the validation set then gives as its own number 7: the model is validated on training data.

Fix: make the cache in __init__, or put the split or the file into its key.

Cannot see: caches in files, in other modules, or behind decorators.

Bad:
    from torch.utils.data import Dataset

    class Images(Dataset):
        cache = {}

        def __init__(self, paths):
            self.paths = paths

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, i):
            if i not in self.cache:
                self.cache[i] = open(self.paths[i], "rb").read()
            return self.cache[i]

    train, val = Images(["a", "b"]), Images(["c", "d"])

Bad (a dict of the module):
    from torch.utils.data import Dataset

    _SEEN = {}

    class Waves(Dataset):
        def __init__(self, files):
            self.files = files

        def __getitem__(self, index):
            if index in _SEEN:
                return _SEEN[index]
            wave = open(self.files[index], "rb").read()
            _SEEN[index] = wave
            return wave

    def build(train_files, test_files):
        return Waves(train_files), Waves(test_files)

Good:
    from torch.utils.data import Dataset

    class Images(Dataset):
        cache = {}

        def __init__(self, paths):
            self.paths = paths

        def __getitem__(self, i):
            path = self.paths[i]
            if path not in self.cache:
                self.cache[path] = open(path, "rb").read()
            return self.cache[path]

    train, val = Images(["a", "b"]), Images(["c", "d"])
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Event, Expr, Function, Index, bindings, is_test, written
from trainsleuth.facts.data.datasets import index_of
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "cache-across-splits",
    "data",
    "error",
    "",
    suspects=("split-leak",),
    claims=("leakage-is-widespread",),
    look="compare the first example of both datasets, read in the order in which training reads them",
)
_DICTS = ("dict", "OrderedDict", "defaultdict")


def check(index: Index) -> Iterator[Finding]:
    for cls in index.classes():
        getter = cls.methods.get("__getitem__")
        if getter is None or is_test(cls.path) or not index_of(getter):
            continue
        for name, made in _shared_dicts(index, cls, getter):
            write = _write(getter, name)
            if write is not None:
                yield _examined(index, cls, getter, name, made, write)


def _shared_dicts(index: Index, cls: Class, getter: Function) -> Iterator[tuple[str, int]]:
    """(name in __getitem__, line) of each dict that all objects of the class share."""
    for name, found in bindings(cls.body).items():
        if found[0].value is not None and _is_dict(found[0].value):
            own = index.hierarchy.attribute_bindings(cls, name)
            if not any(binding.kind == "assign" for _, binding in own):
                line = cls.body.events[found[0].position].line
                yield from ((f"{owner}.{name}", line) for owner in (getter.self_name, cls.name, "type(self)"))
    body = index.files[cls.path].body
    for name, found in bindings(body).items():
        if "." not in name and found[0].value is not None and _is_dict(found[0].value):
            yield name, body.events[found[0].position].line


def _is_dict(value: Expr) -> bool:
    return (value.kind == "dict" and not value.parts) or (value.kind == "call" and value.last in _DICTS)


def _write(getter: Function, name: str) -> tuple[Event, Expr] | None:
    """`name[key] = ...` in __getitem__: the event and the key."""
    for event in getter.events:
        for target in event.targets:
            if target.kind == "index" and written(target.parts[0]) == name and len(target.parts) == 2:
                return event, target.parts[1]
    return None


def _examined(index: Index, cls: Class, getter: Function, name: str, made: int, write: tuple[Event, Expr]) -> Finding:
    event, key = write
    asked = index_of(getter)
    if key.kind != "path" or key.text != asked or asked in bindings(getter):
        return SAY.passed(cls.path, event.line, f"{name} is keyed by {written(key)}")
    sites = [
        site
        for site in index.calls(cls.name)
        if not is_test(site.function.path) and index.resolve(site.function, site.call.callee) is cls
    ]
    if len(sites) < 2:
        return SAY.passed(cls.path, event.line, f"{cls.name} is made in one place only")
    first, second = sites[:2]
    chain = (
        Link(cls.path, made, f"{name} belongs to all objects of {cls.name}"),
        Link(cls.path, event.line, f"it is keyed by {asked} alone"),
        Link(first.function.path, first.call.line, f"{written(first.call)} is one dataset"),
        Link(second.function.path, second.call.line, f"{written(second.call)} is another"),
    )
    message = (
        f"{name} at {cls.path}:{made} is shared by all {cls.name} objects and keyed by {asked} alone at "
        f"{cls.path}:{event.line}, so one split gives the examples of the other: expected a cache for each object."
    )
    return SAY.fail(cls.path, event.line, message, chain)
