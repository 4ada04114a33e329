"""Objects that are built through their configuration object: cfg.model.build(), cfg.setup(), cfg._target(cfg)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from trainsleuth.facts import Class, Expr, External, Function, Index
from trainsleuth.facts.reading.scopes import bindings

BUILDS = re.compile(r"^_?(?:build|setup|make|create|instantiate|construct|init|new)(?:_\w+)?$")
_IS_CONFIG = re.compile(r"(?:Config|Configuration|Cfg|Conf|Args|Arguments|Params|Options|Settings|Spec|HParams)$")
TARGETS = ("_target", "_target_", "target_cls", "target_class", "_cls")
_SAYS_CONFIG = re.compile(rb"\bconfig_class\b")
_PARSERS = ("tyro.cli", "tyro.extras.overridable_config_cli", "draccus.parse", "pyrallis.parse", "simple_parsing.parse")
MAX_SAID = 3  # statements of a method that only names a class, its docstring among them
Given = tuple[Function, Expr]  # an expression, and where it stands


class ConfigObjects:
    """Answers are kept; build one per index and recipe."""

    def __init__(
        self,
        index: Index,
        fields: Mapping[str, Collection[tuple[Class, Given]]] | None = None,
        top: Class | None = None,
        made: Mapping[Class, tuple[str, ...]] | None = None,
    ) -> None:
        """`fields` are what the recipe puts into fields, by their names; `top` is the class of the whole recipe.

        `made` are the classes of its objects, with the keys that they stand under, "" for the whole.
        """
        self.index = index
        self.top = top
        self.made = made or {}
        self._fields = fields or {}
        self._built: dict[Class, Class | External | None] = {}

    def built_by(self, cls: Class) -> Class | External | None:
        """What an object of the configuration class `cls` builds; None when `cls` is none."""
        if cls not in self._built:
            self._built[cls] = self._named_in(cls) or (self._owner_of(cls) if is_config(cls) else None)
        return self._built[cls]

    def in_field(self, cls: Class, name: str) -> Iterator[Given]:
        """What the recipe puts into a field of `cls`, of one above or one below it."""
        for owner, given in self._fields.get(name, ()):
            if cls in self.index.lineage(owner) or owner in self.index.lineage(cls):
                yield given

    def parsed(self, called: External) -> Class | None:
        """What a library that fills configuration objects from the command line gives back."""
        return self.top if called.name in _PARSERS else None

    def _named_in(self, cls: Class) -> Class | External | None:
        """_target: Type = field(default_factory=lambda: Trainer), or a method that does nothing but give it back."""
        for one in self.index.lineage(cls):
            for name in TARGETS:
                for binding in bindings(one.body).get(name, ()):
                    given = default_of(binding.value) if binding.value is not None else None
                    found = self.index.resolve(one.body, given.text) if given is not None else None
                    if isinstance(found, Class | External) and _is_class_name(found.name):
                        return found
            for method in one.methods.values() if is_config(cls) else ():
                said = method.events[-1] if method.events and len(method.events) < MAX_SAID else None
                given = said.value if said is not None and said.kind == "return" else None
                found = self.index.resolve(method, given.text) if given is not None and given.kind == "path" else None
                if isinstance(found, Class | External) and _is_class_name(found.name):
                    return found
        return None

    def _owner_of(self, cls: Class) -> Class | None:
        """The class in which `cls` is written, or the one that says config_class = cls."""
        around = self.index.files[cls.path].classes.get(cls.qualname.rpartition(".")[0])
        return around if around is not None and not is_config(around) else self._owners.get(cls)

    @cached_property
    def _owners(self) -> dict[Class, Class]:
        found: dict[Class, Class] = {}
        for cls in self.index.classes():
            if cls.body.source.holds(_SAYS_CONFIG):
                for binding in bindings(cls.body).get("config_class", ()):
                    given = binding.value
                    config = self.index.resolve(cls.body, given.text) if given is not None else None
                    if isinstance(config, Class):
                        found.setdefault(config, cls)
        return found


def _is_class_name(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper() and not name.startswith("builtins.")


def is_config(cls: Class) -> bool:
    return _IS_CONFIG.search(cls.name) is not None


def default_of(value: Expr) -> Expr | None:
    """The name of what a field holds: X of X(), of field(default=X) and of field(default_factory=lambda: X())."""
    if value.kind == "call" and value.last in ("field", "Field", "attrib", "ib"):
        given = value.keyword("default") or value.keyword("default_factory") or value.keyword("factory")
        if given is None:
            return None
        value = given
    if value.kind == "lambda":
        value = value.parts[-1]
    value = value.parts[0] if value.kind == "call" else value
    return value if value.kind == "path" else None
