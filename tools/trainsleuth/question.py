"""One question of a reading: what one must know of a training repository, and what answers it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

READER = "reader"


@dataclass(frozen=True)
class Question:
    """`stage` is the pass it belongs to, 1 to 3. It is open while `answer` is "".

    `by` says who answered: "map", "run", "probe:<id>" or "reader"; a reader's word, "open again" too, is never
    replaced. `places` are "path:line", from the root. `test` is a command that would answer it, "" for none.
    """

    id: str
    stage: int
    text: str
    answer: str = ""
    places: tuple[str, ...] = ()
    by: str = ""
    test: str = ""

    @property
    def is_answered(self) -> bool:
        return bool(self.answer)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return {**asdict(self), "places": list(self.places)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Question:
        """Inverse of `to_dict`. Unknown keys are dropped, so old notes stay readable."""
        known = {name: plain[name] for name in cls.__dataclass_fields__ if name in plain}
        return cls(**{**known, "places": tuple(plain.get("places", ()))})


def latest(entries: Iterable[Question]) -> tuple[Question, ...]:
    """The state of each question, in the order in which they first came: a reader's last word, else the last of all."""
    state: dict[str, Question] = {}
    for one in entries:
        before = state.get(one.id)
        if before is None or one.by == READER or before.by != READER:
            state[one.id] = one
    return tuple(state.values())
