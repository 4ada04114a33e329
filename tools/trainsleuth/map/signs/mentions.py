"""Weak signs: statements that speak of a component by the names in them. They fill the room that strong signs leave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Function

from ..program import Program
from ..records import Place

_EVERY = r"(?:_?(?:interval|freq\w*|every|steps?|epochs?|period|iters?|iterations))"
_NAMES = {
    "config": r"CfgNode|CN|ConfigDict|EasyDict|edict|Munch|add_config|\w*hparams|(?:load|get|make|default)_\w*(?:cfgs|configs)|configure",
    "data": r"pre_?process\w*|tokeni[sz]e\w*|\w*collate\w*|make_\w*iter|build_\w*(?:transforms?|pipeline)\w*|\w+DataLoader|get_input",
    "model": r"(?:model|net|network|algorithm|policy|agent|backbone)_(?:cls|class|type|fn)|get_(?:class|algorithm_class|model_class)",
    "loss": r"(?:\w+_)?loss(?:es)?(?:_(?:fn|func|function|weights?|dict|value|all))?|lambdas?(?:_[a-z]\w{2,})?|\w*criterion",
    "optimizer_scheduler": r"(?:base_|init(?:ial)?_|max_|min_|curr(?:ent)?_)?(?:lr|learning_rate)|weight_decay|warmup_\w+|(?:optim\w*|sched\w*)_(?:cls|class|fn)",
    "training_loop": r"prepare|soft_update\w*|hard_update\w*|update_target\w*",
    "logging": r"\w*(?:_tb|tb_|tensorboard|wandb)\w*|(?:line)?plot(?:_\w+)?|\w*_log|maybe_log\w*|summari[sz]e\w*|track|[Vv]isuali[sz]er|Log\w+",
    "checkpointing": r"(?:save|load|restore)_(?:to|from)_(?!disk$)\w+|_?serialize|[Ee]arly_?[Ss]top\w*|(?!\w*(?:grad|gckpt|activation|recompute|use_checkpoint))\w*(?:ckpt|checkpoint)\w*",
    "evaluation": r"(?!(?:\w+_)?(?:to|is|if|are|not|in)_valid$)(?!\w*(?:loss|score|size|length|grad|norm|lr|clip|max|min|default|init|old|new|abs|pad|fill|get)_val$)(?:\w+_)?(?:test|eval|valid|val)_?(?:set|mode|table)?|\w*(?:error|metrics?)_table|compute_\w*(?:metrics?|features|statistics)",
}  # fmt: skip
_WHEN = {
    "logging": rf"(?:log|print|report|disp\w*|summary|verbose)\w*{_EVERY}",
    "checkpointing": rf"(?:save|ckpt|checkpoint|snapshot)\w*{_EVERY}|save_\w+",
    "evaluation": rf"(?:test|eval|val|valid|validat\w*|sample)\w*{_EVERY}|(?:do|run|skip|no)_(?:eval\w*|test\w*|val\w*)|testing|eval(?:uate)?(?:_only)?|test(?:_only|_mode)?|is_(?:test|eval)(?:ing)?",
}
WEAK, DECIDES = 0.34, 0.45  # below nearly every sign that is more than a name; a test says when it is done
MAX_OF_A_NAME = 4


def mentions(program: Program, component: str) -> Iterator[Place]:
    """Statements of reached code in which a name says `component`, a few for each name."""
    for pattern, table, score in (
        (_NAMES.get(component), program.spoken, WEAK),
        (_WHEN.get(component), program.asked, DECIDES),
    ):
        matches = re.compile(f"_*(?:{pattern})") if pattern else None
        for name, found in table.items():
            if matches is not None and matches.fullmatch(name):
                for function, line in found[:MAX_OF_A_NAME]:
                    if name not in _NAMESAKES or not _is_namesake(program, function, line, name):
                        yield program.at(function, line, "mention", score * program.weight(function) ** 0.4)


_NAMESAKES = {
    "checkpoint": "torch.utils.checkpoint",  # checkpoint(block, x) saves memory, no weights
    "eval": "builtins.eval",  # of text
    "literal_eval": "ast.literal_eval",
}


def _is_namesake(program: Program, function: Function, line: int, name: str) -> bool:
    """A call of that name which is something else."""
    calls = (call for event in function.events for call in event.calls if call.line == line and call.last == name)
    return any(f"{program.full_name(function, call.callee)}.".startswith(f"{_NAMESAKES[name]}.") for call in calls)
