"""What the seeds are made of that workers get: does one differ between them, and between epochs?"""

from __future__ import annotations

import re

from ..records import Expr, Function
from .seeding import Seeding

_FIXED = re.compile(r"seed|rank|worker|(^|_)(wid|id|w|x|i|idx|_)$", re.I)
_OF_PROCESS = ("get_rank", "get_world_size", "get_local_rank", "int")
_PER_WORKER = ("worker", "initial_seed", "get_worker_info", "seed_all", "getpid", "urandom", "time", "randint")


def is_same_each_epoch(seeding: Seeding) -> bool:
    """By what it is made of: numbers, the worker's id, ranks and names of seeds, or the first word of numpy's state."""
    return _is_same(seeding.seed, seeding.function)


def _is_same(seed: Expr, own: Function | None) -> bool:
    if seed.kind == "path":
        given = _given(seed, own)
        return all(_is_same(one, None) for one in given) if given else bool(_FIXED.search(seed.last))
    if seed.kind == "call":
        return seed.last in _OF_PROCESS and all(_is_same(part, own) for part in seed.parts[1:])
    if seed.kind in ("binary", "unary", "keyword"):
        return all(_is_same(part, own) for part in seed.parts)
    return seed.kind == "number" or (seed.kind == "index" and is_of_numpy_state(seed))


def is_of_worker(seeding: Seeding) -> bool:
    """The worker's id goes into it."""
    inside = [part for part in seeding.seed.walk() if part.kind == "path"]
    behind = [part for name in inside for one in _given(name, seeding.function) for part in one.walk()]
    return any(part.text in seeding.parameters or is_of_numpy_state(part) for part in (seeding.seed, *inside, *behind))


def is_one_for_all(seeding: Seeding) -> bool:
    """Neither the worker's id nor anything computed in the function goes into the seed."""
    events = seeding.function.events if seeding.function is not None else ()
    computed = {target.text for event in events for target in event.targets}
    return not _varies(seeding.seed, {*seeding.parameters, *computed})


def _varies(seed: Expr, own: set[str]) -> bool:
    return any(
        part.kind == "path" and (part.text.partition(".")[0] in own or any(w in part.text.lower() for w in _PER_WORKER))
        for part in seed.walk()
    )


def is_of_numpy_state(seed: Expr) -> bool:
    """np.random.get_state()[1][0] goes into it."""
    return any(part.callee in ("np.random.get_state", "numpy.random.get_state") for part in seed.walk())


def _given(name: Expr, own: Function | None) -> list[Expr]:
    """What `own` makes the name, or what it is an attribute of, from."""
    names = (name.text, name.text.partition(".")[0])
    events = own.events if own is not None else ()
    return [e.value for e in events if e.value is not None and any(t.text in names for t in e.targets)]
