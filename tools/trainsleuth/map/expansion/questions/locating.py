"""Which function, class or text is meant by PATH:LINE, by a short path, or by a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from trainsleuth.repository import Repository, is_source

from .pages import Page, Pages
from .sources import Source
from .unloaded import read_pages

Found = tuple[Page, int]  # with the line that is asked for


def located(pages: Pages, repository: Repository, where: str, read: Callable[[str], list[str]]) -> list[Found]:
    """What `where` may mean, the likeliest first: what the program runs, then what is near its entry."""
    path, _, line = where.rpartition(":")
    if path and line.isdigit():
        fits = (one for one in repository.files if one == path or one.endswith(f"/{path}"))
        found = [one for fit in fits for one in _at_line(pages, fit, int(line), read)]
        return sorted(found, key=lambda one: (one[0].path != path, *_rank(pages, one[0])))
    if path and (of_files := list(_in_files(pages, repository, path, line, read))):
        return of_files
    known = [page for page in pages.pages if _is_called(page, where)] or list(_inherited(pages, where, read, set()))
    if not any(page.is_reached for page in known):
        known += _elsewhere(pages, repository, where, read)
    named = {one.value.lower() for one in pages.settings if one.is_set}
    return [(page, page.line) for page in sorted(known, key=lambda one: (-one.is_chosen, *_rank(pages, one, named)))]


def _in_files(
    pages: Pages, repository: Repository, path: str, name: str, read: Callable[[str], list[str]]
) -> Iterator[Found]:
    """What a file, of which `path` may be the end and may leave out ".py", calls so: a definition, or a variable."""
    path = path.removesuffix(".py")
    fits = [one for one in repository.files if is_source(one) and f"/{one.removesuffix('.py')}".endswith(f"/{path}")]
    last = name.rpartition(".")[2]
    fits = [one for one in fits if any(last in text for text in read(one))][:MAX_FILES]
    of_files = [(one, _pages_of(pages, one, read)) for one in fits]
    found = [page for _, every in of_files for page in every if _is_called(page, name)]
    if found:
        yield from ((page, page.line) for page in sorted(found, key=lambda one: _rank(pages, one)))
        return
    assigns = re.compile(r"\s*" + _ASSIGNS % re.escape(last))
    for one, _ in of_files if last.isidentifier() else ():
        line = next((line for line, text in enumerate(read(one), 1) if assigns.match(text)), 0)
        yield from _at_line(pages, one, line, read) if line else ()


def _pages_of(pages: Pages, path: str, read: Callable[[str], list[str]]) -> list[Page]:
    return [page for page in pages.pages if page.path == path] or list(read_pages(path, read(path)))


def assigned(source: Source, where: str) -> list[Found]:
    """Statements of code that runs which assign a variable or an attribute ("rate", "Trainer.rate"), likeliest first."""
    owner, _, name = where.rpartition(".")
    if not name.isidentifier():
        return []
    assigns = re.compile(_ASSIGNS % re.escape(name))
    found = [
        (page, unit.line)
        for page, place in source.spoken.where
        if assigns.match((unit := source.units(page)[place]).text) and page.name.startswith(owner)
    ]
    return sorted(
        found, key=lambda one: (bool(one[0].off or source.note(*one).off), -one[0].weight, one[0].path, one[1])
    )


_ASSIGNS = r"(?:[\w.]+(?:, | = ))*(?:self\.|cls\.)?%s(?:, [\w.]+)*(?:: [^=]+?)? = "


def _rank(pages: Pages, page: Page, named: Collection[str] = ()) -> tuple[float, int, float, int, str, int]:
    """Of those that it is not seen to run, first those in folders or files that a setting names (env=cartpole)."""
    own = sum(part.removesuffix(".py").lower() in named for part in page.path.split("/"))
    same = 0
    for ours, theirs in zip(pages.entry.split("/"), page.path.split("/"), strict=False):
        if ours != theirs:
            break
        same += 1
    return (-page.weight if page.is_reached else 0.0, -own, -page.weight, -same, page.path, page.line)


def _is_called(page: Page, name: str) -> bool:
    return bool(page.name) and (page.name == name or page.name.endswith(f".{name}"))


def _inherited(pages: Pages, where: str, read: Callable[[str], list[str]], seen: set[str]) -> Iterator[Page]:
    """The method of a class that defines it for the class that is named."""
    owner, _, method = where.rpartition(".")
    seen.add(owner)
    for page in pages.pages if owner else ():
        if page.is_class and _is_called(page, owner):
            head = " ".join(read(page.path)[page.line - 1 : page.line + MAX_BASES])
            stated = re.search(rf"class {page.name.rpartition('.')[2]}\b[^(:]*\(([^:]*)\):", head)
            bases = re.findall(r"[\w.]+", re.sub(r"\[[^\]]*\]", "", stated[1])) if stated else []
            for base in (one.rpartition(".")[2] for one in bases):
                if base not in seen:
                    named = f"{base}.{method}"
                    found = [one for one in pages.pages if _is_called(one, named)]
                    yield from found or _inherited(pages, named, read, seen)


MAX_BASES = 8  # lines on which the bases of a class stand


def _at_line(pages: Pages, path: str, line: int, read: Callable[[str], list[str]]) -> Iterator[Found]:
    """The innermost function or class around a line of a file."""
    around = [page for page in _pages_of(pages, path, read) if page.line <= line <= page.end_line]
    if around:
        yield max(around, key=lambda one: (one.line, bool(one.name))), line


def _elsewhere(pages: Pages, repository: Repository, name: str, read: Callable[[str], list[str]]) -> Iterator[Page]:
    """Definitions of that name in files that the program does not load."""
    last = re.escape(name.rpartition(".")[2])
    if not last:
        return
    loaded = {page.path for page in pages.pages}
    found = repository.search(rf"^\s*(?:async )?(?:def|class) {last}\b", ["*.py"], limit=MAX_FILES)
    for path in dict.fromkeys(hit.path for hit in found if hit.path not in loaded):
        yield from (page for page in read_pages(path, read(path)) if _is_called(page, name))


MAX_FILES = 20
