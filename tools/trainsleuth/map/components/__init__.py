"""The ten components of a training repository, one file each, found by being in this folder.

A component has `places(program)`, which yields every line that plays its part with a role and a score:
how strong the sign is (1 the strongest) times the weight of the function it stands in.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from ..program import Program
from ..records import COMPONENTS, Place


def places_of(name: str) -> Callable[[Program], Iterator[Place]]:
    """The function of one component. KeyError when there is none of that name."""
    if name not in COMPONENTS:
        raise KeyError(f"{name!r} is not a component; there are {', '.join(COMPONENTS)}")
    module = importlib.import_module(f"{__name__}.{name}")
    found: Callable[[Program], Iterator[Place]] = module.places
    return found
