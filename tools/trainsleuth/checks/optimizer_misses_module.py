"""A module that the loss trains was given to no optimizer.

Where a model is made of several modules (an encoder and a head, a projection, a criterion with parameters of
its own), one of them is easily left out of the list of parameters. It gets gradients at every step and never
moves: the others train around a random layer.

Fix: put its parameters into the optimizer's list.

It is a note: in public code what looks left out was mostly held by something else, or left out on purpose.

Cannot see: modules that are handed to other objects, parameters that come through names that are not
resolved. Modules that are frozen, put into eval mode or loaded, other than together with those that are trained,
are taken to be fixed on purpose.

Bad:
    import torch
    from torch import nn

    def main(loader):
        encoder, head = nn.Linear(8, 8), nn.Linear(8, 2)
        optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
        for x, y in loader:
            loss = nn.functional.cross_entropy(head(encoder(x).relu()), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Bad (a generator's optimizer for both players):
    import torch
    from torch import nn

    class GAN:
        def __init__(self):
            self.G = nn.Linear(4, 8)
            self.D = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
            self.opt_first = torch.optim.Adam(self.G.parameters())
            self.opt_second = torch.optim.Adam(self.G.parameters())

        def step(self, z, real, ones):
            loss = nn.functional.binary_cross_entropy(self.D(real), ones)
            self.opt_second.zero_grad()
            loss.backward()
            self.opt_second.step()

Good:
    import torch
    from torch import nn

    def main(loader):
        encoder, head = nn.Linear(8, 8), nn.Linear(8, 2)
        optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
        for x, y in loader:
            loss = nn.functional.cross_entropy(head(encoder(x).relu()), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good (a wrapper that computes the loss of the model it is given):
    import torch
    from torch import nn

    class Denoising(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, x):
            noise = torch.randn_like(x)
            return nn.functional.mse_loss(self.model(x + noise), noise)

    def main(loader):
        model = nn.Linear(8, 8)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        objective = Denoising(model).to("cuda")
        for x in loader:
            optimizer.zero_grad()
            objective(x).backward()
            optimizer.step()

Good (a frozen teacher, a loss network that is loaded):
    import torch
    from torch import nn

    class Distiller:
        def __init__(self, state):
            self.student, self.teacher = nn.Linear(4, 2), nn.Linear(4, 2)
            self.teacher.load_state_dict(state)
            self.opt = torch.optim.Adam(self.student.parameters())

        def step(self, x):
            loss = nn.functional.mse_loss(self.student(x), self.teacher(x))
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import (
    MODULE_BODY,
    Built,
    Class,
    Event,
    Expr,
    External,
    Function,
    Index,
    Instance,
    Spot,
    bindings,
    built_optimizers,
    encloses,
    ingredients,
    is_module,
    own_switches,
    owns_parameters,
    trained_losses,
    written,
)
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "optimizer-misses-module",
    "optimizer",
    "note",
    "parameter_table",
    suspects=("optimizer-misses-parameters",),
    claims=("updates-not-applied", "frozen-layers"),
)
_FIXED = re.compile(
    r"teacher|pretrain|frozen|vgg|lpips|perceptual|ema(_|$)|target|momentum|oracle|weights=|checkpoint|ckpt",
    re.IGNORECASE,
)
_HARMLESS = ("to", "cuda", "cpu", "train", "zero_grad", "float", "double", "half", "apply", "state_dict", "print")
_WRAPPERS = ("DistributedDataParallel", "DDP", "DataParallel", "compile")
Scope = tuple[Function, ...]


def check(index: Index) -> Iterator[Finding]:
    groups: dict[str, tuple[Scope, list[Built]]] = {}
    for built in built_optimizers(index):
        scope = _scope(index, built.site.function)
        groups.setdefault(f"{scope[0].path}:{scope[0].qualname}", (scope, []))[1].append(built)
    losses = list(trained_losses(index)) if groups else []
    for scope, optimizers in groups.values():
        yield from _examined(index, scope, optimizers, losses)


def _scope(index: Index, function: Function) -> Scope:
    """The function with those written in it, or all methods of its class: where its names mean the same."""
    cls = index.class_of(function)
    every = index.files[function.path].functions.values()
    if cls is not None:
        return tuple(one for one in every if one.owner == cls.qualname)
    plain = [one for one in every if one is not function and not one.owner and not one.name.startswith("<")]
    if function.name == MODULE_BODY:
        return (function, *plain)
    return (function, *(one for one in plain if one.qualname.startswith(f"{function.qualname}.")))


def _examined(
    index: Index, scope: Scope, optimizers: list[Built], losses: list[tuple[Expr, Spot]]
) -> Iterator[Finding]:
    first = optimizers[0].site
    unclear = next((built.why for built in optimizers if built.why), "") or _foreign(index, scope, optimizers)
    if not unclear and not any(built.owned for built in optimizers):
        unclear = "it owns no module"
    if unclear:
        yield SAY.open(first.function.path, first.call.line, f"what its optimizer owns is not resolved: {unclear}")
        return
    missed = []
    inside = [(loss, spot) for loss, spot in losses if spot.function in scope and _is_followed(spot)]
    for path, spot, made in _modules(index, scope, optimizers) if inside else ():
        if not _is_owned(path, optimizers, scope):
            use = _trained_use(index, path, scope, inside)
            if use is not None and not _is_handed_over(path, scope, optimizers):
                missed.append((path, spot, made, use))
    for path, spot, made, use in missed:
        yield _failure(optimizers, path, spot, made, use)
    if not missed:
        yield SAY.passed(first.function.path, first.call.line, "every module that is made here is in an optimizer")


def _is_owned(path: str, optimizers: list[Built], scope: Scope) -> bool:
    return any(built.owns(path, where) for built in optimizers for where in scope)


def _is_followed(spot: Spot) -> bool:
    """Something steps after it: in a script a lone backward() only looks at gradients."""
    if spot.function.name != MODULE_BODY:
        return True
    block = spot.function.events[spot.position].block
    after = spot.function.events[spot.position :]
    return any(call.last == "step" for event in after if encloses(block, event.block) for call in event.calls)


def _foreign(index: Index, scope: Scope, optimizers: list[Built]) -> str:
    """Something that a method gives its optimizer, is no part of self, and may be the whole object or hold it."""
    for path, where in (one for built in optimizers for one in built.owned):
        own, _, rest = path.partition(".")
        if scope[0].owner and own == where.self_name and "." in rest:
            holder = f"{own}.{rest.partition('.')[0]}"
            if not any(holder in bindings(one) for one in scope):
                return f"{path} may be or hold this {scope[0].owner}"  # the trainer that a framework puts there
        if not scope[0].owner or own == where.self_name:
            continue
        end = Spot(where, len(where.events))
        things = index.objects.of(Expr("path", path, (), where.line), end)
        if not things or any(
            not isinstance(thing, Instance) or not isinstance(thing.kind, External) for thing in things
        ):
            return f"{path} may be or hold this {scope[0].owner}"
    return ""


def _modules(index: Index, scope: Scope, optimizers: list[Built]) -> Iterator[tuple[str, Spot, Instance]]:
    """Variables of the scope that surely hold one module with parameters."""
    for function in scope if scope[0].owner else scope[:1]:
        for path, found in bindings(function).items():
            is_name = path.startswith(f"{function.self_name}.") if function.owner else "." not in path
            value = found[0].value if found[0].kind == "assign" and not found[0].items else None
            if not is_name or value is None or not any(part.kind == "call" for part in value.walk()):
                continue
            if _FIXED.search(path) or path.count(".") > 1:
                continue
            if any(part.kind == "call" and part.last in ("requires_grad_", "eval") for part in value.walk()):
                continue  # nn.Linear(8, 2).eval().requires_grad_(False): fixed as soon as it is made
            spot = Spot(function, found[0].position)
            things = index.objects.of(value, spot)
            made = things[0] if len(things) == 1 and isinstance(things[0], Instance) else None
            if made is not None and is_module(index, made) and owns_parameters(index, made):
                is_new = any(part is made.call for part in value.walk())  # else another name of the same module
                if is_new and not _is_loaded(made) and not _is_around_trained(made, optimizers, scope):
                    yield path, spot, made


def _is_around_trained(made: Instance, optimizers: list[Built], scope: Scope) -> bool:
    """It was given a module that is trained: all that it has may be of that one."""
    given = made.call.parts[1:] if made.call is not None else ()
    names = {part.text for argument in given for part in argument.walk() if part.kind == "path"}
    return any(_is_owned(name, optimizers, scope) for name in names)


def _is_loaded(made: Instance) -> bool:
    """Made with weights that are there already, or of a class that loads or freezes its own."""
    if made.call is None or _FIXED.search(written(made.call, 400)):
        return True
    if any(part.last.startswith(("from_pretrained", "load")) for part in made.call.walk()):
        return True
    methods = made.kind.methods.values() if isinstance(made.kind, Class) else ()
    return any(
        call.last in ("load_state_dict", "requires_grad_") or call.last.startswith("load_")
        for method in methods
        for event in method.events
        for call in event.calls
    ) or any(own_switches(method) for method in methods)


def _trained_use(index: Index, path: str, scope: Scope, losses: list[tuple[Expr, Spot]]) -> Expr | None:
    """A call of the module through which a loss of the scope sends a gradient."""
    for loss, start in losses:
        for expr, spot in ingredients(index, loss, start, through_cuts=False):
            if expr.kind == "call" and expr.callee == path and spot.function in scope:
                return expr
    return None


def _is_handed_over(path: str, scope: Scope, optimizers: list[Built]) -> bool:
    """Its name is used for anything but to call it, to move or wrap it, and to resume it with the trained ones."""
    for function in scope:
        for event in function.events:
            if _is_wrapping(event, path) or _is_resuming(event, path, function, optimizers):
                continue
            saved = {part for call in event.calls if call.last == "state_dict" for part in call.parts[0].walk()}
            for root in (event.value, *event.targets):
                for part in (one for one in root.walk() if one not in saved) if root is not None else ():
                    if part.kind == "call" and part.callee.startswith(f"{path}.") and part.last not in _HARMLESS:
                        return True
                    if part.kind == "path" and part.text == path and _stands_alone(root, part, event.targets):
                        return True
                    if part.kind == "path" and part.text.startswith(f"{path}.") and "." in part.text[len(path) + 1 :]:
                        return True
    return False


def _is_wrapping(event: Event, path: str) -> bool:
    """model = DistributedDataParallel(model, ...), perhaps with .to(device)."""
    value = event.value
    while value is not None and value.kind == "call" and value.last in _HARMLESS:
        value = value.receiver
    return (
        event.kind == "assign"
        and value is not None
        and value.last in _WRAPPERS
        and [target.text for target in event.targets] == [path]
        and value.argument(0, "module", "model") is not None
    )


def _is_resuming(event: Event, path: str, function: Function, optimizers: list[Built]) -> bool:
    """It is loaded, or put into eval mode, right beside a module that is trained: no sign that it is fixed."""
    done = {call.last for call in event.calls if call.callee in (f"{path}.load_state_dict", f"{path}.eval")}
    beside = (other for other in function.events if other.block == event.block) if done else ()
    alike = (call.receiver for other in beside for call in other.calls if call.last in done)
    return any(_is_owned(one.text, optimizers, (function,)) for one in alike if one is not None)


def _stands_alone(root: Expr | None, path: Expr, targets: tuple[Expr, ...]) -> bool:
    """Neither called nor the target of an assignment: given to something else."""
    if any(part is path for target in targets for part in target.walk()):
        return False
    called = [part.parts[0] for part in root.walk() if part.kind == "call"] if root is not None else []
    return not any(function is path for function in called)


def _failure(optimizers: list[Built], path: str, spot: Spot, made: Instance, use: Expr) -> Finding:
    file, line = spot.function.path, spot.line
    first = optimizers[0].site
    owned = ", ".join(sorted({one for built in optimizers for one, _ in built.owned}))
    chain = (
        Link(file, line, f"{path} is a {made.name.rpartition('.')[2]} with parameters"),
        Link(first.function.path, first.call.line, f"the optimizers own {owned}"),
        Link(file, use.line, f"the loss goes through {written(use)}"),
    )
    message = (
        f"{path} at {file}:{line} is trained by the loss ({written(use)} at line {use.line}) but is in no optimizer: "
        f"the optimizers own {owned}; expected {path}.parameters() among them."
    )
    return SAY.fail(file, line, message, chain)
