"""What a call gives back is dropped, and the call does nothing else.

x.clamp(0, 1), F.normalize(x), np.append(rows, row), frame.dropna() leave what they are given as it is and give a new one. Written as a
statement they do nothing: the pixels stay out of range, the vectors keep their length, the rows with holes stay in. So does a shuffle of
a copy that was made for it: random.shuffle(list(files)).

Fix: x = x.clamp(0, 1), or the form that works in place, x.clamp_(0, 1).

Cannot see: methods that the project or a library has under the same name, results that are dropped later on; cells of notebooks, which show their
last line.

Bad:
    import torch

    def denoise(net, x, steps):
        for t in reversed(range(steps)):
            x = net(x, t)
            x.clamp(-1, 1)
        return x

Bad (a function):
    import torch.nn.functional as F

    def embed(net, images):
        features = net(images)
        F.normalize(features, dim=-1)
        return features

Bad (a copy is shuffled):
    import random

    def split(files, share):
        random.shuffle(list(files))
        edge = int(share * len(files))
        return files[:edge], files[edge:]

Good:
    import torch

    def denoise(net, x, steps):
        for t in reversed(range(steps)):
            x = net(x, t)
            x = x.clamp(-1, 1)
        return x

Good (in place):
    import random
    import torch

    def prepare(x, files):
        x.clamp_(-1, 1)
        torch.relu_(x)
        random.shuffle(files)
        return x, files
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Expr, External, Index, Module, Site, is_test, written
from trainsleuth.finding import Finding, Link
from trainsleuth.repository import is_notebook

from ._verdicts import Verdicts

SAY = Verdicts(
    "result-dropped",
    "data",
    "warning",
    "",
    suspects=("another-loop-fault",),
    claims=("fails-silently",),
    look="print what it is given before and after the line",
    forms={"values": "other values", "shape": "another shape or type alone", "copy": "a copy that is shuffled"},
    sure=("values", "copy"),
)
_OF_SHAPE = frozenset([  # where it mattered the program would mostly stop
    "squeeze", "unsqueeze", "permute", "contiguous", "type_as", "view", "reshape", "transpose", "astype", "flatten", "expand_dims", "reset_index",
])  # fmt: skip
_METHODS = frozenset([
    "clamp", "squeeze", "unsqueeze", "permute", "masked_fill", "contiguous", "nan_to_num", "softmax", "log_softmax", "type_as", "view", "reshape",
    "transpose", "astype", "dropna", "fillna", "drop_duplicates", "reset_index", "sort_values", "remove_columns", "rename_column", "cast_column",
])  # fmt: skip
_OF_TORCH = frozenset([
    "clamp", "clip", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "normalize", "dropout", "squeeze", "unsqueeze", "flatten", "reshape",
    "transpose", "permute", "nan_to_num", "where", "cat", "concat", "stack", "roll", "flip", "abs", "sqrt", "masked_fill", "interpolate", "pad",
    "one_hot", "layer_norm",
])  # fmt: skip
_OF_NUMPY = frozenset([
    "clip", "sort", "append", "concatenate", "vstack", "hstack", "expand_dims", "squeeze", "transpose", "reshape", "delete", "insert", "flip", "roll",
    "permutation", "nan_to_num", "abs", "unique", "where",
])  # fmt: skip
_OF_PYTHON = frozenset(["sorted", "reversed"])
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")
_COPYING = ("list", "sorted", "tolist", "copy", "deepcopy")
_IN_PLACE = ("out", "inplace", "inPlace", "copy")
# behind it stands what it writes to, or that it works in place
_MOST_GIVEN = {"clip": 3, "relu": 1, "dropout": 3, "abs": 1, "sqrt": 1, "nan_to_num": 1, "concatenate": 2}
# something; dot.view() shows a graph
_NEEDS = frozenset(["view", "reshape", "permute", "transpose", "clamp", "masked_fill", "astype", "type_as"])
_TIMES = re.compile(r"bench|time|timing|profil|warm|speed|latency|trace", re.IGNORECASE)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*(_METHODS | _OF_TORCH | _OF_NUMPY | _OF_PYTHON), "shuffle"):
        if site.event.kind == "expression" and site.event.value is site.call and not _is_shown_or_tried(site):
            if (finding := _examined(index, site)) is not None:
                yield finding


def _is_shown_or_tried(site: Site) -> bool:
    """A cell of a notebook shows its last line; what is timed or tested is called for its own sake."""
    function = site.function
    is_cell = function.name == MODULE_BODY and is_notebook(function.path)
    soon = function.events[site.position + 1 : site.position + 4]
    arms = [arm for one in soon for arm in one.block.branches if arm.kind == "try"]
    is_tried = any(arm not in site.event.block.branches for arm in arms)
    return (
        is_cell or is_tried or is_test(function.path) or _TIMES.search(f"{function.path} {function.name}") is not None
    )


def _examined(index: Index, site: Site) -> Finding | None:
    call, path, line = site.call, site.function.path, site.call.line
    if any(call.keyword(name) is not None for name in _IN_PLACE) or any(
        part.kind == "doublestar" for part in call.parts
    ):
        return None
    if call.last == "shuffle":
        return _shuffled(index, site)
    if len(call.arguments) > _MOST_GIVEN.get(call.last, len(call.arguments)):
        return None
    subject = _works_on(index, site)
    if subject is None:
        return None
    form = "shape" if call.last in _OF_SHAPE else "values"
    message = (
        f"{written(call)} at {path}:{line} gives back something new, which nothing takes, and leaves {written(subject)} as it is: the line does "
        f"nothing. Is {written(subject)} = {written(call)} meant?"
    )
    return SAY.fail(path, line, message, (Link(path, line, "what it gives back is dropped"),), form=form)


def _works_on(index: Index, site: Site) -> Expr | None:
    """What it is given; None for what may be another function or method."""
    call, receiver = site.call, site.call.receiver
    symbol = index.resolve(site.function, call.callee) if call.callee else None
    if isinstance(symbol, External):
        head = symbol.name.partition(".")[0]
        known = {"torch": _OF_TORCH, "numpy": _OF_NUMPY, "builtins": _OF_PYTHON}.get(head, frozenset())
        is_function = call.last in known and bool(call.arguments)
        return call.arguments[0] if is_function else None
    if (
        receiver is None
        or call.last not in _METHODS
        or (call.last in _NEEDS and len(call.parts) == 1)
        or any(True for _ in index.functions_named(call.last))
    ):
        return None
    is_value = receiver.kind in ("path", "index") and not isinstance(
        index.resolve(site.function, receiver.text) if receiver.kind == "path" else None, External | Module
    )
    return receiver if is_value else None


def _shuffled(index: Index, site: Site) -> Finding | None:
    """random.shuffle(list(files)): of a copy that has no name."""
    call, path, line = site.call, site.function.path, site.call.line
    symbol = index.resolve(site.function, call.callee) if call.callee else None
    given = call.argument(0)
    if not isinstance(symbol, External) or symbol.name not in _SHUFFLES or given is None:
        return None
    if given.kind != "call" or given.last not in _COPYING:
        return SAY.passed(path, line, f"{written(given)} itself is shuffled")
    message = f"{written(call)} at {path}:{line} shuffles a copy that nothing keeps, so nothing is shuffled. Is the copy to be given a name first?"
    return SAY.fail(path, line, message, (Link(path, line, "the copy is dropped"),), form="copy")
