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

from trainsleuth.facts import (
    MODULE_BODY,
    Class,
    Expr,
    Function,
    Index,
    Instance,
    Member,
    Site,
    Spot,
    bindings,
    is_module_class,
    is_test,
    own_switches,
    owns_parameters,
    written,
)
from trainsleuth.finding import Finding, Link
from trainsleuth.repository import is_notebook

from ._collections import Collection, excuse, is_given_away, uses
from ._verdicts import Verdicts

SAY = Verdicts(
    "plain-list-submodules",
    "architecture",
    "error",
    "parameter_table",
    suspects=("unregistered-submodules",),
    claims=("updates-not-applied",),
    forms={
        "layers": "several layers, kept where they are made, used in forward() and given to nobody",
        "given": "several layers that some call gets as a whole",
        "other": "a single one, a parameter, a list that has a local name first, one that forward() does not use",
    },
)

_PLAIN_CALLS = ("list", "tuple", "dict", "OrderedDict", "defaultdict", "deque", "set")


def check(index: Index) -> Iterator[Finding]:
    for cls in index.classes():
        if is_module_class(index, cls) and not is_test(cls.path):
            for collection in _collections(index, cls):
                finding = _examined(index, collection)
                if finding is not None:
                    yield finding


def _collections(index: Index, cls: Class) -> Iterator[Collection]:
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
            yield Collection(cls, name, own[0], values[spots.index(own[0])])


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
    if value.kind == "path" and value.text in bindings(spot.function) and "." not in value.text:
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


def _examined(index: Index, collection: Collection) -> Finding | None:
    """None when it holds nothing that has parameters, as far as can be seen: not a site."""
    cls, name = collection.cls, collection.name
    own = _registered_calls(index, cls)
    members = index.members.of_attribute(Instance(cls), name, collection.spot)
    held = [(member, made) for member in members if (made := _trainable(index, cls, member, own)) is not None]
    if not held:
        return None
    if not uses(index, cls, name):
        return SAY.passed(cls.path, collection.spot.line, f"{cls.name}.{name} is not used outside of its constructor")
    if any(call.callee == f"self.{name}" for spot in uses(index, cls, name) for call in _calls_at(spot)):
        return SAY.open(cls.path, collection.spot.line, f"{cls.name}.{name} is called, which fails as soon as it runs")
    if reason := excuse(index, collection):
        return SAY.passed(cls.path, collection.spot.line, f"{cls.name}.{name}: {reason}")
    if all(_only_draws(spot, name) for spot in uses(index, cls, name)):
        return SAY.open(
            cls.path, collection.spot.line, f"what {cls.name}.{name} gives only chooses: no gradient comes back"
        )
    form = "other"
    if _is_layers(index, collection, held):
        form = "given" if is_given_away(index, cls, name) else "layers"
    return _failure(index, collection, *held[0], form=form)


_DRAWS = ("multinomial", "bernoulli", "argmax", "argmin", "argsort", "searchsorted")


def _only_draws(spot: Spot, name: str) -> bool:
    """Each time that the statement says it, it says it inside of what gives whole numbers."""
    event = spot.function.events[spot.position]
    said = [one for expr in (event.value, *event.targets) if expr is not None for one in expr.walk()]
    inside = {id(one) for call in said if call.kind == "call" and call.last in _DRAWS for one in call.walk()}
    own = [one for one in said if one.kind == "path" and f"{one.text}.".startswith(f"self.{name}.")]
    return bool(own) and all(id(one) in inside for one in own)


def _is_layers(index: Index, collection: Collection, held: list[tuple[Member, Instance]]) -> bool:
    """Several layers that forward() uses; what has a local name first may be registered or hidden under that."""
    is_one = collection.value.kind in ("list", "tuple", "set") and len(collection.value.parts) == 1
    is_more = not held[0][0].certain and not (is_one and collection.value.parts[0].kind == "call")
    are_several = len(held) > 1 or is_more or collection.value.text == "*"
    are_layers = not any(made.name.endswith("nn.Parameter") for _, made in held)
    used = uses(index, collection.cls, collection.name)
    return (
        are_several
        and are_layers
        and collection.value.kind != "path"
        and any(u.function.name == "forward" for u in used)
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
    if member.expr.kind == "path" and (_is_frozen(member) or _is_given_back(index, member)):
        return None
    for thing in index.objects.of(member.expr, member.spot):
        if not isinstance(thing, Instance) or thing.call is None or id(thing.call) in registered:
            continue
        if thing.name.endswith("nn.Parameter") or owns_parameters(index, thing):
            return thing
    return None


def _is_given_back(index: Index, member: Member) -> bool:
    """The method that puts it into the list also returns it, and whoever calls the method keeps what it returns."""
    function, name = member.spot.function, member.expr.text
    returned = (event.value for event in function.events if event.kind == "return" and event.value is not None)
    if not any(part.text == name for one in returned for part in (one.parts if one.kind == "tuple" else (one,))):
        return False
    sites = [site for site in index.calls(function.name) if _is_of_self(site)]
    return bool(sites) and all(site.event.value is not site.call or site.event.targets for site in sites)


def _is_of_self(site: Site) -> bool:
    return site.call.receiver is not None and site.call.receiver.text == site.function.self_name


def _is_frozen(member: Member) -> bool:
    """Before it goes into the list its parameters are set not to be trained: fixed filters."""
    name, function = member.expr.text, member.spot.function
    if any(one.on is False and f"{one.path}.".startswith(f"{name}.") for one in own_switches(function)):
        return True
    fixed = (
        binding.value for path, found in bindings(function).items() if path.startswith(f"{name}.") for binding in found
    )
    return any(
        value is not None
        and value.last == "Parameter"
        and (flag := value.argument(1, "requires_grad")) is not None
        and flag.text == "False"
        for value in fixed
    )


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


def _failure(index: Index, collection: Collection, member: Member, made: Instance, form: str) -> Finding:
    cls, name, path = collection.cls, collection.name, collection.cls.path
    use = uses(index, cls, name)[0]
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
