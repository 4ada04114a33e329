"""The features that belong to a part: whether each is in use, its first place, and the value that decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainsleuth.repository import is_python

from ...configuration import Truth
from ...drawing.statements import enclosing, event_at, statement
from ...drawing.wording import clean
from ...loop.features import NONE_FOUND
from ...loop.switches import switch_of
from ...parts import source_lines
from ...program import Program
from ...records import Part, Place
from ..settings.values import values_in
from .writing import Block

OF = {
    "training_loop": ("accumulation", "mixed_precision", "clipping", "ema", "seeds", "distribution", "compile"),
    "checkpointing": ("resume",),
}
MOST = {"accumulation": 2, "mixed_precision": 3, "seeds": 2}
_WIDTH = 110


def feature_blocks(program: Program, truth: Truth, features: Mapping[str, Part], component: str) -> Iterator[Block]:
    """One block for each feature that is usually asked about with this component."""
    for order, name in enumerate(OF.get(component, ())):
        part = features[name]
        if not part.places:
            why = _none_seen(program) if part.why == NONE_FOUND else part.why or part.status
            text = f"  {name}: {why}"
            yield Block(("# features",), (order,), (text,), {"feature": name, "status": part.status, "why": why})
            continue
        said = "; ".join(_told(program, truth, place) for place in part.places[: MOST.get(name, 1)])
        switch = switch_of(truth, name)
        if part.why:
            said = part.why
        elif switch is not None and switch.key.name not in said:
            said += f" · {switch}"
        item = {"feature": name, "status": part.status, **part.places[0].to_dict()}
        yield Block(("# features",), (order,), (f"  {name}: {said}",), item)


def _none_seen(program: Program) -> str:
    """Nothing shows a feature; what was not read may still have it."""
    framework = program.training.framework
    if framework is not None:
        return f"not set in the code that the entry reaches; {framework.name} itself was not read"
    if program.assumed:
        return "not seen: how the entry comes to the training step was not resolved"
    return NONE_FOUND


def _told(program: Program, truth: Truth, place: Place) -> str:
    """The statement of a place with the values that it reads."""
    said, more = clean(place.text), ""
    file = program.index.files.get(place.path)
    if file is not None and place.cell is None and is_python(place.path):
        function = enclosing(file, place.line)
        found = event_at(function, place.line)
        said = statement(source_lines(program.index, place.path), place.line, width=_WIDTH)
        values = values_in(program, truth, function, found[1], place.line) if found is not None else ()
        more = "".join(f" · {name}: {value}" for name, value in list(values)[:3])
    return f"{place.path}:{place.line} {said}{more}"
