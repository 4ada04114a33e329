"""What is known of one hyperparameter: every value it gets, in the order in which they apply, and who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

How = Literal["default", "argument", "file", "command", "code"]  # argument: a keyword of the call that makes a trainer
ORDER: tuple[How, ...] = ("default", "argument", "file", "command", "code")
REQUIRED = "(required)"  # told of a key that has no value until somebody gives it one
NO_VALUE = (REQUIRED, "???", "MISSING")  # the same as files and code write it


class Layer(NamedTuple):
    """One value of a key, as written or, where it is made of others that are known, what they make.

    `line` counts from 1; 0 for the launch command that the caller gave.
    `certain`: it applies whenever the program runs. A value under an `if`, or one that is computed, is not.
    """

    how: How
    path: str
    line: int
    value: str
    certain: bool = True
    when: str = ""  # the tests that code which changes it stands under

    def to_dict(self) -> dict[str, Any]:
        return {"how": self.how, "path": self.path, "line": self.line, "value": self.value, "certain": self.certain}


class Use(NamedTuple):
    """A line that reads a key."""

    path: str
    line: int


@dataclass(frozen=True)
class Key:
    """`layers` in the order in which they apply, later ones win. `reads` are in code that the program reaches first.

    `uses`: read (some code names it), given (a section that holds it is handed on as a whole, to `taker`),
    unread (nothing in any file that was read names it), unknown (it may be read under a name that is computed).
    """

    name: str
    layers: tuple[Layer, ...]
    reads: tuple[Use, ...]
    uses: Literal["read", "given", "unread", "unknown"]
    taker: str = ""
    about: str = ""  # the help text of an option
    instead: tuple[Use, str] | None = (
        None  # nothing reads it; the line that is meant reads this value of something else
    )

    @property
    def value(self) -> str:
        """The effective value: the last that surely applies; "" when none does."""
        return next((layer.value for layer in reversed(self.layers) if layer.certain), "")

    @property
    def source(self) -> Layer | None:
        return next((layer for layer in reversed(self.layers) if layer.certain), None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "layers": [layer.to_dict() for layer in self.layers],
            "reads": [use._asdict() for use in self.reads],
            "uses": self.uses,
            "taker": self.taker,
            "about": self.about,
        }


class Definition(NamedTuple):
    """A place that gives a key its first value. `flags` are the names under which a command line sets it."""

    name: str
    path: str
    line: int
    value: str
    flags: tuple[str, ...] = ()
    about: str = ""
    group: str = ""  # the class or the dictionary that holds it
    certain: bool = True  # False for a class that overrides another: which of them is made, something else decides
    negated: tuple[str, ...] = ()  # names that, given alone, make it False: --no-shuffle
    how: How = "default"
