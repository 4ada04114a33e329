"""To which component it belongs what a section of the configuration builds."""

from __future__ import annotations

import re

from trainsleuth.facts import Class, Function

from ...configuration import Truth
from ...loop.networks import is_dataset, is_loss_class, is_network
from ...recipe.recipes import Choice


def kind_of(truth: Truth, built: Choice) -> str:
    """The component of what is built, "" when it does not tell."""
    index, target = truth.program.index, built.target
    name = target.name if isinstance(target, Class | Function) else built.value
    words = f"{built.key} {name}"
    if re.search(r"optim|sched|anneal|(?:^|[. ])lr_", words, re.I):
        return "optimizer_scheduler"
    if re.search(r"checkpoint", words, re.I):
        return "checkpointing"
    if re.search(r"logger|tensorboard|wandb", words, re.I):
        return "logging"
    if re.search(r"search|metric|error_?rate|accuracy|evaluat|wer_|decoder$|scorer", words, re.I):
        return "evaluation" if not isinstance(target, Class) or "ecoder" not in name else "model"
    if re.search(r"augment|perturb|dataset|sampler|loader|collat|transform(?!er)|drop_|_drop|warp|noise", words, re.I):
        return "data"
    if isinstance(target, Class):
        if is_loss_class(index, target):
            return "loss"
        if is_dataset(index, target):
            return "data"
        if is_network(index, target):
            return "model"
    return "loss" if re.search(r"loss|cost|criteri", words, re.I) else ""
