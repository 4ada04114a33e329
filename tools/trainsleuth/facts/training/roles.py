"""What part an object plays in training: optimizer, scaler, scheduler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..records import Class, Expr
from ..tracing.things import Instance, Spot, Thing

if TYPE_CHECKING:
    from ..index import Index

# whole words of a name: optimizer, opt, optim_g, netD_optim, optimizerD; not option, adopt
_OPTIMIZER_NAME = re.compile(
    r"(^|_)(opt|optim|optimi[sz]er)s?([A-Z0-9_]|$)|[a-z]Opt(im|imi[sz]er)?s?($|_)|optimi[sz]er"
)
_OPTIMIZER_LIBRARIES = (
    "torch.optim.",
    "torch_optimizer.",
    "transformers.",
    "apex.optimizers.",
    "bitsandbytes.optim.",
)


def is_optimizer(index: Index, thing: Thing) -> bool:
    """Surely a torch optimizer whose gradients accumulate until they are cleared."""
    if not isinstance(thing, Instance):
        return False
    if isinstance(thing.kind, Class):
        return any(_is_optimizer_class(base) for base in index.external_bases(thing.kind))
    return _is_optimizer_class(thing.kind.name)


def _is_optimizer_class(name: str) -> bool:
    last = name.rpartition(".")[2]
    if not name.startswith(_OPTIMIZER_LIBRARIES) or ".lr_scheduler." in name or last.endswith(("LR", "Scheduler")):
        return False
    return not name.startswith("transformers.") or last in ("AdamW", "Adafactor")


def sounds_like_optimizer(expr: Expr) -> bool:
    """By its name alone; for wide questions."""
    return bool(_OPTIMIZER_NAME.search(expr.last)) and "sched" not in expr.last.lower()


def stepped(index: Index, call: Expr, spot: Spot) -> Expr | None:
    """The optimizer expression of `opt.step()` or of `scaler.step(opt)`; None for other things that step."""
    receiver = call.receiver
    if receiver is None:
        return None
    if call.arguments and receiver.last.lower().endswith(("scaler", "fabric", "accelerator")):
        return call.arguments[0]
    return receiver


def modules_of_optimizer(optimizer: Instance) -> Iterator[str]:
    """Paths of the modules whose parameters the constructor was given: `net` of SGD(net.parameters())."""
    for expr in optimizer.call.walk() if optimizer.call is not None else ():
        module = expr.receiver if expr.last in ("parameters", "named_parameters") else None
        if expr.kind == "call" and module is not None and module.kind == "path":
            yield module.text
