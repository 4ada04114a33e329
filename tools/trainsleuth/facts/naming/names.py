"""What a dotted name means in a file: something of the project, or something external by its full name."""

from __future__ import annotations

import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..reading.scopes import Binding, bindings, comprehension_names, is_bound, own_names, reaching
from ..records import MODULE_BODY, Class, FileFacts, Function, Import
from .whole_packages import own_roots


class External(NamedTuple):
    """Something outside the project, by its full name as imported: "torch.nn.functional.cross_entropy"."""

    name: str


class Module(NamedTuple):
    """A module or package of the project; `path` is its file, "" for a folder without __init__.py."""

    path: str
    folder: str


class Variable(NamedTuple):
    """A name bound by assignment in `scope`: a function, or the body of a module."""

    scope: Function
    name: str


Symbol = External | Module | Variable | Class | Function


@dataclass(frozen=True, eq=False)
class Names:
    """Import-aware name resolution over all files. Narrow: an ambiguous name is not resolved."""

    files: Mapping[str, FileFacts]
    beside: Mapping[str, str] = field(default_factory=dict)  # file -> a folder that it also imports from
    links: Mapping[str, str] = field(default_factory=dict)  # file or folder -> what it is a symbolic link to
    _active: set[tuple[str, str]] = field(default_factory=set)
    _modules: dict[tuple[str, str, int], Module | None] = field(default_factory=dict)
    _begun: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _globals: dict[tuple[str, str], Symbol | None] = field(default_factory=dict)
    _often: dict[str, frozenset[str]] = field(default_factory=dict)
    _resolved: dict[tuple[Function, str], Symbol | None] = field(default_factory=dict)
    _outside: dict[tuple[Function, str], tuple[Class | Function | External | Module, ...]] = field(default_factory=dict)

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for path in self.files:
            table.setdefault(_dotted(path).rpartition(".")[2], []).append(path)
        return table

    @cached_property
    def _folders(self) -> frozenset[str]:
        return _above(self.files)

    @cached_property
    def _of_links(self) -> frozenset[str]:
        return _above(self.links)

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Every path that a module may lie at, without its ending."""
        linked = (path.removesuffix(".py") for path in self.links)
        return self._folders.union((path.rpartition(".")[0] for path in self.files), linked)

    @cached_property
    def _heads(self) -> frozenset[str]:
        """Every name of a folder or file: how an import of the project may begin."""
        linked = (_dotted(path.rpartition("/")[2]) for path in self.links)
        return frozenset(part for path in self.files for part in _dotted(path).split(".")).union(linked)

    @cached_property
    def _roots(self) -> Mapping[str, str]:
        return own_roots(self.files, self._heads, _INSTALLED)

    def _root_of(self, dotted: str) -> str | None:
        """The name of a root that an import begins with: one or two parts."""
        if not self._roots:
            return None
        head, _, rest = dotted.partition(".")
        return next((one for one in (head, f"{head}.{rest.partition('.')[0]}") if one in self._roots), None)

    @cached_property
    def foreign(self) -> Mapping[str, frozenset[str]]:
        """By file: the names that it imports from outside the project, as spelling tells."""
        return {
            path: frozenset(
                entry.alias.partition(".")[0]
                for entry in file.imports
                if not entry.level and entry.module.partition(".")[0] not in self._heads
                if self._root_of(entry.module) is None
            )
            for path, file in self.files.items()
        }

    def module(self, importer: str, dotted: str, level: int = 0) -> Module | None:
        """The project's module that `dotted` names in file `importer`, or None.

        Absolute names are looked for in the importer's folder (a script's own folder is on sys.path), then in
        each folder above it, in src/ and lib/ of these, and last anywhere when exactly one file fits (for a name without
        a dot: in a project that changes sys.path). A part of a package that is
        called like an installed library (rlkit/torch, nemo/lightning) is not that library. A name from a larger
        tree that the repository was cut from ("company.team.package.tools.train") is read from its package on.
        """
        is_own = dotted.rpartition(".")[2] == importer.rpartition("/")[2].partition(".")[0]
        key = (importer if is_own or importer in self.beside else importer.rpartition("/")[0], dotted, level)
        if key not in self._modules:
            found = self._module(importer, dotted, level)
            if found is None and not level and importer in self.beside:
                found = self._at(_join(self.beside[importer], dotted.replace(".", "/")))
            self._modules[key] = found
        return self._modules[key]

    def _module(self, importer: str, dotted: str, level: int) -> Module | None:
        folder = _parent(importer)
        relative = dotted.replace(".", "/")
        if level:
            for _ in range(level - 1):
                folder = _parent(folder)
            return self._at(_join(folder, relative))
        if not dotted:
            return None
        head = dotted.partition(".")[0]
        installed = head in _INSTALLED
        if (named := self._root_of(dotted)) is not None:
            root = self._roots[named]
            stem = _join(root, dotted[len(named) + 1 :].replace(".", "/")).rstrip("/")
            return self._at(stem) or (Module("", root or ".") if dotted == named else None)
        if head not in self._heads:
            return None if installed else self._in_larger_tree(dotted)
        while True:
            inside = installed and _join(folder, "__init__.py") in self.files
            for start in () if inside else self._starts(folder):
                if (found := self._at(_join(start, relative))) is not None and (found.path != importer or found.folder):
                    return found
            if not folder:
                break
            folder = _parent(folder)
        if installed:
            return None
        fits = self.ending(dotted)
        if len(fits) == 1 and ("." in dotted or self._is_searched(_parent(fits[0]))):
            return self._of(fits[0])
        return self._in_larger_tree(dotted)

    def _starts(self, folder: str) -> tuple[str, ...]:
        """A folder, and src/ and lib/ in it where they are there."""
        if folder not in self._begun:
            inside = (_join(folder, "src"), _join(folder, "lib"))
            self._begun[folder] = (folder, *(one for one in inside if one in self._folders or one in self._of_links))
        return self._begun[folder]

    def _is_searched(self, folder: str) -> bool:
        """It may be one of those that the project adds to where modules are looked for: no package lies in it."""
        return self._adds_folders and _join(folder, "__init__.py") not in self.files

    @cached_property
    def _adds_folders(self) -> bool:
        return any(file.body.source.holds(_SEARCHED) for file in self.files.values())

    def ending(self, dotted: str) -> list[str]:
        """Files whose dotted name is `dotted`, or ends in it behind a dot."""
        tail = dotted.rpartition(".")[2]
        return [path for path in self._by_tail.get(tail, ()) if ("." + _dotted(path)).endswith("." + dotted)]

    def _in_larger_tree(self, dotted: str) -> Module | None:
        """What stands behind the name of a package at the root, when it lies beside that package here."""
        parts = dotted.split(".")
        for cut in range(1, len(parts)):
            if f"{parts[cut - 1]}/__init__.py" in self.files:
                found = self._at("/".join(parts[cut:]))
                if found is not None and found.path:
                    return found
        return None

    def _at(self, stem: str) -> Module | None:
        if stem and stem not in self._stems:
            return None
        for path in (_join(stem, "__init__.py"), f"{stem}.py", f"{stem}.ipynb"):  # a package before a module
            if path in self.files or (path := self.links.get(path, "")) in self.files:
                return self._of(path)
        if stem in self._folders:
            return Module("", stem)
        return self._at(self.links[stem]) if stem in self.links else None

    def _of(self, path: str) -> Module:
        return Module(path, _parent(path) or "." if path.endswith("__init__.py") else "")

    def imported(self, file: FileFacts) -> Iterator[str]:
        """Paths of the project's files that the imports of `file` name."""
        for entry in file.imports:
            for dotted in (entry.module, f"{entry.module}.{entry.name}" if entry.name else entry.module):
                module = self.module(file.path, dotted, entry.level)
                if module is not None and module.path:
                    yield module.path

    def resolve(self, function: Function, dotted: str) -> Symbol | None:
        """What `dotted` means inside `function`: innermost scope first. None: not known, or not unique."""
        key = (function, dotted)
        if key in self._resolved:
            return self._resolved[key]
        found = self._resolve(function, dotted)
        if not self._active:  # inside a circle of imports an answer may be incomplete
            self._resolved[key] = found
        return found

    def _resolve(self, function: Function, dotted: str) -> Symbol | None:
        head, _, rest = dotted.partition(".")
        scope: Function | None = function
        file = self.files[function.path]
        while scope is not None and scope.name != MODULE_BODY:
            if head in own_names(scope):
                return self._follow(self._local(file, scope, head), rest)
            if head in self._imported_often(file) and (own := imports_within(file, scope, head)):
                if any(one.under for one in own) and len({one[:4] for one in own}) > 1:
                    return None  # in arms of an if: which of them runs is not known
                return self._follow(self._imported(file.path, own[-1], head), rest)
            scope = file.functions.get(scope.outer) if scope.outer else None
        return self._follow(self.global_name(file.path, head), rest)

    def _imported_often(self, file: FileFacts) -> frozenset[str]:
        """Names that several imports of the file bind: which of them is meant follows from where it is used."""
        if file.path not in self._often:
            counts = Counter(one.alias for one in file.imports)
            self._often[file.path] = frozenset(name for name, count in counts.items() if count > 1)
        return self._often[file.path]

    def outside(self, function: Function, dotted: str) -> tuple[Class | Function | External | Module, ...]:
        """The one thing that `dotted` means all over `function`, which binds no part of it; else nothing."""
        key = (function, dotted)
        found = self._outside.get(key)
        if found is None:
            symbol = self._unbound(function, dotted)
            found = () if symbol is None or isinstance(symbol, Variable) else (symbol,)
            if not self._active:
                self._outside[key] = found
        return found

    def _unbound(self, function: Function, dotted: str) -> Symbol | None:
        head, *rest = dotted.split(".")
        if head in own_names(function) or is_bound(function, dotted) or head in comprehension_names(function):
            return None
        symbol = self.resolve(function, head)
        for name in rest:
            if isinstance(symbol, External):
                symbol = External(f"{symbol.name}.{name}")
            elif isinstance(symbol, Module):
                symbol = self._holder(symbol, name) if name is not rest[-1] else self.member(symbol, name)
            else:
                return None  # of a class or a value: see `objects`
        return symbol

    def _local(self, file: FileFacts, scope: Function, name: str) -> Symbol:
        inner = f"{scope.qualname}.{name}"
        found = bindings(scope).get(name, ())
        if {binding.kind for binding in found} == {"define"} and len(found) == 1 and scope.parameter(name) is None:
            return file.classes.get(inner) or file.functions.get(inner) or Variable(scope, name)
        return Variable(scope, name)

    def resolve_at(self, function: Function, dotted: str, position: int) -> Symbol | None:
        """What `dotted` means at event `position`: of several closures of one name, the one defined last before."""
        symbol = self.resolve(function, dotted)
        if isinstance(symbol, Variable) and symbol.scope is function:
            found, certain = reaching(function, dotted, position)
            if certain and len(found) == 1 and found[0].kind == "define":
                return self.defined(function, found[0])
        return symbol

    def defined(self, scope: Function, binding: Binding) -> Symbol | None:
        """What a `def` or `class` in a function defines, where others of the same name may stand beside it."""
        every = [b for b in bindings(scope).get(binding.name, ()) if b.kind == "define"]
        if len(every) < 2:
            return self.resolve(scope, binding.name)
        functions = self.files[scope.path].functions.values()
        own = [f for f in functions if f.outer == scope.qualname and f.name == binding.name and not f.owner]
        return own[every.index(binding)] if len(own) == len(every) else None

    def global_name(self, path: str, name: str) -> Symbol | None:
        """What `name` means at the top of file `path`, or as an attribute of that module."""
        key = (path, name)
        if key in self._globals:
            return self._globals[key]
        if key in self._active or len(self._active) >= MOST_HANDED_ON:
            return None
        self._active.add(key)
        try:
            found = self._global_name(self.files[path], name)
        finally:
            self._active.discard(key)
        if not self._active:
            self._globals[key] = found
        return found

    def _global_name(self, file: FileFacts, name: str) -> Symbol | None:
        bound = bindings(file.body).get(name, ())
        kinds = {binding.kind for binding in bound if not _wraps(binding, name)}
        if kinds == {"define"}:
            return file.classes.get(name) or file.functions.get(name)
        if kinds - {"append", "extend"}:
            return Variable(file.body, name)
        if (entry := _import_of(file, name)) is not None:
            return self._imported(file.path, entry, name)
        for entry in file.imports:
            if entry.name == "*" and (found := self._starred(file.path, entry, name)) is not None:
                return found
        folder = _parent(file.path)
        if file.path.endswith("__init__.py") and (found := self._at(_join(folder, name))) is not None:
            return found
        return External(f"builtins.{name}") if hasattr(builtins, name) else None

    def imported_as(self, path: str, name: str) -> Symbol | None:
        """What an import of file `path` binds `name` to, before the file binds it to something of its own."""
        entry = _import_of(self.files[path], name)
        return self._imported(path, entry, name) if entry is not None else None

    def _imported(self, importer: str, entry: Import, name: str) -> Symbol | None:
        if not entry.name:
            whole = entry.module if entry.alias == name and "." not in entry.alias else name
            return self.module(importer, whole, 0) or External(whole)
        module = self.module(importer, entry.module, entry.level)
        if module is None:
            own = self.files[importer]
            if entry.module == _dotted(importer).rpartition(".")[2] and not entry.level:  # a script imports itself
                if (held := own.classes.get(entry.name) or own.functions.get(entry.name)) is not None:
                    return held
            return External(f"{entry.module}.{entry.name}" if not entry.level else f"?.{entry.module}.{entry.name}")
        found = self.member(module, entry.name)
        if found is None and self._is_shadow(module, entry):
            return External(f"{entry.module}.{entry.name}")
        return found

    def _is_shadow(self, module: Module, entry: Import) -> bool:
        """A project folder that only happens to be called like an installed package (torch/, datasets/)."""
        return not module.path and not entry.level

    def _starred(self, importer: str, entry: Import, name: str) -> Symbol | None:
        module = self.module(importer, entry.module, entry.level)
        if module is not None:
            return self.member(module, name) if not name.startswith("_") else None
        known = _STARRED.get(entry.module) or _STARRED.get(entry.module.partition(".")[0] + ".*", ())
        return External(f"{entry.module}.{name}") if name in known else None

    def member(self, module: Module, name: str) -> Symbol | None:
        """Attribute of a project module: a name at its top, or a module inside its folder."""
        if module.path and (found := self.global_name(module.path, name)) is not None:
            return found
        return self._at(_join(module.folder, name)) if module.folder else None

    def _holder(self, module: Module, name: str) -> Symbol | None:
        """The member of a module of which a member is asked: no function where its folder has a module so called."""
        found = self.member(module, name)
        inner = self._at(_join(module.folder, name)) if module.folder and isinstance(found, Function) else None
        return inner or found

    def _follow(self, symbol: Symbol | None, rest: str) -> Symbol | None:
        while rest and symbol is not None:
            name, _, rest = rest.partition(".")
            if isinstance(symbol, External):
                return External(".".join(filter(None, (symbol.name, name, rest))))
            if isinstance(symbol, Module):
                symbol = self._holder(symbol, name) if rest else self.member(symbol, name)
            elif isinstance(symbol, Class):
                inner = self.files[symbol.path].classes.get(f"{symbol.qualname}.{name}")
                symbol = inner or symbol.methods.get(name)
            else:
                return None  # an attribute of a value: see `objects`
        return symbol


MOST_HANDED_ON = 60  # files through which a name is imported
_SEARCHED = re.compile(rb"sys\.path\.(?:insert|append|extend)\(|sys\.path\s*\+?=")
_INSTALLED = frozenset({
    *sys.stdlib_module_names, "accelerate", "deepspeed", "gym", "gymnasium", "ignite", "jax", "lightning", "numpy",
    "omegaconf", "pytorch_lightning", "tensorboard", "tensorflow", "torch", "torchvision", "transformers", "wandb",
})  # fmt: skip
_STARRED = {
    "torch.nn": (
        "functional",
        "Module",
        "Sequential",
        "ModuleList",
        "Linear",
        "CrossEntropyLoss",
        "BCEWithLogitsLoss",
    ),
    "torch": ("nn", "optim", "Tensor", "tensor", "softmax", "sigmoid", "no_grad"),
    "torch.optim": ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS"),
    "fastai.*": (  # of any of its modules: they hand on each other's names
        "Learner",
        "cnn_learner",
        "vision_learner",
        "unet_learner",
        "tabular_learner",
        "collab_learner",
        "language_model_learner",
        "text_classifier_learner",
        "Callback",
        "LearnerCallback",
        "DataBunch",
        "ImageDataBunch",
        "DataBlock",
        "DataLoaders",
        "ImageDataLoaders",
    ),
}


def _import_of(file: FileFacts, name: str) -> Import | None:
    """The last import that binds `name`, or a part of it."""
    fits = (one for one in reversed(file.imports) if one.alias == name or _is_part(one, name))
    return next(fits, None)


def imports_within(file: FileFacts, scope: Function, name: str) -> list[Import]:
    """The imports that bind `name` in this function."""
    return [one for one in file.imports if one.alias == name and scope.line <= one.line <= scope.end_line]


def _is_part(entry: Import, name: str) -> bool:
    return not entry.name and entry.alias.startswith(name + ".")


def _wraps(binding: Binding, name: str) -> bool:
    """A name that is bound to what a call makes of itself means what it meant, as under a decorator.

    `train, store = restartable(train)`. Not `partial`: what it fills in would be lost.
    """
    value = binding.value
    while value is not None and value.kind == "index":
        value = value.parts[0]
    if binding.kind != "assign" or value is None or value.kind != "call" or value.last == "partial":
        return False
    return any(given.kind == "path" and given.text == name for given in value.arguments)


def _parent(path: str) -> str:
    """Folder of a path; "" is the root."""
    return path.rpartition("/")[0]


def _above(paths: Iterable[str]) -> frozenset[str]:
    """Every folder that one of them lies in, at any depth, but the root."""
    found: set[str] = set()
    for path in paths:
        folder = _parent(path)
        while folder and folder not in found:
            found.add(folder)
            folder = _parent(folder)
    return frozenset(found)


def _join(folder: str, name: str) -> str:
    folder = "" if folder == "." else folder
    return f"{folder}/{name}" if folder and name else folder or name


def _dotted(path: str) -> str:
    stem = path.removesuffix(".py").removesuffix(".ipynb").removesuffix("/__init__")
    return stem.replace("/", ".")
