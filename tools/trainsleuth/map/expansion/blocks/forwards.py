"""Which forward a call of a network runs: that of the class that the recipe chooses, else of what the name may hold."""

from __future__ import annotations

import re

from trainsleuth.facts import Class, Function

from ...loop.batch_path import Stage
from ...loop.networks import calls_network
from ...program import Program


def forwards(program: Program, stage: Stage) -> str:
    """The classes whose forward a call runs."""
    if stage.role not in ("forward", "inside"):
        return ""
    said: dict[str, None] = {}
    for call in stage.event.calls:
        if call.line == stage.line and stage.role == "forward" and _IS_NETWORK.fullmatch(call.last):
            if (chosen := _chosen(program)) is not None:
                return f"runs {chosen.qualname} {chosen.path}:{chosen.line}"
        if call.line != stage.line or not calls_network(program.values, stage.function, call):
            continue
        for held in program.values.of(stage.function, call.parts[0]) if call.parts[0].kind == "path" else ():
            forward = program.index.method(held, "forward") if isinstance(held, Class) else None
            if forward is not None:
                said[f"runs {held.name}.forward {forward.path}:{forward.line}"] = None
        for target in program.graph.targets(stage.function, call):
            if isinstance(target, Function):
                said[f"runs {target.qualname} {target.path}:{target.line}"] = None
    return "; ".join(list(said)[:3])


_IS_NETWORK = re.compile(r"_?(?:model|net|network|arch(?:itecture)?)")


def _chosen(program: Program) -> Function | None:
    """The forward of the network that the recipe names under model or architecture, where it names one."""
    found = {
        forward
        for one in program.choices
        if isinstance(one.target, Class) and (forward := program.index.method(one.target, "forward")) is not None
        if _IS_NETWORK.fullmatch(re.sub(r"\.(?:type|name|_target_|class_path)$", "", one.key).rpartition(".")[2])
    }
    return found.pop() if len(found) == 1 else None
