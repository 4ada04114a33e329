"""What runs answer of a reading: an observed map, and the findings of probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.finding import Finding
from trainsleuth.observing import Observation, Seen, words_of
from trainsleuth.reading.answering import MOST_PLACES, Reply
from trainsleuth.reading.questions import QUESTIONS, Asked

SEEN = {  # the parts of a run that answer a question
    "data": (("data", "dataset"), ("data", "loader")),
    "batch": (("data", "batch"), ("model", "call")),
    "model": (("model", "class"),),
    "model-output": (("loss", "loss"),),
    "loss": (("loss", "loss"),),
    "optimizer": (("optimizer_scheduler", "optimizer"),),
    "schedule": (("optimizer_scheduler", "scheduler"),),
}


def seen_replies(seen: Observation) -> Mapping[str, Reply]:
    """By the id of the question; nothing when no training step was seen."""
    if not seen.trained:
        return {}
    given = {id: [one for role in roles for one in seen.of(*role)] for id, roles in SEEN.items()}
    if not any("holds" in one.facts for one in given["model-output"]):
        given["model-output"] = []
    found = {id: _reply(parts) for id, parts in given.items() if parts}
    loop = [one for one in seen.of("training_loop") if one.path is not None]
    if seen.order:
        order = Reply(seen.order, tuple(dict.fromkeys(one.place for one in loop))[:MOST_PLACES])
        found.update({"iteration": order, "real-steps": order})
    return found


def _reply(parts: list[Seen]) -> Reply:
    places = tuple(dict.fromkeys(one.place for one in parts if one.path is not None))
    return Reply("; ".join(words_of(one) for one in parts[:3]), places[:MOST_PLACES])


def probed_replies(said: Mapping[str, Iterable[Finding]]) -> Mapping[str, tuple[str, Reply]]:
    """(who answered, the answer) by the id of the question, from what each test last said.

    A failure answers as well as a pass; what a test left open does not.
    """
    return {asked.id: reply for asked in QUESTIONS for reply in _probed(asked, said)}


def _probed(asked: Asked, said: Mapping[str, Iterable[Finding]]) -> Iterator[tuple[str, Reply]]:
    for by in (f"probe:{name}" for name in asked.probes):
        every = list(said.get(by, ()))
        found = [one for one in every if one.outcome == "fail"] or [one for one in every if one.outcome == "pass"]
        if found:
            places = tuple(dict.fromkeys(one.place for one in found if one.line is not None))
            yield by, Reply("; ".join(f"{one.outcome}: {one.message}" for one in found[:2]), places[:MOST_PLACES])
            return
