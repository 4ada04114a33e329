"""A loss that wants log-probabilities gets something else.

nll_loss only picks the number of the right class and turns its sign; kl_div multiplies its first argument
with the target as it stands. With probabilities both run, fall and even learn a little: the gradient no
longer grows where the model is wrong. With raw logits the loss has no lower bound. What is called a
logarithm of probabilities and holds a softmax is asked about wherever it goes: losses written by hand pick from it.

Fix: log_softmax before nll_loss and kl_div, or cross_entropy on the logits.

Cannot see: values that are not resolved; a logarithm taken by the caller of a helper that is not found.

Bad:
    import torch.nn.functional as F

    def loss_of(model, x, y):
        return F.nll_loss(F.softmax(model(x), dim=1), y)

Bad (raw scores of a layer in another file):
    # file: net.py
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 4)

        def forward(self, x):
            return self.fc(x)

    # file: train.py
    from torch import nn
    from net import Net

    model = Net()
    criterion = nn.NLLLoss()

    def loss_of(x, y):
        return criterion(model(x), y)

Bad (a loss that is written by hand):
    import torch.nn.functional as F

    def focal(scores, target, gamma=2.0):
        logpt = F.softmax(scores, dim=1).gather(1, target.view(-1, 1))
        return (-1 * (1 - logpt.exp()) ** gamma * logpt).mean()

Good:
    import torch.nn.functional as F

    def loss_of(model, x, y):
        return F.nll_loss(F.log_softmax(model(x), dim=1), y)

Good (the logarithm is taken in between; a divergence with both sides as they should be):
    import torch
    import torch.nn.functional as F

    def loss_of(model, teacher, x, y):
        p = torch.softmax(model(x), dim=-1)
        soft = F.kl_div(F.log_softmax(model(x), dim=-1), F.softmax(teacher(x), dim=-1), reduction="batchmean")
        return F.nll_loss(torch.log(p + 1e-8), y) + soft

Good (no loss: it picks the probability of each target):
    import torch
    import torch.nn.functional as F

    def margin(scores, target):
        probs = torch.softmax(scores, dim=1)
        chosen = -F.nll_loss(probs, target, reduction="none")
        return (probs.sum(1) - chosen).mean()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, Index, LossCall, Spot, Value, is_test, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._ranges import where_it_comes_from
from ._verdicts import Verdicts

SAY = Verdicts(
    "nll-without-log",
    "loss",
    "error",
    "loss_contract",
    suspects=("double-normalised-loss",),
    claims=("nll-wants-log-probs",),
    forms={
        "raw-scores": "raw scores of a resolved layer",
        "probabilities": "a softmax or sigmoid of torch, by its full name",
        "by-method": "a softmax that is called as a method of something",
        "log-target": "log-probabilities as a target",
        "named": "what goes by the name of a logarithm",
    },
    sure=("probabilities",),
)
_NLL = ("NLLLoss", "NLLLoss2d", "nll_loss")
_KL = ("KLDivLoss", "kl_div")
_OVERWRITING = ("fill_", "zero_", "copy_", "uniform_", "normal_")
_LOGGING = ("log_", "log")
_OF_TORCH = ("nn.", "F.", "functional.", "torch.")  # as the first place of a chain begins
_LOGARITHM = re.compile(r"(?:^|_)log_?(?:p|ps|pt|prb|prob|probs|probas?|probabilit\w+|likelihoods?|softmax)$", re.I)
_LOGARITHMS = ("log", "log_", "log2", "log10", "log1p")
_SOFTMAX = re.compile(rb"softmax\(")
_WRONG = {"probability": "probabilities", "sigmoid": "sigmoid outputs", "logits": "raw scores"}


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, *_NLL, *_KL):
        if call.loss or not any(call.site.call.last in names for names in (_NLL, _KL)):
            yield _examined(index, call)
    for function in index.functions_holding(_SOFTMAX):
        if not is_test(function.path):
            yield from _named(index, function)


def _named(index: Index, function: Function) -> Iterator[Finding]:
    """log_probs = F.softmax(scores, dim=1), and nothing takes the logarithm of it."""
    for position, event in enumerate(function.events):
        target = event.targets[0] if event.kind == "assign" and len(event.targets) == 1 else None
        if target is None or event.value is None or not _LOGARITHM.search(target.last):
            continue
        made = _innermost(event.value)
        if made.last.lower() != "softmax" or any(one.text == target.text for one in made.walk()):
            continue
        values = index.values.of(made, Spot(function, position))
        if values and all(one.range == "probability" for one in values) and not _is_logged(function, target):
            message = (
                f"{target.text} at {function.path}:{event.line} holds the probabilities of a softmax, though it is "
                "called their logarithm; expected log_softmax, if what is done with it is meant for logarithms."
            )
            yield SAY.fail(function.path, event.line, message, values[0].chain, form="named")


def _innermost(expr: Expr) -> Expr:
    """What methods and indices are asked of: F.softmax(x, 1) of F.softmax(x, 1).gather(1, y)[0]."""
    while expr.kind == "index" or (expr.kind == "call" and expr.last not in ("softmax", "log", "log_")):
        inner = expr.parts[0] if expr.kind == "index" else expr.receiver
        if inner is None or inner.kind == "path":
            return expr
        expr = inner
    return expr


def _is_logged(function: Function, target: Expr) -> bool:
    """Some statement takes the logarithm of it, or of a sum with it."""
    calls = (call for event in function.events for call in event.calls if call.last in _LOGARITHMS)
    taken = (one for call in calls for one in (call.receiver, *call.arguments) if one is not None)
    return any(part.text == target.text for one in taken for part in one.walk())


def _examined(index: Index, call: LossCall) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    given = call.site.call.argument(0, "input")
    if not call.loss or given is None:
        return SAY.open(path, line, f"not resolved: {call.why or 'its input is not written out'}")
    reasons = []
    if _is_overwritten(call, given, _LOGGING):
        return SAY.passed(path, line, f"the logarithm of {written(given)} is taken in place")
    if _picks(call):
        return SAY.passed(path, line, f"with its minus it picks the value of each target from {written(given)}")
    for spot in call.spots:
        values = index.values.of(given, spot)
        if values and all(value.range in _WRONG for value in values):
            said = f"{written(given)} holds {_WRONG[values[0].range]}"
            return _failure(call, said, "log-probabilities (log_softmax)", values[0], _form(values[0]))
        if (target := _log_target(index, call, spot)) is not None:
            return _failure(call, "its target holds log-probabilities", "log_target=True", target, "log-target")
        reasons += [value.why or "unknown" for value in values if value.range == "unknown"]
    if reasons:
        return SAY.open(path, line, f"the range of {written(given)} is not resolved: {reasons[0]}")
    return SAY.passed(path, line, f"{written(given)} is no bare probability or score before {call.loss}")


def _picks(call: LossCall) -> bool:
    """chosen = -F.nll_loss(scores, y, reduction="none"): scores[i, y[i]] of every example, and no loss."""
    site = call.site
    value, each = site.function.events[site.position].value, site.call.keyword("reduction")
    is_of_each = call.loss not in _KL and each is not None and each.text == "none"
    parts = value.walk() if value is not None and is_of_each else ()
    return any(one.kind == "unary" and one.text == "-" and one.parts[0] is site.call for one in parts)


def _form(value: Value) -> str:
    """How surely the range is known: by a layer or function of torch, or by the name of a method alone."""
    if value.range == "logits":
        return "raw-scores"
    return (
        "probabilities" if value.chain and where_it_comes_from(value.chain).why.startswith(_OF_TORCH) else "by-method"
    )


def _log_target(index: Index, call: LossCall, spot: Spot) -> Value | None:
    """kl_div takes log-probabilities as a target only when told so."""
    target = call.site.call.argument(1, "target") if call.loss in _KL else None
    if target is None or _tells_log_target(index, call, spot) or _is_overwritten(call, target, _OVERWRITING):
        return None
    values = index.values.of(target, spot)
    return values[0] if values and all(value.range == "log-probability" for value in values) else None


def _is_overwritten(call: LossCall, tensor: Expr, methods: tuple[str, ...]) -> bool:
    """Other values are put in its place, by a method as a statement or as `out`: labels.fill_(0.1), p.log_()."""
    calls = [one for event in call.site.function.events[: call.site.position] for one in event.calls]
    written_to = [one.keyword("out") or (one.receiver if one.last[-1:] == "_" else None) for one in calls]
    return tensor.kind == "path" and any(
        one.last in methods and into is not None and into.text == tensor.text
        for one, into in zip(calls, written_to, strict=True)
    )


def _tells_log_target(index: Index, call: LossCall, spot: Spot) -> bool:
    calls: list[Expr | None] = [call.site.call]
    calls += [getattr(thing, "call", None) for thing in index.objects.of(call.site.call.parts[0], spot)]
    told = [one.keyword("log_target") or one.keyword("") for one in calls if one is not None]
    return any(one is not None and one.text != "False" for one in told)


def _failure(call: LossCall, said: str, better: str, value: Value, form: str) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    chain = (*value.chain, Link(path, line, f"{call.loss} takes it as it stands"))
    cause = where_it_comes_from(chain)
    message = f"{call.loss} at {path}:{line} expects {better}, but {said}: {cause.why} at {cause.path}:{cause.line}."
    return SAY.fail(path, line, message, chain, form=form)
