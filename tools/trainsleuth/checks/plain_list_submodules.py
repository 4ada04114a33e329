"""Layers are kept in a plain list or dict, where their parameters are not seen.

nn.Module registers what is assigned to an attribute directly, or held by ModuleList, ModuleDict and
Sequential. Layers in a plain list run in forward, but parameters() does not yield them: the optimizer never
updates them, .to(device) does not move them, and checkpoints lack them. The rest of the model trains around
random layers.

Fix: nn.ModuleList([...]) or nn.ModuleDict({...}); for parameters nn.ParameterList.

Cannot see: lists that are filled by another class or from outside, elements that are not resolved to a layer
with parameters, lists registered through a computed name in another object.

Bad:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, depth=3):
            super().__init__()
            self.head = nn.Linear(64, 10)
            self.layers = [nn.Linear(64, 64) for _ in range(depth)]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).relu()
            return self.head(x)

Bad (filled one by one, with blocks from another file):
    # file: blocks.py
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, width)

        def forward(self, x):
            return x + self.fc(x)

    # file: net.py
    from torch import nn
    from blocks import Block

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = []
            for _ in range(4):
                self.blocks.append(Block(32))

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

Good:
    from torch import nn

    class Net(nn.Module):
        def __init__(self, depth=3):
            super().__init__()
            self.first = nn.Linear(8, 64)
            self.last = nn.Linear(64, 10)
            self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(depth)])
            self.ends = [self.first, self.last]
            self.activations = [nn.ReLU(), nn.Tanh()]

        def forward(self, x):
            x = self.ends[0](x)
            for layer in self.layers:
                x = self.activations[0](layer(x))
            return self.ends[1](x)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from trainsleuth.facts import (
    MODULE_BODY,
    Class,
    Expr,
    Function,
    Index,
    Instance,
    Member,
    Spot,
    bindings,
    is_module_class,
    is_test,
    owns_parameters,
    written,
)
from trainsleuth.finding import Finding, Link
from trainsleuth.repository import is_notebook

from ._verdicts import Verdicts

SAY = Verdicts(
    "plain-list-submodules",
    "architecture",
    "error",
    "parameter_table",
    suspects=("unregistered-submodules",),
    claims=("updates-not-applied",),
    forms={
        "layers": "several layers, kept where they are made and used in forward()",
        "other": "a single one, a parameter, a list that has a local name first, one that forward() does not use",
    },
)

_REGISTERING = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")
_ADDING = ("add_module", "register_module", "register_parameter", "setattr", "__setattr__")
_OPTIMIZERS = ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "LBFGS")
_ON_PURPOSE = re.compile(r"#.*(regist|hid(e|den)|on purpose|intentional|state_dict|not.*param|avoid)", re.IGNORECASE)
_PLAIN_CALLS = ("list", "tuple", "dict", "OrderedDict", "defaultdict", "deque", "set")


class _Collection(NamedTuple):
    """A plain collection kept as an attribute of a module, and where it is set."""

    cls: Class
    name: str
    spot: Spot
    value: Expr


def check(index: Index) -> Iterator[Finding]:
    for cls in index.classes():
        if is_module_class(index, cls) and not is_test(cls.path):
            for collection in _collections(index, cls):
                finding = _examined(index, collection)
                if finding is not None:
                    yield finding


def _collections(index: Index, cls: Class) -> Iterator[_Collection]:
    """Each attribute of self that is only ever set to plain collections."""
    family = (*index.lineage(cls), *index.subclasses(cls))
    for name in index.hierarchy.attribute_names(cls):
        if "." in name:
            continue
        found = [
            (method, binding)
            for one in family
            for method, binding in index.hierarchy.attribute_bindings(one, name)
            if binding.kind == "assign" and binding.value is not None and binding.value.text != "None"
        ]
        spots = [Spot(method, binding.position) for method, binding in found]
        values = [binding.value for _, binding in found if binding.value is not None and not binding.items]
        own = [spot for spot in spots if spot.function.owner == cls.qualname]
        if own and len(values) == len(spots) and all(map(partial(_is_plain, index), values, spots)):
            yield _Collection(cls, name, own[0], values[spots.index(own[0])])


def _is_plain(index: Index, value: Expr, spot: Spot) -> bool:
    if value.kind in ("list", "tuple", "dict", "set"):
        return True
    if value.kind == "each":
        return value.text != "generator"
    if value.kind == "binary":
        return value.text in ("+", "*") and any(_is_plain(index, part, spot) for part in value.parts)
    if value.kind == "call":
        if value.last == "deepcopy":
            return bool(value.arguments) and _is_plain(index, value.arguments[0], spot)
        return value.callee in _PLAIN_CALLS or value.callee.endswith("collections.OrderedDict")
    if value.kind == "path" and "." not in value.text:
        found = [o for o in index.flow.origins(value.text, spot) if o.kind not in ("append", "extend", "augment")]
        return bool(found) and all(
            o.kind == "assign"
            and o.expr is not None
            and not o.items
            and o.expr.kind != "path"
            and o.spot.function is spot.function
            and _is_plain(index, o.expr, o.spot)
            for o in found
        )
    return False


def _examined(index: Index, collection: _Collection) -> Finding | None:
    """None when it holds nothing that has parameters, as far as can be seen: not a site."""
    cls, name = collection.cls, collection.name
    own = _registered_calls(index, cls)
    members = index.members.of_attribute(Instance(cls), name, collection.spot)
    held = [(member, made) for member in members if (made := _trainable(index, cls, member, own)) is not None]
    if not held:
        return None
    if not _uses(index, cls, name):
        return SAY.passed(cls.path, collection.spot.line, f"{cls.name}.{name} is not used outside of its constructor")
    if any(call.callee == f"self.{name}" for spot in _uses(index, cls, name) for call in _calls_at(spot)):
        return SAY.open(cls.path, collection.spot.line, f"{cls.name}.{name} is called, which fails as soon as it runs")
    excuse = _registered(index, collection) or _handed_over(index, cls, name) or _hidden(index, collection)
    excuse = excuse or _filled_from_outside(index, cls, name)
    if excuse:
        return SAY.passed(cls.path, collection.spot.line, f"{cls.name}.{name}: {excuse}")
    return _failure(index, collection, *held[0], form="layers" if _is_layers(index, collection, held) else "other")


def _is_layers(index: Index, collection: _Collection, held: list[tuple[Member, Instance]]) -> bool:
    """Several layers that forward() uses; what has a local name first may be registered or hidden under that."""
    are_several = len(held) > 1 or not held[0][0].certain or collection.value.text == "*"
    are_layers = not any(made.name.endswith("nn.Parameter") for _, made in held)
    uses = _uses(index, collection.cls, collection.name)
    return (
        are_several
        and are_layers
        and collection.value.kind != "path"
        and any(u.function.name == "forward" for u in uses)
    )


def _registered_calls(index: Index, cls: Class) -> set[int]:
    """Constructor calls whose object is also an attribute by itself, and so is registered."""
    calls: set[int] = set()
    for method in cls.methods.values():
        for path, found in bindings(method).items():
            if method.self_name and path.startswith(f"{method.self_name}.") and path.count(".") == 1:
                for binding in found:
                    if (
                        binding.kind == "assign"
                        and binding.value is not None
                        and binding.value.kind in ("path", "call")
                    ):
                        things = index.objects.of(binding.value, Spot(method, binding.position), binding.items)
                        calls |= {id(thing.call) for thing in things if isinstance(thing, Instance) and thing.call}
    return calls


def _trainable(index: Index, cls: Class, member: Member, registered: set[int]) -> Instance | None:
    """The layer or parameter that a member surely is, made in this class and not registered under another
    name.
    """
    held = member.expr.parts[0] if member.expr.kind == "index" else member.expr
    if member.spot.function.owner != cls.qualname or (held.kind == "path" and "." in held.text):
        return None
    if member.expr.kind == "path":
        origins = list(index.flow.origins(member.expr.text, member.spot))
        if not origins or any(o.kind != "assign" or o.spot.function is not member.spot.function for o in origins):
            return None
    for thing in index.objects.of(member.expr, member.spot):
        if not isinstance(thing, Instance) or thing.call is None or id(thing.call) in registered:
            continue
        if thing.name.endswith("nn.Parameter") or owns_parameters(index, thing):
            return thing
    return None


def _family_functions(index: Index, cls: Class) -> Iterator[Function]:
    """Methods of the class, of its bases and subclasses, and the functions written inside them."""
    for one in (*index.lineage(cls), *index.subclasses(cls)):
        for qualname, function in index.files[one.path].functions.items():
            if qualname.startswith(f"{one.qualname}."):
                yield function


def _mentions(expr: Expr | None, name: str) -> bool:
    if expr is None:
        return False
    return any(
        part.kind in ("path", "attr") and name in part.text.split(".")[0 if part.kind == "attr" else 1 :]
        for part in expr.walk()
    )


def _uses(index: Index, cls: Class, name: str) -> list[Spot]:
    """Places that read the attribute, outside of constructors."""
    return [
        Spot(function, position)
        for function in _family_functions(index, cls)
        if not function.qualname.endswith("__init__")
        for position, event in enumerate(function.events)
        if _mentions(event.value, name)
    ]


def _is_trained_near(index: Index, cls: Class) -> bool:
    """Something in its part of the project goes backward, or hands its loss to a framework."""
    part = index.part(cls.path)
    if not any(
        _is_run(index, site.function) for one in (cls, *index.subclasses(cls)) for site in index.calls(one.name)
    ):
        return False  # nobody makes one
    hooks = (function for name in ("training_step", "compute_loss") for function in index.functions_named(name))
    return any(index.sites.calls_in(name, part) for name in ("backward", "manual_backward")) or any(
        index.part(function.path) == part for function in hooks
    )


def _is_run(index: Index, function: Function) -> bool:
    """Wide: the body of a file, a method, what trains by itself, or a function whose name stands elsewhere as well."""
    if function.owner or function.name == MODULE_BODY or is_notebook(function.path):
        return True
    if any(effect.kind == "backward" for effect in index.effects.of(function)):
        return True
    named = re.compile(rb"(?m)^[^#\n]*\b%s\b" % re.escape(function.name.encode()))
    return sum(len(file.body.source.found(named)) for file in index.files.values()) > 1


def _calls_at(spot: Spot) -> tuple[Expr, ...]:
    return spot.function.events[spot.position].calls


def _registered(index: Index, collection: _Collection) -> str:
    """How the members get registered after all, also under the local name of the list; "" when they do not."""
    cls, name = collection.cls, collection.name
    local = collection.value.text if collection.value.kind == "path" else ""
    for function in _family_functions(index, cls):
        is_own = local != "" and function is collection.spot.function
        if function.name in ("parameters", "named_parameters"):
            return f"{function.name}() is overridden at line {function.line}"
        for event in function.events:
            for call in event.calls:
                if call.last in _ADDING:
                    return f"{call.last}() at line {call.line} registers modules by name"
                given = call.parts[1:] if call.last in _REGISTERING else ()
                if any(_mentions(part, name) or (is_own and part.text == local) for part in given):
                    return f"registered by {call.last} at line {call.line}"
            if any("_modules" in target.text for target in event.targets):
                return f"written into _modules at line {event.line}"
    return ""


def _handed_over(index: Index, cls: Class, name: str) -> str:
    """Its parameters are asked for by hand, most likely for the optimizer."""
    for function in _family_functions(index, cls):
        for event in function.events:
            if event.kind == "return" and function.name != "forward" and _is_handed(event.value, name):
                return f"{function.name}() hands it out at line {event.line}"
    for site in index.calls("parameters", "named_parameters", "add_param_group", *_OPTIMIZERS):
        function = site.function
        if function.owner == cls.qualname and function.name in ("__init__", "forward"):
            if site.call.last in _OPTIMIZERS and any(_mentions(part, name) for part in site.call.parts[1:]):
                return f"its parameters have an optimizer of their own at {function.path}:{site.call.line}"
            continue
        if any(_mentions(event.value, name) for event in function.events):
            return f"its parameters seem to be handed over at {function.path}:{site.call.line}"
    return ""


def _is_handed(expr: Expr | None, name: str) -> bool:
    """The collection or a member is given out as it is, not called."""
    if expr is None:
        return False
    if expr.kind in ("list", "tuple", "index", "slice"):
        return any(_is_handed(part, name) for part in expr.parts[: 1 if expr.kind == "index" else None])
    return expr.kind == "path" and expr.text.endswith(f".{name}")


def _filled_from_outside(index: Index, cls: Class, name: str) -> str:
    """Code outside of the class looks after its members: model.head.weights[i] = state[...]."""
    text = re.compile(rb"\.%s\b" % re.escape(name.encode()))
    part, owners = index.part(cls.path), {one.qualname for one in (*index.lineage(cls), *index.subclasses(cls))}
    for function in index.functions():
        if function.owner in owners or index.part(function.path) != part or not function.source.holds(text):
            continue
        for event in function.events:
            for target in event.targets:
                if target.kind == "index" and target.parts[0].last == name and target.parts[0].receiver is not None:
                    return f"filled by hand at {function.path}:{event.line}"
    return ""


def _hidden(index: Index, collection: _Collection) -> str:
    """Kept out of parameters() on purpose: a frozen teacher, or a comment that says so."""
    uses = _uses(index, collection.cls, collection.name)
    if all(index.values.is_without_grad(spot) for spot in uses):
        return "used without gradients only"
    if collection.name.startswith("_") and len(collection.value.parts) == 1 and collection.value.kind != "each":
        return "one module behind an underscore, hidden on purpose"
    text = index.repository.read(collection.cls.path) or ""
    lines = text.split("\n")[max(0, collection.spot.line - 4) : collection.spot.line]
    if not is_notebook(collection.cls.path) and _ON_PURPOSE.search("\n".join(lines)):
        return "a comment says that it is not to be registered"
    return ""


def _failure(index: Index, collection: _Collection, member: Member, made: Instance, form: str) -> Finding:
    cls, name, path = collection.cls, collection.name, collection.cls.path
    use = _uses(index, cls, name)[0]
    chain = (
        Link(path, collection.spot.line, f"{name} is a plain {_noun(collection.value)}"),
        Link(member.spot.function.path, member.expr.line, f"{written(member.expr)} goes into it"),
        Link(use.function.path, use.line, f"used in {use.function.name}"),
    )
    better = "nn.ParameterList" if made.name.endswith("Parameter") else "nn.ModuleList or nn.ModuleDict"
    message = (
        f"{cls.name}.{name} at {path}:{collection.spot.line} keeps {made.name.rpartition('.')[2]} in a plain "
        f"{_noun(collection.value)}: parameters() does not yield it, so it is never trained, moved or saved; "
        f"expected {better}."
    )
    if _is_trained_near(index, cls):
        return SAY.fail(path, collection.spot.line, message, chain, form=form)
    message += " Nothing was found that trains it: for a model that only infers, nothing is lost."
    return SAY.fail(path, collection.spot.line, message, chain, "low", "note")


def _noun(value: Expr) -> str:
    return {"each": value.text, "call": value.last, "binary": "list", "path": "list"}.get(value.kind, value.kind)
