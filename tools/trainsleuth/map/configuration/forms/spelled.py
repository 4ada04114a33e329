"""Texts that code puts together of what stands in its own tables: f"/experiment/{SMALL['job']['name']}"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainsleuth.facts import Expr, Function, Index, Variable

from ...naming.only_values import only_value
from ...recipe.constants import constant_text
from .assigned_tables import assigned
from .identified import of_record

MAX_HOPS = 4  # from a name to what it stands for
_TEMPLATE = re.compile(r"""\b[fF](["'])((?:(?!\1).)*)\1""")
_HOLE = re.compile(r"\{[^{}]*\}")
_SAME = ("lower", "upper", "strip")


class Spelling:
    """Texts in one function; `given` are what names stand for in a round of a loop."""

    def __init__(self, index: Index, function: Function, given: Mapping[str, Expr] | None = None) -> None:
        self._index, self._function, self._given = index, function, given or {}

    def of(self, expr: Expr, hops: int = MAX_HOPS) -> str | None:
        """None where it cannot be told."""
        if expr.kind == "string":
            return expr.text
        if expr.kind == "format":
            return self._filled(expr, hops)
        if expr.kind == "call" and expr.last in _SAME and expr.receiver is not None:
            text = self.of(expr.receiver, hops)
            return None if text is None else str(getattr(text, expr.last)())
        if expr.kind == "call" and expr.callee == "str" and len(expr.arguments) == 1:
            return self.of(expr.arguments[0], hops)
        if not hops or expr.kind not in ("path", "index"):
            return None
        if expr.text in self._given:
            return self.of(self._given[expr.text], hops - 1)
        return constant_text(self._index, self._function, expr) or self._held(expr) or self._bound(expr, hops)

    def _bound(self, expr: Expr, hops: int) -> str | None:
        value = only_value(self._function, expr.text) if expr.kind == "path" else None
        return self.of(value, hops - 1) if value is not None else None

    def _held(self, expr: Expr) -> str | None:
        """SMALL["job"]["name"], SMALL.job.name: what stands in a table at the top of a file."""
        keys: list[str] = []
        while expr.kind == "index" and len(expr.parts) == 2 and expr.parts[1].kind == "string":
            keys.insert(0, expr.parts[1].text)
            expr = expr.parts[0]
        expr = self._given.get(expr.text, expr)
        head, _, rest = expr.text.partition(".") if expr.kind == "path" else ("", "", "")
        symbol = self._index.resolve(self._function, head) if head else None
        if not isinstance(symbol, Variable):
            return None
        below = [*filter(None, rest.split(".")), *keys]
        found = assigned(self._index, symbol.scope.path).get(".".join((symbol.name, *below)))
        if found is None and len(below) == 1:
            return of_record(self._index, symbol, below[0])
        return found.value if found is not None else None

    def _filled(self, expr: Expr, hops: int) -> str | None:
        """The f-string that stands alone on its line."""
        lines = (self._index.repository.read(self._function.path) or "").splitlines()
        line = lines[expr.line - 1] if expr.line <= len(lines) else ""
        templates = [match[2] for match in _TEMPLATE.finditer(line)]
        literals = _HOLE.split(templates[0]) if len(templates) == 1 else []
        values = [self.of(one, hops - 1) for one in expr.parts]
        if len(literals) != len(values) + 1 or None in values:
            return None
        return "".join(a + (b or "") for a, b in zip(literals, [*values, ""], strict=True))
