"""The statements of a long function that make what a component is about: the optimizer in init_optimizers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from trainsleuth.facts import MODULE_BODY, Event

from ...drawing.statements import enclosing, is_class_body
from ...program import Program
from ...records import Place

MOST = 4  # of one function
MOST_OF_CHAIN = 12  # of one in which the same name is made anew step by step: dataset = dataset.map(...)
_MADE = {
    "data": r"(?:^|[._])(?:\w*loader|\w*sampler|\w*datasets?|train_data|valid_data|\w*transforms?|\w*pipe(?:line)?)$",
    "model": r"(?:^|[._])(?:model|net|network|backbone|encoder|decoder)$",
    "loss": r"(?:^|[._])(?:\w*_loss|loss|losses|criterion)$",
    "optimizer_scheduler": r"(?:^|[._])(?:optim\w*|\w*optimizer|\w*schedul\w*|lr|lr_\w*|\w+_lr)$",
}
_LEAVES = r"(?:^|[._])(?:\w*logits?|similarity|scores)$"  # what a network gives to a loss


def deciding_lines(program: Program, place: Place, name: str) -> Iterator[int]:
    """Lines that bind what the component is called by, in the function that `place` defines; the last count most.

    Of the function that a loss stands in, those that put its terms together; of a network, what it calls logits.
    """
    file = program.index.files.get(place.path)
    if name not in _MADE or file is None or place.cell is not None:
        return
    function = enclosing(file, place.line)
    if is_class_body(file, function):
        methods = file.classes[function.qualname.removesuffix(".<class>")].methods.values() if name == "model" else ()
        inside = sorted(methods, key=lambda one: one.line)
        yield from _lines((event for one in inside for event in one.events), _LEAVES)
    elif function.name == MODULE_BODY or not program.is_reached(function):
        return
    elif function.line == place.line or name in ("loss", "data"):
        found = _lines(function.events, _MADE[name])
        yield from found if function.line == place.line or name == "loss" or len(found) > MOST else ()


def _lines(events: Iterable[Event], pattern: str) -> list[int]:
    made = re.compile(pattern, re.I)
    found = [event for event in events if _makes(event, made)]
    names = Counter(target.text for event in found for target in event.targets)
    most = MOST_OF_CHAIN if any(count > MOST for count in names.values()) else MOST
    return sorted(dict.fromkeys([event.line for event in found][-most:]))


def _makes(event: Event, pattern: re.Pattern[str]) -> bool:
    """Something is worked out and bound to such a name: not a constant, not another name for it."""
    if event.kind not in ("assign", "augment") or event.value is None:
        return False
    if event.kind == "assign" and event.value.kind in ("constant", "number", "string", "path", "list"):
        return False
    return any(target.kind == "path" and pattern.search(target.text) for target in event.targets)
