"""A finding about a loss, and its numbers in words."""

from __future__ import annotations

from typing import Any

from trainsleuth.finding import Finding, Link, Number, Severity
from trainsleuth.trace import Event, place

TOLERANCE = 1e-4
# Losses of torch that cannot be negative, whatever the target, as long as inputs obey their contract.
NEVER_NEGATIVE = frozenset({
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "ctc_loss", "hinge_embedding_loss", "huber_loss", "l1_loss", "margin_ranking_loss",
    "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "nll_loss", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss",
})  # fmt: skip


def failure(call: Event, message: str, suspect: str, severity: Severity = "error", **more: Any) -> Finding:
    path, line = place(call.get("site"))
    producer = call.get("producer") or {}
    chain = []
    made_path, made_line = place(producer.get("site"))
    if made_path and made_line:
        chain.append(Link(made_path, made_line, f"makes what enters the loss ({operation(producer)})"))
    if path and line:
        chain.append(Link(path, line, str(call.get("fn", "the loss"))))
    more.setdefault("confidence", "high")
    return Finding(by="probe:loss_contract", outcome="fail", severity=severity, family="loss", message=message,
                   path=path, line=line, chain=tuple(chain), suspects=(suspect,), **more)  # fmt: skip


def operation(producer: Event) -> str:
    """ "SoftmaxBackward0" as the operation that a reader knows: "softmax"."""
    name = str(producer.get("op", "")).split("Backward")[0]
    return {"LogSoftmax": "log_softmax"}.get(name, name.lower())


def made_at(producer: Event) -> str:
    return f" (made by {operation(producer)} at {producer['site']})" if producer.get("site") else ""


def span(call: Event) -> str:
    low, high = call["input"].get("min"), call["input"].get("max")
    return f"{low:.3g}, {high:.3g}" if isinstance(low, float) and isinstance(high, float) else "unreadable"


def numbers_of(call: Event) -> dict[str, Number]:
    facts = {
        "loss": call["value"],
        "input_min": call["input"].get("min"),
        "input_max": call["input"].get("max"),
    }
    return {name: value for name, value in facts.items() if value is not None}
