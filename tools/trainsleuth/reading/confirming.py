"""What runs answer of a reading: an observed map, and the findings of probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainsleuth.finding import Finding
from trainsleuth.observing import Observation, Seen, words_of
from trainsleuth.reading.answering import MOST_PLACES, Reply
from trainsleuth.reading.questions import QUESTIONS

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


def probed_replies(findings: Iterable[Finding]) -> Mapping[str, tuple[str, Reply]]:
    """(who answered, the answer) by the id of the question. A failure answers as well as a pass; an open one does not."""
    return dict(_probed(list(findings)))


def _probed(findings: list[Finding]) -> Iterator[tuple[str, tuple[str, Reply]]]:
    for asked in QUESTIONS:
        said = [
            one for one in findings if one.by.removeprefix("probe:") in asked.probes and one.outcome in ("fail", "pass")
        ]
        told = [one for one in said if one.outcome == "fail"] or said
        if told:
            places = tuple(dict.fromkeys(one.place for one in told if one.line is not None))
            answer = "; ".join(f"{one.outcome}: {one.message}" for one in told[:2])
            yield asked.id, (told[0].by, Reply(answer, places[:MOST_PLACES]))
