"""Collections that a module keeps in an attribute: who uses them, and what registers or trains their members after all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainsleuth.facts import Class, Event, Expr, Function, Index, Instance, Spot, is_module_class
from trainsleuth.repository import is_notebook

_REGISTERING = ("ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict")
_ADDING = ("add_module", "register_module", "register_parameter", "setattr", "__setattr__")
_FILLING = ("append", "extend", "insert")
_LOOKING = ("len", "enumerate", "zip", "reversed", "iter", "range", "print", "str", "bool", "isinstance", "any", "all")
_OPTIMIZERS = ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "LBFGS")
_ON_PURPOSE = re.compile(r"#.*(regist|hid(e|den)|on purpose|intentional|state_dict|not.*param|avoid)", re.IGNORECASE)


class Collection(NamedTuple):
    """A plain collection kept as an attribute of a module, and where it is set."""

    cls: Class
    name: str
    spot: Spot
    value: Expr


def excuse(index: Index, collection: Collection) -> str:
    """Why nothing is lost although the collection is a plain one; "" when nothing says so."""
    cls, name = collection.cls, collection.name
    said = (
        _registered(index, collection)
        or _kept_elsewhere(collection)
        or _handed_over(index, cls, name)
        or _hidden(index, collection)
    )
    return said or _filled_from_outside(index, cls, name)


def uses(index: Index, cls: Class, name: str) -> list[Spot]:
    """Places that read the attribute, outside of constructors."""
    return [
        Spot(function, position)
        for function in _family_functions(index, cls)
        if not function.qualname.endswith("__init__")
        for position, event in enumerate(function.events)
        if _mentions(event.value, name)
    ]


def is_given_away(index: Index, cls: Class, name: str) -> bool:
    """A call gets the whole collection, who knows what for; to go over it, or to count it, gives nothing away."""
    return any(
        call.last not in _LOOKING and _is_handed(part.parts[0] if part.kind in ("star", "keyword") else part, name)
        for function in _family_functions(index, cls)
        for event in function.events
        for call in event.calls
        for part in call.parts[1:]
        if part.kind != "keyword" or part.parts
    )


def _registered(index: Index, collection: Collection) -> str:
    """How the members get registered after all, also under the local name of the list; "" when they do not."""
    cls, name = collection.cls, collection.name
    local = collection.value.text if collection.value.kind == "path" else ""
    for function in _family_functions(index, cls):
        is_own = local != "" and function is collection.spot.function
        if function.name in ("parameters", "named_parameters"):
            return f"{function.name}() is overridden at line {function.line}"
        for position, event in enumerate(function.events):
            for call in event.calls:
                if call.last in _ADDING:
                    return f"{call.last}() at line {call.line} registers modules by name"
                is_given = any(_mentions(part, name) or (is_own and part.text == local) for part in call.parts[1:])
                if is_given and (call.last in _REGISTERING or _registers(index, call, Spot(function, position))):
                    return f"registered by {call.last} at line {call.line}"
            if any("_modules" in target.text for target in event.targets):
                return f"written into _modules at line {event.line}"
    return ""


def _kept_elsewhere(collection: Collection) -> str:
    """What is appended to it has a name of its own, and goes into something else too: layers.extend([linear, nn.ReLU()])."""
    function = collection.spot.function
    appends = [call for event in function.events for call in event.calls if call.last in _FILLING]
    own = [
        call
        for call in appends
        if call.receiver is not None and call.receiver.text == f"{function.self_name}.{collection.name}"
    ]
    added = {part.text for call in own for part in call.arguments if part.kind == "path" and "." not in part.text}
    for call in appends:
        if call not in own and added & {part.text for part in call.walk() if part.kind == "path"}:
            return f"its members are kept in another collection at line {call.line} too"
    return ""


def _registers(index: Index, call: Expr, spot: Spot) -> bool:
    """It makes a module of the project that registers what it is given: ListModule(*self.layers)."""
    classes = [thing.kind for thing in index.objects.of(call, spot) if isinstance(thing, Instance)]
    inits = [index.method(one, "__init__") for one in classes if isinstance(one, Class) and is_module_class(index, one)]
    return any(
        inner.last in (*_ADDING, *_REGISTERING)
        for init in inits
        if init is not None
        for event in init.events
        for inner in event.calls
    )


def _handed_over(index: Index, cls: Class, name: str) -> str:
    """Its parameters are asked for by hand, most likely for the optimizer."""
    for function in _family_functions(index, cls):
        for event in function.events:
            if event.kind == "return" and function.name != "forward" and _is_handed(event.value, name):
                return f"{function.name}() hands it out at line {event.line}"
    for site in index.calls("parameters", "named_parameters", "add_param_group", *_OPTIMIZERS):
        function = site.function
        if function.owner == cls.qualname and function.name in ("__init__", "forward"):
            if any(call.last in _OPTIMIZERS for call in site.event.calls) and _mentions(site.event.value, name):
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


def _hidden(index: Index, collection: Collection) -> str:
    """Kept out of parameters() on purpose: a frozen teacher, or a comment that says so."""
    used = uses(index, collection.cls, collection.name)
    if all(index.values.is_without_grad(spot) for spot in used):
        return "used without gradients only"
    if _is_frozen(index, collection):
        return "frozen in its own class"
    if collection.name.startswith("_") and len(collection.value.parts) == 1 and collection.value.kind != "each":
        return "one module behind an underscore, hidden on purpose"
    text = index.repository.read(collection.cls.path) or ""
    lines = text.split("\n")[max(0, collection.spot.line - 4) : collection.spot.line]
    if not is_notebook(collection.cls.path) and _ON_PURPOSE.search("\n".join(lines)):
        return "a comment says that it is not to be registered"
    return ""


def _is_frozen(index: Index, collection: Collection) -> bool:
    """Wide: a method that speaks of it sets some requires_grad to False, or that of one of its members."""
    for function in _family_functions(index, collection.cls):
        if any(_freezes(event, collection.name) for event in function.events):
            return True
        if not any(loop.source is not None and _mentions(loop.source, collection.name) for loop in function.loops):
            continue
        for event in function.events:
            by_hand = event.value is not None and event.value.text == "False"
            if by_hand and any(target.last == "requires_grad" for target in event.targets):
                return True
            for call in event.calls:
                if call.last == "requires_grad_" and [part.text for part in call.arguments] == ["False"]:
                    return True
    return False


def _freezes(event: Event, name: str) -> bool:
    """self.filters[0].requires_grad_(False), self.filters[0].weight.requires_grad = False"""
    by_hand = event.value is not None and event.value.text == "False"
    frozen = [target.receiver for target in event.targets if by_hand and target.last == "requires_grad"]
    frozen += [
        call.receiver
        for call in event.calls
        if call.last == "requires_grad_" and [part.text for part in call.arguments] == ["False"]
    ]
    return any(_mentions(one, name) for one in frozen)


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
