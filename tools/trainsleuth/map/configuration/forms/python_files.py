"""Configuration that is written as Python: model = dict(type="ResNet", depth=50), batch_size = 12."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from trainsleuth.facts import ConfigValue, Event, FileFacts, Index

from ...programs.running import is_guarded
from ...recipe.composition import HELD, file_of
from .assigned_tables import settings_of
from .config_functions import built_settings
from .configuring_calls import configured_by_calls, configures
from .given_to_base import handed_settings
from .held_tables import held_table

_FOLDER = re.compile(r"(?:^|/)(?:configs?|cfgs?|confs?|recipes|hparams)/", re.I)
_NAMED = re.compile(r"(?:config|cfg)[^/]*\.py$", re.I)
_BASES = re.compile(rb"_base_")
_PYTHON_FILE = re.compile(rb"\.py['\"]")
_STEM = re.compile(rb"[\w-]+")
_ASSIGNS = re.compile(rb"^[A-Za-z_]\w*[ \t]*=", re.M)
_STATEMENT = (
    rb"(?:(?:if|try|match|for|while|with|def|class|async|return|raise|assert|break|continue|global|nonlocal)\b|@)"
)
_DOES_MORE = re.compile(rb"\n" + _STATEMENT)  # an end of a line is found several times as fast as a beginning
_BEGINS_SO = re.compile(_STATEMENT)
_BY_PATH = re.compile(
    rb"import_module\([\w.]+\.(?:replace\([\"']\.py[\"']|removesuffix\([\"']\.py[\"'])"
)  # import_module(args.config.replace(".py", "").replace("/", "."))
MAX_PATH = 300
_MADE_LATER = re.compile(rb"(?:=|\breturn)[ \t]*\w+\([\w.]+\)\(")  # L(Network)(depth=50)
_PLAIN = frozenset({"assign", "augment", "expression", "delete"})


class PythonConfigs(Mapping[str, Mapping[str, ConfigValue]]):
    """Tables of the configuration files of an index, and of the files of settings that are Python: flat like those.

    There may be a thousand of these, and a program asks for few: one is read when it is asked for. What one name at the
    top of any Python file holds is a table too: "nets.py::SMALL".
    """

    def __init__(self, index: Index) -> None:
        self._index, self._files, self._others = index, index.files, index.configs
        self._read: dict[str, Mapping[str, ConfigValue]] = {}

    @cached_property
    def _own(self) -> dict[str, None]:
        return {path: None for path, file in self._files.items() if path.endswith(".py") and self._has_some(path, file)}

    def _has_some(self, path: str, file: FileFacts) -> bool:
        if only_assigns(path, file):
            return True
        if is_settings(path, file) or self._is_base(path) or self._is_named(path, file):
            table = settings_of(path, file)
        else:
            is_told = _FOLDER.search(path) is not None or "get_config" in file.functions
            table = built_settings(self._index, path, file) if is_told else {}
            table = table or (handed_settings(file) if _NAMED.search(path) is not None else {})
        self._read[path] = table
        return bool(table)

    def _is_base(self, path: str) -> bool:
        """Another file stands on it, so it is one of settings whatever it does besides: if torch.cuda.is_available(): ..."""
        folder, _, name = path.rpartition("/")
        return name in self._bases and name != "__init__.py" and _FOLDER.search(f"{folder}/") is not None

    def _is_named(self, path: str, file: FileFacts) -> bool:
        """The program loads the file that an option names, as a module, so what it assigns is settings whatever it does
        besides.
        """
        if _FOLDER.search(path) is None or path.endswith("__init__.py") or file.classes or len(file.functions) > 1:
            return False
        return file.body.source.holds(_ASSIGNS) and self._loads_by_path

    @cached_property
    def _loads_by_path(self) -> bool:
        return self._index.is_held(_BY_PATH)

    @cached_property
    def _bases(self) -> frozenset[str]:
        """Names of files that stand in those which stand on others."""
        sources = (file.body.source.whole for file in self._index.files_holding(_BASES))
        return frozenset(name for source in sources for name in _files_named(source))

    def __getitem__(self, path: str) -> Mapping[str, ConfigValue]:
        file, held, name = path.partition(HELD)
        if not held and path not in self._own:
            return self._others[path]
        if path not in self._read:
            told = held_table(self._index, file, name) if held else settings_of(path, self._files[path])
            self._read[path] = told
        return self._read[path]

    def __contains__(self, path: object) -> bool:
        return path in self._own or path in self._others or (HELD in str(path) and file_of(str(path)) in self._files)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._others, *self._own))

    def __len__(self) -> int:
        return len(self._others) + len(self._own)


def _files_named(source: bytes) -> Iterator[str]:
    """Names of Python files that stand in quotes: '../_base_/models/resnet50.py'"""
    for ending in _PYTHON_FILE.finditer(source):
        before = source[max(0, ending.start() - MAX_PATH) : ending.start()]
        stem = before.replace(b'"', b"/").replace(b"'", b"/").rpartition(b"/")[2]
        if _STEM.fullmatch(stem):
            yield f"{stem.decode('utf-8', 'replace')}.py"


def only_assigns(path: str, file: FileFacts) -> bool:
    """Told by the beginnings of its lines: it lies in a folder of configurations, and nothing in it does more."""
    if _FOLDER.search(path) is None or path.endswith("__init__.py") or len(file.functions) > 1:
        return False
    source = file.body.source
    return source.holds(_ASSIGNS) and not (source.holds(_DOES_MORE) or _BEGINS_SO.match(source.whole, source.start))


def is_settings(path: str, file: FileFacts) -> bool:
    """It names its bases, or lies in a folder of configurations and only assigns, but for what starting it runs.

    In such a folder, what writes down objects that are made later does so too, whatever else it does.
    """
    if only_assigns(path, file):
        return True
    body = file.body
    if configures(body) and not file.classes and any(True for _ in configured_by_calls(body)):
        return True
    if body.source.holds(_BASES) and any(target.text == "_base_" for event in body.events for target in event.targets):
        return True
    if _FOLDER.search(path) is None or path.endswith("__init__.py"):
        return False
    if body.source.holds(_MADE_LATER):
        return True
    return len(file.functions) == 1 and all(event.kind in _PLAIN or _is_start(event) for event in body.events)


def _is_start(event: Event) -> bool:
    """The guard of a file that is started, or what stands under it."""
    tests = event.value.walk() if event.kind == "if" and event.value is not None else ()
    return is_guarded(event) or any(part.text == "__name__" for part in tests)
