"""From a repository to its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from trainsleuth.cache import code_digest, digest, open_cache
from trainsleuth.repository import CONFIG_SUFFIXES, Repository, is_notebook, is_source

from .collection import no_collection
from .config import ConfigValue, read_config
from .index import Index
from .notebook import join_cells
from .records import FileFacts
from .source import read_source
from .stored import pack, unpack

MAX_PENDING = 20_000_000  # characters of source whose syntax trees wait for questions; each holds about 20 bytes


def build_index(repository: Repository, under: Iterable[str] = ()) -> Index:
    """Read every source and configuration file (below the folders `under`, if given).

    Never raises for their content: what could not be read is in `repository.skipped`.
    """
    scopes = tuple(under)
    with no_collection():
        files = {facts.path: facts for facts in _read_sources(repository, scopes)}
        configs = dict(_read_configs(repository, scopes))
    return Index(repository, files, configs)


def keep_facts(index: Index) -> None:
    """Store what is now known of each file, for the next index of the same code, wherever it lies."""
    new = {
        _key(index.repository, facts.path): pack(facts)
        for facts in index.files.values()
        if is_source(facts.path)
        and facts.stored_bodies < sum(function.is_read for function in facts.functions.values())
    }
    open_cache().put(new)


def _key(repository: Repository, path: str) -> bytes:
    return digest(code_digest(), PurePath(path).suffix.encode(), repository.digest(path))


def _read_sources(repository: Repository, under: tuple[str, ...]) -> Iterator[FileFacts]:
    texts = dict(_texts(repository, under))
    known = open_cache().get(_key(repository, path) for path in texts)
    pending = 0
    for path, (text, cells) in texts.items():
        facts = _stored(path, text, known.get(_key(repository, path)))
        if facts is None:
            facts = read_source(path, text, cells)
            pending += len(text)
            if pending > MAX_PENDING:
                for function in facts.functions.values():
                    function.events  # noqa: B018
        if facts.problems:
            line, what = facts.problems[0]
            repository.skip(path, f"read in part: line {line} {what}")
        yield facts


def _texts(
    repository: Repository, under: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, tuple[tuple[int, int], ...]]]]:
    for path in repository.sources(under):
        text = repository.read(path)
        if text is None:
            continue
        cells: tuple[tuple[int, int], ...] = ()
        if is_notebook(path):
            try:
                text, cells = join_cells(text)
            except ValueError as error:
                repository.skip(path, str(error))
                continue
        yield path, (text, cells)


def _stored(path: str, text: str, stored: bytes | None) -> FileFacts | None:
    try:
        return unpack(path, text, stored) if stored is not None else None
    except (ValueError, RecursionError):
        return None  # damaged, or not ours


def _read_configs(repository: Repository, under: tuple[str, ...]) -> Iterator[tuple[str, dict[str, ConfigValue]]]:
    for path in repository.select(CONFIG_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        try:
            yield path, read_config(text)
        except ValueError as error:
            repository.skip(path, str(error))
