"""A method takes a mask, or the lengths of its sequences, and never reads it, while its sisters do.

The score of the right tags of a CRF leaves padding out and the sum over all paths runs through it: the two belong to different
sequences, and the loss is larger the more padding a batch has. The program runs, since whoever calls the method still gives the mask.

Question to answer: is the mask left out on purpose there?

Fix: use it there as its sisters do, or leave it out of the parameters.

Cannot see: functions outside of classes, masks that are read for another purpose, a method that another class has under the same name
with the same parameter (an interface may demand it).

Bad:
    import torch
    from torch import nn

    class CRF(nn.Module):
        def loss(self, features, tags, masks):
            return (self.partition(features, masks) - self.gold(features, tags, masks)).mean()

        def gold(self, features, tags, masks):
            return (features.gather(2, tags.unsqueeze(2)).squeeze(2) * masks).sum(1)

        def partition(self, features, masks):
            scores = features[:, 0]
            for t in range(1, features.shape[1]):
                scores = torch.logsumexp(scores.unsqueeze(1) + features[:, t].unsqueeze(2), 2)
            return torch.logsumexp(scores, 1)

Good:
    import torch
    from torch import nn

    class CRF(nn.Module):
        def loss(self, features, tags, masks):
            return (self.partition(features, masks) - self.gold(features, tags, masks)).mean()

        def gold(self, features, tags, masks):
            return (features.gather(2, tags.unsqueeze(2)).squeeze(2) * masks).sum(1)

        def partition(self, features, masks):
            scores = features[:, 0]
            for t in range(1, features.shape[1]):
                after = torch.logsumexp(scores.unsqueeze(1) + features[:, t].unsqueeze(2), 2)
                scores = torch.where(masks[:, t : t + 1], after, scores)
            return torch.logsumexp(scores, 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import Class, Expr, Function, Index, is_test
from trainsleuth.finding import Finding, Link

from ._uses import is_named
from ._verdicts import Verdicts

SAY = Verdicts(
    "mask-left-unread",
    "architecture",
    "warning",
    "",
    suspects=("another-model-fault",),
    claims=("padding-counted-as-correct",),
    look="add columns of padding to a batch: the result is to stay the same",
)
_TAKES = re.compile(rb"def \w+\([^)]*\b(?:\w+_)?(?:mask|masks|lengths|lens)\b")
_MASK = re.compile(r"(?:^|_)(?:masks?|lengths|lens)$")
_ALL_NAMES = frozenset({"locals", "vars", "eval", "exec"})
_OVER_PLACES = frozenset(
    {"sum", "mean", "max", "softmax", "log_softmax", "logsumexp", "cumsum", "cross_entropy", "nll_loss"}
)


def check(index: Index) -> Iterator[Finding]:
    for path in sorted({function.path for function in index.functions_holding(_TAKES)}):
        if not is_test(path):
            for cls in index.files[path].classes.values():
                yield from _of(index, cls)


def _of(index: Index, cls: Class) -> Iterator[Finding]:
    for method in cls.methods.values():
        for parameter in method.parameters:
            if parameter.kind or parameter.default is not None or not _MASK.search(parameter.name):
                continue
            sister = _sister(index, cls, method, parameter.name)
            if sister is None or _is_demanded(index, cls, method, parameter.name):
                continue
            if _is_read(index, method, parameter.name):
                yield SAY.passed(method.path, method.line, f"{method.name} reads {parameter.name}")
            elif _goes_over_places(method) and (site := _giver(index, method, parameter.name)) is not None:
                yield _failure(method, parameter.name, sister, *site)


def _sister(index: Index, cls: Class, method: Function, name: str) -> Function | None:
    """Another method that takes it and reads it."""
    for other in cls.methods.values():
        if other is not method and other.parameter(name) is not None and _is_read(index, other, name):
            if _goes_over_places(other):
                return other
    return None


def _is_read(index: Index, method: Function, name: str) -> bool:
    """It stands in the body, or in that of a function within; in comments and documentation alone it does not count."""
    within = (one for one in index.files[method.path].functions.values() if one.outer == method.qualname)
    return not _ALL_NAMES.isdisjoint(method.called) or any(is_named(one, name) for one in (method, *within))


def _goes_over_places(method: Function) -> bool:
    """It loops, or sums, or takes a maximum: what padding holds counts."""
    return bool(method.loops) or not _OVER_PLACES.isdisjoint(method.called)


def _is_demanded(index: Index, cls: Class, method: Function, name: str) -> bool:
    """Another class has such a method with this parameter, or a library may."""
    if method.decorators or (index.external_bases(cls) and method.name in ("forward", "__call__")):
        return True
    word = re.compile(rb"def %s\(" % re.escape(method.name.encode()))
    others = (
        other
        for path in sorted({function.path for function in index.functions_holding(word)})
        for known in index.files[path].classes.values()
        if known is not cls and (other := known.methods.get(method.name)) is not None
    )
    return any(other.parameter(name) is not None for other in others)


def _giver(index: Index, method: Function, name: str) -> tuple[Function, Expr] | None:
    """A call of it by self that gives it something."""
    for site in index.calls(method.name):
        owner, _, _ = site.call.callee.rpartition(".")
        if site.function.path != method.path or owner != site.function.self_name:
            continue
        given = index.flow.given(method, site.call, name, True)
        if given is not None and given.text != "None":
            return site.function, site.call
    return None


def _failure(method: Function, name: str, sister: Function, giver: Function, call: Expr) -> Finding:
    path = method.path
    chain = (
        Link(path, sister.line, f"{sister.name} takes {name} and reads it"),
        Link(giver.path, call.line, f"{name} is given to {method.name}"),
        Link(path, method.line, f"{method.name} takes {name} and never reads it"),
    )
    message = (
        f"{method.name} at {path}:{method.line} takes {name}, which {path}:{call.line} gives it, and never reads it, as {sister.name} at line {sister.line} "
        f"does: is what {name} hides to count there?"
    )
    return SAY.fail(path, method.line, message, chain, "medium")
