"""Classes of the project: what they inherit, which methods they have, which attributes they set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..reading.scopes import Binding, bindings
from ..records import Class, FileFacts, Function
from ..tracing.things import Instance
from .names import External, Names


class Classes:
    def __init__(self, files: Mapping[str, FileFacts], names: Names) -> None:
        self.files = files
        self.names = names
        self._lineages: dict[Class, tuple[Class, ...]] = {}
        self._methods: dict[Class, dict[str, Function]] = {}
        self._bound: dict[Class, dict[str, tuple[tuple[Function, Binding], ...]]] = {}

    @cached_property
    def every(self) -> tuple[Class, ...]:
        return tuple(cls for file in self.files.values() for cls in file.classes.values())

    @cached_property
    def _bases(self) -> dict[Class, tuple[Class | External | None, ...]]:
        table: dict[Class, tuple[Class | External | None, ...]] = {}
        for cls in self.every:
            found = (self._base(cls, base.text) for base in cls.bases if base.kind == "path")
            table[cls] = tuple(base if isinstance(base, Class | External) else None for base in found)
        return table

    def _base(self, cls: Class, name: str) -> object:
        """What a base is called; class Trainer(Trainer) is below the one that was imported."""
        found = self.names.resolve(self.files[cls.path].body, name)
        return self.names.imported_as(cls.path, name) if found is cls else found

    def lineage(self, cls: Class) -> tuple[Class, ...]:
        """`cls` and its project base classes, nearest first."""
        if cls not in self._lineages:
            order: dict[Class, None] = {}
            stack = [cls]
            while stack:
                current = stack.pop(0)
                if current not in order:
                    order[current] = None
                    stack.extend(base for base in self._bases.get(current, ()) if isinstance(base, Class))
            self._lineages[cls] = tuple(order)
        return self._lineages[cls]

    def external_bases(self, cls: Class) -> tuple[str, ...]:
        """Full names of the base classes outside the project, of the lineage; "?" for an unknown one."""
        found = [base for one in self.lineage(cls) for base in self._bases[one] if not isinstance(base, Class)]
        unread = any(base.kind != "path" for one in self.lineage(cls) for base in one.bases)
        return tuple(base.name if base else "?" for base in found) + (("?",) if unread else ())

    @cached_property
    def _subclasses(self) -> dict[Class, list[Class]]:
        table: dict[Class, list[Class]] = {}
        for cls in self.every:
            for base in self.lineage(cls)[1:]:
                table.setdefault(base, []).append(cls)
        return table

    def subclasses(self, cls: Class) -> tuple[Class, ...]:
        """Project classes below `cls`, at any depth."""
        return tuple(self._subclasses.get(cls, ()))

    def _bound_on_self(self, cls: Class) -> dict[str, tuple[tuple[Function, Binding], ...]]:
        """By attribute: where the methods of `cls` itself bind it."""
        if cls not in self._bound:
            own: dict[str, list[tuple[Function, Binding]]] = {}
            for method in cls.methods.values():
                prefix = f"{method.self_name}."
                for path, found in bindings(method).items():
                    if method.self_name and path.startswith(prefix):
                        kept = [(method, binding) for binding in found if binding.kind != "delete"]
                        own.setdefault(path.removeprefix(prefix), []).extend(kept)
            self._bound[cls] = {name: tuple(found) for name, found in own.items()}
        return self._bound[cls]

    def attribute_bindings(self, cls: Class, name: str) -> tuple[tuple[Function, Binding], ...]:
        """Where the methods of `cls` itself bind `self.name`, in source order."""
        return self._bound_on_self(cls).get(name, ())

    def attribute_names(self, cls: Class) -> tuple[str, ...]:
        """Attributes of self that the methods of `cls` itself bind, "a.b" for a part of one."""
        return tuple(self._bound_on_self(cls))

    def method(self, cls: Class, name: str) -> Function | None:
        """The method that an instance of `cls` has under `name`, if the project defines it."""
        if cls not in self._methods:
            every: dict[str, Function] = {}
            for one in reversed(self.lineage(cls)):
                every.update(one.methods)
            self._methods[cls] = every
        return self._methods[cls].get(name)

    def methods(self, owner: Instance, name: str) -> tuple[Function, ...]:
        """Every method that `owner.name` may run: one, or with overrides when only a base class is known."""
        if not isinstance(owner.kind, Class):
            return ()
        found = [self.method(owner.kind, name)]
        if owner.call is None:
            found += [below.methods.get(name) for below in self.subclasses(owner.kind)]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def is_a(self, cls: Class, *externals: str) -> bool:
        """A project class with one of the external classes, given by last name, above it."""
        return any(base.rpartition(".")[2] in externals for base in self.external_bases(cls))
