"""Options that click hands to the function below them: @click.option("--lr", default=0.1), "--pretrained/--random"."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.facts import Expr, Function, plain_name


def clicked(function: Function) -> Iterator[Expr]:
    """The decorators that define one each."""
    for decorator in function.decorators:
        if decorator.kind == "call" and decorator.last in ("option", "argument") and decorator.arguments:
            yield decorator


def flags_of(call: Expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags that give the option, and those behind a slash that switch it off."""
    written = [part.text for part in call.arguments if part.kind == "string"]
    halves = [one.partition("/") if one.startswith("-") else (one, "", "") for one in written]
    return tuple(on.strip() for on, _, _ in halves), tuple(off.strip() for _, _, off in halves if off)


def is_option_of(function: Function, name: str) -> bool:
    """A parameter that the command line fills."""
    if function.parameter(name) is None:
        return False
    given = (plain_name(flag) for one in clicked(function) for flag in flags_of(one)[0])
    return name in given
