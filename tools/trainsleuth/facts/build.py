"""From a repository to its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainsleuth.repository import CONFIG_SUFFIXES, SOURCE_SUFFIXES, Repository

from .collection import no_collection
from .config import ConfigValue, read_config
from .index import Index
from .notebook import join_cells
from .records import FileFacts
from .source import read_source


def build_index(repository: Repository, under: Iterable[str] = ()) -> Index:
    """Read every source and configuration file (below the folders `under`, if given).

    Never raises for their content: what could not be read is in `repository.skipped`.
    """
    scopes = tuple(under)
    with no_collection():
        files = {facts.path: facts for facts in _read_sources(repository, scopes)}
        configs = dict(_read_configs(repository, scopes))
    return Index(repository, files, configs)


def _read_sources(repository: Repository, under: tuple[str, ...]) -> Iterator[FileFacts]:
    for path in repository.select(SOURCE_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        cells: tuple[tuple[int, int], ...] = ()
        if path.endswith(".ipynb"):
            try:
                text, cells = join_cells(text)
            except ValueError as error:
                repository.skip(path, str(error))
                continue
        facts = read_source(path, text, cells)
        if facts.problems:
            line, what = facts.problems[0]
            repository.skip(path, f"read in part: line {line} {what}")
        yield facts


def _read_configs(repository: Repository, under: tuple[str, ...]) -> Iterator[tuple[str, dict[str, ConfigValue]]]:
    for path in repository.select(CONFIG_SUFFIXES, under):
        text = repository.read(path)
        if text is None:
            continue
        try:
            yield path, read_config(text)
        except ValueError as error:
            repository.skip(path, str(error))
