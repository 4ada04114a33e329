"""Functions and classes of files that the program does not load, or does not run, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainsleuth.facts import MODULE_BODY
from trainsleuth.facts.reading.source import read_source
from trainsleuth.repository import is_source

from ...drawing.statements import is_class_body
from .pages import Page

UNSEEN = ", in no file that the program is seen to load"


def read_pages(path: str, lines: Sequence[str]) -> Iterator[Page]:
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


def with_begins(pages: Sequence[Page], path: str, lines: Sequence[str]) -> Iterator[Page]:
    """The same pages of a file; those that do not run with the lines on which their statements begin, too."""
    begins = {(one.name, one.line): one.begins for one in read_pages(path, lines)}
    for page in pages:
        yield page if page.begins else replace(page, begins=begins.get((page.name, page.line), ()))
