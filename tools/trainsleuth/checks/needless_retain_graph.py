"""The graph is kept after the only backward pass of a round.

retain_graph=True keeps all that was saved for the backward pass. With one backward per round nothing reads it
again, unless the graph reaches back into earlier rounds: then each round differentiates through all before it,
slower and larger every time.

Question to answer: does anything go backward through the same graph twice, or is a state carried from round to
round that should be detached?

Fix: leave it out; detach what is carried over.

Cannot see: second passes inside functions that are not resolved.

Bad:
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward(retain_graph=True)
            optimizer.step()

Bad (a state that is not detached):
    import torch

    def train(rnn, head, loader):
        optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
        hidden = torch.zeros(1, 8, 16)
        for x, y in loader:
            out, hidden = rnn(x, hidden)
            loss = torch.nn.functional.mse_loss(head(out), y)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()

Good:
    import torch

    def train(model, opt_a, opt_b, loader):
        for x, y in loader:
            out = model(x)
            first, second = out.mean(), out.std()
            opt_a.zero_grad()
            first.backward(retain_graph=True)
            opt_a.step()
            opt_b.zero_grad()
            second.backward()
            opt_b.step()
"""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Index, Site, Spot, is_test, loops_around, surroundings, written
from trainsleuth.finding import Finding, Link

from ._verdicts import Verdicts

SAY = Verdicts(
    "needless-retain-graph",
    "training-procedure",
    "note",
    "step_trace",
    suspects=("another-loop-fault",),
    claims=("keep-history-memory-leak",),
)
_AGAIN = ("grad", "backward", "gradient_penalty", "jacobian", "hessian")


def check(index: Index) -> Iterator[Finding]:
    for site in index.calls("backward"):
        given = site.call.keyword("retain_graph")
        if given is not None and given.text == "True" and not is_test(site.function.path):
            yield _examined(index, site)


def _examined(index: Index, site: Site) -> Finding:
    path, line = site.function.path, site.call.line
    found = list(surroundings(index, Spot(site.function, site.position), site.call, "step"))
    others = [call for event in site.function.events for call in event.calls if call.last in _AGAIN]
    in_loops = [call for around in found for e in around.effects if e.kind == "backward" for call in (e.expr,)]
    if any(call is not site.call for call in (*others, *in_loops)):
        return SAY.passed(path, line, "another backward pass may use the graph")
    loops = list(loops_around(index, site.function, site.position))
    if not found or not loops or len(site.event.block.loops) > 2:
        return SAY.open(path, line, "the loop that goes backward was not found")
    function, loop = loops[0]
    if loop.target is not None and function is site.function and _is_of_round(site, loop.target):
        return SAY.passed(path, line, "the rounds go over losses, which may share a graph")
    chain = (
        Link(function.path, loop.line, "each round goes backward once"),
        Link(path, line, f"{written(site.call)} keeps the graph"),
    )
    message = (
        f"{written(site.call)} at {path}:{line} keeps the graph, and nothing else in the round goes backward: is a state "
        "carried over that should be detached? Expected no retain_graph."
    )
    return SAY.fail(path, line, message, chain, "medium")


def _is_of_round(site: Site, target: Expr) -> bool:
    """for loss in losses: loss.backward(retain_graph=True)"""
    receiver = site.call.receiver
    return receiver is not None and any(part.kind == "path" and part.text == receiver.text for part in target.walk())
