"""Samples that training draws to be looked at: a pipeline for inference that is built around the model and called."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, bindings

from ..program import Program
from ..records import Place


def sampled(program: Program) -> Iterator[Place]:
    """Calls of what AudioPipeline(...) or AudioPipeline.from_pretrained(...) made, and how a pipeline of the project draws."""
    for called in program.reached_calls:
        name = called.call.callee
        if "pipe" not in name.lower() or "." in name:
            continue
        made = (one.value for one in bindings(called.function).get(name, ()))
        for maker in dict.fromkeys(_maker(value) for value in made if value is not None and value.kind == "call"):
            if maker:
                weight = called.weight**0.4
                yield program.at(called.function, called.call.line, "evaluation call", 0.8 * weight)
                if (draws := _draws(program, called.function, maker)) is not None:
                    yield program.at(draws, draws.line, "definition", 0.72 * weight)


def _maker(call: Expr) -> str:
    """The dotted name of the class of pipelines, "" where it is none."""
    words = call.callee.split(".")
    ends = [place for place, word in enumerate(words) if word.endswith("Pipeline")]
    return ".".join(words[: ends[-1] + 1]) if ends else ""


def _draws(program: Program, function: Function, maker: str) -> Function | None:
    cls = program.index.resolve(function, maker)
    return program.index.method(cls, "__call__") if isinstance(cls, Class) else None
