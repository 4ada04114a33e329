"""From a repository to its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from os.path import splitext

from trainsleuth.cache import code_digest, digest, open_cache
from trainsleuth.repository import IN_PART, Repository, is_notebook, is_source

from .collection import no_collection
from .index import Index
from .naming.names import Names
from .naming.sites import is_test
from .reading.config import Configs
from .reading.grammar import is_python_source
from .reading.notebook import join_cells
from .reading.plain import is_plain, read_plain
from .reading.source import read_source
from .reading.stored import pack, unpack
from .records import MODULE_BODY, FileFacts

MAX_PENDING = 20_000_000  # characters of source whose syntax trees wait for questions; each holds about 20 bytes
FEW_PLAIN = 100  # are parsed at once, so what is wrong in them is told; of a thousand those that are asked for


def build_index(repository: Repository, under: Iterable[str] = (), tests: bool = True) -> Index:
    """Read every source file (below the folders `under`, if given); configuration files when they are asked for.

    Without `tests` a file of tests is empty in the index, unless other code imports it.
    Never raises for their content: what could not be read is in `repository.skipped`.
    """
    scopes = tuple(under)
    with no_collection():
        files = _read_sources(repository, repository.sources(scopes), tests)
    return Index(repository, files, Configs(repository, scopes))


def keep_facts(index: Index) -> None:
    """Store what is now known of each file, for the next index of the same code, wherever it lies."""
    cache = open_cache()
    if cache.is_off:
        return
    new = {
        _key(index.repository, facts.path): pack(facts)
        for facts in index.files.values()
        if is_source(facts.path)
        and facts.stored_bodies < sum(function.is_read for function in facts.functions.values())
    }
    cache.put(new)


def _key(repository: Repository, path: str) -> bytes:
    return digest(code_digest(), splitext(path)[1].encode(), repository.digest(path))


def _read_sources(repository: Repository, paths: tuple[str, ...], tests: bool) -> dict[str, FileFacts]:
    """Facts by path, in the order of `paths`."""
    found = {facts.path: facts for facts in _read(repository, [path for path in paths if tests or not is_test(path)])}
    if tests:
        return found
    every = {path: _empty(path) for path in paths}
    names, new = Names(every), list(found.values())
    while new:
        imported = {path for facts in new for path in names.imported(facts)}
        new = list(_read(repository, sorted(path for path in imported if is_test(path) and path not in found)))
        found.update((facts.path, facts) for facts in new)
    return {path: found.get(path, empty) for path, empty in every.items() if path in found or is_test(path)}


@cache
def _nothing() -> FileFacts:
    return read_source("", "")


def _empty(path: str) -> FileFacts:
    """Of a file that is not read. Its one body counts as stored: there is nothing to keep."""
    body = replace(_nothing().body, path=path)
    return replace(_nothing(), path=path, functions={MODULE_BODY: body}, stored_bodies=1)


def _read(repository: Repository, paths: Iterable[str]) -> Iterator[FileFacts]:
    texts = dict(_texts(repository, paths))
    known = open_cache().get(_key(repository, path) for path in texts)
    pending = plain = 0
    for path, (text, cells) in texts.items():
        tell = partial(_tell, repository, path, text)
        facts = _stored(path, text, known.get(_key(repository, path)))
        if facts is None and is_plain(text):
            plain += 1
            facts = read_plain(path, text, cells, tell) if plain > FEW_PLAIN else None
        if facts is None:
            facts = read_source(path, text, cells)
            pending += len(text)
            if pending > MAX_PENDING:
                for function in facts.functions.values():
                    function.events  # noqa: B018
        tell(facts.problems)
        yield facts


def _tell(repository: Repository, path: str, text: str, problems: tuple[tuple[int, str], ...]) -> None:
    for line, what in problems[:1]:
        said = "is Python that the grammar does not take" if is_python_source(text) else what
        repository.skip(path, f"{IN_PART}line {line} {said}")


def _texts(
    repository: Repository, paths: Iterable[str]
) -> Iterator[tuple[str, tuple[str, tuple[tuple[int, int], ...]]]]:
    for path in paths:
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
