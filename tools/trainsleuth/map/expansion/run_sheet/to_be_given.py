"""Values that the recipe leaves to whoever starts the run: image_dir: ???."""

from __future__ import annotations

from typing import Any

from ...configuration import Truth
from ...configuration.records import NO_VALUE
from ...drawing.wording import clean
from .tails import Tails

WIDTH = 330


def to_be_given(truth: Truth, tails: Tails) -> tuple[str, dict[str, Any]] | None:
    """ "to be given: data.path C:3, .labels :4"; None where a file leaves nothing open."""
    said, path, before = [], "", ""
    keys = [key for key in truth.plain_keys if key.value in NO_VALUE and key.source and key.source.how == "file"]
    for key in keys:
        source = key.source
        if source is not None:
            section, _, last = key.name.rpartition(".")
            name = f".{last}" if section and section == before else key.name
            where = f":{source.line}" if source.path == path else f"{tails.of(source.path)}:{source.line}"
            said.append(f"{name} {where}")
            path, before = source.path, section
    if not said:
        return None
    return clean(f"to be given: {', '.join(said)}", WIDTH), {"open": [key.name for key in keys]}
