"""Fine-tuning on the wrong tokens: on the prompt and not on the answer, or on all of the answer but its end."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Finding, Severity
from trainsleuth.trace import Event, Trace, shown

from ._loss_words import failure

NEEDED_CALLS = 3
NEEDED_ROWS = 12
MOSTLY = 0.75  # of the sequences
KINDS = 8  # of tokens that are left out: fewer are marks or places for something else


def targets_left_out(trace: Trace) -> Iterator[Finding]:
    for one in {(e["fn"], e["site"], e["lib"]): e for e in trace.events("next_tokens")}.values():
        if one["calls"] >= NEEDED_CALLS and one["rows"] >= NEEDED_ROWS:
            yield from list(_beginning(one)) or _end(one)


def _beginning(one: Event) -> Iterator[Finding]:
    """Only what stands first is learned, and what is ignored behind it differs from sequence to sequence."""
    read = one["begun"] + one["whole"] + one["elsewhere"]
    if one["elsewhere"] or one["begun"] < max(NEEDED_ROWS, MOSTLY * read) or one["lengths"] < 3 or one["left"] < KINDS:
        return
    other = one["others"]
    end = f", with the end of {one['begun_and_ended']} sequences ({_ids(one)})" if one["begun_and_ended"] else ""
    yield _found(
        one,
        "note" if other else "warning",
        f"counts only the beginning of the sequences: in {one['begun']} of {read} the targets run from the first token to one in the middle, and the tokens "
        f"behind are ignored{end}, {one['ignored']} in all"
        + ("; is that what another loss is for?" if other else ": a model of the next token that gets nothing from them; expected the targets behind the prompt"),
        "was the prompt to be masked, labels[:length] = ignore_index, and not what comes behind it? Decode the tokens of one row whose label counts",
        {"sequences": one["begun"], "ignored": one["ignored"]},
    )  # fmt: skip


def _end(one: Event) -> Iterator[Finding]:
    """The end of the sequence stands right behind the last target, in every row that is not cut off, and is never a target."""
    if one["is_end_counted"] or not one["ended"] or one["single"] == one["rows"]:
        return
    is_attended = one["attended"] >= max(NEEDED_ROWS, MOSTLY * one["ended"])
    sure = is_attended or _is_appended(one["batches"])
    if not sure and not (
        _is_of_one_width(one["batches"]) and one["ended"] >= MOSTLY * one["rows"] and one["last"] >= KINDS
    ):
        return
    how = (
        "and is attended to"
        if is_attended
        else "in the longest of each batch too, so it is no mere padding"
        if sure
        else "which may be padding"
    )
    yield _found(
        one,
        "warning" if sure and not one["others"] else "note",
        f"never has the end of a sequence as target: {_ids(one)} stands right behind the last label that counts in {one['ended']} of {one['rows']} sequences, {how}, "
        f"and is none of {one['counted']} labels in {one['calls']} calls: what is generated will not know where to stop; expected its first one among the targets",
        "where labels are masked by the id of padding, and padding is the end token: mask by attention_mask, or pad with a token of its own",
        {"sequences": one["ended"], "labels": one["counted"]},
    )  # fmt: skip


def _is_appended(batches: list[list[int]]) -> bool:
    """Exactly one end in the longest sequence of each batch that is not cut off; one alone in all, or widths that follow the longest."""
    widest = max(width for width, _, _ in batches)
    if len(batches) >= NEEDED_CALLS and all(least == most == 1 for _, least, most in batches):
        return True
    narrow = [(width, least) for width, least, _ in batches if width < widest]
    return len({width for width, _ in narrow}) >= 2 and all(least == 1 for _, least in narrow)


def _is_of_one_width(batches: list[list[int]]) -> bool:
    return len({width for width, _, _ in batches}) == 1


def _ids(one: Event) -> str:
    return "eos_token_id " + " or ".join(map(str, one["ends"]))


def _found(one: Event, severity: Severity, message: str, next: str, measured: dict[str, float]) -> Finding:
    return failure(
        one,
        f"{one['fn']} at {shown(one)} {message}",
        "targets-misaligned-with-inputs",
        severity=severity,
        confidence="medium" if severity == "warning" else "low",
        measured=measured,
        next=next,
        claims=("inspect-tokenised-samples",),
    )
