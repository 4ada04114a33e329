"""Do two processes hold the same data set? A code of what an object holds, without asking it for an item.

The same in each process for equal values. None where something cannot be looked into, or where the code of its class
speaks of ranks: then each process may well give out a share of its own.
"""

import enum
import hashlib
import inspect
import os
import re
import types

MOST = 20_000  # values that are looked at
SOME = 500  # of a longer list
DEEP = 6
ELEMENTS = 64  # of a tensor or an array
PLAIN = (str, bytes, int, float, complex, bool, type(None), os.PathLike, slice, range, enum.Enum)
OF_RANKS = re.compile(
    r"(^|_)(rank|ranks|world|replica|replicas|shard|shards|num_processes|process_index|worker_info)(_|$)", re.IGNORECASE
)


DRAWS = re.compile(r"^(?:rand\w*|choice|sample|uniform|normal|permutation|shuffle|integers|generator|rng|_rng)$")


class OpaqueError(Exception):
    pass


def code(thing):
    """16 hex digits, or None."""
    digest = hashlib.blake2b(digest_size=8)
    try:
        if not callable(getattr(type(thing), "__getitem__", None)):
            return None
        _Reader(digest).read(thing, DEEP)
    except Exception:  # attributes may be anything
        return None
    return digest.hexdigest()


class _Reader:
    def __init__(self, digest):
        self.digest, self.left, self.known = digest, MOST, {}

    def read(self, thing, depth):
        self.left -= 1
        if self.left < 0 or depth < 0:
            raise OpaqueError
        if isinstance(thing, PLAIN):
            self._put(thing)
        elif id(thing) in self.known:
            self._put("again", self.known[id(thing)])
        else:
            self.known[id(thing)] = len(self.known)
            self._into(thing, depth)

    def _put(self, *values):
        self.digest.update(("%r;" % (values,)).encode("utf-8", "replace"))

    def _into(self, thing, depth):
        if isinstance(thing, (list, tuple)):
            self._put(type(thing).__name__, len(thing))
            for one in thing[:: 1 + len(thing) // SOME]:
                self.read(one, depth - 1)
        elif isinstance(thing, dict):
            self._put("dict", len(thing))
            for key in list(thing)[:: 1 + len(thing) // SOME]:
                self.read(key, depth - 1)
                self.read(thing[key], depth - 1)
        elif hasattr(thing, "reshape") and hasattr(thing, "dtype") and hasattr(thing, "shape"):
            self._values(thing)
        elif not _is_behaviour(thing):
            self._object(thing, depth)

    def _values(self, array):
        if not _is_in_a_row(array):
            raise OpaqueError  # to flatten it would copy all of it
        flat = array.reshape(-1)
        self._put(str(array.dtype), tuple(array.shape), flat[:: 1 + len(flat) // ELEMENTS].tolist())

    def _object(self, thing, depth):
        held = getattr(thing, "__dict__", None)
        if (
            held is None
            or any(map(speaks_of_ranks, _functions(type(thing))))
            or draws(getattr(type(thing), "__getitem__", None))
            or any(map(OF_RANKS.search, map(str, held)))
        ):
            raise OpaqueError
        self._put(type(thing).__name__, sorted(map(str, held)))
        for name in sorted(held, key=str):
            self.read(held[name], depth - 1)


def _is_in_a_row(array):
    if hasattr(array, "is_contiguous"):
        return array.is_contiguous()
    return bool(getattr(getattr(array, "flags", None), "c_contiguous", False))


def _is_behaviour(thing):
    """What an item is made with, not made of: functions, classes, transforms."""
    return callable(thing) or isinstance(thing, types.ModuleType)


def _functions(cls):
    for owner in cls.__mro__[:-1]:
        for value in vars(owner).values():
            yield getattr(value, "fget", None) or value


def draws(function):
    """An example is drawn anew, and may be another one in each process."""
    return any(map(DRAWS.search, _names(function)))


def speaks_of_ranks(function):
    """By the names in its code; not known of what is no function of Python."""
    return any(map(OF_RANKS.search, _names(function)))


def _names(function):
    function = inspect.unwrap(getattr(function, "__func__", function))
    code_of = getattr(function, "__code__", None)
    return getattr(code_of, "co_names", ())
