"""What a bundle holds, and what became of its step when it was tried here."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trainsleuth.answers.answer import NOTHING_WRONG, Answer, Section
from trainsleuth.answers.reports import probe_answer, repeated
from trainsleuth.finding import COMMAND_SHOWN
from trainsleuth.wording import one_line, strict, wrapped

if TYPE_CHECKING:
    from trainsleuth.probing import Request
    from trainsleuth.replaying import Bundle, Replayed

LOSSES = 8  # of the history that the text shows


def bundle_answer(bundle: Bundle, width: int | None = None) -> Answer:
    """The bundle alone; nothing was run."""
    lines = tuple(wrapped(one_line(line), "  ", width, "  ") for line in _lines(bundle.told))
    return Answer(
        head=wrapped(f"{bundle.folder}: {one_line(bundle.words)}", "", width),
        sections=(Section("what it holds:", lines),),
        plain={"bundle": str(bundle.folder), "told": strict(bundle.told)},
        tail=f"to try it here: trainsleuth replay {bundle.folder} -- COMMAND",
        code=NOTHING_WRONG,
    )


def replay_answer(said: Replayed, asked: Request, width: int | None = None) -> Answer:
    """The probes on the step that was put back, behind what fitted."""
    answer = probe_answer(said.report, asked, width)
    tail = f"{repeated('replay', asked, (str(said.bundle.folder),))}\nafter a change: the same again"
    lines = [f"the bundle: {said.bundle.words}", *_put_lines(said.put)]
    head = answer.head
    if said.report.trained and answer.code == NOTHING_WRONG:
        head = wrapped(f"{one_line(shlex.join(asked.command), COMMAND_SHOWN)}: it did not come again here", "", width)
    return replace(
        answer,
        head=head,
        tail=tail,
        sections=(
            Section("", ("\n".join(wrapped(one_line(line), "", width, "  ") for line in lines),)),
            *answer.sections,
        ),
        plain={
            **answer.plain,
            "bundle": str(said.bundle.folder),
            "told": strict(said.bundle.told),
            "put_back": strict(said.put),
        },
    )


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"written by: {' '.join(told.get('command', ()))} in {told.get('cwd')}"
    yield f"Python {told.get('python')}, torch {told.get('torch')}, {told.get('platform')}"
    history = told.get("history", [])[-LOSSES:]
    if history:
        yield f"the last losses: {', '.join(f'{one:.4g}' if isinstance(one, float) else str(one) for one in history)}"
    yield f"weights and buffers of {', '.join(told.get('modules', ())) or 'no module'}; states of {', '.join(told.get('optimizers', ())) or 'no optimizer'}"
    if len(told.get("batches", [])) > 1:
        yield f"the last {len(told['batches'])} batches"
    for batch in told.get("batches", [])[-1:]:
        yield f"the newest batch: {', '.join(f'{name} {shape}' for name, shape in batch) or 'without tensors'}"
    if told.get("read_at", told["n"]) != told["n"]:
        yield f"read late: what it holds is of step {told['read_at']}"
    if told.get("spoiled"):
        yield f"not finite already: {', '.join(map(str, told['spoiled']))}, so it began in a step before"
    if told.get("left_out"):
        yield str(told["left_out"])


def _put_lines(put: Mapping[str, Any]) -> Iterator[str]:
    if not put:
        yield "nothing of it was put back, for no step was seen"
        return
    parts = [f"the weights of {one}" for one in put["modules"]] + [f"the state of {one}" for one in put["optimizers"]]
    parts += [f"its batches in place of the program's own ({put['batches']} given)"] if put["batches"] else []
    yield f"put back: {', '.join(parts) or 'nothing'}"
    if put["unfit"]:
        yield f"did not fit: {', '.join(put['unfit'])}"
    if not put["batches"]:
        yield "none of its batches was put back, and the fault may need one"
