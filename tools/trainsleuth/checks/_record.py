"""How often each form of a check was right on code that nobody had tuned it for, and whether it may speak up.

The figures (first_sight.json) are derived from the verdicts of readers by evidence/first_sight.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trainsleuth.finding import Confidence

EXPECTED = 0.75  # of the repositories to come that must be right: two of two seen, six of seven
SHOWN = 2 / 3  # of the repositories seen that must be right where the undecided count: there the program never shows it
SITES = 60  # silent on so many, less than one in twenty is a false alarm (95 %)


@dataclass(frozen=True)
class Record:
    """Repositories by what a reader said of the reports of one form there: `right` when all are true, `wrong` when
    one is false, `cured` those of the wrong whose class has a program in the tests since, `unsure` the rest.
    `sites`: what the whole check examined in code that it had not been tuned on. `is_sure`: the fault follows from
    what is written, and nothing from names or from what was not found elsewhere.
    """

    right: int = 0
    wrong: int = 0
    cured: int = 0
    unsure: int = 0
    sites: int = 0
    is_sure: bool = False

    @property
    def reported(self) -> int:
        return self.right + self.wrong + self.unsure

    @property
    def expected(self) -> float:
        """The share of repositories to come in which it will be right, from 0 to 1: Laplace's rule of succession."""
        return (self.right + 1) / (self.right + self.wrong + 2)

    @property
    def speaks(self) -> bool:
        """May it accuse? What was right once and never wrong may only where the fault is sure and many sites were silent: of
        all other forms about half were wrong in the first repository that they spoke of. What was mostly told of
        programs that do not show it may not.
        """
        if self.right == self.reported and self.is_sure and self.sites >= SITES:
            return self.right > 0
        return self.expected >= EXPECTED and self.right >= SHOWN * self.reported

    @property
    def confidence(self) -> Confidence:
        if not self.speaks:
            return "low"
        return "high" if self.right > 2 and (self.right + 1) / (self.reported + 2) >= EXPECTED else "medium"

    @property
    def words(self) -> str:
        if self.reported:
            said = f"right in {self.right} of {self.reported} {'repository' if self.reported == 1 else 'repositories'}"
            said += " not seen before" + (f" ({self.cured} of its misses cured since)" if self.cured else "")
        else:
            silent = f", silent at {self.sites} sites of code not seen before" if self.sites else ""
            said = f"without a record yet{silent}"
        return said if self.speaks else f"{said}, so it asks and does not accuse"


@cache
def _figures() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("first_sight.json").read_text("utf-8"))
    return found


def record(check: str, form: str = "", is_sure: bool = False) -> Record:
    """`form`: one of the check's own, where its verdicts tell them apart."""
    told = _figures().get(check, {"sites": 0, "reports": {}})
    return Record(**told["reports"].get(form, {}), sites=told["sites"], is_sure=is_sure)
