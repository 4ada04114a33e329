"""What a program tells a framework in the arguments of its trainer: each keyword belongs to one component."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, External, bindings

from ..launching.launch import SHELL
from ..loop.frameworks import FRAMEWORKS, owned_by
from ..program import Called, Program
from ..records import Place

_KEYWORDS = {
    "data": r"train_dataset|eval_dataset|data_collator|train_dataloader|datamodule|dls|group_by_length",
    "loss": r"loss_func|compute_loss_func|criterion|label_smoothing\w*",
    "optimizer_scheduler": r"learning_rate|lr|optim\w*|lr_scheduler\w*|warmup_\w+|weight_decay|opt_func",
    "training_loop": r"max_epochs|max_steps|num_train_epochs|gradient_accumulation_steps|accumulate_grad_batches|"
    r"gradient_clip_val|gradient_clip_algorithm|max_grad_norm|max_iters?|grad_clip|optimizer_config|ema_hook|ema",
    "logging": r"logger|loggers|report_to|logging_\w+|log_every_n_steps|run_name",
    "checkpointing": r"save_\w+|output_dir|default_root_dir|enable_checkpointing|resume_from_checkpoint|load_best\w*",
    "evaluation": r"eval_\w+|evaluation_strategy|compute_metrics|val_check_interval|check_val_every_n_epoch|metrics|"
    r"val(?:idation)?_(?:interval|freq\w*|every\w*|steps|epochs)",
}
_TOLD = re.compile(r"(?:Trainer|TrainingArguments|Config|Learner|learner|NeuralNet\w*)$")
_PACKAGES = frozenset(package for framework in FRAMEWORKS for package in framework.packages)


_SECTIONS = {
    "data": r"(?:^|[._])(?:data|dataset|datamodule|dataloader|train_dataloader|train_data)(?:[._]|$)",
    "model": r"^model\.(?:type|_target_|name|backbone\.type|class_path)$",
    "optimizer_scheduler": r"optim|sched|(?:^|[._])lr(?:$|_)",
    "training_loop": r"train_cfg|max_epochs|max_steps|max_iters|^trainer\._target_|^optimizer_config\.(?:type|grad_clip)|grad(?:ient)?_clip|clip_grad",
    "loss": r"(?:^|[._])(?:loss(?!_scal)|losses|criterion)(?:[._]|$)|(?:^|[._])(?:\w+_)?(?:loss|adv\w*|kl|recon\w*|gan|aux|reg|asso\w*|perceptual)_?(?:weights?|coeff?|factor|multiplier|lambda)s?$"
    r"|(?:^|[._])lambda_\w+$",
    "logging": r"logg|\blog_(?:config|cfg|interval)|visualizer|tensorboard|wandb|log_level"
    r"|(?:^|[._])(?:log|print|report)\w*_(?:freq\w*|interval|every\w*|steps|iters?)$",
    "checkpointing": r"^(?!.*(?:grad|activation)\w*checkpoint).*(?:checkpoint|ckpt|load_from)|(?:^|\.)resume",
    "evaluation": r"evaluator|^evaluation(?:\.|$)|val_dataloader|val_cfg|metrics?\.|test_cfg|check_val_every|eval\w*_strategy"
    r"|(?:^|[._])(?:eval\w*|val|valid|validation|test)_?(?:\w+_)?(?:interval|period|freq\w*|every\w*|split|ratio|size|set|dataset|data|steps|epochs?|n?episodes?)$"
    r"|(?:^|[._])(?:metrics?|eval|evaluate|validation)$",
}
_PER_SECTION = 5
_TEXTS = (*SHELL, ".md", ".rst")


def _from_settings(program: Program, component: str, score: float) -> Iterator[Place]:
    """Lines of configuration files that decide a component of which a framework holds the code."""
    named = [f"(?:^|\\.)(?:{_KEYWORDS[component]})$"] if component in _KEYWORDS else []
    named += [_SECTIONS[component]] if component in _SECTIONS else []
    pattern = re.compile("|".join(named), re.I) if named else None
    count: dict[str, int] = {}
    held = program.training.framework is not None  # else an option of a script belongs to code that reads it
    given = (one for one in program.settings if held or one.path in program.index.configs or one.path.endswith(_TEXTS))
    for setting in given if pattern is not None else ():
        section = setting.key.partition(".")[0]
        if pattern is not None and pattern.search(setting.key) and count.get(section, 0) < _PER_SECTION:
            count[section] = count.get(section, 0) + 1
            yield Place(setting.path, setting.line, "setting", score if count[section] == 1 else 0.8 * score)


def _is_run(program: Program, cls: Class) -> bool:
    """A class of the project that the framework runs, or one of its own trainers."""
    return cls in program.training.hooked_classes or owned_by(program.index, cls) == program.training.framework


def _unpacked(program: Program, called: Called, pattern: re.Pattern[str]) -> Iterator[Place]:
    """The same in a table that is handed over whole: Trainer(**settings) below settings = {"max_epochs": 20}."""
    names = [part.parts[0].text for part in called.call.parts[1:] if part.kind == "doublestar" and part.parts]
    for name in names:
        for binding in bindings(called.function).get(name, ()):
            for pair in binding.value.parts if binding.value is not None else ():
                if (pair.kind == "pair" and pattern.fullmatch(pair.parts[0].text)) or (
                    pair.kind == "keyword" and pattern.fullmatch(pair.text)
                ):
                    yield program.at(called.function, pair.line, "argument", 0.65 * called.weight**0.4)


def argument_places(program: Program, component: str) -> Iterator[Place]:
    """Keywords of a trainer's constructor and of its settings that decide one component."""
    pattern = re.compile(_KEYWORDS[component]) if component in _KEYWORDS else None
    if program.training.framework is not None or program.told:
        yield from _from_settings(program, component, 0.6 if program.training.framework is not None else 0.5)
    if pattern is None or program.training.framework is None:
        return
    for called in program.reached_calls:
        named = [one.name for one in called.targets if isinstance(one, External)]
        own = any(isinstance(one, Class) and _is_run(program, one) for one in called.targets)
        if not own and not any(_TOLD.search(name) and name.partition(".")[0] in _PACKAGES for name in named):
            continue
        for part in called.call.parts[1:]:
            if part.kind == "keyword" and pattern.fullmatch(part.text):
                yield program.at(called.function, part.line, "argument", 0.7 * called.weight**0.4)
        yield from _unpacked(program, called, pattern)
        if component == "training_loop" and named and named[0].endswith("Trainer"):
            yield program.at(called.function, called.call.line, "trainer", 0.9 * called.weight**0.4)
