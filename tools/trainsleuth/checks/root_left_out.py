"""What is meant as a square root is computed without one: a sqrt_ in a name, the half of a log-variance.

sqrt_one_minus_alphas_cumprod = 1 - alphas_cumprod: the name says what belongs there, and the formula that reads it counts on it. A schedule
of noise with its coefficients squared mixes too little of both, a scale that is a variance is wrong by its own root; the
program runs, and every loss looks plausible.
Likewise exp(log_var) is a variance: mu + eps * exp(log_var), or std = exp(log_var), draws with the square of the standard deviation.

Question to answer: where is the root taken?

Fix: take it there (torch.sqrt, ** 0.5, exp(0.5 * log_var)), or name the value for what it is.

Cannot see: values that another function computes; other names that promise something (std for a variance, log_ for a value); a log_var that the project takes for the logarithm of the standard
deviation throughout.

Bad:
    import torch
    from torch import nn

    class Diffusion(nn.Module):
        def __init__(self, betas):
            super().__init__()
            kept = torch.cumprod(1 - betas, 0)
            self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(kept))
            self.register_buffer("sqrt_one_minus_alphas_cumprod", 1.0 - kept)

Bad (the half of a log-variance):
    import torch

    def reparameterise(mu, log_var):
        eps = torch.randn_like(mu)
        return mu + eps * torch.exp(log_var)

Good:
    import torch
    from torch import nn

    class Diffusion(nn.Module):
        def __init__(self, betas):
            super().__init__()
            kept = torch.cumprod(1 - betas, 0)
            self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(kept))
            self.register_buffer("sqrt_one_minus_alphas_cumprod", (1.0 - kept) ** 0.5)

Good (the half of a log-variance):
    import torch

    def reparameterise(mu, log_var):
        eps = torch.randn_like(mu)
        return mu + eps * torch.exp(0.5 * log_var)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, bindings, is_test, written
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
    forms={"root": "a name that says sqrt", "half": "the exponential of a log-variance"},
)
_NAMED = re.compile(rb"r?sqrt_\w*[\"']?[ \t]*[=,]")
_VARIANCE = re.compile(b"|".join(rb"%s_?(?i:var|sigma2|sigma_sq)\w*" % word for word in (b"log", b"Log", b"LOG")))
_IS_LOG_VARIANCE = re.compile(r"(?:^|_)log_?(?:var|variance|sigma2|sigma_sq)s?(?:_|$)", re.IGNORECASE)
_IS_DEVIATION = re.compile(r"^(?:\w+_)?(?:std|stddev|sigma|sd)(?:_(?!sq|2|cov|mat)\w+)?$")
_IS_NOISE = re.compile(r"^(?:eps|epsilon|noise|xi)\d*$|^(?:randn|randn_like|normal_)$", re.IGNORECASE)
_ROOTS_LATER = re.compile(rb"(?:std|sigma)\w*\.sqrt\(|sqrt\(\s*(?:std|sigma)")
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
            named = [(event.line, name, value) for event in function.events for name, value in _named(event)]
            for line, name, value in (one for one in named if _is_computed(one[2])):
                if any(_is_root(function, part) for part in value.walk()):
                    continue
                beside = [other for _, _, other in named if other is not value and any(map(_has_root, other.walk()))]
                yield _examined(function.path, line, name, value, any(_held(value) & _held(other) for other in beside))
    for function in index.functions_holding(_VARIANCE):
        if not is_test(function.path) and "exp" in function.called:
            for event in function.events:
                for power, use in _deviations(event):
                    if not _is_halved_before(function, power) and not function.source.holds(_ROOTS_LATER):
                        yield _halved(function.path, power, use)


def _is_halved_before(function: Function, power: Expr) -> bool:
    """log_var = 0.5 * self.head(h)."""
    made = [one.value for one in bindings(function).get(power.text, ()) if one.value is not None]
    return any(part.text in ("0.5", ".5", "2", "2.0") for one in made for part in one.walk() if part.kind == "number")


def _deviations(event: Event) -> Iterator[tuple[Expr, str]]:
    """exp(...) of a log-variance that is taken for a standard deviation: by its name, or as a factor of noise."""
    if event.value is None:
        return
    if event.kind == "assign" and len(event.targets) == 1 and event.targets[0].kind == "path":
        power = _power(event.value)
        if power is not None and _IS_DEVIATION.match(event.targets[0].last):
            yield power, event.targets[0].text
    for product in event.value.walk():
        if product.kind == "binary" and product.text == "*":
            powers = [one for part in product.parts if (one := _power(part)) is not None]
            noise = [part for part in product.parts if part.kind in ("path", "call") and _IS_NOISE.match(part.last)]
            if len(powers) == 1 and noise:
                yield powers[0], written(product)


def _power(expr: Expr) -> Expr | None:
    """torch.exp(log_var), log_var.exp(), self.log_var.mul(0.5).exp(); None of anything else, and of the exponential of other things."""
    if expr.kind != "call" or expr.last != "exp":
        return None
    receiver = expr.receiver
    given = expr.argument(0, "input") if receiver is None or receiver.text in ("torch", "np", "numpy") else receiver
    held = [part for part in given.walk() if part.kind in ("path", "attr")] if given is not None else []
    if given is None or given.kind == "unary" or any("half" in part.last for part in held):
        return None
    return given if any(_IS_LOG_VARIANCE.search(part.last) for part in held) else None


def _halved(path: str, power: Expr, use: str) -> Finding:
    if power.kind not in ("path", "attr", "index") and any(part.kind in ("number", "binary") for part in power.walk()):
        return SAY.passed(path, power.line, f"{written(power)} is scaled")
    message = (
        f"{use} at {path}:{power.line} takes exp({written(power)}) for a standard deviation, and it is the variance: expected exp(0.5 * {written(power)}), unless "
        f"{written(power)} is the logarithm of the deviation."
    )
    return SAY.fail(
        path,
        power.line,
        message,
        (Link(path, power.line, f"exp({written(power)}) without its half"),),
        "medium",
        form="half",
    )


def _named(event: Event) -> Iterator[tuple[str, Expr]]:
    """What gets a name that says it is a root: a variable, an attribute, a buffer."""
    if event.kind == "assign" and event.value is not None and len(event.targets) == 1:
        name = event.targets[0].last if event.targets[0].kind == "path" else ""
        if _ROOT.search(name):
            yield name, event.value
    for call in event.calls:
        if call.last.endswith("register_buffer") and len(call.arguments) > 1:
            given, value = call.arguments[:2]
            if given.kind == "string" and _ROOT.search(given.text):
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


def _is_root(function: Function, part: Expr) -> bool:
    """A name that was given a root: a = sqrt(alpha)."""
    made = (
        [one.value for one in bindings(function).get(part.text, ()) if one.value is not None]
        if part.kind == "path"
        else []
    )
    return any(_has_root(inner) for one in made for inner in one.walk())


def _held(value: Expr) -> set[str]:
    return {
        part.text
        for part in value.walk()
        if part.kind == "path" and part.text.partition(".")[0] not in ("torch", "np", "numpy")
    }


def _examined(path: str, line: int, name: str, value: Expr, is_taken_beside: bool) -> Finding:
    """A line beside it that takes the root of the same thing says that the thing itself is none."""
    if not is_taken_beside or any(_has_root(part) for part in value.walk()):
        return SAY.passed(path, line, f"{name} has its root, or is made of roots")
    message = (
        f"{name} = {written(value)} at {path}:{line} takes no square root, though its name says so: where is it taken?"
    )
    return SAY.fail(path, line, message, (Link(path, line, f"{name} is computed without a root"),), form="root")


def _has_root(part: Expr) -> bool:
    if part.kind == "binary":
        return part.text == "**" or part.text not in _ARITHMETIC
    return part.kind in ("path", "attr", "call") and bool(_TAKES.search(part.last or part.text))
