"""Frameworks that hold the training loop: who they are, where the program hands over, what they keep inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainsleuth.facts import Class, Expr, External, Function, Index, Site
from trainsleuth.facts.memo import kept_per_index

from ..calling.values import Values
from .hook_names import HF_HOOKS, LIGHTNING_HOOKS, LOOP_HOOKS, SPEECHBRAIN_HOOKS


class Framework(NamedTuple):
    """`holds` are the components that its own code provides, `hooks` the methods a repository defines for it, `unasked`
    the features and topics of a run that it has by its own defaults, with the argument that says so."""

    name: str
    packages: tuple[str, ...]
    classes: tuple[str, ...]  # endings of the names of its classes that hold a loop
    starts: tuple[str, ...]  # methods that run the loop
    holds: tuple[str, ...]
    hooks: tuple[str, ...]
    unasked: tuple[tuple[str, str], ...] = ()


_ALL_BUT_DATA = ("loss", "optimizer_scheduler", "training_loop", "logging", "checkpointing", "evaluation")

_MM = Framework(
    "MMEngine",
    ("mmengine",),
    ("Runner", "build_runner"),
    ("train", "run", "test", "val"),
    _ALL_BUT_DATA,
    (
        "loss",
        "forward",
        "train_step",
        "val_step",
        "predict",
        "forward_train",
        "after_train_iter",
        "after_train_epoch",
    ),
)

FRAMEWORKS = (
    Framework(
        "Lightning",
        ("lightning", "pytorch_lightning", "lightning_fabric"),
        ("Trainer", "LightningCLI"),
        ("fit", "test", "validate", "predict"),
        ("training_loop", "logging", "checkpointing", "evaluation"),
        tuple(LIGHTNING_HOOKS),
    ),
    Framework(
        "Hugging Face Trainer",
        ("transformers", "trl", "sentence_transformers", "setfit", "peft", "unsloth", "adapters"),
        ("Trainer",),
        ("train", "evaluate", "predict"),
        _ALL_BUT_DATA,
        tuple(HF_HOOKS),
        (("clipping", "max_grad_norm is 1.0"), ("seeds", "seed is 42"), ("schedule", "lr_scheduler_type is linear")),
    ),
    Framework(
        "fastai",
        ("fastai", "fastai2"),
        ("Learner", "learner"),
        ("fit", "fit_one_cycle", "fine_tune", "fit_flat_cos"),
        _ALL_BUT_DATA,
        (
            "before_fit",
            "before_batch",
            "after_pred",
            "after_loss",
            "after_batch",
            "after_epoch",
            "after_fit",
            "splitter",
        ),
    ),
    Framework(
        "ignite",
        ("ignite",),
        ("Engine", "create_supervised_trainer"),
        ("run",),
        ("training_loop",),
        ("train_step", "update", "process_function"),
    ),
    Framework(
        "skorch",
        ("skorch",),
        ("NeuralNet", "NeuralNetClassifier", "NeuralNetRegressor", "NeuralNetBinaryClassifier"),
        ("fit", "partial_fit"),
        _ALL_BUT_DATA,
        ("train_step", "train_step_single", "validation_step", "get_loss", "on_epoch_end", "on_batch_end"),
    ),
    Framework(
        "Keras",
        ("keras", "tensorflow.keras", "keras_core"),
        ("Model", "Sequential"),
        ("fit", "fit_generator", "train_on_batch"),
        _ALL_BUT_DATA,
        ("train_step", "test_step", "call", "compute_loss", "on_epoch_end"),
    ),
    Framework(
        "Composer",
        ("composer",),
        ("Trainer",),
        ("fit",),
        ("training_loop", "logging", "checkpointing", "evaluation"),
        ("forward", "loss", "eval_forward", "update_metric"),
    ),
    Framework(
        "OLMo-core",
        ("olmo_core",),
        ("Trainer", "TrainerConfig"),
        ("fit",),
        ("training_loop", "logging", "checkpointing", "evaluation"),
        ("train_batch", "eval_batch", "model_forward", "optim_step", "zero_grads", "loss_fn", "pre_step", "post_step"),
    ),
    Framework(
        "SpeechBrain",
        ("speechbrain",),
        ("Brain",),
        ("fit", "evaluate"),
        ("training_loop", "optimizer_scheduler", "evaluation"),
        tuple(SPEECHBRAIN_HOOKS),
    ),
    Framework(
        "stable-baselines3",
        ("stable_baselines3", "sb3_contrib"),
        ("PPO", "DQN", "SAC", "A2C", "TD3", "DDPG"),
        ("learn",),
        _ALL_BUT_DATA,
        ("_on_step", "step", "reset"),
    ),
    _MM,
    _MM._replace(name="MMCV", packages=("mmcv",)),
    Framework("Ultralytics", ("ultralytics",), ("YOLO",), ("train",), (*_ALL_BUT_DATA, "data", "model"), ()),
)

_CLI = "LightningCLI"  # makes the trainer, the module and the data, and runs the loop, as soon as it is called
_TRAINERS = ("Trainer", "Learner", "Runner", "Solver")
_MAKES_TRAINERS = ("_trainer", "_learner")  # a function of another library: build_trainer(cfg)
_AROUND_LIGHTNING = "LightningEstimator"  # makes the trainer of Lightning by itself: that of GluonTS
_LIGHTNING_WITHIN = FRAMEWORKS[0]._replace(starts=("train", "train_model", "fit"))
_RUN = ("Trainer", "_trainer")  # what runs a trainer trains
_NO_TRAINERS = frozenset(
    {"torch", "ray", "unittest", "click", "typer", "asyncio", "pytest", "doctest", "multiprocessing"}
)


def _unnamed(name: str) -> Framework | None:
    """A library that is not in the table, by a class of it that is called a trainer, or an estimator around Lightning."""
    package, *parts = name.split(".")
    if package not in FRAMEWORKS[0].packages and any(part.endswith(_AROUND_LIGHTNING) for part in parts):
        return _LIGHTNING_WITHIN._replace(packages=(*_LIGHTNING_WITHIN.packages, package))
    if package in _NO_TRAINERS or not any(part.endswith(_TRAINERS + _MAKES_TRAINERS) for part in parts):
        return None
    hooks = tuple(dict.fromkeys(LOOP_HOOKS + LIGHTNING_HOOKS + HF_HOOKS))
    starts = ("fit", "train", "learn", *(("run",) if parts[-1].endswith(_RUN) else ()))
    starts = (*starts, "main", "run") if parts[-1] == "Solver" else starts
    return Framework(package, (package,), _TRAINERS, starts, _ALL_BUT_DATA, hooks)


def is_around_lightning(index: Index, cls: Class) -> bool:
    return any(base.endswith(_AROUND_LIGHTNING) for base in index.external_bases(cls))


class Handover(NamedTuple):
    """A call by which the program gives the loop to a framework."""

    framework: Framework
    site: Site


def owned_by(index: Index, held: Class | External) -> Framework | None:
    """The framework whose loop-holding class this is, or derives from."""
    names = (held.name,) if isinstance(held, External) else index.external_bases(held)
    for name in names:
        package, *parts = name.split(".")
        for framework in FRAMEWORKS:
            if package in framework.packages and any(part.endswith(framework.classes) for part in parts):
                return framework
    return next(filter(None, map(_unnamed, names)), None)


def handovers(index: Index, values: Values) -> Iterator[Handover]:
    """Every such call in the repository."""
    starts = {name for framework in (*FRAMEWORKS, _LIGHTNING_WITHIN) for name in framework.starts} | {"main"}
    for site in index.calls(*sorted(starts)):
        for held in started(index, values, site):
            framework = owned_by(index, held)
            if framework is not None and site.call.last in framework.starts:
                yield Handover(framework, site)
                break
    yield from _by_name(index, values)
    yield from _whatever_is_known(index)


@kept_per_index
def _whatever_is_known(index: Index) -> tuple[Handover, ...]:
    """Those that no value of a name decides."""
    own = (cls.name for cls in index.classes() if any(one.endswith(f".{_CLI}") for one in index.external_bases(cls)))
    by_cli = (Handover(FRAMEWORKS[0], site) for site in index.calls(*sorted({_CLI, *own})))
    return (*_by_apis(index), *_by_class_given(index), *by_cli)


def started(index: Index, values: Values, site: Site) -> Iterator[Class | External]:
    """What the method of a call may be of: the classes of its object, or the class itself, OwnSolver.main()."""
    receiver = site.call.receiver
    if receiver is not None:
        yield from values.of(site.function, receiver)
        named = index.resolve(site.function, receiver.text) if receiver.kind == "path" else None
        if isinstance(named, Class) and index.method(named, site.call.last) is None:
            yield named


def _by_apis(index: Index) -> Iterator[Handover]:
    """The function of an installed mm* library that trains what it is given: mmseg.apis.train_segmentor."""
    named = {
        (file.path, entry.alias): entry.module.partition(".")[0]
        for file in index.files.values()
        for entry in file.imports
        if not entry.level and _APIS.fullmatch(f"{entry.module}.{entry.name}")
    }
    for site in index.calls(*sorted({alias for _, alias in named})):
        package = named.get((site.function.path, site.call.callee))
        if package is not None and isinstance(index.resolve(site.function, site.call.callee), External):
            yield Handover(_MM._replace(name=package, packages=(package,)), site)


def _by_class_given(index: Index) -> Iterator[Handover]:
    """A function of the library that is given a class below one of its trainers: get_program(args, learner_cls=OwnLearner)."""
    own = {cls: framework for cls in index.classes() if cls.bases and (framework := owned_by(index, cls)) is not None}
    named = re.compile(b"|".join(re.escape(cls.name.encode()) for cls in own))
    for function in index.functions_holding(named) if own else ():
        for site in _sites(function):
            yield from (Handover(framework, site) for framework in _given(index, site, own))


def _sites(function: Function) -> Iterator[Site]:
    for position, event in enumerate(function.events):
        yield from (Site(function, position, call) for call in event.calls)


def _given(index: Index, site: Site, own: Mapping[Class, Framework]) -> Iterator[Framework]:
    """Of each class of `own` that a call of its library is given."""
    for part in site.call.parts[1:]:
        given = part.parts[0] if part.kind == "keyword" else part
        held = index.resolve(site.function, given.text) if given.kind == "path" else None
        framework = own.get(held) if isinstance(held, Class) else None
        if framework is not None and _is_of_library(index, site, framework):
            yield framework


def _is_of_library(index: Index, site: Site, framework: Framework) -> bool:
    callee = index.resolve(site.function, site.call.callee) if site.call.callee else None
    return isinstance(callee, External) and callee.name.partition(".")[0] in framework.packages


_APIS = re.compile(r"mm\w+\.apis(?:\.\w+)*\.train_\w+")


def _by_name(index: Index, values: Values) -> Iterator[Handover]:
    """fit() of an object that a function made which nobody knows: it is given a module for Lightning, or is called a
    trainer where the repository has such modules."""
    lightning = FRAMEWORKS[0]
    modules = frozenset(cls for cls in index.classes() if _is_of(lightning, index, cls))
    for site, fit in _fits(index) if modules else ():
        receiver = fit.receiver
        if receiver is None or not all(_is_made_by_function(one) for one in values.of(site.function, receiver)):
            continue
        if values.callables(site.function, fit):
            continue
        given = (part.parts[0] if part.kind == "keyword" else part for part in site.call.parts[1:])
        if receiver.last == "trainer" or any(
            one in modules for part in given for one in values.of(site.function, part)
        ):
            yield Handover(lightning, site)


def _is_of(framework: Framework, index: Index, cls: Class) -> bool:
    return any(base.partition(".")[0] in framework.packages for base in index.external_bases(cls))


def _is_made_by_function(held: Class | External) -> bool:
    """Of another library, and no object of a class that is named: conjure(cfg)."""
    return isinstance(held, External) and held.name.rpartition(".")[2][:1].islower()


def _fits(index: Index) -> Iterator[tuple[Site, Expr]]:
    """Calls of a method fit(), and those that it is handed to: retry(trainer.fit, model)."""
    yield from ((site, site.call.parts[0]) for site in index.calls("fit") if site.call.parts[1:])
    for function in index.functions_holding(_FIT_HANDED):
        for site in _sites(function):
            handed = (one for one in site.call.arguments if one.kind == "path" and one.last == "fit")
            yield from ((site, given) for given in handed)


_FIT_HANDED = re.compile(rb"trainer\.fit\s*[,)]")
