"""What the parser of the program makes of every value of the command: kwargs["action"] = OwnAction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainsleuth.facts import Class

from ...program import Program
from .tails import Tails


def parser_actions(program: Program, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """One line for each class of the project that options get as their action under a name, not each by itself."""
    seen: set[Class] = set()
    for function, _ in program.functions():
        for event in function.events:
            if event.kind != "assign" or event.value is None or event.value.kind != "path":
                continue
            if any(one.kind == "index" and one.parts[-1].text == "action" for one in event.targets):
                cls = program.index.resolve(function, event.value.text)
                method = cls.methods.get("__call__") if isinstance(cls, Class) else None
                if isinstance(cls, Class) and method is not None and cls not in seen:
                    seen.add(cls)
                    said = f"the command's values go through {cls.name}.__call__ {tails.of(cls.path)}:{method.line}"
                    yield said, {"action": cls.name, "path": cls.path, "line": method.line, "keys": []}
