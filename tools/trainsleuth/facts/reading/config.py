"""Configuration files as flat tables: dotted key -> value and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import yaml

from trainsleuth.repository import BASELINE, CONFIG_SUFFIXES, IN_PART, PLAIN_SUFFIXES, Repository, is_plain_config

from .plain_config import read_plain

MAX_ENTRIES = 5000
MAX_FILES = 5000  # with that many most are data
LONG = 64_000  # characters of a file whose words are not kept
MAX_MENDED = 8  # lines of one file that are no YAML
MAX_NODES = 4 * MAX_ENTRIES  # visited: an alias may be met again and again, also inside of itself
BUILDING_TAGS = ("!new", "!name", "!apply", "!applyref", "!module")  # HyperPyYAML: what follows the colon is built
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigValue(NamedTuple):
    """`value` is the text as written, without quotes; `path` is the file when that is not the one of the table."""

    value: str
    line: int
    path: str = ""


def read_config(text: str) -> dict[str, ConfigValue]:
    """Every scalar by its dotted key ("optimizer.lr", "layers.0"); later documents and duplicates win.

    A tag that names what is built is a key of its own: `loss: !new:pkg.Loss` is "loss.!new", worth "pkg.Loss".
    JSON is read as YAML, after its tabs and its comments are made blank. Nothing is constructed, so unknown tags are harmless.
    Raises ValueError when the text is not YAML, holds more than MAX_ENTRIES scalars, or an alias of itself.
    """
    table: dict[str, ConfigValue] = {}
    nodes = iter(range(MAX_NODES))
    try:
        for document in yaml.compose_all(_plain(text), Loader=_LOADER):
            for key, value in _flat(document, "", 0, nodes):
                table[key] = value
                if len(table) > MAX_ENTRIES:
                    raise ValueError(f"more than {MAX_ENTRIES} values: data, not configuration")
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise ValueError(f"not YAML: {where}{getattr(error, 'problem', None) or type(error).__name__}") from error
    return table


_WORD = re.compile(r"[\w-]+")
_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*(?:.*?\*/|.*)""", re.S)


def _plain(text: str) -> str:
    """JSON without its comments, line by line where it was; YAML as it is but for tabs."""
    text = text.replace("\t", " ")
    if ("//" not in text and "/*" not in text) or text.lstrip()[:1] not in ("{", "[", "/"):
        return text
    return _COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)


class Configs(Mapping[str, Mapping[str, ConfigValue]]):
    """Path and table of every configuration file below `under` (anywhere, when empty), each read when first asked for.

    The table of one that cannot be read is empty; `repository.skipped` then says why.
    """

    def __init__(self, repository: Repository, under: tuple[str, ...]) -> None:
        self._repository = repository
        self._under = under

    @cached_property
    def _tables(self) -> dict[str, dict[str, ConfigValue] | None]:
        listed = self._repository.select(CONFIG_SUFFIXES + PLAIN_SUFFIXES, self._under)
        settings = [path for path in listed if path.endswith(CONFIG_SUFFIXES) or is_plain_config(path)]
        left = frozenset(sorted(settings, key=lambda path: path.count("/"))[MAX_FILES:])
        self._repository.leave_out(left, f"more than {MAX_FILES} files look like settings")
        return {path: None for path in settings if path not in left}

    def holding(self, word: str) -> Iterator[str]:
        """Files in which the word stands as one, or may; none of the others is parsed."""
        found = set(self._by_word.get(word, ()))
        found.update(path for path in self._by_word.get("", ()) if word in (self._repository.read(path) or ""))
        for path, table in self._tables.items():
            if table is not None or path in found:
                yield path

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        """Files by the words in them; under "" the long ones, which are data more often than settings."""
        found: dict[str, list[str]] = {}
        for path in self._tables:
            text = self._repository.read(path) or ""
            for word in set(_WORD.findall(text)) if len(text) <= LONG else ("",):
                found.setdefault(word, []).append(path)
        return found

    def _read(self, path: str) -> dict[str, ConfigValue]:
        text = self._repository.read(path) or ""
        if path.endswith(PLAIN_SUFFIXES):
            return {key: ConfigValue(*found) for key, found in read_plain(text).items()}
        if BASELINE.match(text):
            self._repository.skip(path, "a baseline of trainsleuth")
            return {}
        return self._read_yaml(path, text)

    def _read_yaml(self, path: str, text: str | None) -> dict[str, ConfigValue]:
        """Of a form that is no YAML yet, what is left when a few lines are mended."""
        why: list[str] = []
        while text is not None and len(why) <= MAX_MENDED:
            try:
                table = read_config(text)
            except ValueError as error:
                why.append(str(error))
                text = _mended(text, error.__cause__)
                continue
            if why:
                self._repository.skip(path, f"{IN_PART}{why[0]}")
            return table
        self._repository.skip(path, why[0])
        return {}

    def __getitem__(self, path: str) -> dict[str, ConfigValue]:
        table = self._tables[path]
        if table is None:
            table = self._tables[path] = self._read(path)
        return table

    def __contains__(self, path: object) -> bool:
        return path in self._tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def _mended(text: str, error: BaseException | None) -> str | None:
    """With what stands on the line that is no YAML in quotes: path: "a/7b" or "a/13b". None when that is not its trouble.

    Where the line only stands too deep below a value, kind: images, that value goes.
    """
    mark: Any = getattr(error, "problem_mark", None)
    lines = text.split("\n")
    at = mark.line if mark is not None and mark.line < len(lines) else -1
    found = _VALUE.fullmatch(lines[at]) if at >= 0 else None
    if found is not None and not _QUOTED.fullmatch(found[2]):
        said = re.sub(r"\s+#.*", "", found[2]).replace("'", "''")
        lines[at] = f"{found[1]}'{said}'"
        return "\n".join(lines)
    above = next((one for one in range(at - 1, -1, -1) if lines[one].strip()), None)
    held = _VALUE.fullmatch(lines[above]) if above is not None and _KEY.fullmatch(lines[at]) else None
    if above is None or held is None:
        return None
    lines[above] = held[1]
    return "\n".join(lines)


_VALUE = re.compile(r"(\s*(?:- )?[A-Za-z_][\w.-]*: +)(\S.*)")
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_KEY = re.compile(r"\s*[A-Za-z_][\w.-]*:\s*")


def _flat(node: yaml.Node | None, prefix: str, depth: int, nodes: Iterator[int]) -> Iterator[tuple[str, ConfigValue]]:
    if node is None or depth > 40:
        return
    if next(nodes, None) is None:
        raise ValueError(f"more than {MAX_NODES} nodes, or an alias inside of what it names")
    tag, colon, named = str(node.tag).partition(":")
    if tag in BUILDING_TAGS and colon and named and prefix:
        yield f"{prefix}.{tag}", ConfigValue(named, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode) and not node.value:
            return
    if isinstance(node, yaml.ScalarNode):
        yield prefix, ConfigValue(str(node.value) or _hole(tag), node.start_mark.line + 1)
    elif isinstance(node, yaml.SequenceNode):
        if prefix and not node.value:
            yield prefix, ConfigValue("[]", node.start_mark.line + 1)
        for place, item in enumerate(node.value):
            yield from _flat(item, f"{prefix}.{place}" if prefix else str(place), depth + 1, nodes)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            yield from _flat(value, f"{prefix}.{name}" if prefix else name, depth + 1, nodes)


def _hole(tag: str) -> str:
    """`data: !PLACEHOLDER` has to be given by whoever starts the program."""
    return tag if tag == "!PLACEHOLDER" else ""
