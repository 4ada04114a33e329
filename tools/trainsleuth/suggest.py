"""A change that would cure a finding, as a diff. Nothing is written: whoever reads it decides.

Only where one line decides: a call that is moved, added or cut short, with everything else as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import unified_diff

from trainsleuth.finding import Finding
from trainsleuth.repository import Repository, is_python

Edit = Callable[[list[str], Finding], list[str] | None]
_STEP = re.compile(r"^(\s*)([\w.]+)\.step\(\)\s*$")
_SCALED_STEP = re.compile(r"^(\s*)([\w.]*scaler)\.step\(([\w.]+)\)\s*$", re.IGNORECASE)
_CALL = re.compile(r"^(\s*)[\w.]+\.zero_grad\([^()]*\)\s*$")
_ADDED = re.compile(r"^(\s*[\w.]+ \+= [\w.]+)(\s*)$")
_KEPT = re.compile(r"^(\s*[\w.]+\.append\([\w.]+)(\)\s*)$")
_INNER = re.compile(r"\.module(\.forward)?\(")
NEAR = 12  # lines below a clipping in which the scaler's step is looked for


def suggested(repository: Repository, findings: Iterable[Finding]) -> str:
    """Unified diffs for those failures that have such a change, for `git apply`; "" when none has."""
    return "".join(one for finding in findings for one in _diff(repository, finding))


def _diff(repository: Repository, finding: Finding) -> Iterator[str]:
    edit = _EDITS.get(finding.by.removeprefix("check:"))
    path = finding.path or ""
    if edit is None or finding.outcome != "fail" or not finding.line or not is_python(path):
        return
    before = (repository.read(path) or "").splitlines(keepends=True)
    after = edit(list(before), finding) if finding.line <= len(before) else None
    if after is not None and all(line.endswith("\n") for line in before):
        yield "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))


def _cleared_after_step(lines: list[str], finding: Finding) -> list[str] | None:
    """missing-zero-grad: clear right after the step."""
    place = (finding.line or 0) - 1
    step = _STEP.match(lines[place])
    return _inserted(lines, place + 1, f"{step[1]}{step[2]}.zero_grad()\n") if step else None


def _moved_after_step(lines: list[str], finding: Finding) -> list[str] | None:
    """zero-grad-before-step: the same call, behind the step of the same block."""
    clear, step = (finding.line or 0) - 1, finding.chain[-1].line - 1
    if finding.chain[-1].path != finding.path or not clear < step < len(lines):
        return None
    call = _CALL.match(lines[clear])
    done = _STEP.match(lines[step]) or _SCALED_STEP.match(lines[step])
    if call is None or done is None or any(_is_outside(line, call[1]) for line in lines[clear : step + 1]):
        return None
    return (
        [*lines[:clear], *lines[clear + 1 : step + 1], lines[clear], *lines[step + 1 :]] if call[1] == done[1] else None
    )


def _is_outside(line: str, indent: str) -> bool:
    """The line leaves the block of that indentation."""
    return bool(line.strip()) and not line.startswith(indent)


def _unscaled(lines: list[str], finding: Finding) -> list[str] | None:
    """clip-without-unscale: unscale right before clipping, what the scaler then steps."""
    place = (finding.line or 0) - 1
    near = lines[place : place + NEAR]
    step = next((found for line in near if (found := _SCALED_STEP.match(line))), None)
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
    if step is None or step[1] != indent or any("unscale_" in line for line in near):
        return None
    return _inserted(lines, place, f"{indent}{step[2]}.unscale_({step[3]})\n")


def _detached(lines: list[str], finding: Finding) -> list[str] | None:
    """loss-kept-with-graph: keep the number without its history."""
    place = (finding.line or 0) - 1
    for form in (_ADDED, _KEPT):
        if found := form.match(lines[place]):
            return [*lines[:place], f"{found[1]}.detach(){found[2]}", *lines[place + 1 :]]
    return None


def _through_the_wrapper(lines: list[str], finding: Finding) -> list[str] | None:
    """bypassed-ddp: call the wrapper itself."""
    place = (finding.line or 0) - 1
    if len(_INNER.findall(lines[place])) != 1:
        return None
    return [*lines[:place], _INNER.sub("(", lines[place]), *lines[place + 1 :]]


def _inserted(lines: list[str], place: int, line: str) -> list[str]:
    return [*lines[:place], line, *lines[place:]]


_EDITS: dict[str, Edit] = {
    "missing-zero-grad": _cleared_after_step,
    "zero-grad-before-step": _moved_after_step,
    "clip-without-unscale": _unscaled,
    "loss-kept-with-graph": _detached,
    "bypassed-ddp": _through_the_wrapper,
}
