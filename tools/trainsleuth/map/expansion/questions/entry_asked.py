"""The entry of a long table that a line stands in: model = dict(..., backbone=dict(..., init_cfg=dict(...)))."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...drawing.wording import clean
from .units import Unit, joined

WIDTH = 320  # characters of an entry
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")
_NAMED = re.compile(r"""["']?([\w.-]+)["']?\s*[:=]\s*[\w.]*[(\[{]\s*$""")


def entry_around(lines: Sequence[str], unit: Unit, line: int) -> str:
    """ "73 model › backbone › init_cfg=dict(type='Pretrained')": the innermost brackets around `line`, and what holds
    them; "" where these are those of the whole statement."""
    open_: list[int] = []
    for number in range(unit.line, unit.end_line + 1):
        for one in _QUOTED.sub("", lines[number - 1]):
            if one in "([{":
                open_.append(number)
            elif one in ")]}" and open_:
                first = open_.pop()
                if first <= line <= number and (first > unit.line and open_):
                    above = [found[1] for at in open_ if (found := _NAMED.search(lines[at - 1].rstrip()))]
                    text = joined(lines[first - 1 : number]).rstrip(",")
                    beyond = sum(text.count(one) for one in ")]}") - sum(text.count(one) for one in "([{")
                    text = text[: len(text) - max(0, beyond)]
                    return f"{first} {clean(' › '.join([*above, text]), WIDTH)}"
    return ""


def lines_around(lines: Sequence[str], unit: Unit, line: int) -> str:
    """ "1123 …, param_dtype=torch.bfloat16, reduce_dtype=torch.float32, …": the asked line of a call with those beside it."""
    first, last = max(unit.line + 1, line - BESIDE), min(unit.end_line, line + BESIDE)
    said = " ".join(text for number in range(first, last + 1) if (text := joined(lines[number - 1 : number])))
    return f"{line} …, {clean(said.rstrip(', '), WIDTH)}, …"


BESIDE = 2  # lines on either side of the asked one
