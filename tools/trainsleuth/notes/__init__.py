"""The notes: the one markdown file of a case, in the user's repository; read, added to, never lost."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from trainsleuth.finding import Finding
from trainsleuth.hypothesis import Hypothesis, reference
from trainsleuth.notes import entries, render, storage
from trainsleuth.notes.entries import Damaged, Item, Run
from trainsleuth.notes.lock import NotesError, locked
from trainsleuth.question import READER, Question, latest
from trainsleuth.repository import NOTES_FILE

__all__ = ["FILE_NAME", "Damaged", "Notes", "NotesError", "Recorded", "Run"]

FILE_NAME = NOTES_FILE
_News = Callable[[list[Item]], tuple[list[str], Run]]  # of what is known: the names to add, and their run
MAX_READ = 4 * 2**20  # bytes, from the end: the newest entries count


@dataclass(frozen=True)
class Recorded:
    """What the notes hold, in order. `hypotheses` and `questions` have the last state of each.

    `findings` may hold the same one twice, when it went away in between. `left_out` is how many
    bytes at the start of a large file were not read, `damaged` what was there and could not be.
    """

    findings: tuple[Finding, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    questions: tuple[Question, ...] = ()
    runs: tuple[Run, ...] = ()
    damaged: tuple[Damaged, ...] = ()
    left_out: int = 0


class Notes:
    """The notes at `path`, a file or the folder of a repository, which may not exist yet.

    `root` (default: the folder of the file) is where a link may lead at most. Every method raises
    NotesError, with what to do next, when the file cannot be read or written, or is there already, under
    a name other than FILE_NAME, and holds no notes of ours.
    """

    def __init__(self, path: str | Path, root: str | Path | None = None) -> None:
        given = Path(path)
        holds = os.path.isdir(given)  # unlike Path.is_dir it never raises
        self.path = given / FILE_NAME if holds else given
        self._root = Path(root) if root is not None else self.path.parent

    def text(self, limit: int = MAX_READ) -> str:
        """The file as people see it, its last `limit` bytes; "" when there is none yet."""
        return _decoded(storage.tail(self._target(), limit)[0], self.path)

    def read(self) -> Recorded:
        """What earlier calls added. A file that is not there, or empty, gives an empty record."""
        content, left_out = storage.tail(self._target(), MAX_READ)
        found = list(entries.items(_decoded(content, self.path)))
        return Recorded(
            findings=tuple(item for item in found if isinstance(item, Finding)),
            hypotheses=tuple({item.id: item for item in found if isinstance(item, Hypothesis)}.values()),
            questions=latest(item for item in found if isinstance(item, Question)),
            runs=tuple(item for item in found if isinstance(item, Run)),
            damaged=tuple(item for item in found if isinstance(item, Damaged)),
            left_out=left_out,
        )

    def last_said(self) -> dict[str, list[Finding]]:
        """By test, what it said in the last run that the notes hold of it; nothing of one that had nothing to tell."""
        known = list(entries.items(self.text()))
        last = entries.last_said(known)
        said: dict[str, list[Finding]] = {by: [] for by in last}
        for item in {reference(one): one for one in known if isinstance(one, Finding)}.values():
            if reference(item) in last.get(item.by, ()):
                said[item.by].append(item)
        return said

    def add_findings(
        self,
        findings: Iterable[Finding],
        command: str = "",
        when: datetime | None = None,
        silent: Iterable[str] = (),
    ) -> tuple[str, ...]:
        """Add those that are news, and return their references.

        A finding is news unless the last run in which its `by` spoke said the same. `silent` are tests that ran
        and had nothing to tell: what they said before holds no more.
        """
        given = {reference(finding): finding for finding in findings}

        def news(known: list[Item]) -> tuple[list[str], Run]:
            said = entries.last_said(known)
            again = tuple(ref for ref, finding in given.items() if ref in said.get(finding.by, ()))
            quiet = tuple(by for by in silent if said.get(by) != set())
            return [ref for ref in given if ref not in again], Run(render.stamp(when), command, again, quiet)

        return self._add(news, {ref: render.finding_text(finding) for ref, finding in given.items()})

    def add_hypotheses(
        self, hypotheses: Iterable[Hypothesis], command: str = "", when: datetime | None = None
    ) -> tuple[str, ...]:
        """Add those that changed since the notes last named them, and return their ids."""
        given = {hypothesis.id: hypothesis for hypothesis in hypotheses}

        def news(known: list[Item]) -> tuple[list[str], Run]:
            last = {item.id: item for item in known if isinstance(item, Hypothesis)}
            changed = [id for id, hypothesis in given.items() if last.get(id) != hypothesis]
            return changed, Run(render.stamp(when), command)

        return self._add(news, {id: render.hypothesis_text(given[id]) for id in given})

    def add_questions(
        self, questions: Iterable[Question], command: str = "", when: datetime | None = None
    ) -> tuple[str, ...]:
        """Add those whose state is news, and return their ids. What a reader said of one stays its state."""
        given = {question.id: question for question in questions}

        def news(known: list[Item]) -> tuple[list[str], Run]:
            state = {one.id: one for one in latest(item for item in known if isinstance(item, Question))}
            changed = [
                id
                for id, one in given.items()
                if id not in state or (one != state[id] and (state[id].by != READER or one.by == READER))
            ]
            return changed, Run(render.stamp(when), command)

        return self._add(news, {id: render.question_text(given[id]) for id in given})

    def add_note(
        self, text: str, by: str = "reader", path: str | None = None, line: int | None = None
    ) -> tuple[str, ...]:
        """Add what a person or an agent saw by eye, as an open finding."""
        if not text.strip():
            raise NotesError("the note is empty; say what was seen, and where")
        return self.add_findings([Finding(by=by, outcome="open", message=text, path=path, line=line)])

    def _add(self, news: Callable[[list[Item]], tuple[list[str], Run]], texts: Mapping[str, str]) -> tuple[str, ...]:
        target = self._target()
        added: list[str] = []

        def addition() -> bytes:
            content = storage.tail(target, MAX_READ)[0]
            added[:], run = news(list(entries.items(_decoded(content, target))))
            if not added and not run.silent:
                return b""
            section = render.run_text(run) + "".join(texts[name] for name in added)
            return render.joined(content, section)

        with locked(target):
            storage.extend(target, addition)
        return tuple(added)

    def _target(self) -> Path:
        """Where the notes really lie; a source file that was named by mistake is never added to."""
        target = storage.resolved(self.path, self._root)
        if target.name != FILE_NAME and not self._may_be_notes(target):
            raise NotesError(
                f"{self.path} holds no notes of trainsleuth, and nothing is added to another file; "
                f"give a folder, a file of notes, or the name of a new one, like {FILE_NAME}"
            )
        return target

    def _may_be_notes(self, target: Path) -> bool:
        """An entry of ours is in the file, or nothing is."""
        content = storage.tail(target, MAX_READ)[0]
        found = entries.items(_decoded(content, self.path))
        return not content.strip() or any(not isinstance(item, Damaged) for item in found)


def _decoded(content: bytes, path: Path) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotesError(f"{path} is UTF-16; save it as UTF-8, or name another file")
    return content.decode("utf-8", errors="replace")
