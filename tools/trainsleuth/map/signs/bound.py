"""What a program calls its things: the name that the result of a call is bound to says which component makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, External, Function

from ..calling.common_names import COMMON_NAMES
from ..loop.networks import is_factory, is_loss_name
from ..naming.named_choice import NO_NAMES
from ..program import Called, Program
from ..recipe.recipes import Setting
from ..records import Place
from .unused import is_unused

_NAMED = {
    "config": r"(?:\w+_)?(?:cfgs?|conf|configs?|opts?|options|hparams|hps|params|args|flags|settings)",
    "data": r"(?:\w+_)?(?:data|data_?(?:sets?|loaders?|modules?|sources?|iters?|iterators?)|loaders?|dl|ds|(?:batch_)?samplers?|collat\w+|(?:replay_)?buffer|replay|"
    r"envs?|fetcher)(?:_(?:train|tr))?",
    "model": r"(?:\w+_)?(?:model|llm|vlm|lm|net|nets|network|networks|generator|discriminator|backbone|encoder|decoder|policy|actor|critic|agent|unet|vae|ema|student|teacher)s?"
    r"(?:_(?:ema|g|d|cls|class))?|net_?\w",
    "loss": r"(?:\w+_)?(?:criterion|criteria|loss_fns?|loss_func|loss_function|losses)",
    "optimizer_scheduler": r"(?!nois|diffus|dd[ip]m)(?:\w+_)?(?:optim|optims|optimizers?|opt|schedulers?|sched|lr_schedule|lr_scheduler|param_groups?|optim_groups)(?:_[gd])?",
    "logging": r"(?:\w+_)?(?:writer|logger|tracker|tb|recorder|experiment|wandb_run|progress|meters?)",
    "checkpointing": r"(?:\w+_)?(?:checkpoint(?:er)?|ckpt(?:er)?|saver|snapshot|save_(?:dict|obj|state)|checkpoint_\w+)",
    "evaluation": r"(?:\w+_)?(?:evaluators?|metrics?|fid_score|miou|(?-i:mAP)|val_loss|eval_loss|test_loss|val_acc|test_acc|(?:eval|val|test)_(?:results?|stats|metrics))|map",
}  # fmt: skip
_PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in _NAMED.items()}
_PLAIN = frozenset(
    {
        "str", "int", "float", "bool", "len", "list", "dict", "tuple", "set", "sorted", "max", "min", "sum", "zip", "range",
        "getattr", "isinstance", "deepcopy", "copy", "join", "split", "format", "items", "keys", "values", "get", "pop", "to",
        "cuda", "cpu", "half", "parameters", "state_dict", "size", "view", "reshape", "unsqueeze", "squeeze", "detach",
        "clone", "type", "super", "numpy", "item", "mean", "cat", "stack", "zeros", "ones", "full", "empty", "tensor", "enumerate",
        "eval", "train", "permute", "transpose", "append", "strip", "replace", "lower", "flatten", "contiguous", "tqdm", "print",
        "abs", "_unwrap_optional", "next", "iter", "map", "filter", "reversed", "vars", "open", "expand", "repeat", "group", "match", "search",
        "from_numpy", "array", "asarray", "randn", "rand", "Parameter", "ModuleList", "ModuleDict", "partial", "round", "pad",
    }
)  # fmt: skip
_WRAPS = re.compile(r"(?:^|\.)(?:compile|DistributedDataParallel|DataParallel|FullyShardedDataParallel|fully_shard|get_peft_model|prepare_model\w*|convert_sync_batchnorm)$")  # fmt: skip
_OF_PARSERS = ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser")
OF_PROJECT, OF_LIBRARY, UNKNOWN, HANDED = 0.72, 0.5, 0.6, 0.45


def bound_places(program: Program, component: str) -> Iterator[Place]:
    """Statements that bind the result of a call to a name that says `component`."""
    pattern = _PATTERNS.get(component)
    if pattern is None:
        return
    for called, names in program.bound_calls:
        if any(pattern.fullmatch(name.lstrip("_")) for name in names):
            is_of_entry = called.function.path == program.entry.path
            score = _score(called, component) if is_of_entry or not _is_logger(called) else 0.0
            if component == "loss" and is_unused(called.function, called.event):
                continue
            if score:
                yield program.at(called.function, called.call.line, "bound", score * called.weight**0.6)
    for function, event, weight in program.handed_names:
        if event.value is not None and pattern.fullmatch(event.value.last):
            yield program.at(function, event.line, "bound", HANDED * weight**0.6)


def _is_logger(called: Called) -> bool:
    """logger = logging.getLogger(__name__), as it stands in every file of a package."""
    return called.call.last == "getLogger"


def section_places(program: Program, component: str) -> Iterator[Place]:
    """Sections of a recipe in code whose names say `component`, and the classes that they choose."""
    pattern = _PATTERNS.get(component)
    for choice in program.choices if pattern is not None else ():
        section, _, last = choice.key.rpartition(".")
        if pattern is not None and last == "_target_" and choice.path.endswith(".py"):
            if pattern.fullmatch(section.rpartition(".")[2]):
                yield Place(choice.path, choice.line, "configuration", 0.8)
                if isinstance(choice.target, Class):
                    yield program.at_target(choice.target, "class", 0.78)


def setting_places(program: Program, component: str) -> Iterator[Place]:
    """Settings whose keys say `component` and whose value is a name, whatever it names: optimizer: AdamW."""
    latest = {setting.key: setting for setting in program.settings} if component in _SET else {}
    for setting in latest.values():
        if _NAME.fullmatch(setting.value) and setting.value.lower() not in NO_NAMES and _is_set(setting, component):
            if setting.path in program.index.configs or setting.path in program.index.files:
                yield Place(setting.path, setting.line, "configuration", SET)


def _is_set(setting: Setting, component: str) -> bool:
    """By the key, but for a name that says that it is a loss: pixel_opt: {type: L1Loss} is no optimizer."""
    section, _, last = setting.key.rpartition(".")
    said = section.rpartition(".")[2] if last in _NAMES_IT else _SAYS_NAME.sub("", last)
    by_key = _PATTERNS[component].fullmatch(said) is not None
    if is_loss_name(setting.value):
        return component == "loss" and (by_key or setting.value.endswith("Loss"))
    return by_key


_SET = ("model", "loss", "optimizer_scheduler", "evaluation")
SET = 0.66
_NAMES_IT = ("name", "type", "_name", "_type", "class", "arch")
_SAYS_NAME = re.compile(r"_(?:name|type|class|cls|mode|fn)$")
_NAME = re.compile(r"[A-Za-z][\w-]*[A-Za-z0-9]")


def _score(called: Called, component: str) -> float:
    last = called.call.last
    of_project = any(isinstance(target, Class | Function) for target in called.targets)
    if not of_project and (last in _PLAIN or (last in COMMON_NAMES and not called.targets)):
        return 0.0
    if component != "config" and (last.startswith("parse") or last in _OF_PARSERS):
        return 0.0  # opt = parser.parse_args(), data = parser.add_argument_group("data")
    if component == "model" and last == "Generator" and not of_project:
        return 0.0  # of random numbers
    if component == "model" and _WRAPS.search(called.call.callee):
        return 0.7
    if of_project or is_factory(last):
        return OF_PROJECT
    if any(isinstance(target, External) for target in called.targets):
        return OF_LIBRARY if last[:1].isupper() else 0.35
    return UNKNOWN
