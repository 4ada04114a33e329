"""Options of the command line: what they are when nobody gives them."""

from __future__ import annotations

from trainsleuth.facts import Expr, Index


def option_default(index: Index, expr: Expr) -> int | None:
    """Of args.epochs: the whole number that add_argument("--epochs", default=...) gives; None when none or several do."""
    if expr.kind != "path" or "." not in expr.text:
        return None
    wanted = expr.last.replace("_", "-")
    texts = {
        default.text
        for site in index.calls("add_argument")
        if any(a.kind == "string" and a.text.lstrip("-").replace("_", "-") == wanted for a in site.call.arguments)
        and (default := site.call.keyword("default")) is not None
    }
    text = texts.pop() if len(texts) == 1 else ""
    return int(text) if text.isdigit() else None
