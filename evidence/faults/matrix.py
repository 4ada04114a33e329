"""The matrix as data: healthy programs, faults, and the edit that plants each fault into each program.

    programs/NAME/program.yaml   shape, command, `faults`: fault -> [text, its replacement] or a list of such pairs

A text must occur exactly once in the program's Python and JSON files. `absent` says why a fault means nothing for a
program, `invisible` why no probe can see it in this one, `missed` why none does although one could.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
SOURCES = (".py", ".json")
Edits = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fault:
    """One way to be silently wrong; faults.yaml says what the fields mean."""

    id: str
    what: str
    family: str
    suspects: tuple[str, ...]
    asks: tuple[str, ...] = ()
    needs: str = ""
    blind: str = ""


@dataclass(frozen=True)
class Program:
    """A healthy program. `ranks`: processes that train together. `steps`: that are observed.

    `preload`: modules that are slow to import and that the hooks do not need to come before.
    """

    name: str
    folder: Path
    shape: str
    command: tuple[str, ...]
    edits: Mapping[str, Edits]
    ranks: int = 1
    steps: int = 200
    preload: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    invisible: Mapping[str, str] = field(default_factory=dict)
    missed: Mapping[str, str] = field(default_factory=dict)

    def why_absent(self, fault: Fault) -> str | None:
        """Why this fault means nothing here; None when it can be planted. KeyError when nothing is said."""
        if fault.id in self.edits:
            return None
        return self.absent.get(fault.id) or (f"has no {fault.needs}" if fault.needs else self.absent[fault.id])

    def why_invisible(self, fault: Fault) -> str:
        """Why no probe can see this fault in this program; "" when one can in principle."""
        return self.invisible.get(fault.id, "") or fault.blind


@cache
def faults() -> Mapping[str, Fault]:
    rows = yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8"))
    made = [Fault(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for row in rows]
    return {fault.id: fault for fault in made}


def programs() -> Iterator[Program]:
    for path in sorted((HERE / "programs").glob("*/program.yaml")):
        yield _program(path.parent, yaml.safe_load(path.read_text(encoding="utf-8")))


def _program(folder: Path, said: dict[str, Any]) -> Program:
    edits = {fault: _edits(edit) for fault, edit in said.pop("faults").items()}
    unknown = (set(edits) | set(said.get("absent", ())) | set(said.get("invisible", ()))) - set(faults())
    if unknown:
        raise ValueError(f"{folder.name}/program.yaml names faults that faults.yaml does not: {sorted(unknown)}")
    return Program(
        folder.name,
        folder,
        command=tuple(said.pop("command")),
        edits=edits,
        preload=tuple(said.pop("preload", ())),
        **said,
    )


def _edits(edit: list[Any]) -> Edits:
    pairs = [edit] if isinstance(edit[0], str) else edit
    return tuple((old, new) for old, new in pairs)


def plant(program: Program, fault: str | None, into: Path) -> Path:
    """A copy of the program in `into` with one fault, or none. ValueError when a text is not there exactly once."""
    shutil.copytree(program.folder, into, ignore=shutil.ignore_patterns("__pycache__", "program.yaml"))
    for old, new in program.edits[fault] if fault else ():
        texts = {path: path.read_text(encoding="utf-8") for path in sorted(into.rglob("*")) if path.suffix in SOURCES}
        found = [path for path, text in texts.items() for _ in range(text.count(old))]
        if len(found) != 1:
            raise ValueError(f"{fault} in {program.name}: {old!r} occurs {len(found)} times, expected once")
        found[0].write_text(texts[found[0]].replace(old, new), encoding="utf-8")
    return into
