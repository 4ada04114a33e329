"""A call gives a function of the project a value under the name of another of its parameters.

train(epoch, loader, net, opt.alpha, margin) where it is train(epoch, loader, net, margin, alpha): both are numbers, nothing complains, and the margin is
the weight of a term. The names say where each value belongs: the caller's alpha is given to margin, and alpha gets
something else.

The same with names: fit(net, train_loader=train_loader, val_loader=train_loader), while a val_loader is there.

Question to answer: is the order of the call meant?

Fix: the order of the definition, or names in the call: alpha=opt.alpha.

Cannot see: functions of libraries, values without names, calls with stars.

Bad:
    def hinge(scores, labels, margin, alpha):
        apart = (margin - scores * labels).clamp(min=0).mean()
        return apart + alpha * scores.abs().mean()

    def train(net, loader, optimizer, args):
        for x, y in loader:
            loss = hinge(net(x), y, args.alpha, args.margin)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

Good:
    def hinge(scores, labels, margin, alpha):
        apart = (margin - scores * labels).clamp(min=0).mean()
        return apart + alpha * scores.abs().mean()

    def train(net, loader, optimizer, args):
        for x, y in loader:
            loss = hinge(net(x), y, args.margin, args.alpha)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from trainsleuth.facts import MODULE_BODY, Class, Expr, Function, Index, Site, is_test, written
from trainsleuth.facts.reading.scopes import own_names
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "arguments-out-of-order",
    "training-procedure",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="write the call with names, and see whether the program does the same",
    forms={
        "exchanged": "two arguments under each other's names",
        "moved": "one argument under another's name",
        "part": "the training data under the name of other data, which are there",
    },
)
_PART = re.compile(
    b"|".join(rb"\b%s\w*\s*=\s*tr(?:ain)?\w*\s*[,)]" % word for word in (b"val", b"dev", b"test", b"eval"))
)
_JUDGED, _TRAINED = re.compile(r"^(?:val|valid|dev|test|eval)(?:idation)?(?:_|$)"), re.compile(r"^tr(?:ain)?(?:ing)?_")
_TRAINS = (re.compile(rb"backward\("), re.compile(rb"import torch"))
_SIDES = re.compile(  # short names, and pairs that are often given both ways on purpose
    r"^.{1,2}$|(?:^|_)(?:left|right|first|second|start|end|src|dst|source|target|row|col|width|height|low|high|min|max|lower|upper|old|new|prev|next|from|to|in|"
    r"out|true|false|real|fake|pos|neg|anchor|query|key|value|one|other|train|test|val|head|tail|parent|child|before|after|input|output|lhs|rhs|preds?|labels?|"
    r"logits?|dims?|channels?|features?|ch|width|sizes?|gt|truth|outputs?|targets?|prediction|y|x|a|b|chin|chout|cin|cout)(?:_|\d|$)",
    re.IGNORECASE,
)


def check(index: Index) -> Iterator[Finding]:
    if not index.is_held(*_TRAINS):
        return
    named: dict[str, list[Function]] = {}
    for function in index.functions():
        if function.name != MODULE_BODY and _can_be_mixed_up(function) and not is_test(function.path):
            called = (
                function.owner.rpartition(".")[2] if function.name == "__init__" and function.owner else function.name
            )
            named.setdefault(called, []).append(function)
    for site in index.calls(*named):
        if len(site.call.arguments) > 1 and not is_test(site.function.path):
            own = named[site.call.last]
            if len(own) == 1 and (found := _misplaced(own[0], site.call)) and _runs(index, site, own[0]):
                if _is_called_both_ways(site, own[0]):
                    yield SAY.passed(
                        site.function.path, site.call.line, f"{site.call.last} is called in both orders there"
                    )
                else:
                    yield _examined(site, own[0], *found)
    for function in index.functions_holding(_PART):
        if not is_test(function.path):
            yield from _other_parts(function)


def _other_parts(function: Function) -> Iterator[Finding]:
    """train(train_loader=train_loader, val_loader=train_loader), in a function that has a val_loader."""
    path, own = function.path, own_names(function)
    for call in (call for event in function.events for call in event.calls):
        given = [(part.text, part.parts[0]) for part in call.parts[1:] if part.kind == "keyword"]
        others = [*call.arguments, *(value for _, value in given)]
        for name, value in given:
            if value.kind != "path" or not _JUDGED.search(name):
                continue
            if value.text == name:
                yield SAY.passed(path, call.line, f"{name} is given {name}")
            elif _TRAINED.search(value.text) and name in own and [one.text for one in others].count(value.text) > 1:
                message = f"{written(call)} at {path}:{call.line} gives {value.text} as {name}, beside itself, though {name} is there: is {name}={name} meant?"
                chain = (Link(path, value.line, f"{name}={value.text}"),)
                yield SAY.fail(path, value.line, message, chain, "medium", form="part")


def _can_be_mixed_up(function: Function) -> bool:
    """Two of its parameters at least have names that tell."""
    return len(function.parameters) > 1 and sum(map(_tells, _names(function))) > 1


@cache
def _tells(name: str) -> bool:
    return not _SIDES.search(name)


def _names(function: Function) -> list[str]:
    """Of the parameters that are given by place, without self."""
    plain = [one.name for one in function.parameters if not one.kind and not one.keyword_only]
    return plain[1:] if function.self_name and plain[:1] == [function.self_name] else plain


def _misplaced(function: Function, call: Expr) -> tuple[str, str, str] | None:
    """(form, name, parameter that gets it): a value that is named as one parameter and given to another, whose own gets another thing."""
    names, given = _names(function), call.arguments
    if any(part.kind == "star" for part in given) or len(given) > len(names):
        return None
    called = [part.last if part.kind == "path" else "" for part in given]
    for place, name in enumerate(called):
        if not name or name == names[place] or name not in names or not _tells(name) or called.count(name) > 1:
            continue
        home = names.index(name)
        instead = called[home] if home < len(called) else ""
        if home >= len(called) or instead == name or (names[place] in called and called.index(names[place]) != home):
            continue
        if instead == names[place]:
            return "exchanged", name, names[place]
        held = {part.last for part in given[home].walk() if part.kind == "path"}
        is_plain = given[home].kind in ("number", "binary", "unary", "path", "constant")
        if not instead and is_plain and name not in held and (len(names[place]) < 3 or not _SIDES.search(names[place])):
            return "moved", name, names[place]
    return None


def _is_called_both_ways(site: Site, function: Function) -> bool:
    """f(a, b) + f(b, a), or a layer down and one up again."""
    calls = (
        call
        for event in site.function.events
        for call in event.calls
        if call.last == site.call.last and call is not site.call
    )
    names = _names(function)
    mine = [part.last for part in site.call.arguments]
    for call in calls:
        its = [part.last for part in call.arguments]
        if its[:2] == mine[1::-1] or sum(one == name for one, name in zip(its, names, strict=False)) > 1:
            return True
    return False


def _runs(index: Index, site: Site, function: Function) -> bool:
    symbol = index.resolve(site.function, site.call.callee) if site.call.callee else None
    if isinstance(symbol, Class):
        return function.name == "__init__" and index.class_of(function) is symbol
    return symbol is function and site.function is not function


def _examined(site: Site, function: Function, form: str, name: str, parameter: str) -> Finding:
    path, line = site.function.path, site.call.line
    said = f"{function.name}({', '.join(_names(function))})"
    message = (
        f"{written(site.call)} at {path}:{line} gives {name} to the parameter {parameter} of {said}, and {name} itself gets something else: is the order "
        "of the call meant?"
    )
    chain = (Link(function.path, function.line, said), Link(path, line, f"{name} is given to {parameter}"))
    return SAY.fail(path, line, message, chain, "medium", form=form)
