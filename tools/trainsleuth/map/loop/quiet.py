"""Statements whose networks get no gradients."""

from __future__ import annotations

from trainsleuth.facts import Event, written


def is_quiet(event: Event) -> bool:
    """Under torch.no_grad() or inference_mode()."""
    return any(written(one).endswith(("no_grad()", "inference_mode()")) for one in event.block.contexts)
