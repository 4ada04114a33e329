"""Answers kept with a function for as long as its facts live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from .records import Function

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def kept_per_function(
    ask: Callable[Concatenate[Function, Arguments], Answer],
) -> Callable[Concatenate[Function, Arguments], Answer]:
    """Like functools.cache, by positional arguments, but a server that drops an index drops the answers with it."""
    place = f"_kept_{ask.__name__}"

    def one(function: Function) -> Answer:
        kept = function.__dict__
        if place not in kept:
            kept[place] = ask(function)  # type: ignore[call-arg]
        return kept[place]  # type: ignore[no-any-return]

    if ask.__code__.co_argcount == 1:
        return one  # type: ignore[return-value]

    def answer(function: Function, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            return function.__dict__[place][args]  # type: ignore[no-any-return]
        except KeyError:
            found = function.__dict__.setdefault(place, {})[args] = ask(function, *args, **kwargs)
            return found

    answer.__doc__ = ask.__doc__
    return answer
