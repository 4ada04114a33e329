"""What the programs of a project come to: wide, by names, from the files that are started.

A file is come to when it is started (it has a part for that, or does its work at its top), imported, or named where
modules are looked for; a function or class when what is come to names it, or when it may be found by its name, be
registered, or be called by a library. What a name means is asked of the imports: train() of another file is not this one.
A method is named by any attribute of its name, since what an object is is often not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sized
from functools import cached_property
from typing import TYPE_CHECKING

from ..naming.absent_modules import stopped
from ..naming.loaded_by_name import COMPUTED, is_loaded, looked_through, put_together
from ..naming.names import Module
from ..naming.sites import is_test
from ..records import MODULE_BODY, Class, Event, Expr, FileFacts, Function

if TYPE_CHECKING:
    from ..index import Index

TEXTS = (
    ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".gin", ".conf", ".sh", ".bash", ".md", ".rst", ".txt", ".ipynb",
)  # fmt: skip
_ENDINGS = frozenset(["py", "sh", "md", *(one.lstrip(".") for one in TEXTS)])
_PROGRAM = re.compile(rb"__name__\s*==")
_TRAINS = re.compile(rb"\.backward\(|\.fit\(|[Tt]rainer\(")
_LOADERS = (
    "import_module", "__import__", "spec_from_file_location", "exec_module", "load_module", "load_source", "run_path",
    "run_module", "exec",
)  # fmt: skip
_WALKS = re.compile(
    rb"walk_packages|iter_modules|listdir|glob\(|scandir|os\.walk|run_path|spec_from_file|SourceFileLoader|load_source"
)
_LISTED = re.compile(rb"^__all__\b", re.MULTILINE)
_ASK = ("getattr", "eval", "exec", "methodcaller")  # for what a text names
_BELOW = re.compile(rb"__subclasses__|__init_subclass__")
_NAME = re.compile(r"[A-Za-z_]\w*(?:[./:][A-Za-z_][\w-]*)*")
_FILE = re.compile(r"[\w./-]+\.py\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_JOINED = frozenset(b"_./:-" + bytes(range(0x80, 0x100)))  # in names, beside letters and digits
_APART = bytes(one if one in _JOINED or chr(one).isalnum() else 0x20 for one in range(0x100))
_IMPORTS = re.compile(r"\b(?:from|import) ")
_IMPORTED = re.compile(r"^[ >]*(?:from|import)[ ]+([\w.]+)([^\n]*)", re.MULTILINE)
_EVALUATES = re.compile(rb"(?<![\w.])(?:eval|exec)\(\s*(?:[^\s'\"()]|(?:'[^'\n]*'|\"[^\"\n]*\")\s*[+%.])")
_PLAIN_MARKS = frozenset([
    "abstractmethod", "autocast", "cache", "cached_property", "classmethod", "contextmanager", "dataclass",
    "inference_mode", "jit", "lru_cache", "njit", "no_grad", "overload", "property", "script", "setter", "staticmethod",
    "total_ordering", "wraps",
])  # fmt: skip
_QUIET_BASES = frozenset([  # these call no method of those below but the ones named underneath
    "abc.ABC", "builtins.Exception", "builtins.object", "enum.Enum", "object", "torch.nn.Module",
    "torch.nn.modules.Module", "torch.nn.modules.module.Module", "torch.utils.data.Dataset",
    "torch.utils.data.dataset.Dataset", "typing.Generic", "typing.Protocol",
])  # fmt: skip
_CALLED_BY_THEM = ("forward", "extra_repr")
MAX_TEXTS = 3000  # settings, scripts, READMEs and tests whose words are read


class Reached:
    """`why_not` says of a place that no program comes to it, "" where one may. `stopped`: files that cannot be loaded,
    and why; no program comes through them.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.stopped = stopped(index)
        self._files: set[str] = set()
        self._loaded: set[str] = set()  # those of them that others import or look for
        self._asked: set[str] = set()  # and of these in which any name may be asked for
        self._functions: set[Function] = set()
        self._classes: set[Class] = set()
        self._attributes: set[str] = set()  # that are asked of objects
        self._held: set[str] = set()  # files that are named as values: {"small": small}
        self._words: set[str] = set()  # that texts and strings name
        self._meant: set[str] = set()  # of these what can only mean something at the top of a file: engine.train
        self._imported_in_texts: dict[str, set[str]] = {}  # by module, names in tests and READMEs that import it
        self._modules: set[str] = set()  # parts of the paths and dotted names among them
        self._any_method = False  # some object is asked for a name that is computed
        self._inner: dict[str, tuple[dict[str, list[Function]], dict[str, list[Class]]]] = {}
        self._waiting: list[Function] = []
        self._search()

    def why_not(self, path: str, function: Function | None) -> str:
        if path not in self._files:
            return f"nothing that is started here imports {path}"
        while function is not None and function.outer:
            function = self._index.files[path].functions.get(function.outer)
        if function is None or function.name == MODULE_BODY or function in self._functions:
            return ""
        return f"nothing that is started here comes to {function.qualname}"

    def loads(self, folder: str) -> bool:
        """Something under the folder, which ends in a slash, is imported by what is started outside of it."""
        names = self._index.names
        started = (one for one in self._index.files.values() if is_started(one) and not one.path.startswith(folder))
        return any(path.startswith(folder) for one in started for path in names.imported(one))

    def _search(self) -> None:
        self._take_texts()
        for file in self._index.files.values():
            if is_started(file) and file.path not in self.stopped:
                self._come_to_file(file.path)
        before: tuple[int, ...] = ()
        while before != (now := self._sizes()):
            before = now
            while self._waiting:
                self._read(self._waiting.pop())
            self._find_files()
            self._find_members()

    def _sizes(self) -> tuple[int, ...]:
        known: tuple[Sized, ...] = (
            self._files,
            self._loaded,
            self._functions,
            self._classes,
            self._attributes,
            self._held,
            self._words,
            self._meant,
            self._modules,
        )
        return (self._any_method, *map(len, known))

    def _take_texts(self) -> None:
        repository = self._index.repository
        known: set[bytes] = set()
        for path in _texts(repository.files):
            text = repository.read(path) or ""
            new = set(text.encode().translate(_APART).split()) - known
            known |= new
            for part in new:
                self._take_part(part.decode())
            if _IMPORTS.search(text):
                self._take_imports(text, is_code=path.endswith(".py"))

    def _take_part(self, part: str) -> None:
        """What stands between blanks and brackets of a text."""
        for word in _NAME.findall(part):
            self._take_word(word)
        if ".py" in part:
            for named in _FILE.findall(part):
                self._modules.update(re.split(r"[./]", named))

    def _take_imports(self, text: str, is_code: bool) -> None:
        every = set(_WORD.findall(text)) if is_code else set()
        for module, names in _IMPORTED.findall(text):
            self._modules.update(module.split("."))
            for stem in (module.rpartition(".")[2], *_WORD.findall(names)):
                self._imported_in_texts.setdefault(stem, set()).update(every or _WORD.findall(names))

    def _take_word(self, word: str) -> None:
        if word.isidentifier():
            self._words.add(word)
            return
        parts = re.split(r"[./:]", word)
        self._words.update(parts)
        self._modules.update(parts)
        if "/" not in word and parts[-1] not in _ENDINGS:
            self._meant.update(parts)

    def _come_to_file(self, path: str) -> None:
        waiting = [path]
        while waiting:
            one = waiting.pop()
            if one not in self._files and one not in self.stopped:
                self._files.add(one)
                self._waiting.append(self._index.files[one].body)
                imported = [*_packages(self._index, one), *self._imported(self._index.files[one])]
                self._loaded.update(imported)
                waiting += imported

    def _imported(self, file: FileFacts) -> Iterator[str]:
        names = self._index.names
        for entry in file.imports:
            if names.module(file.path, entry.module, entry.level) is None and not entry.level:
                yield from names.ending(entry.module)  # several files fit
        yield from names.imported(file)

    @cached_property
    def _put_together(self) -> tuple[re.Pattern[str], ...]:
        return tuple(put_together(self._index))

    @cached_property
    def _looked_through(self) -> tuple[Module, ...] | None:
        """Modules in which names that are computed are looked for; None: all."""
        return looked_through(self._index)

    def _find_files(self) -> None:
        """Those that are named, or lie where a file that is come to loads whatever it finds."""
        walked = tuple(self._walked())
        for path in self._index.files.keys() - self._loaded:
            stem = _stem(path)
            is_asked = self._is_put_together(stem, path)
            if stem in self._modules or path.startswith(walked) or is_asked:
                self._loaded.add(path)
                self._come_to_file(path)
            if is_asked:
                self._asked.add(path)

    def _is_put_together(self, stem: str, path: str) -> bool:
        """By a name that is put together: of parts that are written out, or of any where this name is one."""
        fits = [one for one in self._put_together if is_loaded((one,), path)]
        return any(not _is_any(one) or stem in self._words for one in fits)

    def _walked(self) -> Iterator[str]:
        loading = (site.function.path for site in self._index.calls(*_LOADERS))
        listing = (one.path for one in self._index.files_holding(_LISTED) if one.path.endswith("__init__.py"))
        for path in (*loading, *listing):
            if path in self._files and self._index.files[path].body.source.holds(_WALKS):
                yield path.rpartition("/")[0] + "/" if "/" in path else ""

    def _find_members(self) -> None:
        """What is registered, may be found by its name, is gathered by a class above it, or is called by a library."""
        for path in tuple(self._files):
            file, every = self._index.files[path], self._looked_through is None or path in self._asked
            for function in file.functions.values():
                if not function.owner and not function.outer and (every or self._is_found(function)):
                    self._come_to(function)
            for cls in file.classes.values():
                if every or self._is_found(cls) or self._is_gathered(cls):
                    self._come_to_class(cls)
        for cls in tuple(self._classes):
            is_plain = _QUIET_BASES.issuperset(self._index.external_bases(cls))
            for name, method in cls.methods.items():
                if self._any_method or not is_plain or self._is_called(name, method):
                    self._come_to(method)

    def _is_found(self, defined: Function | Class) -> bool:
        words = self._words if defined.path in self._evaluated else self._meant
        if _is_registered(defined.decorators) or (defined.name in words and defined.path in self._loaded):
            return True
        if defined.name in self._imported_in_texts.get(_stem(defined.path), ()):
            return True
        if defined.path in self._held and defined.name in self._attributes:
            return True
        if any(one.module == "fire" for one in self._index.files[defined.path].imports):
            return True  # a command for each
        return any(self._index.names.member(module, defined.name) is defined for module in self._looked_through or ())

    @cached_property
    def _evaluated(self) -> frozenset[str]:
        """Files in which a text that is put together, and run as code, finds its names."""
        files = self._index.files_holding(_EVALUATES)
        return frozenset(path for one in files for path in (one.path, *self._index.names.imported(one)))

    @cached_property
    def _gathers(self) -> bool:
        return self._index.is_held(_BELOW)

    def _is_gathered(self, cls: Class) -> bool:
        return self._gathers or any(one.keywords for one in self._index.lineage(cls))

    def _is_called(self, name: str, method: Function) -> bool:
        is_named = name in self._attributes or name in self._words
        return is_named or name.startswith("__") or name in _CALLED_BY_THEM or _is_registered(method.decorators)

    def _come_to(self, function: Function) -> None:
        if function not in self._functions:
            self._functions.add(function)
            self._waiting.append(function)
            self._come_to_file(function.path)

    def _come_to_class(self, cls: Class) -> None:
        for one in (cls, *self._index.lineage(cls)):
            if one not in self._classes:
                self._classes.add(one)
                self._come_to_file(one.path)

    def _read(self, function: Function) -> None:
        file = self._index.files[function.path]
        is_trial = function is file.body and not function.source.holds(_TRAINS)
        for event in function.events:
            own = file if is_trial and _is_under_guard(event) else None
            for expr in _expressions(event):
                self._mention(function, expr, own)
        self._read_heads(function, file)
        for head in function.source.found(COMPUTED[0]):
            alias = head.decode("utf-8", "replace").partition(".")[0]
            self._any_method |= all(one.alias.partition(".")[0] != alias for one in file.imports)

    def _read_heads(self, function: Function, file: FileFacts) -> None:
        """What is evaluated where functions and classes are defined in it; what is defined in a function is run with it."""
        is_body = function is file.body
        functions, classes = self._inside(file)
        for inner in file.functions.values() if is_body else functions.get(function.qualname, ()):
            given = (one.default for one in inner.parameters if one.default is not None)
            for expr in (*inner.decorators, *given):
                self._mention(function, expr)
            if not is_body and not inner.owner:
                self._come_to(inner)
        for cls in file.classes.values() if is_body else classes.get(function.qualname, ()):
            self._come_to(cls.body)
            for expr in (*cls.decorators, *cls.bases, *cls.keywords):
                self._mention(function, expr)

    def _inside(self, file: FileFacts) -> tuple[dict[str, list[Function]], dict[str, list[Class]]]:
        """By a function that is not the body of the file: what is written in it."""
        if file.path not in self._inner:
            functions: dict[str, list[Function]] = {}
            classes: dict[str, list[Class]] = {}
            for one in file.functions.values():
                functions.setdefault(one.outer, []).append(one)
            for cls in file.classes.values():
                classes.setdefault(cls.body.outer, []).append(cls)
            self._inner[file.path] = functions, classes
        return self._inner[file.path]

    def _mention(self, function: Function, expr: Expr, trial: FileFacts | None = None) -> None:
        """`trial`: the file whose own classes are only tried out here."""
        for part in expr.walk():
            if part.kind == "call" and part.last in _ASK and part.arguments:
                asked = part.arguments[-1] if part.last != "getattr" else (*part.arguments, part)[1]
                self._meant.update(_WORD.findall(asked.text) if asked.kind == "string" else ())
            elif part.kind == "attr":
                if not _is_handed_up(function, part):
                    self._attributes.add(part.text)
            elif part.kind == "path":
                self._mention_path(function, part.text, trial)
            elif part.kind == "string" and _NAME.fullmatch(part.text):
                self._take_word(part.text)
            elif part.kind == "string":
                for path in _FILE.findall(part.text):
                    self._modules.update(re.split(r"[./]", path))

    def _mention_path(self, function: Function, dotted: str, trial: FileFacts | None) -> None:
        head, *rest = dotted.split(".")
        meant = self._index.names.resolve(function, dotted)
        if meant is None and rest:
            self._attributes.update(rest)
            meant = self._index.names.resolve(function, head)
        if isinstance(meant, Class):
            if trial is None or meant.path != trial.path:
                self._come_to_class(meant)
        elif isinstance(meant, Function):
            self._come_to(meant)
        elif isinstance(meant, Module) and meant.path:
            self._held.add(meant.path)
            self._come_to_file(meant.path)
        elif meant is None:
            self._words.add(head)
            self._meant.add(head)


def _texts(paths: Iterable[str]) -> list[str]:
    """Those that may name code, the ones that lie deepest last: results of a thousand runs name no more than those of one."""
    found = [path for path in paths if path.endswith(TEXTS) or (path.endswith(".py") and is_test(path))]
    return sorted(found, key=lambda path: (not path.endswith(".py"), path.count("/"), path))[:MAX_TEXTS]


def is_started(file: FileFacts) -> bool:
    """It has a part for when it is started itself, or does its work at its top: a loop, or a call whose value nobody takes."""
    if file.body.source.holds(_PROGRAM):
        return True
    return any(
        event.kind in ("for", "while") or (event.kind == "expression" and event.calls) for event in file.body.events
    )


def _packages(index: Index, path: str) -> Iterator[str]:
    """What is run before a file is: the packages that it lies in."""
    folder = path.rpartition("/")[0]
    while folder:
        if f"{folder}/__init__.py" in index.files:
            yield f"{folder}/__init__.py"
        folder = folder.rpartition("/")[0]


def _stem(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].removesuffix(".py")


def _is_any(loaded: re.Pattern[str]) -> bool:
    return not re.search(r"\w", loaded.pattern)


def _is_registered(marks: Iterable[Expr]) -> bool:
    return any(mark.last not in _PLAIN_MARKS for mark in marks)


def _is_under_guard(event: Event) -> bool:
    tests = (branch.test for branch in event.block.branches)
    return any(part.text == "__name__" for test in tests if test is not None for part in test.walk())


def _expressions(event: Event) -> Iterator[Expr]:
    """All of a statement that may name something; a text that stands alone does not."""
    if event.kind == "expression" and event.value is not None and event.value.kind == "string":
        return
    yield from event.targets
    if event.value is not None:
        yield event.value


def _is_handed_up(function: Function, part: Expr) -> bool:
    """super().on_epoch_end, in a method of this name: it runs where that is called, and nothing else calls it for that."""
    return bool(function.owner) and part.text == function.name and part.parts[0].callee == "super"
