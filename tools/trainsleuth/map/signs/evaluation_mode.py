"""Where a network is put into evaluation mode to be evaluated, and not only kept frozen."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Event, Expr, Function, is_eval

_SWITCHES = ("train", "eval", "to", "cuda", "cpu", "requires_grad_", "parameters", "state_dict", "load_state_dict")


def is_switched(function: Function) -> bool:
    """It calls model.eval(), or model.train(False)."""
    return any(True for _ in _switched(function))


def is_evaluated(function: Function, backward: int) -> bool:
    """In a function that trains, on line `backward`: from a loop, or after the training, and the network is asked something after it.

    ema.eval() and teacher.eval() before the loop keep a network frozen, model.eval() at the end evaluates nothing.
    """
    return any(
        (event.block.loops or event.line > backward) and _is_asked(function, network.text, event)
        for event, network in _switched(function)
    )


def _switched(function: Function) -> Iterator[tuple[Event, Expr]]:
    for event in function.events:
        for call in event.calls:
            if call.receiver is not None and is_eval(call):
                yield event, call.receiver


def _is_asked(function: Function, network: str, switch: Event) -> bool:
    """It is called or handed to something after `switch`, or anywhere in the loop around it."""
    around = set(switch.block.loops[-1:])
    for event in function.events:
        if event.line > switch.line or around & set(event.block.loops):
            if any(_asks(call, network) for call in event.calls):
                return True
    return False


def _asks(call: Expr, network: str) -> bool:
    """model(x), model.generate(x), evaluate(model), evaluate(net=model)"""
    if call.receiver is not None and call.receiver.text == network:
        return call.last not in _SWITCHES
    given = (part.parts[0] if part.kind == "keyword" else part for part in call.parts[1:])
    return call.callee == network or any(one.kind == "path" and one.text == network for one in given)
