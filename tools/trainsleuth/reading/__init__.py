"""Reading mode: the questions of three passes, in the notes, answered with file and line as far as that is known.

reading = read_repository("path/to/project", Notes("path/to/project"))
print(reading.answered, "of", len(reading.questions))
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainsleuth.finding import Finding
from trainsleuth.map import Anatomy, read_anatomy
from trainsleuth.notes import FILE_NAME, Notes, NotesError
from trainsleuth.observing import Observation, observe
from trainsleuth.probing import Request
from trainsleuth.question import READER, Question
from trainsleuth.reading.answering import replies
from trainsleuth.reading.commands import UNKNOWN, started_by
from trainsleuth.reading.confirming import probed_replies, seen_replies
from trainsleuth.reading.questions import PASSES, QUESTIONS, Tested, test_of

__all__ = ["PASSES", "Reading", "answer_question", "read_repository"]

BUDGET = 8_000  # tokens: how many places are considered


@dataclass(frozen=True)
class Reading:
    """The state of a reading: every question with its answer so far. `news` are the ids that this call changed."""

    questions: tuple[Question, ...]
    news: tuple[str, ...]
    notes: Path
    observation: Observation | None = None

    @property
    def answered(self) -> int:
        """How many have an answer."""
        return sum(one.is_answered for one in self.questions)


def read_repository(
    root: str | Path,
    notes: Notes,
    scope: str | None = None,
    recipe: str | None = None,
    asked: Request | None = None,
) -> Reading:
    """Begins or continues the reading of `root` in `notes`; with `asked`, two steps of that command answer too.

    Answers come from the map, from the run, and from what the notes hold of probes; what a reader said stays.
    Raises RepositoryError and NotesError, both before anything runs, and LaunchError.
    """
    anatomy = read_anatomy(root, scope, recipe, BUDGET)
    before, said = notes.read().questions, notes.last_said()
    seen = observe(asked) if asked is not None else None
    tested = Tested(_command(anatomy, asked), _named(notes, root))
    stated = _state(anatomy, before, said, seen, tested)
    news = notes.add_questions(stated, command="trainsleuth read")
    return Reading(tuple(_known(notes)), news, notes.path, seen)


def answer_question(
    notes: Notes, id: str, answer: str, path: str | None = None, line: int | None = None
) -> tuple[str, ...]:
    """A reader's answer to one question of the reading; the ids that changed. Raises NotesError for an unknown id."""
    known = {one.id: one for one in _known(notes)}
    if id not in known:
        names = ", ".join(known) if known else "none yet; begin with trainsleuth read"
        raise NotesError(f"the notes hold no question {id!r}; there are: {names}")
    if not answer.strip():
        raise NotesError(f"the answer to {id!r} is empty; say what was found, and where")
    places = () if path is None else (path if line is None else f"{path}:{line}",)
    one = known[id]
    return notes.add_questions([Question(one.id, one.stage, one.text, answer, places, READER)])


def _known(notes: Notes) -> Iterator[Question]:
    """The questions in the notes, ours in their order, then those that an older or newer reading asked."""
    held = {one.id: one for one in notes.read().questions}
    yield from (held.pop(one.id) for one in QUESTIONS if one.id in held)
    yield from held.values()


def _state(
    anatomy: Anatomy,
    before: Iterable[Question],
    said: Mapping[str, Iterable[Finding]],
    seen: Observation | None,
    tested: Tested,
) -> Iterator[Question]:
    """Each question with the best answer there is: of this run, of a probe, of an earlier run, of the map."""
    kept = {one.id: one for one in before}
    read, probed = replies(anatomy), probed_replies(said)
    ran = seen_replies(seen) if seen is not None else {}
    for asked in QUESTIONS:
        one = Question(asked.id, asked.stage, asked.text, test=test_of(asked, tested))
        earlier = kept.get(asked.id)
        if asked.id in ran:
            yield replace(one, answer=ran[asked.id].answer, places=ran[asked.id].places, by="run")
        elif asked.id in probed:
            by, reply = probed[asked.id]
            yield replace(one, answer=reply.answer, places=reply.places, by=by)
        elif earlier is not None and earlier.is_answered and earlier.by in ("run", READER):
            yield earlier
        elif asked.id in read:
            yield replace(one, answer=read[asked.id].answer, places=read[asked.id].places, by="map")
        else:
            yield one


def _named(notes: Notes, root: str | Path) -> str:
    """The notes as an option names them, "" for those that a command takes by itself in `root`."""
    usual = Path(root).resolve() / FILE_NAME
    return "" if notes.path.resolve() == usual else str(notes.path)


def _command(anatomy: Anatomy, asked: Request | None) -> str:
    """How the program is started, as far as that is known."""
    if asked is not None:
        return shlex.join(asked.command)
    if anatomy.program is None:
        return UNKNOWN
    entry = anatomy.program.entry
    return started_by((one.text for one in entry.commands), entry.path, frozenset(anatomy.index.repository.files))
