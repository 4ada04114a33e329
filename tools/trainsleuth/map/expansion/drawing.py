"""Parts of a program as text within one budget: one header, no line twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..wording import clean
from .planned import Plan
from .records import Expansion
from .writing import FOOT, Block, fitted, without_shown, written_out

MAX_FITS = 6  # the legend takes room, which may change what is shown, which may change the legend
_NAMED = re.compile(r"(?<![\w./-])([A-Z])(?=:[ \d])|(?<=< )([A-Z])(?= <|$)")


class _Fit(NamedTuple):
    """What of one part fits, and how many blocks of it do not."""

    taken: list[Block]
    left_out: int

    @property
    def size(self) -> int:
        return sum(len(line) + 1 for line in written_out(self.taken))


def drawn(plan: Plan, wanted: Sequence[str], budget: int) -> Expansion:
    parts = [plan.parts[one] for one in wanted]
    of = f" of {plan.entry or 'this repository'}"
    width = max(80, budget * 2)
    if len(parts) == 1:
        above = [[clean(one, width) for one in (parts[0].title("#", of), *parts[0].said)]]
        head: list[str] = []
    else:
        above = [[clean(one, width) for one in (part.title("##"), *part.said)] for part in parts]
        head = [f"# {', '.join(part.name for part in parts)}{of}"]
    fixed = sum(len(line) + 1 for lines in (head, *above) for line in lines) + FOOT + COUNT * (len(parts) - 1)
    legend = needed = ""
    fits: list[_Fit] = []
    blocks = [part.blocks(budget // len(parts)) for part in parts]
    for _ in range(MAX_FITS):
        fits = _shared(blocks, budget * 4 - fixed - len(legend) - 1)
        needed = _legend(
            (line for lines in (*above, *(written_out(fit.taken) for fit in fits)) for line in lines), plan.names
        )
        if len(needed) <= len(legend):
            break
        legend = needed
    lines = [*head, *([needed] if needed and head else [])]
    for titles, fit in zip(above, fits, strict=True):
        lines += [titles[0], *([needed] if needed and not head else []), *titles[1:], *written_out(fit.taken)]
        lines += [clean(_rest(fit), COUNT - 2)]
    text = "\n".join(lines) + "\n"
    used = -(-(len(text) + 2 * len(str(budget)) + 13) // 4)
    text += f"{used} of {budget} tokens\n"
    items = tuple(
        block.item if len(parts) == 1 else {"part": part.what, **block.item}
        for part, fit in zip(parts, fits, strict=True)
        for block in fit.taken
    )
    more = sum(fit.left_out for fit in fits)
    first = parts[0]
    name = ",".join(part.what for part in parts)
    return Expansion(name, plan.entry, first.status, first.why, budget, items, more, text, plan.skipped)


COUNT = 100  # characters kept for the line that ends each further part


def _rest(fit: _Fit) -> str:
    """What of a part is not shown."""
    closed = [block for block in fit.taken if block.opened and block.span is not None]
    named = ", ".join(f"{block.item.get('function')} :{block.span[1]}-{block.span[2]}" for block in closed[:MAX_CLOSED] if block.span)  # fmt: skip
    more = ", ..." if len(closed) > MAX_CLOSED else ""
    bodies = f"{len(closed)} {'body' if len(closed) == 1 else 'bodies'} closed: {named}{more}" if closed else ""
    if fit.left_out:
        return f"{fit.left_out} more do not fit{f'; {bodies}' if bodies else ''}: ask for a larger budget"
    return f"{bodies}; a larger budget opens more" if bodies else "nothing that was found is left out"


MAX_CLOSED = 2  # bodies that are named where they are not shown


def _shared(parts: Sequence[list[Block]], room: int) -> list[_Fit]:
    """Each part with its share; what one leaves goes to the next, and in the end to those that need more."""
    fits: list[_Fit] = []
    for place, part in enumerate(parts):
        share = (room - sum(fit.size for fit in fits)) // (len(parts) - place)
        fits.append(_Fit(*fitted(_new(part, fits), share)))
    for place, part in enumerate(parts):
        if len(parts) > 1 and (fits[place].left_out or any(block.opened for block in fits[place].taken)):
            others = [*fits[:place], *fits[place + 1 :]]
            left = room - sum(fit.size for fit in others)
            fits[place] = _Fit(*fitted(_new(part, others), left))
    return fits


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
