"""The run on one sheet: what is asked of every run, each with its values, where they are set and where they are used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..configuration import Key, Truth
from ..parts import Anatomy, source_lines
from ..program import Program
from ..records import Place
from ..standing import off_at
from ..statements import enclosing, statement
from ..wording import clean
from .lines import become
from .sections import NOTHING, is_set
from .settings import is_of_others
from .writing import Block


class _Topic(NamedTuple):
    """`words` match the last name of a key as a whole; `places` are parts or features, with roles, "" for any."""

    name: str
    words: str
    places: tuple[tuple[str, str], ...] = ()


_TOPICS = (
    _Topic("optimizer", r"(?:base_|max_|peak_)?lr|learning_rate|optim\w*|opt|opt_\w*|weight_decay|wd|(?:adam_|optim\w*_)?betas?[12]?|momentum|(?:adam_|optim\w*_)?eps(?:ilon)?|nesterov", (("optimizer_scheduler", "optimizer"),)),
    _Topic("schedule", r"\w*sched\w*|\w*warm_?up\w*|lr_\w+|min_lr|\w*anneal\w*|milestones|gamma|t_max|pct_start|div_factor|final_div_factor|decay_\w+|power|start_factor|end_factor", (("optimizer_scheduler", "scheduler"), ("optimizer_scheduler", "learning rate"), ("optimizer_scheduler", "scheduler step"))),
    _Topic("length", r"(?:num_|n_|max_|total_|number_of_|train_)*(?:train_)?(?:epochs?|epoches|steps|updates?|iters?|iterations)|niter|duration|end_epoch", (("training_loop", "loop"),)),
    _Topic("batch", r"\w*batch_size\w*|samples_per_gpu|max_tokens|batch_type|\w*workers\w*|shuffle\w*|drop_last|\w*sampler\w*|seq_len\w*|block_size", (("data", "built"),)),
    _Topic("accumulation", r"\w*accum\w*|update_freq|iter_size|\w*micro_batch\w*", (("accumulation", ""),)),
    _Topic("clipping", r"\w*grad\w*_clip\w*|(?:\w+_)?clip(?:_?(?:grad|norm|val|max)\w*)?|max_(?:grad_)?norm", (("clipping", ""), ("training_loop", "clip"))),
    _Topic("precision", r"\w*amp|\w*fp16|\w*bf16|\w*precision|\w*dtype|autocast|\w*loss_scale|\w*tf32|half", (("mixed_precision", ""),)),
    _Topic("loss", r"\w*loss\w*|criterion\w*|\w*smoothing|reduction|\w*_weights?|lambda\w*|\w*_coeff?", (("loss", "sum"), ("loss", "loss"))),
    _Topic("agent", r"discount\w*|gae_lambda|n_?step|tau|polyak|target_\w*(?:freq|interval|theta|update)|\w*buffer_size|n_sample|update_per_collect|utd\w*|rollout\w*|(?:num_|n_)envs?|\w*env_num|entropy_\w+|clip_(?:range|ratio|param)|eps_(?:start|end|decay)|epsilon\w*|stop_value"),
    _Topic("model", r"arch|architecture|model(?:_?name|_type)?|backbone|(?:num|n)_\w*(?:layers?|blocks|heads?)|depth|hidden(?:_size|_dim)|\w*dropout\w*|drop_path\w*|d_model|embed_dim|freeze\w*|pretrained\w*"),
    _Topic("seed", r"\w*seed|deterministic|cudnn_\w+|benchmark", (("seeds", ""),)),
    _Topic("devices", r"world_size|devices|n?gpus\w*|\w*num_gpus|nnodes|\w*nproc\w*|strategy|accelerator|sync_bn|backend|find_unused_parameters|device", (("distribution", ""),)),
    _Topic("averaged weights", r"\w*ema(?:_\w+)?|swa\w*|(?:average|avg)_(?:model|mode|num|check|ckpt|weight|param|last)\w*|\w*nbest\w*", (("ema", ""),)),
    _Topic("saved", r"\w*save\w*|\w*ckpt\w*|\w*checkpoint\w*|\w*keep\w*|output_dir|out_dir|work_dir|exp_dir", (("checkpointing", "save"),)),
    _Topic("resumed", r"\w*resume\w*|load_\w+|restore\w*|init_from|finetune\w*|init_checkpoint|start_epoch|recover\w*", (("resume", ""), ("checkpointing", "restore"))),
    _Topic("evaluated", r"\w*eval\w*|val(?:id)?_\w+|valid|test_\w+|\w*metrics?\w*|\w*best\w*|monitor\w*|\w*early\w*|patience|beam\w*", (("evaluation", "loop"), ("evaluation", "call"))),
    _Topic("logged", r"log\w*|\w*log_\w+|print\w*|\w*wandb\w*|\w*tensorboard\w*|report_to|\w*tracker\w*", (("logging", "tracked"), ("logging", "writer"), ("logging", "logs"))),
)  # fmt: skip
FIRST_KEYS = 4  # of a topic, before other topics say more
MAX_KEYS = 8
MAX_PLACES = 2
MOST_ALIKE = 2  # keys of one last name: depths of many blocks say little
VALUE_WIDTH = 50
CODE_WIDTH = 96


def blocks(program: Program, truth: Truth, anatomy: Anatomy) -> Iterator[Block]:
    """A line of settings for each topic, else a place; then a place of each; then what more there is."""
    later: list[tuple[int, Block]] = []
    seen: set[str] = set()
    for number, topic in enumerate(_TOPICS):
        keys = _keys(program, truth, topic, seen)
        seen.update(key.name for key in keys)
        places = enumerate(_places(program, truth, anatomy, topic))
        found = [_code(program, place, topic, number, at) for at, place in places]
        if keys:
            yield _settings(truth, topic, number, 0, keys[:FIRST_KEYS])
        elif found:
            yield found.pop(0)
        later += [(at, one) for at, one in enumerate(found)]
        if keys[FIRST_KEYS:]:
            later.append((1, _settings(truth, topic, number, 1, keys[FIRST_KEYS:MAX_KEYS])))
    yield from (block for _, block in sorted(later, key=lambda one: one[0]))


def _settings(truth: Truth, topic: _Topic, number: int, part: int, keys: list[Key]) -> Block:
    text = ", ".join(_said(truth, key) for key in keys)
    item = {"topic": topic.name, "keys": [key.to_dict() for key in keys]}
    return Block((f"# {topic.name}",), (number, part), (f"  {text}",), item)


def _said(truth: Truth, key: Key) -> str:
    source = key.source
    value = clean(truth.end(key.value), VALUE_WIDTH) or repr("")
    where = f" {source.path}:{source.line}" if source is not None and source.path else " the command"
    default = " default" if source is not None and source.how == "default" else ""
    maybe = next((layer for layer in key.layers if not layer.certain and layer is not source), None)
    then = f"; {become(maybe)}" if maybe is not None else ""
    read = ", read by nothing" if key.uses == "unread" else ""
    if key.reads:
        read = f", read {key.reads[0].path}:{key.reads[0].line}"
    return f"{key.name}={value} ({default.strip()}{where}{read}{then})".replace("( ", "(")


def _keys(program: Program, truth: Truth, topic: _Topic, seen: set[str]) -> list[Key]:
    words = re.compile(topic.words, re.I)
    found = [
        key
        for key in truth.keys
        if key.name not in seen and key.source is not None and _is_of(words, key.name)
        if is_set(key) or (key.uses == "read" and not is_of_others(truth, key))
    ]
    same: Counter[str] = Counter()
    kept = []
    for key in sorted(found, key=lambda key: -_worth(program, key)):
        last = key.name.rpartition(".")[2]
        most = 1 if (key.source is not None and key.source.how == "default") or key.value in NOTHING else MOST_ALIKE
        if same[last] < most or last in _TAGS:
            kept.append(key)
            same[last] += 1
    return kept[:MAX_KEYS]


def _is_of(words: re.Pattern[str], name: str) -> bool:
    """By its last word, or as the tag of a section of that name: optimizer.type."""
    *above, last = [part for part in name.split(".") if not part.isdigit()] or [name]
    return words.fullmatch(above[-1] if above and last in _TAGS else last) is not None


_TAGS = ("type", "name", "_target_", "class_path", "!new", "!name")


def _worth(program: Program, key: Key) -> float:
    """Set by somebody, the command above all, read near the frame of the program, and not nothing."""
    index = program.index
    readers = (enclosing(index.files[use.path], use.line) for use in key.reads if use.path in index.files)
    near = max(map(program.weight, readers), default=0.0)
    by_command = key.source is not None and key.source.how == "command"
    said = 4 * is_set(key) + 1.5 * by_command + 2 * near + 2 * (key.value not in NOTHING)
    return said - 0.1 * key.name.count(".")


def _places(program: Program, truth: Truth, anatomy: Anatomy, topic: _Topic) -> Iterator[Place]:
    """The first places that run of each of the roles, one of each before a second of any."""
    found: dict[tuple[str, int], Place] = {}
    for part, role in topic.places:
        held = (anatomy.parts if part in anatomy.parts else anatomy.features)[part].places
        for place in held:
            file = program.index.files.get(place.path)
            if file is None or place.cell is not None or role not in ("", place.role):
                continue
            if program.is_reached(enclosing(file, place.line)) and not off_at(program, truth, place):
                found.setdefault((place.path, place.line), place)
                break
    yield from list(found.values())[:MAX_PLACES]


def _code(program: Program, place: Place, topic: _Topic, number: int, part: int) -> Block:
    lines = source_lines(program.index, place.path)
    text = statement(lines, place.line, width=CODE_WIDTH)
    item = {"topic": topic.name, **place.to_dict(), "text": text}
    return Block((f"# {topic.name}",), (number, 2 + part), (f"  {place.path}:{place.line} {text}",), item)
