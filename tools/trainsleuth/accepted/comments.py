"""Findings accepted in the code: `# trainsleuth: ignore[check-id] why it is right here`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainsleuth.finding import Finding, Severity
from trainsleuth.repository import Repository, is_python

ABOUT_COMMENTS = (
    "A comment that accepts a finding is not as it should be.\n\n"
    "It names a check and gives a reason, at the line or above it: # trainsleuth: ignore[check-id] reason. One that names none or an "
    "unknown one, gives no reason, or accepts what is not found any more, is reported."
)
_COMMENT = re.compile(r"#\s*trainsleuth:\s*ignore\b(?:\s*\[([^\]]*)\])?[\s:,-]*(.*)$")
_MARK = r"#\s*trainsleuth:"
MAX_COMMENTS = 10_000


@dataclass(frozen=True)
class Comment:
    """`lines`: those it speaks for, its own, and the next one of code when it stands alone."""

    path: str
    line: int
    ids: tuple[str, ...]
    reason: str
    lines: tuple[int, ...]

    def accepts(self, finding: Finding) -> bool:
        """It names the check, gives a reason, and stands at the place."""
        return (
            bool(self.reason)
            and finding.path == self.path
            and finding.line in self.lines
            and finding.by.removeprefix("check:") in self.ids
        )


def comments(repository: Repository, paths: Iterable[str] | None = None) -> Iterator[Comment]:
    """The comments in Python files below `paths` (all by default). Those in notebooks have no line of their own."""
    wanted = frozenset(path for path in repository.sources(paths or ()) if is_python(path))
    globs = ["*.py", *{PurePosixPath(path).name for path in repository.scripts}]
    for path in sorted({hit.path for hit in repository.search(_MARK, globs, MAX_COMMENTS)} & wanted):
        yield from _comments_of(path, repository.read(path) or "")


def _comments_of(path: str, text: str) -> Iterator[Comment]:
    """None when the file cannot be read as Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for place, token in enumerate(tokens):
        found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if found is not None:
            ids = tuple(part.strip() for part in (found[1] or "").split(",") if part.strip())
            yield Comment(path, token.start[0], ids, found[2].strip(), _lines(tokens, place))


def _lines(tokens: list[tokenize.TokenInfo], place: int) -> tuple[int, ...]:
    """Lines of the statement that the comment ends, or of the one below it."""
    own = tokens[place].start[0]
    blank = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    before = [token for token in tokens[:place] if token.start[0] == own and token.type not in blank]
    if before:
        return tuple(range(_statement_start(tokens, place), own + 1))
    after = next((token for token in tokens[place + 1 :] if token.type not in (*blank, tokenize.NEWLINE)), None)
    return (own, after.start[0]) if after is not None else (own,)


def _statement_start(tokens: list[tokenize.TokenInfo], place: int) -> int:
    """First line of the logical line that token `place` stands in."""
    start = tokens[place].start[0]
    for token in reversed(tokens[:place]):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            break
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            start = token.start[0]
    return start


def remarks(
    found: Collection[Comment], used: Collection[tuple[Comment, str]], ran: Collection[str], known: Collection[str]
) -> Iterator[Finding]:
    """What is wrong with the comments themselves: no id, an unknown id, no reason, nothing to accept. `used` are the
    comments that accept something, each with the check.
    """
    for comment in found:
        unknown = [id for id in comment.ids if id not in known]
        place = f"{comment.path}:{comment.line}"
        if not comment.ids:
            yield _remark(comment, f"The comment at {place} names no check: expected ignore[check-id] and a reason.")
        elif unknown:
            yield _remark(
                comment, f"The comment at {place} names {unknown[0]}, which is no check: see trainsleuth explain."
            )
        elif not comment.reason:
            said = f"The comment at {place} gives no reason, so it accepts nothing: expected why it is right here."
            yield _remark(comment, said)
        elif idle := [id for id in comment.ids if id in ran and (comment, id) not in used]:
            whole = len(idle) == len(comment.ids)
            what = "delete it" if whole else f"leave out {', '.join(idle)}"
            said = f"The comment at {place} accepts {', '.join(idle)}, which is not found there any more: {what}."
            yield _remark(comment, said, "warning" if whole else "note")


def _remark(comment: Comment, message: str, severity: Severity = "warning") -> Finding:
    return Finding(
        by="check:ignore-comment",
        outcome="fail",
        message=message,
        severity=severity,
        confidence="high",
        path=comment.path,
        line=comment.line,
    )
