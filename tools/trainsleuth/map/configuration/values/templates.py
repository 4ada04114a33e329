"""The texts of f-strings: facts hold only what is filled in, what stands around it is looked for in the source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainsleuth.facts import Expr, Function, written

_TEMPLATE = re.compile(rb"""[fF]["']([^"'\n]*\}[^"'\n]*)["']""")
HOLE = re.compile(r"\{[^{}]*\}")


def template_of(function: Function, expr: Expr) -> str | None:
    """f"configs/{name}.yaml": the one template of the function with these names in its holes."""
    texts = (one.decode("utf-8", "replace") for one in function.source.found(_TEMPLATE))
    fits = {one for one in texts if _fits(HOLE.findall(one), expr.parts)}
    return fits.pop() if len(fits) == 1 else None


def written_in(function: Function, expr: Expr, limit: int) -> str:
    """What `written` gives of an expression of the function, with the texts of its f-strings."""
    text = written(expr, limit)
    for part in expr.walk():
        template = template_of(function, part) if part.kind == "format" else None
        if template is not None:
            text = text.replace(written(part), f"f'{template}'", 1)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _fits(holes: Sequence[str], parts: Sequence[Expr]) -> bool:
    return len(holes) == len(parts) and all(part.last in hole for hole, part in zip(holes, parts, strict=True))
