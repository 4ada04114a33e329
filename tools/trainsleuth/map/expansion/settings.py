"""The settings that decide one component, section by section: what a recipe builds, and each value with its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainsleuth.facts import Class, Function
from trainsleuth.facts.config import BUILDING_TAGS

from ..configuration import Key, Truth
from ..networks import is_dataset, is_loss_class, is_network
from ..recipes import Choice, refers_to
from ..wording import clean
from .config import worth
from .replacing import replaced_at
from .writing import Block

MOST = 16  # values of a section that are shown
MOST_DEFAULTS = 6  # of them, those that nobody changed
WIDTH = 70  # characters of one value
TELLING = 2.0  # rank of a section that somebody set
OF = {
    "data": r"batch|data|worker|crop|resize|augment|seq_len|block_size|max_tokens|shuffle|sample_rate|sample_size|split|sampler|max_(?:length|len)|mixup|cutmix|csv|subset|cutoff|template|max_samples|tokenizer|segment",
    "model": r"^model\.|arch|layer|dim$|head|hidden|depth|dropout|embd|embed|^model$|d_model|d_ffn|num_channels|mask_(?:prob|length)|freeze|pretrained|lora|model_name|finetuning_type",
    "loss": r"loss|cost|criterion|label_smooth|temperature|lambda|gamma|_weight$|reduction|logit_temp",
    "optimizer_scheduler": r"optim|sched|anneal|(?:^|[._])lr|learning_rate|warm_?up|weight_decay|beta|momentum|decay|"
    r"max_(?:steps|epochs?|updates?|iters)|(?:^|[._])epochs$|number_of_epochs",
    "training_loop": r"epoch|max_(?:steps|updates?|iters)|accum|update_freq|clip|max_(?:grad_)?norm|(?:^|[._])(?:amp|fp16|bf16)$|batch_size|precision|seed|ema|world_size|compile|nprocs|devices|autocast|mixed_precision",
    "logging": r"log|wandb|tensorboard|print_|report_to",
    "checkpointing": r"save|ckpt|checkpoint|resume|keep_|pretrained|output_dir|out_dir|restore|recover",
    "evaluation": r"eval|valid|(?:^|[._])val(?:_|$)|test_|metric|beam|search|error_rate|(?:^|_)(?:wer|cer|acc)(?:$|_)|accuracy|best",
}
_SIDE = re.compile(r"url|port$|(?:node|local|global)_rank|verbose|help|tag|note|_id$|folder|placeholder", re.I)


class Section(NamedTuple):
    """Keys of one dotted prefix, or of one file for those that have none. `built` is what its name or tag chooses."""

    name: str
    keys: tuple[Key, ...]
    built: Choice | None
    rank: float


def blocks(truth: Truth, component: str) -> Iterator[tuple[Block, bool]]:
    """One block for each section that decides the component, the most telling first; whether files or commands set it."""
    if component not in OF:
        return
    shown: set[str] = set()
    for place, section in enumerate(_sections(truth, component)):
        keys = [key for key in section.keys if section.built is not None or key.name not in shown]
        if not keys and section.built is None:
            continue
        shown.update(refers_to(key.value) for key in section.keys)
        line = _line(truth, section._replace(keys=tuple(keys)))
        if section.built is None and (said := replaced_at(truth.program, section.name)):
            line += f"; {said}"
        item = {"section": section.name, "keys": [key.to_dict() for key in keys[:MOST]]}
        yield Block(("# settings",), (place,), (f"  {line}",), item), section.rank >= TELLING


def _sections(truth: Truth, component: str) -> list[Section]:
    pattern = re.compile(OF[component], re.I)
    chosen = {choice.key.rpartition(".")[0]: choice for choice in truth.program.choices if "." in choice.key}
    held: dict[str, list[Key]] = {}
    for key in truth.keys:
        if key.source is not None and not key.name.endswith((".!new", ".!name")):
            held.setdefault(_section_of(key, chosen), []).append(key)
    for name in chosen:
        held.setdefault(name, [])
    left = set(_alternatives(held))
    found = [
        _section(truth, component, pattern, name, keys, chosen.get(name))
        for name, keys in held.items()
        if name not in left
    ]
    return sorted((one for one in found if one is not None), key=lambda one: -one.rank)


def _alternatives(held: Mapping[str, Sequence[Key]]) -> Iterator[str]:
    """Sections that a key beside them does not name: schedule.step, when schedule.kind is cosine."""
    values: dict[str, set[str]] = {}
    for keys in held.values():
        for key in keys:
            values.setdefault(key.name.rpartition(".")[0], set()).add(key.value)
    decided = {name.rpartition(".")[0] for name in held if name.rpartition(".")[2] in values.get(name.rpartition(".")[0], ())}  # fmt: skip
    for name in held:
        parent, _, last = name.rpartition(".")
        if parent and parent in decided and last not in values[parent] and len(values[parent]) == 1:
            yield name


def _section_of(key: Key, chosen: dict[str, Choice]) -> str:
    """The prefix of a key, up to what is built as a whole; of a plain name, the file that sets it."""
    words = key.name.split(".")
    for cut in range(len(words), 0, -1):
        if ".".join(words[:cut]) in chosen:
            return ".".join(words[:cut])
    source = key.source
    return ".".join(words[:-1]) or f"/{source.path if source is not None else ''}"


def _section(
    truth: Truth, component: str, pattern: re.Pattern[str], name: str, keys: Sequence[Key], built: Choice | None
) -> Section | None:
    own = built is not None and _builds(truth, component, pattern, built)
    whole = own or (not name.startswith("/") and pattern.search(name.rpartition(".")[2]) is not None)
    if built is not None and not own and whole and _is_other(truth, component, built):
        return None
    given = [key for key in keys if _is_set(key)]
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
    rank = TELLING + whole + _weight(component, f"{name} {kept}") if any(map(_is_set, kept)) else 0.5 * whole
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


_DECIDES = {
    "data": r"batch|sampler|max_tokens|split",
    "model": r"layers?$|_dim$|d_model|hidden|heads?$|depth|width|n_embd|mask_prob|num_blocks",
    "evaluation": r"interval|every|freq|beam|metric|best",
    "training_loop": r"clip|accum|max_(?:steps|updates?)|epochs|update_freq",
    "optimizer_scheduler": r"(?:^|[ ._])lr|warm|optim|sched",
}
_NOTHING = ("None", "null", "", "-1", "False", "false", "[]", "{}", "0")


def _tells(key: Key) -> float:
    """How much a default says: one that switches something on, or is a number, more than one that is nothing."""
    return worth(key) + (key.value not in _NOTHING)


def _is_set(key: Key) -> bool:
    return any(layer.how != "default" and layer.certain for layer in key.layers)


def _builds(truth: Truth, component: str, pattern: re.Pattern[str], built: Choice) -> bool:
    """What a section builds belongs to the component: by what it is, else by its name."""
    kind = _kind(truth, built)
    return kind == component if kind else pattern.search(f"{built.key} {built.value}") is not None


def _is_other(truth: Truth, component: str, built: Choice) -> bool:
    return _kind(truth, built) not in ("", component)


def _kind(truth: Truth, built: Choice) -> str:
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


def _line(truth: Truth, section: Section) -> str:
    built = section.built
    base = built.path if built is not None else _home(truth, section)
    said = [_value(truth, key, section, base) for key in section.keys]
    more = f", +{len(said) - MOST} more" if len(said) > MOST else ""
    text = ", ".join(said[:MOST]) + more
    if built is None:
        name = "" if section.name.startswith("/") else f"{section.name} "
        return f"{name}{base}: {text}" if base else f"{name.strip()}: {text}"
    target = built.target
    what = f"{target.name} {target.path}:{target.line}" if target is not None else built.value
    if target is None and not built.key.endswith(BUILDING_TAGS):
        return f"{built.key}={built.value} {built.path}:{built.line}" + (f": {text}" if text else "")
    plain = built.key.endswith(BUILDING_TAGS) or (target is not None and built.value.endswith(f".{target.name}"))
    name = section.name if plain else f"{built.key}={built.value}"
    return f"{name} {built.path}:{built.line} is {what}" + (f": {text}" if text else "")


def _home(truth: Truth, section: Section) -> str:
    """The file that sets most of the values of a section."""
    if section.name.startswith("/"):
        return section.name.removeprefix("/")
    sources = [truth.last(key).source for key in section.keys]
    count = Counter(source.path for source in sources if source is not None and source.path)
    return count.most_common(1)[0][0] if count else ""


def _value(truth: Truth, key: Key, section: Section, base: str) -> str:
    """name=value :line, with the path when it is not that of the section."""
    name = key.name.removeprefix(f"{section.name}.") if not section.name.startswith("/") else key.name
    last = truth.last(key)
    value = clean(last.value, WIDTH)
    source = last.source
    where = "the command" if source is None or not source.path else f":{source.line}"
    if source is not None and source.path and source.path != base:
        where = f"{source.path}:{source.line}"
    changed = "" if source is None or source.how != "default" else " default"
    maybe = next((one for one in last.layers if not one.certain and one is not source), None)
    then = f" (may become {clean(maybe.value, 40)} {maybe.path}:{maybe.line})" if maybe is not None else ""
    return f"{name}={value or repr('')}{changed} {where}{then}"
