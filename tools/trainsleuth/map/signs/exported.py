"""Lines of the launch script that give the program what it reads from the environment."""

from __future__ import annotations

from collections.abc import Iterator

from ..launching.environment import exported
from ..program import Program
from ..records import Place


def exported_places(program: Program) -> Iterator[Place]:
    """A line that names a configuration file which is read counts most."""
    for command in program.entry.commands[:1]:
        for one in exported(program.index, program.entry.reach.distance, command):
            of_files = any(path.endswith(one.value.lstrip("./")) for path in program.config_paths)
            yield Place(one.path, one.line, "exported", 0.85 if of_files else 0.45)
