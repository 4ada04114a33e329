"""The markdown of the skill: where it lies, and its sections."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

# libyaml reads the claims about eight times as fast, where PyYAML was built with it
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HEADING = re.compile(r"(#{1,4}) +(.+?) *$")
_CITED = re.compile(r"\[([a-z0-9]+(?:-[a-z0-9]+)+)\](?!\()")  # [claim-id], not a [link](target)


@dataclass(frozen=True)
class Section:
    """One section of a page: `id` is "PLAYBOOK.md#the-loss-is-nan", `claims` the ids that it cites."""

    id: str
    title: str
    text: str
    claims: tuple[str, ...]


def content_root() -> Path:
    """The folder of SKILL.md, PLAYBOOK.md, refs/ and evidence/: in the package, or its checkout."""
    here = Path(__file__).resolve()
    packaged = here.parent / "_content"
    return packaged if packaged.is_dir() else here.parents[2]


def read_evidence(name: str) -> Any:
    """The content of one YAML or JSON file in evidence/."""
    return read_plain(content_root() / "evidence" / name)


def read_plain(path: Path) -> Any:
    """What a YAML or JSON file holds."""
    with path.open(encoding="utf-8") as file:
        return json.load(file) if path.suffix == ".json" else yaml.load(file, _LOADER)


@functools.cache
def sections() -> tuple[Section, ...]:
    """The sections of the playbook and of the refs, in reading order."""
    root = content_root()
    pages = [root / "PLAYBOOK.md", *sorted((root / "refs").glob("*.md"))]
    return tuple(
        part
        for page in pages
        if page.is_file()
        for part in _sections(page.relative_to(root).as_posix(), page.read_text("utf-8"))
    )


def _sections(page: str, markdown: str) -> Iterator[Section]:
    title, body, fenced = "", list[str](), False
    for line in [*markdown.splitlines(), "# end"]:
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading is None:
            body.append(line)
            continue
        text = "\n".join(body).strip()
        if title and text:
            cited = tuple(dict.fromkeys(_CITED.findall(text)))
            yield Section(f"{page}#{_slug(title)}", title, text, cited)
        title, body = heading[2], []


def _slug(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
