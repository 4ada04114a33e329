"""What the program is seen to run, and what it would run only if a method that it calls were one of that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..drawing.statements import enclosing
from ..program import Program
from ..records import Place

# a word, a state that may be copied from one network to another, what another place calls
_SAY_LITTLE = ("mention", "restore", "defined")


def is_supposed(program: Program, places: Iterable[Place]) -> bool:
    """No place is of a setting or of code that the calls of the program lead to: all stand in methods of objects
    that it makes but is not seen to ask for them, and in namesakes of a method of something unknown.

    Where a framework runs the methods of what it is handed this cannot be told, and is not said.
    """
    if program.training.framework is not None:
        return False
    run = program.run
    for place in (place for place in places if place.role not in _SAY_LITTLE):
        file = program.index.files.get(place.path)
        function = enclosing(file, place.line) if file is not None else None
        if function is None or function in run:
            return False
    return True


SUPPOSED = 0.6  # share of its score that a place keeps where no call is seen to lead to it


def supposed_last(program: Program, places: Iterable[Place]) -> Iterator[Place]:
    """The places, those of methods that the program is not seen to ask for with a `SUPPOSED` share of their score, where
    calls do lead to the step that trains: of a class that trains in two ways, one is used.
    """
    step = program.training.step
    if step is None or step not in program.called or program.training.framework is not None:
        yield from places
        return
    aside = {one for one in program.entry.reach.distance if one not in program.called}
    files = {one.path for one in aside}
    for place in places:
        is_aside = place.path in files and enclosing(program.index.files[place.path], place.line) in aside
        yield place._replace(score=SUPPOSED * place.score) if is_aside else place
