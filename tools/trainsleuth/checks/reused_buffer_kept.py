"""A buffer that is filled again in each round is kept without a copy.

What goes into the queue or the list is the buffer itself, or a view of it, not its contents. By the time it is
read, the next round has overwritten it: all that was kept shows the last values, and a queue between threads or
processes hands out mixtures.

Fix: keep a copy: buffer.copy(), buffer.clone().

Cannot see: buffers filled inside libraries, copies made by the receiver.

Bad:
    import numpy as np

    def produce(stream, queue):
        buffer = np.empty((32, 128), dtype=np.float32)
        for frame in stream:
            buffer[:] = frame
            queue.put(buffer)

Bad (a view is kept, in a class):
    import torch

    class Recorder:
        def record(self, source, n):
            scratch = torch.zeros(8, 64)
            kept = []
            for i in range(n):
                scratch.copy_(source[i])
                kept.append(scratch.view(-1))
            return torch.stack(kept)

Good:
    import numpy as np

    def produce(stream, queue):
        buffer = np.empty((32, 128), dtype=np.float32)
        for frame in stream:
            buffer[:] = frame
            queue.put(buffer.copy())
            fresh = np.empty(3)
            fresh[:] = frame[0, :3]
            queue.put(fresh)

Good (a writer of the project's own, which copies what it is given):
    import numpy as np

    class Writer:
        def __init__(self):
            self.pages = np.zeros((9, 64))
            self.used = 0

        def append(self, rows):
            self.pages[self.used] = rows
            self.used += 1

    def write(batches):
        writer = Writer()
        buffer = np.empty(64)
        for batch in batches:
            buffer[:] = batch
            writer.append(buffer)
        return writer.pages
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, Index, Site, Spot, Target, called, is_test, reaching, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "reused-buffer-kept",
    "data",
    "error",
    "",
    suspects=("bad-data-values",),
    claims=("visualise-right-before-model",),
    look="keep two and compare them: they are the same memory when their data_ptr() is",
)
_KEEPING = ("put", "put_nowait", "append", "appendleft")
_VIEWS = (
    "view",
    "reshape",
    "from_numpy",
    "as_tensor",
    "asarray",
    "squeeze",
    "unsqueeze",
    "transpose",
    "permute",
    "T",
    "detach",
    "numpy",
    "flatten",
    "ravel",
    "cpu",
)
_MAKING = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "bytearray", "rand", "randn")
_FILLING = (
    "copy_",
    "fill_",
    "zero_",
    "normal_",
    "uniform_",
    "random_",
    "copyto",
    "readinto",
    "put_",
    "index_copy_",
    "fill",
    "recv_into",
)


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls(*_KEEPING):
        loops = site.event.block.loops
        if loops and len(site.call.arguments) == 1 and not is_test(site.function.path):
            kept = _buffer(site.call.arguments[0])
            if kept is not None and "." not in kept.text:
                finding = _examined(index, site, kept, loops)
                if finding is not None:
                    yield finding


def _buffer(given: Expr) -> Expr | None:
    """The name whose memory `given` shares; None when it is something of its own."""
    if given.kind == "path":
        head, _, last = given.text.rpartition(".")
        return Expr("path", head, (), given.line) if head and last == "T" else given
    if given.kind == "index" and all(part.kind == "slice" for part in given.parts[1:]):
        return _buffer(given.parts[0])
    if given.kind == "call" and given.last in _VIEWS:
        receiver = given.receiver
        if given.last in ("from_numpy", "as_tensor", "asarray"):
            return _buffer(given.arguments[0]) if given.arguments and not given.keyword("dtype") else None
        return _buffer(receiver) if receiver is not None else None
    return None


def _examined(index: Index, site: Site, kept: Expr, loops: tuple[int, ...]) -> Finding | None:
    """None when it is not a buffer that a loop fills: not a site."""
    function, path, line = site.function, site.function.path, site.call.line
    found, certain = reaching(function, kept.text, site.position)
    made = [b for b in found if b.kind == "assign"]
    others = [b for b in found if b.kind not in ("assign", "append", "augment")]
    if len(made) != 1 or others or not certain or made[0].value is None:
        return None
    event = function.events[made[0].position]
    if not _is_allocated(index, made[0].value, Spot(function, made[0].position)):
        return None
    outer = [n for n in loops if n not in event.block.loops]
    if outer and any(_is_replaced(e, kept.text) for e in function.events if outer[-1] in e.block.loops):
        return SAY.passed(path, line, f"{kept.text} is made anew in the loop")
    filled = [e for e in function.events if outer and outer[-1] in e.block.loops and _fills(e, kept.text)]
    if not filled:
        return SAY.passed(path, line, f"{kept.text} is not filled again in the loop")
    if any(isinstance(one, Target) for one in index.calling.targets(site.call, Spot(function, site.position))):
        return SAY.open(path, line, f"{written(site.call)} runs a method of the project, which may copy it")
    return _failure(function, site, kept.text, event, filled[0])


def _is_replaced(event: Event, name: str) -> bool:
    return event.kind == "assign" and any(target.text == name for target in event.targets)


def _is_allocated(index: Index, value: Expr, spot: Spot) -> bool:
    name = called(index, value, spot)
    return name.rpartition(".")[2] in _MAKING and name.startswith(("torch.", "numpy.", "builtins.bytearray"))


def _fills(event: Event, name: str) -> bool:
    """Writes into the memory of `name` in place."""
    for target in event.targets if event.kind in ("assign", "augment") else ():
        if target.kind == "index" and target.parts[0].text == name:
            return True
        if event.kind == "augment" and target.text == name:
            return True
    for call in event.calls:
        if call.last in _FILLING:
            receiver = call.receiver
            if receiver is not None and (
                receiver.text == name or (receiver.kind == "index" and receiver.parts[0].text == name)
            ):
                return True
            if call.arguments and call.arguments[0].text == name and call.last in ("copyto", "readinto", "recv_into"):
                return True
        out = call.keyword("out")
        if out is not None and out.text == name:
            return True
    return False


def _failure(function: Function, site: Site, name: str, made: Event, filled: Event) -> Finding:
    path, line = function.path, site.call.line
    chain = (
        Link(path, made.line, f"{name} is made once, before the loop"),
        Link(path, filled.line, f"each round writes into {name}"),
        Link(path, line, f"{written(site.call)} keeps the same memory"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} keeps {name}, which the loop overwrites at {path}:{filled.line}: all that is "
        "kept shares one memory; expected a copy."
    )
    return SAY.fail(path, line, message, chain)
