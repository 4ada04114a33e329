"""The networks: where they are built, their classes and forward methods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainsleuth.facts import Class, Event, Expr, External, Function, bindings

from ..loop.batch_path import Stage
from ..loop.brain import modules
from ..loop.networks import class_it_makes, is_factory, is_forward_of, is_handed_parameters, is_loss_class, is_network
from ..loop.parameter_holders import makers
from ..naming.auto_classes import GIVES
from ..program import Called, Program
from ..recipe.recipes import Choice
from ..records import Place
from ..signs.inner_steps import asked_for, parts_of_forward
from ..signs.trained_names import trained_names

_BUILDER = re.compile(
    r"(?!.*_(?:config|cfg|args?|types?|names?|ids?|ranks?|sizes?|stages?|groups?|info|path|dir|version|state|status)$)"  # of one
    r"(?!.*model_(?:parallel|chunk)_)(?:^_?(?:get|build|create|make|load|setup|init|prepare|from)_?\w*(?:model|net|network|lm|backbone|unet|pretrained|adapters?|peft|actor|critic)\w*$|"
    r"^_?(?:build|create|make)_\w+_from_(?:config|cfg)$|^_?(?:get|build|create|make)_policy(?:_for_\w+)?$)",
    re.I,
)
_LIBRARIES = (
    "torchvision.models",
    "timm.create_model",
    "timm.models",
    "transformers.",
    "segmentation_models_pytorch",
    "diffusers.",
    "open_clip",
    "clip.",
)
_NOT_MODELS = re.compile(
    r"Tokenizer|Processor|Config|Args|Argument|Trainer|Scheduler|transforms|set_seed|Collator|Output|ContextManagers|Adafactor|AdamW"
)
_HELD_AS = re.compile(
    r"model|net|generator|discriminator|encoder|decoder|policy|actor|critic|agent|unet|vae|backbone|pipe(?:line)?$|qf|(?:^|\.)[GD](?:_ema)?$",
    re.I,
)
_MAKES = re.compile(r"from_|create|build|load|make")
_MAKES_ONE = re.compile(r"_?(?:get|build|create|make|load|setup|init|prepare|define|construct)_")
_WRAPS = re.compile(r"\.(?:FullyShardedDataParallel|DistributedDataParallel|FSDP|DDP)$")
_IS_WHOLE = re.compile(r"^self\._?(?:model|net|network|module)$")  # of what only wraps it: a policy, a pipeline
_ADAPTS = ("add_adapter", "inject_adapter_in_model", "add_weighted_adapter")
_OF_TRAINER = ("get_model", "build_model", "configure_model", "model_init")
_BY_CONFIGURATION = ("get_model", "create_model", "build_model", "from_pretrained")


def places(program: Program) -> Iterator[Place]:
    run = dict(program.training.run_classes)
    run.update({cls: 0 for cls in program.training.hooked_classes[:1] if is_network(program.index, cls)})
    run.update(dict.fromkeys(program.plugin.networks if program.plugin is not None else (), 0))
    many = len(run) > 2
    homes = {cls.path for cls in run}
    built: dict[Class, float] = {cls: _prominence(cls) if many else 1.0 for cls in run}
    for other in _not_chosen(program, run):
        built[other] *= NOT_CHOSEN
    trained = trained_names(program)
    for called in program.reached_calls:
        rank = trained.get((called.function, called.event.line))
        if rank is not None and any(map(_is_of_library, called.targets)):
            yield program.at(called.function, called.call.line, "built", max(0.99 - 0.02 * rank, 0.95))
        for place, cls in _built(program, called, run):
            if cls is not None:
                built[cls] = max(built.get(cls, 0.0), place.score)
                if (cls in run if run else _assigned_to_network(called.event)) and _makes_one(called.function):
                    yield program.at(called.function, called.function.line, "builder", 0.8 * called.weight**0.5)
            yield place
    for function, weight in program.functions():
        builds = _BUILDER.search(function.name) or (function.name == "build" and _OF_MODELS.search(function.path))
        if builds and not _is_nested(program, function):
            returns = bool(run.keys() & set(program.values.returned(function)))
            yield program.at(function, function.line, "builder", (0.95 if returns else 0.55) * weight**0.5)
        elif function.path in homes and not function.owner and run.keys() & set(program.values.returned(function)):
            yield program.at(function, function.line, "builder", 0.75 * weight**0.5)  # resnet50() beside ResNet
    for cls, score in built.items():
        yield from _defined(program, cls, score)
        for method in parts_of_forward(program, cls) if score >= PROMINENT else ():
            yield program.at(method, method.line, "part of forward", 0.5 * score)
    for method in asked_for(program, [cls for cls, score in built.items() if score >= PROMINENT]):
        yield program.at(method, method.line, "asked for", 0.58)
    yield from _beside(program)
    yield from _holders(program, built)
    yield from _carriers(program, built)
    yield from _run(program)
    yield from _optimized(program)
    yield from _chosen(program)
    yield from modules(program)
    for cls in program.training.hooked_classes:
        yield from (program.at_target(cls.methods[one], "builder", 0.85) for one in _OF_TRAINER if one in cls.methods)
    yield from _handed_over(program)


_OF_MODELS = re.compile(r"(?:^|/)(?:models?|networks?|nets?|modeling)/")
PROMINENT = 0.8  # score of a network whose methods are told


def _beside(program: Program) -> Iterator[Place]:
    """What a pretrained model comes with: its tokenizer, its configuration, the size of its vocabulary."""
    for called in program.reached_calls:
        names = [one.name for one in called.targets if isinstance(one, External)]
        comes = called.call.last == "from_pretrained" and any(map(_COMES_WITH.search, names))
        if comes or called.call.last == "resize_token_embeddings":
            yield program.at(called.function, called.call.line, "comes with it", 0.5 * called.weight**0.5)


_COMES_WITH = re.compile(r"^transformers\.\w*(?:Tokenizer\w*|Config|Processor)(?:\.|$)")


def _handed_over(program: Program) -> Iterator[Place]:
    """What the trainer of a framework is given for a model, which may be its name alone."""
    for called in program.reached_calls:
        given = called.call.keyword("model") if called.call.last.endswith("Trainer") else None
        for expr in (given, called.call.keyword("model_init_kwargs")) if given is not None else ():
            if expr is not None:
                yield program.at(called.function, expr.line, "handed over", 0.55 * called.weight**0.5)
                for binding in bindings(called.function).get(expr.text, ()) if expr.kind == "path" else ():
                    line = called.function.events[binding.position].line
                    yield program.at(called.function, line, "handed over", 0.6 * called.weight**0.5)


def _optimized(program: Program) -> Iterator[Place]:
    """Where the name is bound whose parameters an optimizer is given: net = instantiate(cfg.net) above Adam(net.parameters())."""
    for called in program.reached_calls:
        receiver = called.call.receiver
        if called.call.last not in _PARAMETERS or receiver is None or receiver.kind != "path":
            continue
        if any(_OPTIMIZER.search(one.last) for one in called.event.calls):
            for binding in bindings(called.function).get(receiver.text, ())[:1]:
                if binding.value is not None and binding.value.kind == "call" and not binding.items:
                    line = called.function.events[binding.position].line
                    yield program.at(called.function, line, "optimized", 0.85 * called.weight**0.5)


_PARAMETERS = ("parameters", "named_parameters")
_OPTIMIZER = re.compile(r"^(?:\w*Adam\w*|SGD|RMSprop|LBFGS|Lion|Adafactor|\w*Optimizer|\w*optimizer)$")


def _not_chosen(program: Program, run: Mapping[Class, int]) -> Iterator[Class]:
    """Of the networks that may be run those that the settings do not choose, where they choose one."""
    targets = (one.target for one in program.choices if _THE_MODEL.fullmatch(one.key))
    chosen = [one for one in targets if isinstance(one, Class) and is_network(program.index, one)]
    kin = {base for one in chosen for base in program.index.lineage(one)}
    for cls in run if chosen else ():
        if not kin & set(program.index.lineage(cls)[:1]) and not set(chosen) & set(program.training.inner_classes):
            yield cls


def _holders(program: Program, networks: Mapping[Class, float]) -> Iterator[Place]:
    """Classes that are no networks but make one for themselves: an agent, a policy, a controller."""
    for called in program.reached_calls:
        owner = program.index.class_of(called.function)
        if owner is None or called.function.name != "__init__" or is_network(program.index, owner):
            continue
        if any(networks.get(target, 0) >= 0.5 for target in called.targets if isinstance(target, Class)):
            yield program.at_target(owner, "holder", 0.6 * called.weight**0.5)


def _makes_one(function: Function) -> bool:
    return not function.owner and _MAKES_ONE.match(function.name) is not None


_MADE_OF = ("forward", "through", "source")


def _carriers(program: Program, networks: Mapping[Class, float]) -> Iterator[Place]:
    """What the training step runs the networks by, when it is handed them and is none: a renderer, a diffusion process."""
    run: dict[Class, Function] = {}
    for stage in program.training.stages:
        for call in stage.event.calls if stage.role in _MADE_OF and not stage.hops else ():
            for target in program.graph.targets(stage.function, call):
                owner = program.index.class_of(target) if isinstance(target, Function) else None
                if isinstance(target, Function) and owner is not None and target.name != "__init__":
                    run.setdefault(owner, target)
    for called in program.reached_calls if run else ():
        for cls in run.keys() & {one for one in called.targets if isinstance(one, Class)}:
            given = (
                held for one in called.call.arguments if one.kind == "path" for held in _held(program, called, one)
            )
            if (
                not is_network(program.index, cls)
                and not is_loss_class(program.index, cls)
                and set(given) & set(networks)
            ):
                yield program.at(called.function, called.call.line, "carrier", 0.82 * called.weight**0.5)
                yield program.at_target(cls, "carrier", 0.82)
                yield program.at(run[cls], run[cls].line, "forward", 0.7)


def _held(program: Program, called: Called, given: Expr) -> Iterator[Class]:
    yield from (one for one in program.values.of(called.function, given) if isinstance(one, Class))


def _is_nested(program: Program, function: Function) -> bool:
    """Inside a network: what is built there is a part of it. One that trains itself is a program's frame."""
    owner = program.index.class_of(function)
    if owner is None or not is_network(program.index, owner):
        return False
    step = program.training.step
    return step is None or not step.owner or program.index.class_of(step) is not owner


def _built(program: Program, called: Called, run: Mapping[Class, int]) -> Iterator[tuple[Place, Class | None]]:
    """A call that makes a network. One that the training step runs counts most, one inside another least."""
    function, call = called.function, called.call
    nested = _is_nested(program, function)
    base = (0.35 if nested else 0.75) * called.weight**0.5
    if (
        nested
        and program.index.class_of(function) in run
        and any(_IS_WHOLE.search(one.text) for one in called.event.targets)
    ):
        base = 0.8 * called.weight**0.5

    def place(score: float, cls: Class | None = None) -> tuple[Place, Class | None]:
        return program.at(function, call.line, "built", score), cls

    for target in called.targets:
        if isinstance(target, Class) and is_network(program.index, target):
            handed = not nested and program.training.inner_classes.get(target, HANDED_ON + 1) <= HANDED_ON
            if not is_loss_class(program.index, target):
                yield place((0.85 if nested else 0.95) if target in run else 0.9 if handed else base, target)
        elif isinstance(target, External):
            if _is_library_model(target.name, call.last):
                yield place(0.95 * called.weight**0.5)
            elif _WRAPS.search(target.name):
                yield place(0.75 * called.weight**0.5)
            elif not nested and _is_layer(target.name) and _assigned_to_network(called.event):
                yield place(0.8 * called.weight**0.5)
        elif (
            isinstance(target, Function)
            and not nested
            and _MAKES.match(target.name)
            and (made := class_it_makes(program.index, target)) is not None
            and is_network(program.index, made)
        ):
            yield place(0.95 if made in run else base, made)
        elif (
            isinstance(target, Function)
            and not nested
            and (call.parts[0].kind == "index" or _BUILDER.search(call.last))
        ):
            makes = bool(run.keys() & set(program.values.returned(target)))
            yield place(0.95 if makes else base)
    if call.last in _ADAPTS:
        yield place(0.8 * called.weight**0.5)
    if (is_factory(call.last) or call.last in GIVES) and not nested:
        for made in _held(program, called, call):
            if is_network(program.index, made) and not is_loss_class(program.index, made):
                yield place(0.95 if made in run else 0.85 * called.weight**0.5, made)
    held = _assigned_to_network(called.event)
    by_table = call.parts[0].kind == "index" and "models" in call.parts[0].parts[0].text  # models.__dict__[arch]()
    handed = not called.targets and "." not in call.callee and called.event.kind == "assign"  # make_model().to(device)
    if handed and not nested and _BUILDER.search(call.last):
        yield place(0.9 * called.weight**0.5)
    elif by_table or (not nested and held and (call.last in _BY_CONFIGURATION or is_factory(call.last))):
        yield place(0.95 * called.weight**0.5)


HANDED_ON = 1  # calls from the training step to a network that is made outside of the one that runs it


def _is_of_library(target: object) -> bool:
    """It makes a network of another library, or wraps one in adapters."""
    return isinstance(target, External) and _is_library_model(target.name, target.name.rpartition(".")[2])


def _is_library_model(name: str, last: str) -> bool:
    if name.startswith("peft.") and "model" in last:
        return True
    makes = last[:1].isupper() or _BUILDER.search(last) is not None
    return name.startswith(_LIBRARIES) and makes and _NOT_MODELS.search(name) is None


def _is_layer(name: str) -> bool:
    """torch.nn.Linear, torch.nn.Sequential: a small network may be nothing else."""
    package, _, last = name.rpartition(".")
    return package == "torch.nn" and last[:1].isupper() and not last.endswith("Loss")


def _assigned_to_network(event: Event) -> bool:
    return any(target.kind == "path" and _HELD_AS.search(target.text) for target in event.targets)


def _defined(program: Program, cls: Class, score: float) -> Iterator[Place]:
    """The class with those above it, and its forward, which may be one of theirs; else what makes its parameters."""
    runs = program.index.method(cls, "forward")
    for made in makers(program.index, cls) if runs is None else ():
        yield program.at(made, made.line, "parameters", 0.8 * score)
    for depth, one in enumerate(program.index.lineage(cls)[:4]):
        forward = one.methods.get("forward")
        share = score / (1 + (0.25 if forward is not None and forward is runs else 0.5) * depth)
        yield program.at(one.body, one.line, "class", 0.94 * share)
        if forward is not None:
            yield program.at(forward, forward.line, "forward", 0.86 * (score if forward is runs else share))


def _run(program: Program) -> Iterator[Place]:
    """Methods other than forward by which the training step runs a network."""
    for stage in program.training.stages:
        if stage.role == "forward":
            if not stage.hops:
                yield program.at(stage.function, stage.line, "forward", 0.55)
            if stage.hops and not _is_nested(program, stage.function):
                yield program.at(stage.function, stage.function.line, "forward", 0.75 / (1 + 0.1 * stage.hops))
            for call in stage.event.calls:
                for target in program.graph.targets(stage.function, call):
                    if isinstance(target, Function) and _runs(program, stage, call, target):
                        yield program.at(target, target.line, "forward", 0.9 / (1 + 0.3 * stage.hops))


def _runs(program: Program, stage: Stage, call: Expr, target: Function) -> bool:
    """A method of a network, or a function that is handed one that has no forward."""
    if not target.owner:
        return is_forward_of(call) or is_handed_parameters(program.values, stage.function, call)
    return _is_nested(program, target) and target.name != "__init__"


def _chosen(program: Program) -> Iterator[Place]:
    for choice in program.choices:
        target = choice.target
        if isinstance(target, Function) and (
            _SECTION.search(choice.key.rpartition(".")[0]) or _gives_network(program, choice, target)
        ):
            yield Place(choice.path, choice.line, "configuration", 0.85)
            yield program.at_target(target, "builder", 0.85)
            for made in program.values.returned(target):
                if isinstance(made, Class) and is_network(program.index, made):
                    whole = _THE_MODEL.fullmatch(choice.key) is not None
                    yield from _defined(program, made, 1.0 if whole else _share(program, made))
        if isinstance(target, Class) and is_network(program.index, target) and not is_loss_class(program.index, target):
            share = 1.0 if _THE_MODEL.fullmatch(choice.key) else _share(program, target)
            yield Place(choice.path, choice.line, "configuration", 0.8 * share)
            yield from (place._replace(score=place.score * share) for place in program.chosen_at(choice))
            yield from _defined(program, target, share)
        elif isinstance(target, Class) and _THE_MODEL.fullmatch(choice.key):  # holds networks and is none
            yield Place(choice.path, choice.line, "configuration", 0.8)
            yield program.at_target(target, "holder", 0.8)


def _gives_network(program: Program, choice: Choice, target: Function) -> bool:
    """model_name: large chooses the function that makes the network of that name."""
    given = program.values.returned(target) if _THE_MODEL.fullmatch(choice.key) else ()
    return any(isinstance(one, Class) and is_network(program.index, one) for one in given)


NOT_CHOSEN = 0.6  # share of a network that may be run, where the settings choose another
SMALL = 60  # lines of a network that is hardly more than a layer
_BESIDE = re.compile(r"augment|normaliz|feature|fbank|spectrogram|search|scorer|perturb|decoder$|embedding$", re.I)


_SECTION = re.compile(
    r"(?:^|\.)(?:\w*model|net|network|backbone|generator|discriminator|policy|actor|critic|unet|encoder|decoder|head|neck)$",
    re.I,
)


_THE_MODEL = re.compile(
    r"(?:model|net|network|arch|architecture|system|policy)(?:_(?:factory|builder))?(?:[._](?:type|name|class|cls|_target_|class_path|class_type))?",
    re.I,
)


def _share(program: Program, chosen: Class) -> float:
    """How much a chosen network counts: the one that the training step runs most, parts of it by their distance."""
    if chosen in program.training.run_classes or not program.training.run_classes:
        return _prominence(chosen)
    inner = program.training.inner_classes
    return 0.95 / (1 + 0.05 * inner[chosen]) if chosen in inner else 0.6 if inner else 0.85


def _prominence(cls: Class) -> float:
    """Less for what is hardly more than a layer, or works on the data before the network and after it."""
    return 0.7 if _BESIDE.search(cls.name) or cls.body.end_line - cls.line < SMALL else 1.0
