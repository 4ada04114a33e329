"""Where batches come from: data sets, loaders, samplers, transforms, batch functions, environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from trainsleuth.facts import Class, Event, Expr, External, Function, written
from trainsleuth.facts.reading.scopes import bindings

from ..loop.batch_path import Stage
from ..loop.networks import calls_loss, calls_network, class_it_makes, is_dataset, is_factory, is_loss_class, is_network
from ..program import Called, Program
from ..records import Place
from ..signs.data_reads import helped_by, passed_through, reads
from ..signs.dataset_scripts import dataset_scripts
from ..signs.environments import acts_by, environments
from ..signs.experience import takes_experience
from ..signs.time_samplers import is_time_sampler

_OUTSIDE = {
    "DataLoader": 1.0,
    "load_dataset": 1.0,
    "load_from_disk": 0.9,
    "DistributedSampler": 0.7,
    "WeightedRandomSampler": 0.7,
    "random_split": 0.75,
    "ImageFolder": 0.95,
    "TensorDataset": 0.95,
    "memmap": 0.85,
    "WebDataset": 0.95,
    "Compose": 0.6,
    "ReplayBuffer": 0.9,
    "create_loader": 0.9,
    "create_dataset": 0.9,
    "build_dataloader": 0.9,
    "build_dataset": 0.9,
    "Vocab": 0.4,
    "DataCollatorWithPadding": 0.6,
}
_OUTSIDE_NAME = re.compile(
    r"[A-Za-z](?:ReplayBuffer|DataLoader|DataCollector|Dataset|(?:Neighbor|Graph|Link)\w*Loader|Env)$"
)
_ENVIRONMENTS = ("gym.make", "gymnasium.make", "envpool.make", "gym.vector.", "gymnasium.vector.", "pufferlib.")
_ENVIRONMENT = re.compile(r"^(?:\w+_)?envs?(?:_\w+)?$", re.I)
_BUILDER = re.compile(
    r"^_?(?:get|build|create|make|load|setup|prepare|init|split|data\w*)_?\w*(?:data_?(?:set|loader|spec|module)?s?|loaders?|"
    r"batch(?:es|_iterator)?|iterator|envs?|filelist|samples|transforms?|split|validation)(?:_(?:from|for|with)_\w+)?$|"
    r"^data(?:set|io|loader)?s?_(?:prepar\w+|setup|factory|builder|prep|creation)$",
    re.I,
)
_HOOKS = (
    "train_dataloader",
    "val_dataloader",
    "prepare_data",
    "setup",
    "__getitem__",
    "__iter__",
    "collate_fn",
    "collater",
    "get_batch",
    "collate",
)


_OF_TRAINER = (
    "train_dataloader",
    "val_dataloader",
    "get_train_dataloader",
    "_get_train_sampler",
    "get_data_loader",
    "get_dataset",
    "_prepare_inputs",
    "_get_dataloader",
)
_ITERATED = re.compile(r"(?:loader|data)\w*$|(?:data|loader|train|batch)\w*_iter(?:ator)?$", re.I)
_OF_THE_MACHINE = re.compile(r"device|_var|rank|world|dist(?:_|ributed)|path|cuda|conda|logg", re.I)


def _is_builder(name: str) -> bool:
    return name.startswith("get_batch") or (_BUILDER.search(name) is not None and not _OF_THE_MACHINE.search(name))


def places(program: Program) -> Iterator[Place]:
    built: dict[Class, float] = {}
    for called in program.reached_calls:
        yield from _built(program, called, built)
    for function, weight in program.functions():
        if _is_builder(function.name) or (function.name in ("build", "make") and _OF_DATA.search(function.path)):
            share = OF_EVALUATION if _EVALUATES.search(function.name) else 1.0
            yield program.at(function, function.line, "builder", 0.75 * share * weight**0.5)
        elif function.name.startswith("make_env") or function.name.startswith("collate"):
            yield program.at(function, function.line, "builder", 0.7 * weight**0.5)
    for cls, score in built.items():
        yield from _defined(program, cls, score)
    yield from _prepared(program)
    yield from dataset_scripts(program)
    for cls in environments(program):
        yield program.at_target(cls, "environment", 0.8)
        for rank, method in enumerate(islice(acts_by(program.index, cls), MOST_ACTS)):
            yield program.at(method, method.line, "environment", 0.76 - 0.06 * rank)
    for cls in program.training.hooked_classes:
        for method in (cls.methods[name] for name in _OF_TRAINER if name in cls.methods):
            yield program.at(method, method.line, "hook", 0.75 * program.weight(method) ** 0.3)
    for stage in program.training.stages:
        if stage.role == "batch" and not _counts(stage.event):
            hands = stage.event.value is not None and _HANDS.search(written(stage.event.value)) is not None
            yield program.at(stage.function, stage.line, "batch", 0.5 if hands else 0.15)
            yield from _iterated(program, stage)
        elif stage.role == "source":
            yield from _sources(program, stage)
    if not any(stage.role == "batch" for stage in program.training.stages):
        for stage in (one for one in program.training.stages if one.role == "forward"):
            yield from _of_module(program, stage)
    yield from _chosen(program)


def _prepared(program: Program) -> Iterator[Place]:
    """What changes the data on their way: transforms, augmentation, scalers, and who fills a memory with experience."""
    chosen = (one.target for one in program.choices if isinstance(one.target, Class))
    for cls in dict.fromkeys((*program.made_at, *chosen)):
        if _PREPARES.search(cls.name) and not is_network(program.index, cls):
            yield program.at_target(cls, "prepares", 0.54)
            if (runs := cls.methods.get("__call__")) is not None:
                yield program.at(runs, runs.line, "prepares", 0.5)
        elif _REMEMBERS.search(cls.name) and not _only_averages(cls):
            takes = (method for name, method in cls.methods.items() if _TAKES.match(name))
            yield from (program.at(method, method.line, "takes", 0.52) for method in islice(takes, 1))
    for function, weight in program.functions():
        calls = (call for event in function.events if event.block.loops for call in event.calls)
        if any(one.last == "step" and one.receiver and _ENVIRONMENT.search(one.receiver.last) for one in calls):
            yield program.at(function, function.line, "rollout", 0.56 * weight**0.5)


_PREPARES = re.compile(
    r"(?:Transforms?|Augment\w*|Pre_?process\w*|preproc|Processing|Scaler|Featuri[sz]er|Normali[sz]er?|TargetBuilder|DataPipeline|Pipeline|Tokenizer)$"
)
_REMEMBERS = re.compile(r"(?:Buffer|Memory|Storage|Rollouts?)$")
_TAKES = re.compile(r"^_?(?:add|insert|push|store|append|put|record)(?:_\w+)?$")


def _of_module(program: Program, stage: Stage) -> Iterator[Place]:
    """What a whole data set comes from that its file loads once: graph, labels = load_citation(name), model(graph)."""
    function, body = stage.function, program.index.files[stage.function.path].body
    given = (part for call in stage.event.calls for one in call.arguments for part in one.walk() if part.kind == "path")
    for name in dict.fromkeys(one.text.partition(".")[0] for one in given):
        if function is body or function.parameter(name) is not None or name in bindings(function):
            continue
        for binding in bindings(body).get(name, ()):
            for call in body.events[binding.position].calls:
                for target in program.graph.targets(body, call):
                    if isinstance(target, Function) and not _runs_network(program, target):
                        yield program.at(body, call.line, "source", 0.6)
                        yield program.at(target, target.line, "source", 0.55)


_OF_DATA = re.compile(r"(?:^|/)(?:data|data_?sets?|data_?loaders?)(?:/|\.py$)")


def _counts(event: Event) -> bool:
    """for epoch in range(epochs): no batch comes out of it."""
    return event.value is not None and event.value.kind == "call" and event.value.callee in ("range", "count", "trange")


def _built(program: Program, called: Called, built: dict[Class, float]) -> Iterator[Place]:
    function, call = called.function, called.call
    base = called.weight**0.5 * (OF_EVALUATION if _EVALUATES.search(function.name) else 1.0)
    for target in called.targets:
        if isinstance(target, External):
            score = _outside(target.name, call)
            if score:
                yield program.at(function, call.line, "built", score * base)
        elif isinstance(target, Class) and (is_dataset(program.index, target) or _is_beside(program, target)):
            built[target] = max(built.get(target, 0.0), base)
            yield program.at(function, call.line, "built", 0.9 * base)
        elif (
            isinstance(target, Function)
            and (owner := class_it_makes(program.index, target)) is not None
            and is_dataset(program.index, owner)
        ):
            built[owner] = max(built.get(owner, 0.0), base)
            yield program.at(function, call.line, "built", 0.9 * base)
        elif isinstance(target, Function) and _is_builder(call.last):
            yield program.at(function, call.line, "builder call", 0.72 * base)
    if call.last != "isinstance" and any(one.last == "DataLoader" for one in call.arguments):
        yield program.at(function, call.line, "built", 0.9 * base)  # partial(DataLoader, batch_size=8)
    if takes_experience(called):
        yield program.at(function, call.line, "batch", 0.88 * base)
        for target in called.targets:
            if isinstance(target, Function):
                yield program.at(target, target.line, "batch", 0.85 * base)
    elif _ROLLOUT.search(call.last):
        yield program.at(function, call.line, "rollout", 0.7 * base)
        for target in called.targets:
            if isinstance(target, Function):
                yield program.at(target, target.line, "rollout", 0.75 * base)
    yield from _collated(program, called)
    if call.callee == "next" and call.arguments and _ITERATED.search(written(call.arguments[0])):
        yield program.at(function, call.line, "batch", 0.7 * base)
    if call.last in _MAPS and call.receiver is not None:
        part = call.argument(0, "function")
        if part is not None and part.kind == "call" and part.last == "partial" and part.arguments:
            part = part.arguments[0]
        if part is not None:
            given = program.index.resolve(function, part.text) if part.kind == "path" else None
            if isinstance(given, Function):
                yield program.at(function, call.line, "mapped", 0.6 * base)
                yield program.at(given, given.line, "mapped", 0.72 * base)
    if call.last == "train_test_split" and not called.targets:
        yield program.at(function, call.line, "split", 0.75 * base)
    if call.last == "env_step":
        yield program.at(function, call.line, "environment", 0.8 * base)
    if call.last in ("step", "reset") and call.receiver is not None and _ENVIRONMENT.search(call.receiver.last):
        yield program.at(function, call.line, "environment", (0.85 if call.last == "step" else 0.6) * base)
    if is_factory(call.last) and re.search(r"data|loader|(?:training|train|val|test)_set", written(call)):
        yield program.at(function, call.line, "built", 0.95 * base)


def _collated(program: Program, called: Called) -> Iterator[Place]:
    """What makes a batch of items for a loader: DataLoader(items, collate_fn=self.merge), or an object that is called."""
    given = called.call.keyword("collate_fn") or called.call.keyword("data_collator")
    if given is not None and given.kind == "path":
        for target in program.values.callables(called.function, given):
            if isinstance(target, Function):
                yield program.at(target, target.line, "batch", 0.72 * called.weight**0.5)
        for held in program.values.of(called.function, given):
            if isinstance(held, Class):
                yield program.at_target(held, "batch", 0.72 * called.weight**0.5)
                if (runs := held.methods.get("__call__")) is not None:
                    yield program.at(runs, runs.line, "batch", 0.7 * called.weight**0.5)


MOST_ACTS = 4  # methods of an environment
OF_EVALUATION = 0.8  # of what training reads
_EVALUATES = re.compile(r"(?:^|_)(?:eval|valid|val|test)(?:_|$)|evaluat|validation|inference", re.I)
_HANDS_OUT = re.compile(
    r"(?:Replay|Buffer|Memory|Rollout(?:Storage|s)?|Dataset|DatasetMapper|Data[Mm]odule|(?<!Config)(?<!Model)(?<!Checkpoint)Loader|Sampler|Collat(?:or|e)|Env|Environment)$|^DataCollator"
)
_MAPS = ("map", "with_transform", "set_transform", "filter")
_ROLLOUT = re.compile(
    r"^_?(?:rollout(?:_fn|_function|s)?|collect_(?:\w+_)?(?:paths|rollouts?|experience|trajector\w+|steps))$"
)


def _is_beside(program: Program, cls: Class) -> bool:
    """A collator, a memory or an environment: not a data set, but where batches come from."""
    if is_time_sampler(program, cls) or _only_averages(cls):
        return False
    return _HANDS_OUT.search(cls.name) is not None or any(
        base.rpartition(".")[2].startswith("DataCollator") or base in ("gym.Env", "gymnasium.Env")
        for base in program.index.external_bases(cls)
    )


def _only_averages(cls: Class) -> bool:
    """A memory of numbers for the log: it says their mean and hands none of them out."""
    return not _AVERAGES.isdisjoint(cls.methods) and not any(
        _GIVES.match(name) or name in _ITEMS for name in cls.methods
    )


_AVERAGES = frozenset({"mean", "avg", "average", "median"})
_ITEMS = ("__getitem__", "__iter__", "__next__")


def _outside(name: str, call: Expr) -> float:
    last = name.rpartition(".")[2]
    if name.startswith(("torchvision.datasets.", "torchaudio.datasets.")):
        return 0.95
    if name.startswith(_ENVIRONMENTS):
        return 0.9
    if last.startswith("DataCollator") or last == "train_test_split":
        return 0.75
    if last == "Compose" and "transform" not in name:
        return 0.0
    found = _OUTSIDE.get(last) or (0.9 if _OUTSIDE_NAME.search(last) else 0.0)
    return found if call.parts[1:] or last in ("load_dataset",) else 0.0


def _defined(program: Program, cls: Class, score: float) -> Iterator[Place]:
    for depth, one in enumerate(program.index.lineage(cls)[:3]):
        share = score / (1 + 0.5 * depth)
        yield program.at(one.body, one.line, "class", 0.88 * share)
        for rank, name in enumerate(name for name in _HOOKS if name in one.methods):
            yield program.at(one.methods[name], one.methods[name].line, "hook", (0.8 - 0.05 * rank) * share)
        for method, line in reads(program, one):
            yield program.at(method, line, "read", 0.5 * share)
        for method in passed_through(program, one) if depth == 0 else ():
            yield program.at(method, method.line, "item", 0.52 * share)
        for method, line, helper in islice(helped_by(program, one), MOST_HELPERS) if depth == 0 else ():
            yield program.at(method, line, "item", 0.46 * share)
            yield program.at(helper, helper.line, "item", 0.44 * share)


MOST_HELPERS = 4  # functions with which the items of a data set are made


_HANDS = re.compile(
    r"load|data|batch|iter|(?:^|\W)(?:zip|dl|tqdm|pbar|bar)(?:\W|$|_)|sampl|buffer|rollout|queue|train", re.I
)
_NOT_DATA = re.compile(
    r"log|ckpt|checkpoint|state|hparam|arg|parser|config|cfg|option|model|net(?:$|work|_)|optim|sched|loss|step|train|epoch|init|main|"
    r"device|time|metric|meter|accuracy|seed|rank|world|weight|param|policy|agent|actor|critic",
    re.I,
)


def _iterated(program: Program, stage: Stage) -> Iterator[Place]:
    """Where what hands out the batches gets its name: loader = self.experiment.loader."""
    source = stage.event.value
    for part in source.walk() if source is not None else ():
        if part.kind == "path" and _ITERATED.search(part.text):
            for binding in bindings(stage.function).get(part.text, ()):
                if binding.kind == "assign":
                    yield program.at(stage.function, stage.function.events[binding.position].line, "named", 0.55)


_OF_TRAINING = re.compile(r"^get_?train(?:ing)?(?=_|[A-Z])", re.I)


def _sources(program: Program, stage: Stage) -> Iterator[Place]:
    """A project function that makes what the training step reads, when it is neither a network nor a loss."""
    for call in stage.event.calls:
        if _NOT_DATA.search(_OF_TRAINING.sub("", call.last)):
            return
        if calls_loss(program.values, stage.function, call) or calls_network(program.values, stage.function, call):
            return
    for call in stage.event.calls:
        for target in program.graph.targets(stage.function, call):
            owner = program.index.class_of(target) if isinstance(target, Function) else None
            if owner is not None and is_time_sampler(program, owner):
                continue
            if isinstance(target, Function) and target.name != "__init__" and not _runs_network(program, target):
                yield program.at(stage.function, call.line, "source", 0.5)
                yield program.at(target, target.line, "source", 0.45)
                yield from _giver(program, stage, target)


def _giver(program: Program, stage: Stage, method: Function) -> Iterator[Place]:
    """The class of another object that gives the training step something, and where it is made."""
    owner = program.index.class_of(method) if method.self_name else None
    if owner is None or owner is program.index.class_of(stage.function) or not _GIVES.match(method.name):
        return
    yield program.at_target(owner, "class", 0.6)
    for called in program.reached_calls:
        if owner in called.targets:
            yield program.at(called.function, called.call.line, "built", 0.7 * called.weight**0.5)


_GIVES = re.compile(r"get|next|sample|fetch|draw|read|load")


def _runs_network(program: Program, function: Function) -> bool:
    owner = program.index.class_of(function)
    if owner is not None and (is_loss_class(program.index, owner) or is_network(program.index, owner)):
        return True
    return any(calls_network(program.values, function, call) for event in function.events for call in event.calls)


_DATA_KEY = re.compile(
    r"(?:^|[._])(?:dataset|data|data_?loader|env|environment)(?:(?:_(?:source|map|provider|module|builder|factory))*[._](?:name|type|class|cls|class_type))?$",
    re.I,
)
_SECTION = re.compile(r"(?:^|[._])(?:data|datasets?|datamodule|loader|dataloader)(?:[._]|$)", re.I)


_ITEM = re.compile(r"\.\d+\.")  # one of a list of transforms


def _chosen(program: Program) -> Iterator[Place]:
    for choice in program.choices:
        in_section = _SECTION.search(choice.key.rpartition(".")[0]) or _DATA_KEY.search(choice.key)
        if isinstance(choice.target, Function) and in_section:
            yield Place(choice.path, choice.line, "configuration", 0.85)
            yield program.at_target(choice.target, "builder", 0.85)
        if not isinstance(choice.target, Class):
            continue
        if is_dataset(program.index, choice.target) or _DATA_KEY.search(choice.key):
            yield Place(choice.path, choice.line, "configuration", 0.85)
            yield from program.chosen_at(choice)
            yield from _defined(program, choice.target, 1.0)
        elif in_section and not _ITEM.search(choice.key):
            yield Place(choice.path, choice.line, "configuration", 0.7)
            yield program.at_target(choice.target, "class", 0.7)
