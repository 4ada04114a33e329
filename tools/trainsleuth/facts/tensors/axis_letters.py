"""Axes that are written out as letters: torch.einsum("bct,bcs->bts", ...), rearrange(x, "b n (h d) -> b h n d")."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..records import Expr

_NAME = re.compile(r"\([^)]*\)|[^\s()]+")


class Lettered(NamedTuple):
    """`axes` of the result; `is_batch_first`: of three or more the first is one that every input has as well, and it is
    called b: relations and heads are shared by all inputs too.
    """

    axes: int
    is_batch_first: bool


def lettered(call: Expr) -> Lettered | None:
    """None where the letters are not written out, or leave axes open with an ellipsis."""
    texts = [part.text for part in call.arguments if part.kind == "string"]
    before, arrow, after = texts[0].partition("->") if len(texts) == 1 else ("", "", "")
    if not arrow or "..." in before + after:
        return None
    split = _NAME.findall if call.last != "einsum" or " " in after.strip() else _letters
    inputs, result = [split(part) for part in before.split(",")], split(after)
    if not result:
        return None
    is_shared = all(result[0] in one for one in inputs)
    is_first = call.last == "einsum" or inputs[0][:1] == result[:1]
    return Lettered(len(result), is_shared and is_first and result[0][0] in "bB" and len(result) > 2)


def _letters(text: str) -> list[str]:
    return list(text.replace(" ", ""))
