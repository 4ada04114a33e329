"""Options of the command line that decide one component: --save-every belongs to the checkpoints, --warmup to the schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Expr, plain_name

from ..configuration.forms.command_line import given_by
from ..program import Program
from ..records import Place

_NAMES = {
    "data": r"data(?:set|_?dir|_?path|_?root)?|dataset_\w+|(?:train_|mini_?)?batch_?size|(?:num_)?workers|(?:image|img|patch|crop)_size|train_\w+",
    "model": r"model(?:_\w+)?|arch\w*|backbone|net(?:work)?(?:_\w+)?|(?:hidden|embed\w*)_(?:size|dim\w*)|(?:num_|n_)?layers|depth|dropout",
    "loss": r"(?:\w+_)?loss(?:es)?(?:_\w+)?|lambda_\w+|\w+_(?:coef\w*|lambda)|label_smoothing|criterion|objective|method",
    "optimizer_scheduler": r"(?:\w+_)?(?:lr|learning_rate)(?:_\w+)?|weight_decay|momentum|optim\w*|sched\w*|warmup\w*|milestones|gamma",
    "training_loop": r"(?:num_|n_|max_)?(?:epochs?|steps|iters?|iterations)|accum\w*|(?:grad_)?clip\w*|max_(?:grad_)?norm",
    "logging": r"(?:log|print|report|disp|wandb|tensorboard|tb)(?:_\w+)?|\w+_log",
    "checkpointing": r"(?:save|ckpt|checkpoint|snapshot|resume|restore|pretrained|load)(?:_\w+)?|\w+_(?:ckpt|checkpoint)|output(?:_\w+)?",
    "evaluation": r"(?:eval|val|valid|validation|test|metrics?)(?:_\w+)?",
}
_NOT = re.compile(r"\w*(?:local_rank|port|url|seed|device|gpus?|debug|help)")
MOST = 3  # options of one component
DEFINED, GIVEN = 0.4, 0.46  # below nearly every sign in code; what the command gives counts more


def given_to(program: Program) -> frozenset[str]:
    """What the caller's command sets, without dashes."""
    texts = [command.text for command in program.entry.commands[:1]] if program.told else []
    return frozenset(one.name for text in texts for one in given_by(text))


def flags_of(call: Expr) -> Iterator[str]:
    """The names that a call or decorator gives an option, as `given_to` says them."""
    return (plain_name(part.text) for part in call.arguments if part.kind == "string")


def option_places(program: Program, component: str) -> Iterator[Place]:
    """A few of each component, those of the caller's command first."""
    pattern = _NAMES.get(component)
    if pattern is None:
        return
    given = given_to(program)
    found: list[tuple[bool, Place]] = []
    for called in program.reached_calls:
        if called.call.last == "add_argument":
            names = list(flags_of(called.call))
            if any(re.fullmatch(pattern, name, re.I) and not _NOT.fullmatch(name) for name in names):
                asked = not given.isdisjoint(names)
                score = (GIVEN if asked else DEFINED) * called.weight**0.4
                found.append((asked, program.at(called.function, called.call.line, "option", score)))
    yield from (place for _, place in sorted(found, key=lambda one: not one[0])[:MOST])
