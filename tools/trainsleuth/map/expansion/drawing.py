"""Parts of a program as text within one budget: one header, no line twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..drawing.wording import clean
from .blocks.writing import Block, fitted, without_shown, written_out
from .planned import Plan, Planned
from .questions.asked import Asker
from .records import Expansion

MAX_FITS = 6  # the legend takes room, which may change what is shown, which may change the legend
_NAMED = re.compile(r"(?<![\w./-])([A-Z])(?=:[ \d])|(?<=< )([A-Z])(?= <|$)")


class _Fit(NamedTuple):
    """What of one part fits, and how many of each kind do not."""

    taken: list[Block]
    left_out: Mapping[str, int]
    next_ones: str = ""  # where the first of them stand

    @property
    def size(self) -> int:
        return sum(len(line) + 1 for line in written_out(self.taken))


class _Shown(NamedTuple):
    """One part: what stands above it, and what of it fits into some characters beside what others show."""

    above: tuple[str, ...]
    fit: Callable[[int, Sequence[_Fit]], _Fit]
    foot: int  # characters kept for the line that says what does not fit


def drawn(plan: Plan, asker: Asker, wanted: Sequence[str], budget: int) -> Expansion:
    of = f" of {plan.entry or 'this repository'}"
    width = max(80, budget * 2)
    alone = len(wanted) == 1
    marks, whose = ("#", of) if alone else ("##", "")
    parts = [
        _planned(plan.parts[one], marks, whose, width, budget // len(wanted))
        if one in plan.parts
        else _asked(asker, one, marks, whose)
        for one in wanted
    ]
    head = [] if alone else [clean(f"# {', '.join(_names(wanted))}{of}", width)]
    fixed = sum(len(line) + 1 for part in (head, *(part.above for part in parts)) for line in part)
    fixed += USED + sum(part.foot for part in parts)
    legend = needed = ""
    fits: list[_Fit] = []
    for _ in range(MAX_FITS):
        fits = _shared(parts, budget * 4 - fixed - len(legend) - 1)
        shown = (line for part, fit in zip(parts, fits, strict=True) for line in (*part.above, *written_out(fit.taken)))
        needed = _legend(shown, asker.short(plan.names))
        if len(needed) <= len(legend):
            break
        legend = needed
    lines = [*head, *([needed] if needed and head else [])]
    for part, fit in zip(parts, fits, strict=True):
        lines += [part.above[0], *([needed] if needed and not head else []), *part.above[1:], *written_out(fit.taken)]
        lines += [clean(said, COUNT - 2) for said in _rest(fit)] or ([] if fit.taken else [_NOTHING])
    text = "\n".join(lines) + "\n"
    used = -(-(len(text) + 2 * len(str(budget)) + 13) // 4)
    text += f"{used} of {budget} tokens\n"
    items = tuple(
        block.item if alone else {"part": what, **block.item}
        for what, fit in zip(wanted, fits, strict=True)
        for block in fit.taken
    )
    more = sum(count for fit in fits for count in fit.left_out.values())
    first = plan.parts.get(wanted[0])
    status, why = (first.status, first.why) if first is not None else asker.status
    return Expansion(",".join(wanted), plan.entry, status, why, budget, items, more, text, plan.skipped)


def _names(wanted: Sequence[str]) -> Iterator[str]:
    """Parts by their names, what is asked by how much it is."""
    yield from (one.replace("_", " ") for one in wanted if " " not in one)
    if count := sum(" " in one for one in wanted):
        yield f"{count} answers" if count > 1 else "1 answer"


def _planned(part: Planned, marks: str, of: str, width: int, budget: int) -> _Shown:
    blocks = part.blocks(budget)

    def fit(room: int, others: Sequence[_Fit]) -> _Fit:
        taken, left = fitted(_new(blocks, others), room)
        return _Fit(taken, Counter("settings" if one.headings[:1] == ("# settings",) else "places" for one in left))

    return _Shown(tuple(clean(one, width) for one in (part.title(marks, of), *part.said)), fit, COUNT)


def _asked(asker: Asker, what: str, marks: str, of: str) -> _Shown:
    answer = asker.answer(what)
    status, why = asker.status
    said = what.partition(" ")[0] if of else clean(what, TITLE)
    title = f"{marks} {said}{of}" + ("" if status == "found" else f" [{status}] {why}")
    return _Shown((title,), lambda room, others: _Fit(*answer(room, set(_told(others)))), ASKED)


def _told(shown: Iterable[_Fit]) -> Iterator[object]:
    """Names of the settings and places of the statements that other parts show."""
    for block in (block for fit in shown for block in fit.taken if not block.opened):
        yield from (one["setting"] for one in block.item.get("settings", ()))
        yield _place(block)


_NOTHING = " nothing found; ask in words of the code"  # at most ASKED characters
USED = 28  # characters of the last line
COUNT = 100  # characters kept for the line that ends each part
ASKED = 52  # of an answer, which names no bodies
TITLE = 34  # characters of what is asked that stand above its answer


def _rest(fit: _Fit) -> Iterator[str]:
    """What of a part is not shown."""
    closed = [block for block in fit.taken if block.opened and block.span is not None]
    named = ", ".join(f"{block.item.get('function')} :{block.span[1]}-{block.span[2]}" for block in closed[:MAX_CLOSED] if block.span)  # fmt: skip
    more = ", ..." if len(closed) > MAX_CLOSED else ""
    bodies = f"{len(closed)} {'body' if len(closed) == 1 else 'bodies'} closed: {named}{more}" if closed else ""
    left = " and ".join(f"{count} {kind}" for kind, count in fit.left_out.items() if count)
    if left:
        yield f"{left} more do not fit{fit.next_ones and f': {fit.next_ones}'}{f'; {bodies}' if bodies else ''}"
    elif bodies:
        yield f"{bodies}; a larger budget opens more"


MAX_CLOSED = 2  # bodies that are named where they are not shown


def _shared(parts: Sequence[_Shown], room: int) -> list[_Fit]:
    """Each part with its share: what one does not need goes to all that need more."""
    fits: list[_Fit] = []
    for part, share in zip(parts, _shares([part.fit(room, ()).size for part in parts], room), strict=True):
        fits.append(part.fit(share, fits))
    for place, part in enumerate(parts):
        fit = fits[place]
        if len(parts) > 1 and (any(fit.left_out.values()) or any(block.opened for block in fit.taken)):
            others = [*fits[:place], *fits[place + 1 :]]
            fits[place] = part.fit(room - sum(one.size for one in others), others)
    return fits


def _shares(needs: Sequence[int], room: int) -> list[int]:
    """What is needed, as far as there is room, else alike; and what nobody needs, alike."""
    shares = [0] * len(needs)
    for count, place in enumerate(sorted(range(len(needs)), key=lambda one: needs[one])):
        shares[place] = min(needs[place], (room - sum(shares)) // (len(needs) - count))
    spare = (room - sum(shares)) // len(needs)
    return [share + spare for share in shares]


def _new(blocks: Sequence[Block], shown: Iterable[_Fit]) -> list[Block]:
    """Those that say something that other parts do not say."""
    taken = [block for fit in shown for block in fit.taken]
    places = {_place(block) for block in taken if not block.opened} - {None}
    lines = {block.lines for block in taken}
    new = [block for block in blocks if block.lines not in lines and _place(block) not in places]
    return without_shown(new, taken)


def _place(block: Block) -> tuple[object, object] | None:
    """The statement that a block shows."""
    item = block.item
    return (item.get("path"), item.get("line")) if "function" in item and "path" in item else None


def _legend(lines: Iterable[str], names: Mapping[str, str]) -> str:
    """The short names that stand in the lines, each with its path."""
    used = {match[1] or match[2] for line in lines for match in _NAMED.finditer(line)}
    return " · ".join(f"{short} is {path}" for path, short in names.items() if short in used)
