"""Answers about a repository, kept for as long as the files that they were made from stay the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from .cache import code_digest, digest, open_cache
from .repository import Repository, Seen

Answer = TypeVar("Answer")


class _Kept(msgspec.Struct, array_like=True):
    seen: Seen
    answer: msgspec.Raw


def answered(
    repository: Repository, question: tuple[Any, ...], kind: type[Answer], answer: Callable[[], Answer]
) -> Answer:
    """`answer()`, or what it gave before when every file that it read, and the list of files, are as they were.

    `question` names what is asked, with all arguments. `repository` must be fresh: what was read of it before is not
    known to belong to the answer.
    """
    cache = open_cache()
    key = digest(code_digest(), os.fsencode(repository.root), repr((kind.__name__, *question)).encode())
    stored = cache.get([key]).get(key)
    if stored is not None:
        try:
            kept = msgspec.msgpack.decode(stored, type=_Kept)
            if repository.is_as_seen(kept.seen):
                return msgspec.msgpack.decode(kept.answer, type=kind)
        except msgspec.DecodeError:
            pass  # damaged, or not ours
    given = answer()
    raw = msgspec.Raw(msgspec.msgpack.encode(given))
    cache.put({key: msgspec.msgpack.encode(_Kept(repository.seen(), raw))})
    return given
