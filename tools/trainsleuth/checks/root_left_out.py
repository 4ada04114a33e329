"""What a name calls a square root is computed without one.

sqrt_one_minus_alphas_cumprod = 1 - alphas_cumprod: the name says what belongs there, and the formula that reads it counts on it. A schedule
of noise with its coefficients squared mixes too little of both, a scale that is a variance is wrong by its own root; the
program runs, and every loss looks plausible.

Question to answer: where is the root taken?

Fix: take it there (torch.sqrt, ** 0.5), or name the value for what it is.

Cannot see: values that another function computes; other names that promise something (std for a variance, log_ for a value).

Bad:
    import torch
    from torch import nn

    class Diffusion(nn.Module):
        def __init__(self, betas):
            super().__init__()
            kept = torch.cumprod(1 - betas, 0)
            self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(kept))
            self.register_buffer("sqrt_one_minus_alphas_cumprod", 1.0 - kept)

Good:
    import torch
    from torch import nn

    class Diffusion(nn.Module):
        def __init__(self, betas):
            super().__init__()
            kept = torch.cumprod(1 - betas, 0)
            self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(kept))
            self.register_buffer("sqrt_one_minus_alphas_cumprod", (1.0 - kept) ** 0.5)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Index, is_test, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "root-left-out",
    "architecture",
    "error",
    "",
    suspects=("another-model-fault",),
    claims=("adaptive-parts-mask-bugs",),
    look="take the root there, or say where it is taken",
)
_NAMED = re.compile(rb"r?sqrt_\w*[\"']?[ \t]*[=,]")
_ROOT = re.compile(r"(?:^|_)r?sqrt_(?!n$|d$|dim)", re.IGNORECASE)
_TAKES = re.compile(r"sqrt|root|pow|norm|std|cholesky|svd|eig|matrix|exp|extract|gather|load|parse|get", re.IGNORECASE)
_ARITHMETIC = ("-", "+", "*", "/")
_SHAPES = (
    "to",
    "float",
    "double",
    "view",
    "reshape",
    "clamp",
    "cumprod",
    "flip",
    "unsqueeze",
    "squeeze",
    "mean",
    "sum",
    "tensor",
    "as_tensor",
)


def check(index: Index) -> Iterator[Finding]:
    for function in index.functions_holding(_NAMED):
        if not is_test(function.path):
            for event in function.events:
                for name, value in _named(event):
                    yield _examined(function.path, event.line, name, value)


def _named(event: Event) -> Iterator[tuple[str, Expr]]:
    """What gets a name that says it is a root: a variable, an attribute, a buffer."""
    if event.kind == "assign" and event.value is not None and len(event.targets) == 1:
        name = event.targets[0].last if event.targets[0].kind == "path" else ""
        if _ROOT.search(name) and _is_computed(event.value):
            yield name, event.value
    for call in event.calls:
        if call.last.endswith("register_buffer") and len(call.arguments) > 1:
            given, value = call.arguments[:2]
            if given.kind == "string" and _ROOT.search(given.text) and _is_computed(value):
                yield given.text, value


def _is_computed(value: Expr) -> bool:
    """Arithmetic on numbers and names, at the outside: not what a function of the project may take the root in."""
    if value.kind == "call":
        inner = (
            value.receiver
            if value.receiver is not None and value.receiver.text not in ("torch", "np", "numpy")
            else value.argument(0)
        )
        return (
            value.last in (*_SHAPES, "sqrt", "rsqrt", "pow", "to_torch") and inner is not None and _is_computed(inner)
        )
    return value.kind == "binary"


def _examined(path: str, line: int, name: str, value: Expr) -> Finding:
    if any(_has_root(part) for part in value.walk()):
        return SAY.passed(path, line, f"{name} has its root")
    message = (
        f"{name} = {written(value)} at {path}:{line} takes no square root, though its name says so: where is it taken?"
    )
    return SAY.fail(path, line, message, (Link(path, line, f"{name} is computed without a root"),))


def _has_root(part: Expr) -> bool:
    if part.kind == "binary":
        return part.text == "**" or part.text not in _ARITHMETIC
    return part.kind in ("path", "attr", "call") and bool(_TAKES.search(part.last or part.text))
