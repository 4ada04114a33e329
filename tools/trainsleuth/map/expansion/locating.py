"""Which function, class or text is meant by PATH:LINE, by a short path, or by a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from trainsleuth.facts import MODULE_BODY
from trainsleuth.facts.source import read_source
from trainsleuth.repository import Repository, is_source

from ..statements import is_class_body
from .pages import Page, Pages
from .sources import Source

Found = tuple[Page, int]  # with the line that is asked for
UNSEEN = ", in no file that the program is seen to load"


def located(pages: Pages, repository: Repository, where: str, read: Callable[[str], list[str]]) -> list[Found]:
    """What `where` may mean, the likeliest first: what the program runs, then what is near its entry."""
    path, _, line = where.rpartition(":")
    if path and line.isdigit():
        fits = (one for one in repository.files if one == path or one.endswith(f"/{path}"))
        found = [one for fit in fits for one in _at_line(pages, fit, int(line), read)]
        return sorted(found, key=lambda one: (one[0].path != path, *_rank(pages, one[0])))
    if path.endswith(".py"):
        where, inside = line, path
    else:
        inside = ""
    known = [page for page in pages.pages if _is_called(page, where)] or list(_inherited(pages, where, read, set()))
    known = [page for page in known if _is_in(page.path, inside)]
    if not any(page.is_reached for page in known):
        known += (page for page in _elsewhere(pages, repository, where, read) if _is_in(page.path, inside))
    named = {one.value.lower() for one in pages.settings if one.is_set}
    return [(page, page.line) for page in sorted(known, key=lambda one: (-one.is_chosen, *_rank(pages, one, named)))]


def _is_in(path: str, file: str) -> bool:
    return not file or f"/{path}".endswith(f"/{file}")


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
    of_file = [page for page in pages.pages if page.path == path] or list(read_pages(path, read(path)))
    around = [page for page in of_file if page.line <= line <= page.end_line]
    if around:
        yield max(around, key=lambda one: (one.line, bool(one.name))), line


def read_pages(path: str, lines: list[str]) -> Iterator[Page]:
    """Of a file that the program does not load; of one that is no code, one page."""
    whole = Page(path, "", 1, len(lines), False, False, False, False, 0.0, "", "", (), ())
    if not is_source(path):
        yield whole
        return
    file = read_source(path, "\n".join(lines))
    for function in dict.fromkeys((file.body, *file.functions.values())):
        plain, name = function.name == MODULE_BODY, function.qualname.removesuffix(".<class>")
        begins = tuple(dict.fromkeys(event.line for event in function.events))
        yield replace(
            whole,
            name="" if plain else name,
            line=function.line,
            end_line=file.lines if plain else function.end_line,
            is_class=is_class_body(file, function),
            heading="" if plain else f"{name} :{function.line}{UNSEEN}",
            begins=begins or (function.line,),
        )


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
