"""How much an alarm counts: a fault that the program as it stands never shows is asked about, and accuses nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from trainsleuth.facts import Index, decided_against, stop_before, unreached
from trainsleuth.finding import Finding

from ._left_off import is_as_written, left_off, made_where_off, named_where_off
from ._only_tried import only_tried


def weighed(index: Index, finding: Finding, places: Sequence[tuple[str, int]]) -> Finding:
    """The alarm itself, or a note that says what keeps it from counting.

    Of twelve reports behind an option that nobody gives readers found none right and none wrong.
    """
    if (stop := stop_before(index, places)) is not None:
        return _asked(finding, f"But {stop.path}:{stop.line} cannot run: {stop.why}.")
    decided = [one for place in places for one in decided_against(index, *place)]
    if fixed := [one for one in decided if not one.is_default]:
        return _asked(finding, f"It runs only where {fixed[0].test}, which line {fixed[0].line} never finds so.")
    if tests := tuple(dict.fromkeys((*left_off(index, places), *(one.test for one in decided)))):
        how = "as the code stands" if not decided and is_as_written(index, places) else "by default"
        return _asked(finding, f"It runs only where {' and '.join(tests)}, which is not so {how}.")
    if tests := made_where_off(index, places):
        return _asked(finding, f"It is made only where {' and '.join(tests)}, which is not so by default.")
    if tests := named_where_off(index, places):
        return _asked(finding, f"It is used only where {' and '.join(tests)}, which is not so by default.")
    if why := unreached(index, places):
        return _asked(finding, f"But {why}.")
    if tried := only_tried(index, places) if finding.family == "loss" else "":
        return _asked(finding, f"But {tried} only tries it: nothing there trains.")
    if folder := _kept_aside(finding.path or ""):
        return _asked(finding, f"But {folder}/ is kept aside, as its name says.")
    return finding


def _kept_aside(path: str) -> str:
    """The folder of a path that is called after what is not in use, or is another's."""
    folders = path.split("/")[:-1]
    aside = (place for place, name in enumerate(folders, 1) if _ASIDE.search(name))
    return next(("/".join(folders[:place]) for place in aside), "")


_ASIDE = re.compile(
    r"(?:^|[_. -])(?:third_?party|3rd_?party|external|ext[_-]?libs?|vendor(?:ed)?|legacy|archived?|deprecated|obsolete|"
    r"backups?|old|unused)(?:$|[_. -])",
    re.I,
)


def _asked(finding: Finding, said: str) -> Finding:
    return replace(finding, message=f"{finding.message} {said}", severity="note", confidence="low",
                   doubt=said, undoubted=finding.severity)  # fmt: skip
