"""One section of the configuration as far as it decides a component: which of its keys, and how much it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...configuration import Key, Truth
from ...drawing.wording import clean
from ...recipe.recipes import Choice
from .config import worth
from .kinds import kind_of

MOST_DEFAULTS = 6  # keys of a section that are shown though nobody changed them
TELLING = 2.0  # rank of a section that somebody set
OF = {
    "data": r"batch|data|pipeline|transform(?!er)|worker|crop|resize|augment|seq_len|block_size|max_tokens|shuffle|sample_rate|sample_size|split|sampler|max_(?:length|len)|mixup|cutmix|csv|subset|cutoff|template|max_samples|tokenizer|segment",
    "model": r"^model\.|(?:^|[._])(?:encoder|decoder|backbone|neck|generator|discriminator)(?:_\w+)?$|num_blocks|_units$|output_size|arch|layer|dim$|head|hidden|depth|dropout|embd|embed|^model$|d_model|d_ffn|num_channels|mask_(?:prob|length)|freeze|pretrained|lora|model_name|finetuning_type",
    "loss": r"loss|cost|criterion|label_smooth|temperature|lambda|gamma|_weight$|reduction|logit_temp",
    "optimizer_scheduler": r"optim|sched|anneal|(?:^|[._])lr|learning_rate|warm_?up|weight_decay|beta|momentum|decay|"
    r"max_(?:steps|epochs?|updates?|iters)|(?:^|[._])epochs$|number_of_epochs",
    "training_loop": r"epoch|max_(?:steps|updates?|iters)|accum|update_freq|clip|max_(?:grad_)?norm|(?:^|[._])(?:amp|fp16|bf16)$|batch_size|precision|seed|ema|world_size|compile|nprocs|devices|autocast|mixed_precision",
    "logging": r"log|wandb|tensorboard|print_|report_to",
    "checkpointing": r"save|ckpt|checkpoint|resume|keep_|pretrained|output_dir|out_dir|restore|recover|(?:avg|average)_\w*model|nbest",
    "evaluation": r"eval|valid|(?:^|[._])val(?:_|$)|test_|metric|beam|search|error_rate|(?:^|_)(?:wer|cer|acc)(?:$|_)|accuracy|best",
}
_SIDE = re.compile(r"url|port$|(?:node|local|global)_rank|verbose|help|tag|note|_id$|folder|placeholder", re.I)
_DECIDES = {
    "data": r"batch|sampler|max_tokens|split",
    "model": r"layers?$|_dim$|d_model|hidden|heads?$|depth|width|n_embd|mask_prob|num_blocks|_units$|output_size|arch|^(?:encoder|decoder|backbone|model)$",
    "evaluation": r"interval|every|freq|beam|metric|best",
    "training_loop": r"clip|accum|max_(?:steps|updates?)|epochs|update_freq",
    "optimizer_scheduler": r"(?:^|[ ._])lr|warm|optim|sched",
}
NOTHING = ("None", "null", "", "-1", "False", "false", "[]", "{}", "0")


class Section(NamedTuple):
    """Keys of one dotted prefix, or of one file for those that have none. `built` is what its name or tag chooses."""

    name: str
    keys: tuple[Key, ...]
    built: Choice | None
    rank: float


def section_of(
    truth: Truth, component: str, pattern: re.Pattern[str], name: str, keys: Sequence[Key], built: Choice | None
) -> Section | None:
    own = built is not None and _builds(truth, component, pattern, built)
    whole = own or (not name.startswith("/") and pattern.search(name.rpartition(".")[2]) is not None)
    if built is not None and not own and whole and _is_other(truth, component, built):
        return None
    given = [key for key in keys if is_set(key)]
    named = [key for key in keys if pattern.search(key.name) and (own or not _SIDE.search(key.name))]
    kept = [key for key in given if whole or key in named]
    some = bool(kept) or name.startswith("/") or own or (bool(given) and built is None)
    rest = [key for key in named if key not in kept] if some else []
    decides = re.compile(_DECIDES.get(component, "^$"), re.I)
    kept += sorted(rest, key=lambda key: (decides.search(key.name) is None, -_tells(key)))[:MOST_DEFAULTS]
    kept.sort(key=lambda key: (key.value in ("null", "None"), decides.search(key.name.removeprefix(name)) is None))
    if built is not None:
        kept = [key for key in kept if key.name != built.key and not key.name.rpartition(".")[2].startswith("_")]
    if not kept and not own:
        return None
    rank = TELLING + whole + _weight(component, f"{name} {kept}") if any(map(is_set, kept)) else 0.5 * whole
    recipe = truth.program.config_paths[-1:]
    rank += any(layer.path in recipe for key in kept for layer in key.layers)
    if own and built is not None:
        rank += 4.0 + (1.0 if _is_named(truth, name) else 0.0)
    elif name.startswith("/") and rank >= TELLING:
        rank += 6.0  # a line of plain values says most in its room
    return Section(name, tuple(kept), built, rank)


def _is_named(truth: Truth, name: str) -> bool:
    """Code of the program names what the section builds; else only other sections do."""
    return any(truth.program.is_reached(one) for one in truth.reads.inside(name.rpartition(".")[2]))


def _weight(component: str, words: str) -> float:
    """More for what decides most: how batches are made, before how examples are changed."""
    return 2.0 if component in _DECIDES and re.search(_DECIDES[component], words, re.I) else 0.0


def _tells(key: Key) -> float:
    """How much a default says: one that switches something on, or is a number, more than one that is nothing."""
    return worth(key) + (key.value not in NOTHING)


def entry_of(truth: Truth, key: Key) -> str:
    """Of a value in an entry of a list, what tells this entry from the others: "params=^backbone" of params.0.lr."""
    above = key.name.rpartition(".")[0]
    if not above.rpartition(".")[2].isdigit() or _PLAIN.fullmatch(key.value) is None:
        return ""
    beside = (one for one in truth.by_section[above] if one is not key and one.value)
    told = next((one for one in beside if _PLAIN.fullmatch(one.value) is None), None)
    return f"{told.name.rpartition('.')[2]}={clean(told.value, ENTRY)}" if told is not None else ""


ENTRY = 48  # characters of what tells an entry
_PLAIN = re.compile(r"[-+\d.e]+|true|false|null|none|~", re.I)


def is_set(key: Key) -> bool:
    return any(layer.how != "default" and layer.certain for layer in key.layers)


def _builds(truth: Truth, component: str, pattern: re.Pattern[str], built: Choice) -> bool:
    """What a section builds belongs to the component: by what it is, else by its name."""
    kind = kind_of(truth, built)
    return kind == component if kind else pattern.search(f"{built.key} {built.value}") is not None


def _is_other(truth: Truth, component: str, built: Choice) -> bool:
    return kind_of(truth, built) not in ("", component)
