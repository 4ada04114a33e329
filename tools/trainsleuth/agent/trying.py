"""try_change as the model sees it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from trainsleuth.hypothesis import reference
from trainsleuth.wording import one_line, quoted

from .change import Bench, Proof
from .edits import Edit
from .tool import RefusedError, Tool, object_schema

_TEXT = {"type": "string"}
_EDIT = object_schema(
    {"path": _TEXT, "old": {"type": "string", "description": "stands there exactly once"}, "new": _TEXT}
)


def trying_tool(bench: Bench) -> Tool:
    """Runs in a thread of its own, and ends the program when the caller gives up."""

    async def try_change(hypothesis: str, edits: Sequence[Mapping[str, Any]]) -> str:
        try:
            wanted = [Edit(str(one["path"]), str(one["old"]), str(one["new"])) for one in edits]
        except (KeyError, TypeError) as error:
            raise RefusedError("each edit is an object with path, old and new") from error
        if not wanted:
            raise RefusedError("give at least one edit")
        given_up = threading.Event()
        try:
            proof = await anyio.to_thread.run_sync(
                lambda: bench.attempt(hypothesis, wanted, given_up.is_set), abandon_on_cancel=True
            )
        finally:
            given_up.set()
        return _told(proof, bench)

    return Tool(
        "try_change",
        "Makes edits on a copy of the repository and runs there the probe that fails for a hypothesis, and one that "
        "passes. Refused until a test has separated the two likeliest hypotheses. The user's files stay as they are.",
        object_schema(
            {
                "hypothesis": {"type": "string", "description": "id of the cause that the change is for"},
                "edits": {"type": "array", "items": _EDIT, "minItems": 1},
            }
        ),
        try_change,
    )


def _told(proof: Proof, bench: Bench) -> str:
    before, after = proof.before, proof.after
    now = f"{after.outcome} [{reference(after)}]: {one_line(after.message)}" if after else "it said nothing"
    lines = [
        f"{before.by} before: fail [{reference(before)}]: {one_line(before.message)}",
        f"{before.by} with the change: {now}",
        f"control {proof.control}: {'still passes' if proof.control_holds else 'no longer passes'}"
        if proof.control
        else "control: no probe had passed before, so none could be repeated; run more probes first for a surer proof",
    ]
    if proof.flipped:
        lines.insert(0, f"flipped: {proof.hypothesis.id} is confirmed; the diff is kept at {bench.diff}")
    else:
        lines.insert(0, "not proven: this change did not flip the failing probe, or broke the control; it is not kept")
    return "\n".join([*lines, "the diff:", quoted(proof.diff, lines=60)])
