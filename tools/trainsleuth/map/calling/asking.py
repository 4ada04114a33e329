"""Which questions are being asked, and what is known of those that were answered for the time being."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from trainsleuth.facts import Function

Question = tuple[Function, str]
Answer = TypeVar("Answer")


class _Known(NamedTuple):
    answer: object
    found: int  # how many questions had an answer by then: another one may change this one; ALWAYS: none can
    within: frozenset[Question]  # questions around it that were not asked again for it


ALWAYS = -1


class _Frame:
    """What an answer that is being worked out rests on."""

    __slots__ = ("settled", "within")

    def __init__(self) -> None:
        self.settled = True
        self.within: set[Question] = set()


class Asking(Generic[Answer]):
    """A question that is asked again below itself gives nothing there; what is empty for that is empty only inside.

    Without this memory the same callers of callers are gone through once for every way that leads to them.
    """

    def __init__(self) -> None:
        self._open: set[Question] = set()
        self._frames: list[_Frame] = [_Frame()]
        self._known: dict[Hashable, _Known] = {}
        self._found = 0

    def is_open(self, question: Question) -> bool:
        """It is asked already around this place: what is worked out here rests on that."""
        if question not in self._open:
            return False
        self._frames[-1].within.add(question)
        return True

    def known(self, what: Hashable) -> Answer | None:
        """The answer of before, when nothing that it rests on has changed."""
        known = self._known.get(what)
        if known is None or (known.found != ALWAYS and known.found != self._found) or not known.within <= self._open:
            return None
        self._rests_on(known)
        return known.answer  # type: ignore[return-value]

    def _rests_on(self, known: _Known) -> None:
        if known.found != ALWAYS:
            self._frames[-1].settled = False
            self._frames[-1].within |= known.within

    def begin(self, question: Question | None = None) -> None:
        self._frames.append(_Frame())
        if question is not None:
            self._open.add(question)

    def end(self, what: Hashable, answer: Answer, question: Question | None = None) -> None:
        """`answer` is what was begun last; it holds for as long as what it rests on."""
        frame = self._frames.pop()
        if question is not None:
            self._open.discard(question)
            frame.within.discard(question)
        found = ALWAYS if frame.settled and not frame.within else self._found
        self._known[what] = known = _Known(answer, found, frozenset(frame.within))
        self._rests_on(known)

    def settle(self, question: Question) -> None:
        """What was begun last is answered for good, and kept elsewhere."""
        self._frames.pop()
        self._open.discard(question)
        self._found += 1
