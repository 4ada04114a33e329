"""The decoder is fed the very tokens that it must predict at the same place.

A decoder learns to predict the next token: its input is the target without the last token, its labels the
target without the first. When both are the same tensor the causal mask does not help, since each position
may see itself: the model copies, the loss goes to zero within minutes, and generation gives nonsense.

Fix: model(source, target[:, :-1]) with labels target[:, 1:]; model(x[:, :-1]) with labels x[:, 1:].

Cannot see: models that are not resolved, shifts in the data pipeline, models that shift inside in a way that
it does not know.

Bad:
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Translator(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
            self.transformer = nn.Transformer(width, batch_first=True)
            self.out = nn.Linear(width, vocabulary)

        def forward(self, src, tgt):
            mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
            return self.out(self.transformer(self.source(src), self.target(tgt), tgt_mask=mask))

    model = Translator(100, 16)

    def loss_of(src, tgt):
        logits = model(src, tgt)
        return F.cross_entropy(logits.reshape(-1, 100), tgt.reshape(-1), ignore_index=0)

Bad (a decoder alone):
    import torch
    from torch import nn

    class LM(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
            layer = nn.TransformerEncoderLayer(width, 4, batch_first=True)
            self.body = nn.TransformerEncoder(layer, 2)

        def forward(self, tokens):
            future = torch.triu(torch.ones(tokens.size(1), tokens.size(1)), diagonal=1).bool()
            return self.head(self.body(self.embed(tokens), mask=future))

    def train(loader, optimizer):
        lm, criterion = LM(50, 16), nn.CrossEntropyLoss()
        for tokens in loader:
            logits = lm(tokens)
            loss = criterion(logits.view(-1, 50), tokens.view(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good:
    import torch.nn.functional as F
    from torch import nn

    class Translator(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
            self.transformer = nn.Transformer(width, batch_first=True)
            self.out = nn.Linear(width, vocabulary)

        def forward(self, src, tgt):
            mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
            return self.out(self.transformer(self.source(src), self.target(tgt), tgt_mask=mask))

    model = Translator(100, 16)

    def loss_of(src, tgt):
        logits = model(src, tgt[:, :-1])
        return F.cross_entropy(logits.reshape(-1, 100), tgt[:, 1:].reshape(-1), ignore_index=0)

Good (an autoencoder, and a model that shifts inside):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Auto(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)

        def forward(self, tokens):
            return self.head(self.embed(tokens))

    class Shifting(Auto):
        def forward(self, source, tokens):
            mask = torch.triu(torch.ones(tokens.size(1), tokens.size(1)), diagonal=1)
            start = torch.zeros_like(tokens[:, :1])
            return self.head(self.embed(torch.cat([start, tokens[:, :-1]], dim=1))) + mask.sum()

    auto, shifting = Auto(50, 16), Shifting(50, 16)

    def loss_of(source, tokens):
        copied = F.cross_entropy(auto(tokens).transpose(1, 2), tokens)
        return copied + F.cross_entropy(shifting(source, tokens).transpose(1, 2), tokens)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import (
    Class,
    Expr,
    Function,
    Index,
    Instance,
    LossCall,
    Spot,
    Target,
    bindings,
    loss_calls,
    written,
)
from trainsleuth.finding import Finding, Link

from ._tokens import Base, base_of, calls_within, is_same
from ._verdicts import Verdicts

SAY = Verdicts(
    "unshifted-decoder-input",
    "data",
    "error",
    "overfit_one_batch",
    suspects=("targets-misaligned-with-inputs",),
    claims=("off-by-one-target",),
)
_MASKS = ("triu", "tril", "generate_square_subsequent_mask", "triu_", "tril_")
_OF_ITSELF = ("__init__", "forward", "__call__")
_DECODERS = ("TransformerDecoder", "Transformer")
_SHIFTS = ("roll", "cat", "pad", "concat", "stack", "narrow", "new_zeros")


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        if call.loss:
            yield from _examined(index, call)


def _examined(index: Index, call: LossCall) -> Iterator[Finding]:
    """Only losses whose logits come from a call that is given the very targets are sites."""
    given, labels = call.site.call.argument(0, "input"), call.site.call.argument(1, "target")
    if given is None or labels is None:
        return
    for spot in call.spots:
        logits, target = base_of(index, given, spot), base_of(index, labels, spot)
        if logits is None or target is None or logits.expr.kind != "call" or target.expr.kind != "path":
            continue
        fed = [part for part in logits.expr.parts[1:] if _is_fed(index, part, logits.spot, target)]
        if fed:
            yield _judged(index, call, logits, target, fed[0])
            return


def _is_fed(index: Index, part: Expr, spot: Spot, target: Base) -> bool:
    base = base_of(index, part.parts[0] if part.kind == "keyword" else part, spot)
    return base is not None and is_same(base, target)


def _judged(index: Index, call: LossCall, logits: Base, target: Base, fed: Expr) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    base = base_of(index, fed.parts[0] if fed.kind == "keyword" else fed, logits.spot)
    if target.is_cut or logits.is_cut or (base is not None and base.is_cut):
        return SAY.passed(path, line, f"{written(target.expr)} is shifted against its input")
    forwards = [t for t in index.calling.targets(logits.expr, logits.spot) if isinstance(t, Target)]
    if not forwards:
        return SAY.open(path, line, f"what {written(logits.expr)} does with {written(target.expr)} is not resolved")
    for one in forwards:
        parameter = _parameter(index, one, logits.expr, fed)
        if not parameter or _shifts(one.function, parameter) or not _hiding(index, one):
            return SAY.passed(path, line, f"{written(logits.expr)} shifts {written(target.expr)}, or is no decoder")
        if not _is_embedded(index, one.function, parameter):
            return SAY.open(path, line, f"{written(logits.expr)} does not embed {written(target.expr)} as it is")
    return _failure(call, logits, target, forwards[0].function, _hiding(index, forwards[0]))


def _parameter(index: Index, target: Target, call: Expr, fed: Expr) -> str:
    """The parameter of forward that gets the targets."""
    for one in target.function.parameters:
        given = index.flow.given(target.function, call, one.name, target.owner is not None)
        if given is fed or (fed.kind == "keyword" and given is fed.parts[0]):
            return one.name
    return ""


def _shifts(function: Function, parameter: str) -> bool:
    """The parameter is sliced, joined with something or walked through step by step."""
    names = {parameter} | {
        name
        for name, found in bindings(function).items()
        if any(b.value is not None and any(p.text == parameter for p in b.value.walk()) for b in found)
    }
    for event in function.events:
        roots = (event.value, *event.targets)
        for part in (part for root in roots if root is not None for part in root.walk()):
            if part.kind == "index" and part.parts[0].text in names and any(p.kind != "string" for p in part.parts[1:]):
                return True
            if part.kind == "call" and (part.last in _SHIFTS or "shift" in part.last.lower()):
                return True
        if event.kind in ("for", "while"):
            return True
    return False


def _is_embedded(index: Index, forward: Function, parameter: str) -> bool:
    """Labels that serve a margin or a loss of the model's own, that are hidden in part, or that another method
    shifts, are not handed to an embedding as they come.
    """
    anew = min(
        (b.position for b in bindings(forward).get(parameter, ()) if b.value is not None), default=len(forward.events)
    )
    for position, event in enumerate(forward.events[: anew + 1]):
        for call in event.calls:
            given = call.argument(0, "input")
            if given is not None and given.text == parameter and given.kind == "path":
                things = index.objects.of(call.parts[0], Spot(forward, position))
                if any(isinstance(thing, Instance) and thing.name == "torch.nn.Embedding" for thing in things):
                    return True
    return False


def _hiding(index: Index, target: Target) -> str:
    """What it, or a module in it, hides from a position of a decoder: "the future only" or "nothing". "" for what is no
    decoder, or hides each position from itself too, and so may be given what it predicts.
    """
    if target.owner is None or not isinstance(target.owner.kind, Class):
        return ""
    own = {cls.name for cls in index.classes()}
    within = [
        (call, path)
        for call, path in calls_within(index, target.owner.kind)
        if call.last not in own or _says_causal(call)
    ]
    if any(_hides_itself(call) for call, _ in within):
        return ""
    masks = [(call, path) for call, path in within if call.last in _MASKS or _says_causal(call)]
    if any(_is_reached(index, call, path) for call, path in masks):
        return "the future only"
    return "nothing" if masks or any(call.last in _DECODERS for call, _ in within) else ""


def _is_reached(index: Index, call: Expr, path: str) -> bool:
    """Not in a helper that nothing calls."""
    holders = index.files[path].functions.values()
    names = {f.name for f in holders if any(one is call for event in f.events for one in event.calls)}
    return not names or any(name in _OF_ITSELF or any(True for _ in index.calls(name)) for name in names)


def _hides_itself(call: Expr) -> bool:
    diagonal = call.argument(1, "diagonal") if call.last in ("tril", "tril_") else None
    return diagonal is not None and diagonal.kind == "unary"


def _says_causal(call: Expr) -> bool:
    flag = call.keyword("is_causal") or call.keyword("causal")
    return flag is not None and flag.text == "True"


def _failure(call: LossCall, logits: Base, target: Base, forward: Function, hidden: str) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    made = logits.spot.function.path
    chain = (
        Link(made, logits.expr.line, f"{written(logits.expr)} is fed {written(target.expr)}"),
        Link(forward.path, forward.line, f"{forward.owner}.{forward.name} does not shift it, and masks {hidden}"),
        Link(path, line, f"{call.loss} compares it with the same {written(target.expr)}"),
    )
    message = (
        f"{written(target.expr)} is both the input of {written(logits.expr)} at {made}:{logits.expr.line} and the labels "
        f"of {call.loss} at {path}:{line}: each position sees the token that it must predict; expected [:, :-1] as "
        "input and [:, 1:] as labels."
    )
    return SAY.fail(path, line, message, chain)
