"""How well it does: validation in the run, metrics, sampling and inference, and the scripts that do it alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainsleuth.facts import MODULE_BODY, Class, Event, Expr, Function, is_eval, written

from ..calling.common_names import COMMON_NAMES
from ..loop.networks import calls_network, is_dataset, is_network
from ..program import Program
from ..programs.entries import guard_line
from ..records import Place
from ..signs.called_after import is_of_another_kind, only_forwards
from ..signs.evaluating_programs import evaluating_programs, own_commands, restores, rounds
from ..signs.evaluation_mode import is_evaluated, is_switched
from ..signs.glances import glances
from ..signs.held_out import passes
from ..signs.measures import in_the_loop, measured, metric_classes
from ..signs.phases import phase_loops, switched_in
from ..signs.sampled import sampled
from ..signs.told_to_test import is_told, tests

_NAMED = re.compile(
    r"^(?!\w*_actions?$)_?(?:run_|do_|start_)?(?:eval(?:uate\w*|uation\w*|_\w+)?|valid(?:_epoch|_step|_loop|_one_epoch)?|validate|validation_\w+|"
    r"validate_(?:epoch|model|step|loop|one_epoch)|test(?:_epoch|_step|_model|ing|_loop)?|infer(?:ence\w*)?|generate|sample|predict(?:_step)?|transcribe|"
    r"(?:fit|run|do)_(?:valid|eval|test)\w*|estimate_loss|compute_metrics?|accuracy|\w+_accuracy|val(?:_epoch|_step|_loop)?|score|enjoy|play)$",
    re.I,
)
_MAY_BE = re.compile(
    r"generate|sample|infer|predict|eval|valid|test|(?<![a-z])wer(?![a-z])|bleu|metric|translate|decode", re.I
)
_FILE = re.compile(
    r"(?:^|[_/])(?:eval\w*|val(?:[._]|id\w*)|test|infer\w*|inference\w*|generat\w*|sampl(?!ers?\.)\w*|predict\w*|demo|score|transcribe|synth\w*|fid|calc\w*_(?:metrics?|scores?)|enjoy|play(?:[._]|er))",
    re.I,
)
_METRICS = re.compile(
    r"^(?:torchmetrics|evaluate|sklearn\.metrics|torcheval|sacrebleu|jiwer|seqeval|lpips)\b|\.metrics\.(?:\w+\.)*[A-Z]"
)


def places(program: Program) -> Iterator[Place]:
    """Nothing when gradients are only off somewhere: targets and averaged weights are made so, too. What a file of networks
    tries out when it is started itself is none of this program's.
    """
    own = [place for place in _signs(program) if not program.never_runs(place.path, place.line)]
    says = [place for place in own if place.role not in (NO_GRADIENTS, DRAW, HELD_OUT)]
    share = BESIDE_OWN if any(place.score >= EVALUATES and program.is_loaded(place.path) for place in says) else 1.0
    others = [place._replace(score=share * place.score) for place in _alone(program)]
    if says or others:
        yield from own
        yield from others


EVALUATES = 0.6  # a score that only what evaluates has
BESIDE_OWN = 0.75  # of other programs, where this one evaluates itself
NO_GRADIENTS, DRAW, PROGRAM, HELD_OUT = "no gradients", "draw", "program", "held-out set"
_SWITCHES = (
    "__init__",
    "train",
    "eval",
    "train_mode",
    "eval_mode",
    "test_mode",
    "inference_mode",
)  # they only say which mode others are in

_MODES = {"train", "eval"}
_MAY_SWITCH = _MODES | {"super", "hasattr", "getattr", "isinstance", "set_grad_enabled", "requires_grad_"}


def _signs(program: Program) -> Iterator[Place]:
    evaluating: set[Function] = set()
    for function, weight in program.functions():
        sign = _quiet(program, function)
        is_plain = not sign or _DISTRIBUTES.search(function.owner) is not None
        drawn = (is_plain and _is_draw(program, function)) or _draws_action(function)
        forwards = only_forwards(program, function)
        named = not drawn and not forwards and _is_named(function)
        evaluates = sign > 0 and not drawn and not forwards and not _is_switch(function)
        if sign:
            training = function is program.training.step or function.name == "<module>"
            tested = evaluates and (named or (_is_put_to_test(program, function) and not _collects(program, function)))
            role = "evaluation mode" if tested else NO_GRADIENTS
            yield program.at(function, sign, role, (0.75 if named or training else 0.45) * weight**0.4)
        if drawn:
            yield program.at(function, function.line, DRAW, 0.3 * weight**0.4)
        elif named and (sign or _runs_something(function)):
            evaluating.add(function)
            yield program.at(function, function.line, "definition", (0.9 if sign else 0.68) * weight**0.4)
        elif (
            evaluates
            and function.name != MODULE_BODY
            and (_MAY_BE.search(function.name) or (_is_pass(function) and not _trains(program, function)))
            and not _is_inside_network(program, function)
        ):
            evaluating.add(function)
            yield program.at(function, function.line, "definition", 0.7 * weight**0.4)
        if not forwards:
            yield from _metrics(program, function, weight)
        yield from _loops(program, function, weight)
        yield from _held_out(program, function, weight)
        for line in (*passes(program, function), *tests(program, function)):
            yield program.at(function, line, "evaluation call", 0.8 * weight**0.4)
    for function, call, target in glances(program):
        if (target.loops or _MAY_BE.search(target.name)) and not _is_inside_network(program, target):
            weight = program.weight(function) ** 0.4
            yield program.at(function, call.line, "evaluation call", 0.8 * weight)
            yield program.at(target, target.line, "definition", 0.76 * weight)
    yield from sampled(program)
    yield from _phases(program)
    yield from _built(program)
    yield from _called(program, evaluating)
    for function in evaluating:
        yield from measured(program, function)
        yield from _rounds(program, function)
    yield from _hooks(program)
    yield from metric_classes(program)
    yield from in_the_loop(program)
    yield from _held_out_by_classes(program)
    for choice in program.choices:
        if re.search(r"eval|metrics?(?!_log)|valid", choice.key, re.I) and choice.target is not None:
            if not is_dataset(program.index, choice.target) if isinstance(choice.target, Class) else True:
                yield Place(choice.path, choice.line, "configuration", 0.7)
                yield program.at_target(choice.target, "definition", 0.7)


_HOOK = re.compile(
    r"^(?:on_)?(?:validation|test|prediction|val|eval)_(?:step|pass|loop|epoch_end)$|^get_eval_dataloader$|^evaluat\w+$|^compute_metrics$|^build_(?:evaluator|test_loader)$"
)


def _hooks(program: Program) -> Iterator[Place]:
    """Methods by which a framework evaluates with a class of the repository."""
    for cls in program.training.hooked_classes:
        for method in cls.methods.values():
            if _HOOK.match(method.name) and _runs_something(method):
                yield program.at(method, method.line, "hook", 0.9 * program.weight(method) ** 0.3)


_VERB = re.compile(
    r"^_?(?:run_|do_)?(?:(?:eval(?:uate)?|valid(?:ate)?|test)_\w+|infer_(?:step|batch|loop|epoch|model|one|sample|audio|image)\w*)$",
    re.I,
)
_CHECKS = re.compile(r"_?validate_", re.I)  # more often a look at arguments than at data
_NOT_VERB = re.compile(
    r"config|args?$|path|input|shape|name|option|param|file|url|size|transform|loader|dataset|dir$|key|device|dtype|type|scorer|version|mode|available|field|opts$|itera|actions?$|nans?$|^eval_sh$|(?:^|_)(?:to|is|if|are|not|in)_?valid",
    re.I,
)


def _is_named(function: Function) -> bool:
    """By its own name, or as the main function of a file that is named so: val.run(...)."""
    if _is_switch(function):
        return False
    if _NAMED.match(function.name):
        return True
    if _VERB.match(function.name) and not _NOT_VERB.search(function.name):
        return not _CHECKS.match(function.name) or bool(function.loops)
    return function.name in ("run", "main") and _FILE.search(PurePosixPath(function.path).name) is not None


def _is_switch(function: Function) -> bool:
    """Not eval() of a trainer, which goes over data."""
    if function.name in _SWITCHES:
        return not (function.name == "eval" and function.loops)
    if _NAMED.match(function.name):
        return False
    done = {call.last for event in function.events if event.kind != "if" for call in event.calls}
    return not done.isdisjoint(_MODES) and done <= _MAY_SWITCH | {function.name}


def _quiet(program: Program, function: Function) -> int:
    """Line of the first sign that gradients or training mode are off; 0 when there is none."""
    for decorator in function.decorators:
        if decorator.last in ("no_grad", "inference_mode", "eval_decorator"):
            return function.line
    for event in function.events:
        for call in event.calls:
            if is_eval(call):
                return call.line
        if event.kind == "with" and _is_quiet(event):
            return event.line
    return 0


def _is_put_to_test(program: Program, function: Function) -> bool:
    """It calls model.eval(); where it also trains, to ask the network something."""
    backward = [sign.site.call.line for sign in program.signs.get(function, ()) if sign.role == "backward"]
    return is_evaluated(function, min(backward)) if backward else is_switched(function)


def _is_pass(function: Function) -> bool:
    """It goes over data in evaluation mode with gradients off, whatever it is called; or an object that is called does."""
    if function.name == "__call__":
        return is_switched(function)
    quiet = any(event.kind == "with" and _is_quiet(event) for event in function.events)
    return quiet and bool(function.loops) and is_switched(function)


def _collects(program: Program, function: Function) -> bool:
    """In evaluation mode it makes what is trained on: the steps of an agent, or what a world model imagines."""
    if _goes_backward(program, function):
        return False
    return _trains(program, function) or _COLLECTS.search(function.name) is not None


_COLLECTS = re.compile(r"imagin|roll_?outs?(?:_|$)|collect|explor|gather_(?:data|experience)", re.I)


def _trains(program: Program, function: Function) -> bool:
    """It goes backward, or calls what does: it may act in evaluation mode to collect what it then trains on."""
    step = program.training.step
    above = program.training.ways.calls_down_to(step) if step is not None else ()
    return _goes_backward(program, function) or any(caller is function for caller, _, _ in above)


def _goes_backward(program: Program, function: Function) -> bool:
    return any(sign.role == "backward" for sign in program.signs.get(function, ()))


def _is_quiet(event: Event) -> bool:
    return event.value is not None and written(event.value).endswith(("no_grad()", "inference_mode()"))


def _runs_something(function: Function) -> bool:
    return any(event.calls for event in function.events) and function.end_line - function.line > 0


def _is_draw(program: Program, function: Function) -> bool:
    """The sample() of a distribution, a buffer: of a class that is no network."""
    return (
        bool(function.owner)
        and function.name in _DRAWN
        and (_DRAWS.search(function.owner) is not None or not _is_inside_network(program, function))
    )


def _draws_action(function: Function) -> bool:
    """The sample() of a policy: what it makes a distribution of is no picture."""
    calls = (call for event in function.events for call in event.calls)
    return function.name in _DRAWN and any(_OVER_ACTIONS.fullmatch(call.last) for call in calls)


_OVER_ACTIONS = re.compile(r"Categorical|OneHotCategorical\w*|TanhNormal|SquashedNormal|MultiCategorical|Bernoulli")
_DRAWN = ("sample", "generate", "score")
_DISTRIBUTES = re.compile(r"Distribution|Normal|Gaussian|Categorical|Bernoulli|Buffer|Noise")
_DRAWS = re.compile(rf"{_DISTRIBUTES.pattern}|Sampler")  # one without gradients makes pictures with a network


def _is_inside_network(program: Program, function: Function) -> bool:
    owner = program.index.class_of(function)
    return owner is not None and is_network(program.index, owner)


def _metrics(program: Program, function: Function, weight: float) -> Iterator[Place]:
    for event in function.events:
        for call in event.calls:
            if call.callee and _METRICS.search(program.full_name(function, call.callee)):
                yield program.at(function, call.line, "metric", 0.55 * weight**0.4)
            elif _WORKS_OUT.fullmatch(call.last):
                yield program.at(function, call.line, "metric", 0.58 * weight**0.4)
                for target in program.graph.targets(function, call):
                    if isinstance(target, Function):
                        yield program.at(target, target.line, "definition", 0.55 * weight**0.4)
            elif call.last in ("test", "validate", "predict", "evaluate") and _is_trainer(call):
                yield program.at(function, call.line, "evaluation call", 0.85 * weight**0.4)

            elif (
                _CALLED.search(call.last)
                and not _NOT_VERB.search(call.last)
                and call.parts[1:]
                and call.callee not in _OF_PYTHON
                and not is_of_another_kind(program, function, call)
            ):
                yield program.at(function, call.line, "evaluation call", 0.66 * weight**0.6)
            elif call.receiver is not None and call.parts[1:] and _is_for_evaluation(call):
                yield program.at(function, call.line, "evaluation call", 0.72 * weight**0.4)


_WORKS_OUT = re.compile(r"_?(?:compute|calc(?:ulate)?|get)_(?:\w+_)?(?:errors|metrics)")
_CALLED = re.compile(r"^_?(?!train_|check_)(?:\w+_)?(?:eval|evaluat(?:e|ion)|valid|validat(?:e|ion)|val|test|metrics?|scor(?:e|er)|fid|bleu|wer|cv|sample_images)(?:_\w+)?$", re.I)  # fmt: skip
_OF_PYTHON = ("eval", "literal_eval", "ast.literal_eval")  # of a text
_FOR_EVALUATION = re.compile(
    r"^_?(?:eval|evaluation|valid|validation|test)_(?!data|set|load|args|config|metrics|iter)\w+$"
)


_OF_TENSORS = COMMON_NAMES - {"run", "step", "start", "apply"}


def _is_for_evaluation(call: Expr) -> bool:
    held = call.receiver.last if call.receiver is not None else ""
    return _FOR_EVALUATION.search(held) is not None and call.last not in _OF_TENSORS


def _is_trainer(call: Expr) -> bool:
    return call.receiver is not None and written(call.receiver).rpartition(".")[2] in ("trainer", "Trainer")


_EVALUATOR = re.compile(
    r"^(?:\w*Evaluat(?:or|ion|or\w+)|Eval(?:Hook|Callback|Loop)|\w*Validator|ValidationLoop|\w+EvalHook)s?$"
)


def _built(program: Program) -> Iterator[Place]:
    """Where an object whose work is to evaluate is made."""
    for called in program.reached_calls:
        made = [one for one in called.targets if isinstance(one, Class) and _EVALUATOR.match(one.name)]
        named = _EVALUATOR.match(called.call.last) and not any(isinstance(one, Function) for one in called.targets)
        if named or made:
            yield program.at(called.function, called.call.line, "evaluator", 0.75 * called.weight**0.4)
        for cls in made:
            yield program.at_target(cls, "evaluator", 0.68 * called.weight**0.4)


def _loops(program: Program, function: Function, weight: float) -> Iterator[Place]:
    """Loops over a loader for validation, inside a larger function."""
    for loop in function.loops:
        if loop.source is not None and re.search(
            r"(?:^|[^a-z])(?:val|valid|test|eval)\w*(?:load|data|set|_dl|iter)", written(loop.source), re.I
        ):
            yield program.at(function, loop.line, "loop", 0.85 * weight**0.4)


def _phases(program: Program) -> Iterator[Place]:
    """Loops that train in one round and evaluate in another."""
    for function, loop in phase_loops(program):
        weight = program.weight(function) ** 0.4
        yield program.at(function, loop.line, "loop", 0.85 * weight)
        yield from (
            program.at(function, line, "evaluation mode", 0.75 * weight) for line in switched_in(function, loop)
        )


def _called(program: Program, evaluating: set[Function]) -> Iterator[Place]:
    for target in evaluating:
        if _is_named(target) or _MAY_BE.search(target.name) or _is_pass(target):
            by_object = target.name == "__call__"
            for caller, line in program.training.ways.direct_calls(target) if by_object else program.callers(target):
                if target.name in _DRAWN and caller in program.training.steppers:
                    continue  # of a memory or a policy, which what trains draws from
                if not _may_be_of(program, caller, line, target):
                    continue
                share = 0.5 if caller in evaluating else 0.88
                yield program.at(caller, line, "evaluation call", share * program.weight(caller) ** 0.4)


def _may_be_of(program: Program, caller: Function, line: int, target: Function) -> bool:
    """Not timer.eval() beside self.eval(), not runner.run(test_mode=False)."""
    calls = [call for event in caller.events for call in event.calls if call.line == line and call.last == target.name]
    return not calls or any(_is_call_of(program, caller, call, target) for call in calls)


def _is_call_of(program: Program, caller: Function, call: Expr, target: Function) -> bool:
    if is_told(call, "False"):
        return False
    owner = program.index.class_of(target)
    found = [one for one in program.graph.targets(caller, call) if isinstance(one, Function)]
    owners = [program.index.class_of(one) for one in found if one is not target]
    if owner is None or not found or len(owners) < len(found) or None in owners:
        return True
    lineage = program.index.lineage
    return any(one is not None and (one in lineage(owner) or owner in lineage(one)) for one in owners)


def _rounds(program: Program, function: Function) -> Iterator[Place]:
    """The loop of a pass of evaluation, over what it runs the network on or the episodes that it plays, and that call."""
    weight = program.weight(function) ** 0.4
    for event in (one for one in function.events if one.block.loops):
        for call in event.calls:
            if calls_network(program.values, function, call) or call.last in _RUNS:
                loop = function.loops[event.block.loops[0]]
                yield program.at(function, loop.line, "loop", 0.66 * weight)
                yield program.at(function, call.line, "forward", 0.6 * weight)
                return


def _held_out(program: Program, function: Function, weight: float) -> Iterator[Place]:
    """Where the loader is made that evaluation goes over: val_loader = DataLoader(val_set)."""
    for event in function.events:
        value = event.value
        if event.kind == "assign" and value is not None and value.kind == "call" and not value.last.startswith("parse"):
            names = [one.last for one in event.targets if one.kind in ("path", "attr")]
            if any(map(_HELD_OUT_LOADER.search, names)):
                yield program.at(function, event.line, "held-out data", 0.58 * weight**0.4)
            elif any(map(_HELD_OUT_SET.search, names)):
                yield program.at(function, event.line, HELD_OUT, 0.5 * weight**0.4)


def _held_out_by_classes(program: Program) -> Iterator[Place]:
    """What a data module hands out to evaluate, and data sets that say by their names that they are for it."""
    for cls in program.training.hooked_classes:
        hook = next((cls.methods[name] for name in _HANDS_OUT if name in cls.methods), None)
        if hook is not None:
            yield program.at(hook, hook.line, HELD_OUT, 0.56 * program.weight(hook) ** 0.3)
    chosen = (one.target for one in program.choices if isinstance(one.target, Class))
    for cls in dict.fromkeys((*program.made_at, *chosen)):
        hook = next((cls.methods[name] for name in _HANDS_OUT if name in cls.methods), None)
        if hook is not None and cls not in program.training.hooked_classes:
            yield program.at(hook, hook.line, HELD_OUT, 0.54)
        if _FOR_IT.search(cls.name) and is_dataset(program.index, cls):
            yield program.at_target(cls, HELD_OUT, 0.5)


_HANDS_OUT = ("val_dataloader", "_val_dataloader", "get_val_dataloader", "test_dataloader")
_FOR_IT = re.compile(r"(?:^|[a-z_])(?:Val|Valid|Validation|Eval|Test|Testing)(?=$|[A-Z_\d])")


_HELD_OUT_LOADER = re.compile(
    r"^(?:val|valid|validation|eval|test|dev)\w*(?:loaders?|dl|data_?loaders?)$|loaders?_(?:val|valid|validation|eval|test|dev)$",
    re.I,
)
_HELD_OUT_SET = re.compile(
    r"^_?(?:val|valid|validation|eval|test|dev)_?\w*(?:set|datasets?|ds|data|envs?)$|^(?:data|dataset|ds|envs?)_(?:val|valid|validation|eval|test|dev)$",
    re.I,
)
_RUNS = ("step", "act", "select_action", "predict", "generate", "sample")


def _alone(program: Program) -> Iterator[Place]:
    """Programs of their own that evaluate, sample or infer."""
    for command in own_commands(program):
        yield Place(command.path, command.line, PROGRAM, 0.6)
    for path, score, lines in evaluating_programs(program):
        file = program.index.files[path]
        yield Place(path, guard_line(file.body), PROGRAM, score)
        for command in lines[:1]:
            yield Place(command.path, command.line, PROGRAM, score)
        for function in file.functions.values():
            for at, line, share in _of_program(program, function):
                yield program.at(at, line, PROGRAM, share * score)
            for place in (*_metrics(program, function, 1.0), *measured(program, function)):
                yield place._replace(score=0.9 * score, role=PROGRAM)
            for event in function.events:
                for target in (one for call in event.calls for one in program.graph.targets(function, call)):
                    if isinstance(target, Function) and target.path != path and _is_named(target):
                        yield program.at(target, target.line, PROGRAM, 0.8 * score)
                    elif isinstance(target, Class) and _EVALUATOR.match(target.name):
                        yield program.at(function, function.line, PROGRAM, 0.82 * score)
                        yield program.at_target(target, PROGRAM, 0.85 * score)


def _of_program(program: Program, function: Function) -> Iterator[tuple[Function, int, float]]:
    """What a function of such a program does: (where, line, share of the program's score)."""
    is_body = function.name == MODULE_BODY
    quiet = _quiet(program, function)
    if quiet:
        yield function, quiet, 0.95
    if not is_body and (quiet or _NAMED.match(function.name)):
        yield function, function.line, 0.9
    elif function.name == "main" or any(one.last in ("command", "hydra_main") for one in function.decorators):
        yield function, function.line, 0.85
    if line := next(filter(None, map(restores, function.events)), 0):
        yield function, line, 0.7
    yield from ((at, line, 0.85 if at is function else 0.72) for at, line in rounds(program, function))
