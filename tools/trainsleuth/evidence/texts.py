"""The text of sources: local copies, and pages from the web when they are asked for."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainsleuth import lore

TIMEOUT = 20.0  # seconds for one page
MAX_BYTES = 20_000_000
_GITHUB_FILE = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/([^/]+)/(.+)")


class TextError(ValueError):
    """A copy of a source cannot be used; the message says how to give one."""


def local(given: Iterable[str]) -> dict[str, str]:
    """Source id -> text, from "ID=FILE", from a file named after the source, or from a folder of such files."""
    return {id: text for one in given for id, text in _local(one)}


def _local(given: str) -> Iterator[tuple[str, str]]:
    id, separator, name = given.partition("=")
    path = Path(name if separator else given)
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.stem in lore.sources():
                yield file.stem, file.read_text(encoding="utf-8", errors="replace")
        return
    id = id if separator else path.stem
    if id not in lore.sources():
        raise TextError(f"{given!r} names no source; write ID=FILE with an id of evidence/sources.yaml")
    yield id, path.read_text(encoding="utf-8", errors="replace")


def fetched(ids: Iterable[str]) -> Iterator[tuple[str, str | None, str]]:
    """Source id, text, and why there is none. Asks the web, one page at a time."""
    for id in ids:
        url = lore.source(id).url
        match = _GITHUB_FILE.fullmatch(url)
        address = f"https://raw.githubusercontent.com/{match[1]}/{match[2]}/{match[3]}" if match else url
        try:
            yield id, _page(address), ""
        except (OSError, ValueError) as error:
            yield id, None, f"{address}: {error}"


def _page(address: str) -> str:
    if not address.startswith(("http://", "https://")):
        raise ValueError("not a web page")
    asked = urllib.request.Request(address, headers={"User-Agent": "trainsleuth-evidence"})
    with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
        kind = answer.headers.get_content_type()
        if not kind.startswith("text/"):
            raise ValueError(f"{kind} is not read; give a text with --source")
        return str(answer.read(MAX_BYTES).decode(answer.headers.get_content_charset() or "utf-8", "replace"))
