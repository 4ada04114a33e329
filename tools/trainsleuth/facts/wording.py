"""An expression back as short source text, for messages."""

from __future__ import annotations

import re

from .records import Expr

_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}"), "dict": ("{", "}")}


def written(expr: Expr, limit: int = 60) -> str:
    """Source text of `expr`, close to what was written, at most `limit` characters."""
    text = _text(expr, 6)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def spelled(expr: Expr) -> tuple[object, ...]:
    """The whole of an expression, wherever it stands, to compare it with others by."""
    return expr.kind, expr.text, *map(spelled, expr.parts)


# How tightly each kind or operator holds its parts together: a part that holds looser is written in parentheses.
_HOLDS = {
    "lambda": 0, "walrus": 0, "choice": 1, "or": 2, "and": 3, "not": 4, "compare": 5, "|": 6, "^": 7, "&": 8, "<<": 9, ">>": 9,
    "+": 10, "-": 10, "*": 11, "/": 11, "//": 11, "%": 11, "@": 11, "unary": 12, "**": 13, "await": 14,
}  # fmt: skip
_ATOM = 15


def _holds(expr: Expr) -> int:
    if expr.kind in ("binary", "boolean") or (expr.kind == "unary" and expr.text == "not"):
        return _HOLDS.get(expr.text, _ATOM)
    return _HOLDS.get(expr.kind, _ATOM)


def _least(expr: Expr, place: int) -> int:
    """What the part at `place` must hold at least to stand without parentheses."""
    if expr.kind in ("attr", "call", "index"):
        return _ATOM if place == 0 else 0
    if expr.kind == "binary":
        last = 1 if expr.text == "**" else 0  # a ** b ** c is a ** (b ** c), a - b - c is (a - b) - c
        return _holds(expr) + (place > 0) * (1 - last) + (place == 0) * last
    if expr.kind == "compare":
        return _holds(expr) + 1
    if expr.kind == "choice":
        return _holds(expr) + (place < 2)
    return _holds(expr) if expr.kind in ("boolean", "unary") else 0


def _text(expr: Expr, depth: int) -> str:
    if depth == 0:
        return "..."
    parts = [
        f"({_text(part, depth - 1)})" if _holds(part) < _least(expr, place) else _text(part, depth - 1)
        for place, part in enumerate(expr.parts[:12])
    ]
    match expr.kind:
        case "path" | "number" | "constant" | "cut" | "other":
            return expr.text
        case "string":
            return repr(expr.text)
        case "format":  # what stands between the parts is not in the facts
            said = (
                one.text if one.kind == "string" else f"{{{part}}}"
                for one, part in zip(expr.parts, parts, strict=False)
            )
            return f"f'{'…'.join(said)}'"
        case "attr":
            return f"{parts[0]}.{expr.text}"
        case "call":
            return f"{parts[0]}({', '.join(parts[1:])})"
        case "keyword" | "walrus":
            return f"{expr.text}={parts[0]}"
        case "list" | "tuple" | "set" | "dict":
            opening, closing = _BRACKETS[expr.kind]
            return opening + ", ".join(parts) + ("," if expr.kind == "tuple" and len(parts) == 1 else "") + closing
        case "pair":
            return f"{parts[0]}: {parts[1]}"
        case "index":
            return f"{parts[0]}[{', '.join(parts[1:])}]"
        case "slice":
            bounds = iter(parts)
            return "".join(":" if one == ":" else next(bounds, "") for one in expr.text)
        case "unary":
            return f"{expr.text} {parts[0]}" if expr.text == "not" else f"{expr.text}{parts[0]}"
        case "compare" if len(parts) > 2:
            return (
                "".join(f"{part} {one} " for part, one in zip(parts, _operators(expr.text), strict=False)) + parts[-1]
            )
        case "binary" | "compare" | "boolean":
            return f" {expr.text} ".join(parts)
        case "choice":
            return f"{parts[0]} if {parts[1]} else {parts[2]}"
        case "lambda":
            return f"lambda {expr.text}: {parts[0]}"
        case "star" | "doublestar":
            return ("*" if expr.kind == "star" else "**") + parts[0]
        case "each":
            return f"[{' '.join(parts)}]"
        case "for":
            return f"for {parts[0]} in {parts[1]}"
        case "if":
            return f"if {parts[0]}"
        case _:
            return " ".join([expr.kind, *parts])


def _operators(text: str) -> list[str]:
    """Those of a chain, 0 < step <= last, in their order."""
    return _OPERATOR.findall(text)


_OPERATOR = re.compile(r"not in|is not|\S+")
