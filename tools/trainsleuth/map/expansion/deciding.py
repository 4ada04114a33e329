"""The statements of a long function that make what a component is about: the optimizer in init_optimizers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainsleuth.facts import MODULE_BODY, Event

from ..program import Program
from ..records import Place
from ..statements import enclosing

MOST = 3  # of one function
_MADE = {
    "data": r"(?:^|[._])(?:\w*loader|\w*sampler|\w*datasets?|train_data|valid_data|\w*transforms?)$",
    "model": r"(?:^|[._])(?:model|net|network|backbone|encoder|decoder)$",
    "loss": r"(?:^|[._])(?:\w*loss\w*|criterion)$",
    "optimizer_scheduler": r"(?:^|[._])(?:optim\w*|\w*optimizer|\w*scheduler|lr)$",
}


def deciding_lines(program: Program, place: Place, name: str) -> Iterator[int]:
    """Lines of the function that `place` defines or, for a loss, stands in: those that bind what the component is called by; the last count most."""
    file = program.index.files.get(place.path)
    if name not in _MADE or file is None or place.cell is not None:
        return
    function = enclosing(file, place.line)
    if function.name == MODULE_BODY or not program.is_reached(function):
        return
    pattern = re.compile(_MADE[name], re.I)
    found = [event.line for event in function.events if _makes(event, pattern)]
    if function.line == place.line:
        yield from sorted(dict.fromkeys(found[-MOST:]))
    elif name == "loss":
        yield from found[-1:]  # what the terms are put together to


def _makes(event: Event, pattern: re.Pattern[str]) -> bool:
    """Something is worked out and bound to such a name: not a constant, not another name for it."""
    if event.kind != "assign" or event.value is None or event.value.kind in ("constant", "number", "string", "path"):
        return False
    return any(target.kind == "path" and pattern.search(target.text) for target in event.targets)
