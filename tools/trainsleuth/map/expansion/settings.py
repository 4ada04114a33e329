"""The settings that decide one component, with the value that each has and the place that sets it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..configuration import Key, Truth
from ..wording import clean
from .config import worth
from .writing import Block

MOST = 16
_OF = {
    "data": r"batch|data|worker|crop|resize|augment|seq_len|block_size|max_tokens|shuffle|sample_rate|sample_size",
    "model": r"^model\.|arch|layer|dim$|head|hidden|depth|dropout|embd|embed|^model$",
    "loss": r"loss|criterion|label_smooth|temperature|lambda|gamma|_weight$",
    "optimizer_scheduler": r"optim|sched|(?:^|[._])lr|learning_rate|warmup|weight_decay|beta|momentum|decay|"
    r"max_(?:steps|epochs?|updates?|iters)|(?:^|[._])epochs$",
    "training_loop": r"epoch|max_(?:steps|updates?|iters)|accum|update_freq|clip|max_grad|(?:^|[._])(?:amp|fp16|bf16)$|batch_size|precision",
    "logging": r"log|wandb|tensorboard|print_",
    "checkpointing": r"save|ckpt|checkpoint|resume|keep_|pretrained|output_dir|out_dir",
    "evaluation": r"eval|valid|(?:^|[._])val(?:_|$)|test_|metric|beam",
}


def blocks(truth: Truth, component: str) -> Iterator[Block]:
    """One block for each setting of the component, those that files and commands set first."""
    pattern = re.compile(_OF[component], re.I) if component in _OF else None
    if pattern is None:
        return
    found = [key for key in truth.keys if pattern.search(key.name) and key.source is not None]
    for place, key in enumerate(sorted(found, key=lambda one: -worth(one))[:MOST]):
        yield Block(("# settings",), (place,), (f"  {_line(truth, key)}",), key.to_dict())


def _line(truth: Truth, key: Key) -> str:
    source = key.source
    where = "" if source is None else f" ({source.path}:{source.line})" if source.path else " (given command)"
    maybe = next((one for one in key.layers if not one.certain), None)
    then = f", may become {clean(maybe.value, 40)} {maybe.path}:{maybe.line}" if maybe is not None else ""
    return f"{key.name} = {clean(truth.effective(key.value), 60) or repr('')}{where}{then}"
