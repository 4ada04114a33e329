"""The configuration as it is: every key with its effective value, what sets it in which order, and who reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from string import ascii_uppercase

from ...configuration import Key, Truth
from ...drawing.wording import clean
from ..blocks.writing import Block

_MATTERS = re.compile(
    r"lr|rate|batch|epoch|step|iter|optim|sched|warm|decay|loss|clip|accum|seed|model|arch|data|amp|fp16|precision|"
    r"momentum|beta|eps|drop|dim|layer|head|hidden|depth|width|size|eval|update|freq|interval|avg|power|save|log|ckpt|resume|ema|weight|worker|block|units|channel|kernel|type",
    re.I,
)
_FIRST = re.compile(
    r"^(?:lr|learning_rate|max_\w+|\w*epochs|batch_size|update_freq|clip\w*|warmup\w*|weight_decay|seed|ema\w*|\w*interval\w*)$",
    re.I,
)
_SIDE = re.compile(r"path|dir|name|url|port|rank|device|verbose|help|tag|note|id$", re.I)


MIN_REPEATED = 4  # keys that a file sets before it gets a short name
MAX_NAMES = 10


def short_names(truth: Truth) -> Mapping[str, str]:
    """Letters for the files that set most keys, so that a line stays short."""
    count = Counter(layer.path for key in truth.keys for layer in key.layers if layer.path)
    count.update(dict.fromkeys(truth.program.config_paths, MIN_REPEATED))
    often = [path for path, times in count.most_common(MAX_NAMES) if times >= MIN_REPEATED and len(path) > 12]
    return dict(zip(often, ascii_uppercase, strict=False))


def blocks(truth: Truth, names: Mapping[str, str]) -> Iterator[Block]:
    """One block for each key: what files and the command decide first, under the name of its section."""
    count = Counter(key.name.rpartition(".")[0] for key in truth.keys if _is_decided(key))
    for place, key in sorted(enumerate(truth.keys), key=lambda pair: (-worth(pair[1]), pair[0])):
        heading = "# read by nothing in the files that were read" if key.uses == "unread" else "# keys"
        section = key.name.rpartition(".")[0]
        if section and key.uses != "unread" and count[section] >= MIN_TOGETHER:
            above = f" {section}" + (f", given to {key.taker}" if key.uses == "given" else "")
            yield Block((heading, above), (place,), (f"  {key_line(truth, key, names, section)}",), key.to_dict())
        else:
            yield Block((heading,), (place,), (f" {key_line(truth, key, names)}",), key.to_dict())


MIN_TOGETHER = 3  # keys of a section that are shown below its name


def _is_decided(key: Key) -> bool:
    return key.source is not None and key.source.how != "default"


def worth(key: Key) -> float:
    """How much a reader wants to know a key: set by a file, decisive by its name, read."""
    words = key.name.rpartition(".")[2]
    set_by_file = 2 * _is_decided(key) + any(layer.how != "default" for layer in key.layers)
    side = _SIDE.search(words) is not None and key.uses != "unread"
    said = 2 * bool(_MATTERS.search(words)) + bool(key.reads) + 2 * (key.uses == "unread")
    return 3 * set_by_file + said - 3 * side + bool(_FIRST.search(words))


def key_line(truth: Truth, key: Key, names: Mapping[str, str], section: str = "") -> str:
    """In one line; the name of `section` stands above it, and who is given its keys."""
    shown = clean(truth.worth(key.source), 60) if key.source is not None else "?"
    said = [f"{key.name[len(section) + 1 :] if section else key.name} = {shown or repr('')}"]
    source = key.source
    for layer in key.layers:
        where = f"{names.get(layer.path, layer.path)}:{layer.line}" if layer.path else "given command"
        value = clean(layer.value, 40)
        if layer is source:
            said.append(where)
        elif not layer.certain:
            when = f" when {clean(layer.when, 60)}" if layer.when else ""
            said.append(f"may become {value} {where}{when}")
        elif layer.value != key.value:
            said.append(
                f"{'default' if layer.how == 'default' else 'before'} {value}" + ("" if source else f" {where}")
            )
    return " · ".join([*said[:5], *(_used(key, names) if not section or key.uses != "given" else ())])


def _used(key: Key, names: Mapping[str, str]) -> Iterator[str]:
    if key.reads:
        use = key.reads[0]
        more = f" +{len(key.reads) - 1}" if len(key.reads) > 1 else ""
        yield f"read {names.get(use.path, use.path)}:{use.line}{more}"
    elif key.uses == "given":
        yield f"given to {key.taker}"
    elif key.instead is not None:
        use, value = key.instead
        yield f"not handed on: {names.get(use.path, use.path)}:{use.line} has {clean(value, 40)}"
    elif key.uses == "unread":
        yield "unread"
