"""What an agent learns from: the loop in which its environment goes on, and the batches out of what was kept."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from trainsleuth.facts import Expr, Function

from ..calling.edges import DIRECT
from ..program import Called, Program
from ..records import Place


def collected(program: Program, function: Function) -> Iterator[Place]:
    """Where a function above the step lets an environment go on: the loop around it collects what is learnt from."""
    for event in function.events:
        if event.block.loops and any(_is_environment(call) for call in event.calls):
            yield program.at(function, event.line, "environment step", 0.86)
            yield program.at(function, function.loops[event.block.loops[-1]].line, "loop", 0.84)
            if len(event.block.loops) > 1:  # one over the environments inside of that over the time
                yield program.at(function, function.loops[event.block.loops[0]].line, "loop", 0.85)


def collectors(program: Program, near: Collection[Function]) -> Iterator[Function]:
    """Functions that are called in the loops above the step, beside the way down: self.collect(steps)."""
    for function in near:
        for edge in program.graph.edges(function):
            if edge.cost == DIRECT and edge.position >= 0 and function.events[edge.position].block.loops:
                if edge.target not in near and edge.target.loops and not _EVALUATES.search(edge.target.name):
                    yield edge.target


_EVALUATES = re.compile(r"eval|test|valid|play|enjoy|render|benchmark", re.I)


def _is_environment(call: Expr) -> bool:
    if call.last == "send" and call.arguments:  # to the process of an environment
        first = call.arguments[0].parts[:1] if call.arguments[0].kind == "tuple" else ()
        return any(one.kind == "string" and one.text == "step" for one in first)
    stepped = call.last in ("step", "step_async", "vector_step") and call.receiver is not None
    return stepped and call.receiver is not None and _ENVIRONMENT.fullmatch(call.receiver.last) is not None


_ENVIRONMENT = re.compile(r"_?(?:\w+_)?(?:vec_?)?envs?", re.I)


_TAKES = re.compile(r"^(?:random_batch|sample\w*|get_batch|next_batch|(?:\w+_)?(?:batch|forward|recurrent)_generator)$")
_BUFFER = re.compile(r"buffer|replay|memory|storage|rollouts$", re.I)


def takes_experience(called: Called) -> bool:
    """Batches out of what was kept: buffer.sample(8), rollouts.feed_forward_generator(adv), rollout_buffer.get(64)."""
    call = called.call
    if call.receiver is None or not _BUFFER.search(call.receiver.last):
        return False
    of_loop = call.last == "get" and called.event.kind == "for"
    return _TAKES.search(call.last) is not None or (
        of_loop and any(isinstance(one, Function) for one in called.targets)
    )
