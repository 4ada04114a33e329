"""Answers kept with a function, or with an index, for as long as its facts live."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .records import Function

if TYPE_CHECKING:
    from .index import Index

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def kept_per_function(
    ask: Callable[Concatenate[Function, Arguments], Answer],
) -> Callable[Concatenate[Function, Arguments], Answer]:
    """Like functools.cache, by positional arguments, but a server that drops an index drops the answers with it."""
    return _kept(ask)


def kept_per_index(
    ask: Callable[Concatenate[Index, Arguments], Answer],
) -> Callable[Concatenate[Index, Arguments], Answer]:
    """The same for what is asked of a whole index."""
    return _kept(ask)


def _kept(ask: Callable[..., Any]) -> Callable[..., Any]:
    place = f"_kept_{ask.__name__}"

    def one(holder: object) -> Any:
        kept = holder.__dict__
        if place not in kept:
            kept[place] = ask(holder)
        return kept[place]

    if ask.__code__.co_argcount == 1:
        return one

    def answer(holder: object, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return holder.__dict__[place][args]
        except KeyError:
            found = holder.__dict__.setdefault(place, {})[args] = ask(holder, *args, **kwargs)
            return found

    answer.__doc__ = ask.__doc__
    return answer
