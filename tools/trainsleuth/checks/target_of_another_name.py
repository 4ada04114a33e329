"""A loss compares what is named as the prediction of one thing with another, though that thing is there.

F.mse_loss(predicted_noise, image) with noise drawn two lines above: the loss falls, the network learns something, and whoever uses its
output takes it for what its name says. So do pred_boxes against the boxes of the teacher, y_pred against x.

Question to answer: is the other value meant as the target?

Fix: compare with what the prediction is named for, or name it for what it predicts.

Cannot see: predictions without such a name, targets behind another name.

Bad:
    import torch
    from torch.nn import functional as F

    def p_losses(model, image, t, mix):
        noise = torch.randn_like(image)
        predicted_noise = model(mix(image, noise, t), t)
        return F.mse_loss(predicted_noise, image)

Good:
    import torch
    from torch.nn import functional as F

    def p_losses(model, image, t, mix):
        noise = torch.randn_like(image)
        predicted_noise = model(mix(image, noise, t), t)
        return F.mse_loss(predicted_noise, noise)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, bindings, is_test, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "target-of-another-name",
    "loss",
    "warning",
    "",
    suspects=("another-loss-fault",),
    claims=("adaptive-parts-mask-bugs",),
    look="read what the output is used for where the model is applied: that is what it is to be compared with",
)
_LOSSES = (
    "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "BCELoss", "BCEWithLogitsLoss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "CrossEntropyLoss", "cross_entropy",
)  # fmt: skip
_PREDICTED = re.compile(
    r"^(?:pred(?:icted|iction)?|estimated|est|reconstructed|recon)_(\w+)$|^(\w+?)_(?:pred(?:icted|iction)?s?|hat|theta|estimate)$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:masks?|logits?|loss(?:es)?|scores?|out(?:put)?s?|class(?:es)?|probs?|model|fake|real|final|all|total|batch|data|samples?|inputs?|values?|state_values?|\w)$",
    re.IGNORECASE,
)
_IS_MIXED_IN = re.compile(r"noise|eps|flow|velocity|residual", re.IGNORECASE)
_TRUTH = re.compile(r"target|label|truth|true|gt|gold|actual|real|expected|teacher|expert|soft", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for found in loss_calls(index, *_LOSSES):
        if not is_test(found.site.function.path):
            finding = _examined(found.site.function, found.site.call)
            if finding is not None:
                yield finding


def _examined(function: Function, call: Expr) -> Finding | None:
    """None where the prediction is not named for a thing that is there under its own name."""
    pair = _named_for(function, call)
    if pair is None:
        return None
    said, target, name = pair
    path, line = function.path, call.line
    if (
        name in target.text
        or _TRUTH.search(target.text)
        or _is_compared(function, name)
        or _is_made_of(function, target.text, name)
    ):
        return SAY.passed(path, line, f"{said} is compared with {target.text}, or {name} elsewhere")
    chain = (Link(path, line, f"{written(call)}"),)
    message = (
        f"{written(call)} at {path}:{line} compares {said} with {target.text}, though {name}, which it is named for, is there and no loss of {function.name}() "
        f"reads it: is {name} meant as the target?"
    )
    return SAY.fail(path, line, message, chain, "medium")


def _named_for(function: Function, call: Expr) -> tuple[str, Expr, str] | None:
    """(prediction, what it is compared with, the name of the thing that it is named for)."""
    given = call.arguments[:2]
    if len(given) != 2:
        return None
    for said, target in (given, given[::-1]):
        met = _PREDICTED.match(said.text) if said.kind == "path" else None
        name = (met[1] or met[2]) if met else ""
        if not name or _VAGUE.match(name) or target.kind != "path" or _PREDICTED.match(target.last):
            continue
        made = [one.value for one in bindings(function).get(name, ())]
        parameter = function.parameter(name)
        is_number = any(
            one is not None and one.kind == "number"
            for one in (*made, parameter.default if parameter is not None else None)
        )
        if _is_shown(function, said.text, name):
            continue
        if not is_number and (made or parameter is not None):
            return said.text, target, name
    return None


def _is_shown(function: Function, said: str, name: str) -> bool:
    """state_pred = model(state, action), student_pred = student(x): what the model is shown, or is, is no target of it. Noise is mixed in to be found."""
    made = [one.value for one in bindings(function).get(said, ()) if one.value is not None]
    if any(part.kind == "call" and name in part.callee.split(".") for one in made for part in one.walk()):
        return True
    return not _IS_MIXED_IN.search(name) and _is_made_of(function, said, name)


def _is_made_of(function: Function, target: str, name: str, depth: int = 4) -> bool:
    """t = y.float(), velocity = a * noise - b * image: then the thing is in the target."""
    for one in bindings(function).get(target, ()) if depth else ():
        walked = one.value.walk() if one.value is not None else ()
        held = {part.text.partition(".")[0] for part in walked if part.kind == "path"}
        if name in held or any(_is_made_of(function, other, name, depth - 1) for other in held - {target}):
            return True
    return False


def _is_compared(function: Function, name: str) -> bool:
    """Some other call that computes a loss, or a difference, reads it: then each has a target of its own."""
    for event in function.events:
        for root in (*event.calls, event.value):
            if root is None or (
                root.kind == "call" and not re.search(r"loss|criterion|mse|l1|bce", root.last, re.IGNORECASE)
            ):
                continue
            if root.kind in ("call", "binary") and any(
                part.kind == "path" and part.text == name for part in root.walk()
            ):
                if root.kind == "call" or root.text == "-":
                    return True
    return False
