"""Settings that switch a feature of the training step on or off, by the words that the field has for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..configuration import Key, Layer, Truth
from ..configuration.forms.literals import plain
from ..configuration.records import NO_VALUE
from ..program import Program
from ..signs.restoring import restores_state

_KEYS = {
    "accumulation": r"(?:gradient|grad)_acc(?:um|umulation)?(?:_steps|_factor|_iters?)?|accumulate_grad_batches|"
    r"accum(?:ulation|ulate)?_(?:iters?|steps|grad)|update_freq(?!u)|accumulative_counts|iter_size",
    "mixed_precision": r"(?:use_|apex_|native_)?(?:amp|(?:fp16|bf16)(?:\.enabled)?)|mixed_precision|(?:use_)?autocast|precision",
    "distribution": r"launcher|distributed|(?:use_)?(?:ddp|fsdp)|fsdp\.use",
    "clipping": r"clip_(?:grads?|gradients?|norm|grad_norm)|(?:max_)?grad(?:ient)?_(?:clip(?:ping|_norm|_val)?|norm)|"
    r"clip_grad(?:_norm|ients?)?\.(?:max_norm|clip_value)",
    "compile": r"(?:use_|torch_)?compile",
    "ema": r"(?:use_|model_|with_)?ema|ema\.(?:use|enabled?)",
    "seeds": r"(?:random_|manual_|global_)?seed",
    "resume": r"(?:auto_)?resume(?:_from(?:_checkpoint)?|_training)?|ckpt_path",
}
_NAMES = {name: re.compile(rf"(?:^|\.)(?:{words})$", re.I) for name, words in _KEYS.items()}
_BUILT = {
    "mixed_precision": re.compile(r"Amp\w*|\w*(?:FP16|AMP|MixedPrecision)\w*"),
    "ema": re.compile(r"\w*EMA\w*|ExponentialMovingAverage\w*"),
}
_OTHER = re.compile(r"(?:^|[._])(?:val|valid|validation|eval\w*|test|infer\w*|generat\w*|sampl\w*|dataset|data|augment\w*|vis\w*|plot\w*)\.", re.I)  # fmt: skip
_OF_MODEL = re.compile(r"(?:model|net|network)\.", re.I)
_NOT_OF_MODELS = ("accumulation", "resume")  # one refines its own output, begins with given weights: model.iter_size
_OFF = (None, False, 0.0, "no", "32", "fp32", "float32", "32-true", "none", "[1]")
_TYPE = re.compile(r"\.(?:type|_target_|class_path|class_name)$")


class Switch(NamedTuple):
    """A key with its effective value, and whether that value means on."""

    key: Key
    source: Layer
    value: str
    on: bool

    @property
    def is_set(self) -> bool:
        """Somebody gave it; else it is a default."""
        return self.source.how != "default"

    def __str__(self) -> str:
        where = f"{self.source.path}:{self.source.line}" if self.source.path else "given command"
        return f"{self.key.name} = {self.value or repr('')} ({'' if self.is_set else 'default, '}{where})"


def switch_of(truth: Truth, feature: str) -> Switch | None:
    """The setting that decides a feature: what somebody set before defaults, what is on before what is off."""
    found = sorted(_found(truth, feature), key=lambda one: (not one.is_set, not one.on, one.key.name.count(".")))
    return found[0] if found else None


def _found(truth: Truth, feature: str) -> Iterator[Switch]:
    built = _BUILT.get(feature)
    for key in truth.plain_keys:
        source = key.source
        if source is None or source.value in NO_VALUE or _OTHER.search(key.name):
            continue
        if feature in _NOT_OF_MODELS and _OF_MODEL.match(key.name):
            continue
        if feature == "resume" and is_where_it_saves(truth.program, key.name):
            continue
        if source.how == "default" and truth.owners.holder(key) in truth.owners.strangers:
            continue
        if built is not None and _TYPE.search(key.name) and built.fullmatch(key.value.rpartition(".")[2]):
            yield Switch(key, source, key.value, True)
        elif _NAMES[feature].search(key.name):
            value = truth.end(key.value)
            if (on := _is_on(feature, value)) is not None:
                yield Switch(key, source, value, on)


def is_where_it_saves(program: Program, key: str) -> bool:
    """ckpt_path of a program with a loop of its own that reads no state back."""
    if key.rpartition(".")[2] != "ckpt_path" or program.training.framework is not None:
        return False
    return not restores_state(program)


def _is_on(feature: str, value: str) -> bool | None:
    """None where the value does not tell: a name of something else, a table."""
    known = plain(value)
    if isinstance(known, str) and re.search(r"[({$<]", known):
        return None
    if feature == "seeds":
        return known is not None and known != ""
    if feature == "accumulation" and known == 1.0 and known is not True:
        return False
    if feature == "mixed_precision" and known == 32.0:
        return False
    if feature == "mixed_precision" and known == "auto":
        return None
    return known not in _OFF and known != -1.0
