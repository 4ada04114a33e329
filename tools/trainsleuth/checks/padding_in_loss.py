"""Padding tokens count in the loss.

Batches of sequences are filled up with a padding token. Without ignore_index the loss also asks the model to
predict padding after the end: in short sentences this is most of the loss. The number looks excellent, the
perplexity is wrong, and the gradient of the words is diluted by the length of the longest sentence.

Fix: cross_entropy(..., ignore_index=padding), or fill labels with -100, or weight each position by the mask.

Cannot see: labels that are masked in the data pipeline. Where only names speak of padding it is a question.

Bad:
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.utils.rnn import pad_sequence

    def loss_of(model, sentences, tags):
        x = pad_sequence(sentences, batch_first=True)
        y = pad_sequence(tags, batch_first=True)
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten())

Bad (the decoder knows its padding, the loss does not):
    from torch import nn

    class Decoder(nn.Module):
        def __init__(self, vocabulary, width):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
            self.rnn = nn.GRU(width, width, batch_first=True)
            self.out = nn.Linear(width, vocabulary)

        def forward(self, tokens):
            hidden, _ = self.rnn(self.embed(tokens))
            return self.out(hidden)

    decoder, criterion = Decoder(90, 16), nn.CrossEntropyLoss()

    def loss_of(tokens):
        logits = decoder(tokens[:, :-1])
        return criterion(logits.reshape(-1, 90), tokens[:, 1:].reshape(-1))

Good:
    import torch.nn.functional as F
    from torch.nn.utils.rnn import pad_sequence

    def loss_of(model, sentences, tags):
        x = pad_sequence(sentences, batch_first=True)
        y = pad_sequence(tags, batch_first=True, padding_value=-100)
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten())

Good (told to ignore it; weighted by a mask; one label for each sentence):
    from torch import nn
    import torch.nn.functional as F
    from torch.nn.utils.rnn import pad_sequence

    criterion = nn.CrossEntropyLoss(ignore_index=0)

    def loss_of(model, classifier, sentences, tags, labels, pad):
        x, y = pad_sequence(sentences, batch_first=True), pad_sequence(tags, batch_first=True)
        logits = model(x)
        each = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
        weighted = (each * (y != pad)).sum() / (y != pad).sum().clamp(min=1)
        return criterion(logits.flatten(0, 1), y.flatten()) + weighted + F.cross_entropy(classifier(x), labels)
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Index, LossCall, Spot, Target, ingredients, loss_calls, written
from trainsleuth.finding import Finding, Link

from ._tokens import base_of, calls_within
from ._verdicts import Verdicts

SAY = Verdicts(
    "padding-in-loss",
    "loss",
    "error",
    "loss_contract",
    suspects=("wrong-loss-choice",),
    claims=("average-loss-per-token", "all-labels-masked"),
)


def check(index: Index) -> Iterator[Finding]:
    for call in loss_calls(index, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        if call.loss:
            yield from _examined(index, call)


def _examined(index: Index, call: LossCall) -> Iterator[Finding]:
    """Only losses over sequences of tokens are sites."""
    given, labels = call.site.call.argument(0, "input"), call.site.call.argument(1, "target")
    if given is None or labels is None:
        return
    path, line = call.site.function.path, call.site.call.line
    part = index.part(path)
    is_padding = bool(index.sites.calls_in("pad_sequence", part))
    has_tokens = bool(index.sites.calls_in("Embedding", part))
    for spot in call.spots if is_padding or has_tokens else ():
        evidence = _padded(index, labels, spot) if is_padding else None
        if evidence is None and has_tokens:
            evidence = _knows_padding(index, given, labels, spot)
        if evidence is None:
            continue
        if how := _leaves_out(index, call, spot):
            yield SAY.passed(path, line, how)
        else:
            yield _failure(call, labels, evidence)
        return


def _padded(index: Index, labels: Expr, spot: Spot) -> Link | None:
    """The labels are filled up with something that the loss does not know.

    Everything near them is asked: a helper that is given inputs and labels may give back both.
    """
    found: Link | None = None
    for expr, at in ingredients(index, labels, spot):
        if expr.kind == "call" and expr.last in ("where", "masked_fill", "masked_fill_", "masked_select"):
            return None
        if expr.kind == "call" and expr.last == "pad_sequence":
            value = expr.argument(2, "padding_value")
            if value is not None and written(value) in ("-100", "-100.0"):
                return None
            found = found or Link(at.function.path, expr.line, f"{written(expr)} fills the labels up")
    return found


def _knows_padding(index: Index, given: Expr, labels: Expr, spot: Spot) -> Link | None:
    """The model that is fed the same tokens embeds one of them as padding."""
    logits, target = base_of(index, given, spot), base_of(index, labels, spot)
    if logits is None or target is None or logits.expr.kind != "call" or target.expr.kind != "path":
        return None
    is_fed = any(
        (base := base_of(index, part, logits.spot)) is not None
        and base.expr.text == target.expr.text
        and base.spot.function is target.spot.function
        for part in logits.expr.arguments
    )
    if not is_fed or not (target.is_flat or logits.is_flat):
        return None
    for one in index.calling.targets(logits.expr, logits.spot):
        owner = one.owner.kind if isinstance(one, Target) and one.owner is not None else None
        for call, path in calls_within(index, owner) if isinstance(owner, Class) else ():
            if call.last == "Embedding" and call.keyword("padding_idx") is not None:
                return Link(path, call.line, f"{written(call)} says which token is padding")
    return None


def _leaves_out(index: Index, call: LossCall, spot: Spot) -> str:
    """How padding is left out after all."""
    site = call.site.call
    calls = [site, *(getattr(one, "call", None) for one in index.objects.of(site.parts[0], spot))]
    for one in (one for one in calls if one is not None):
        if any(part.kind == "doublestar" for part in one.parts):
            return "its settings are not written out"
        if one.keyword("ignore_index") is not None:
            return f"ignore_index leaves padding out at line {one.line}"
        if (weight := one.keyword("weight")) is not None and weight.text != "None":
            return f"weights per class may leave padding out at line {one.line}"
        reduction = one.keyword("reduction")
        if reduction is not None and reduction.text == "none":
            return f"each position is weighted by hand: reduction is none at line {one.line}"
    if any("mask" in part.text for root in site.parts[1:] for part in root.walk()):
        return "a mask is used in the call"
    return ""


def _failure(call: LossCall, labels: Expr, evidence: Link) -> Finding:
    path, line = call.site.function.path, call.site.call.line
    chain = (evidence, Link(path, line, f"{call.loss} counts every position of {written(labels)}"))
    message = (
        f"{call.loss} at {path}:{line} also counts the padding in {written(labels)}: {evidence.why} at "
        f"{evidence.path}:{evidence.line}; expected ignore_index, or a mask."
    )
    return SAY.fail(path, line, message, chain, "medium", "warning")
