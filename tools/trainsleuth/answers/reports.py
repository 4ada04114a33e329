"""Answers of the engine's four acts: map, check, probe, triage."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainsleuth.answers.answer import FAILED, FOUND, NOTHING_WRONG, Answer, Section
from trainsleuth.answers.course import course_lines
from trainsleuth.answers.findings import counted, failure_text, line_text, sections
from trainsleuth.answers.hypotheses import pointed_section, suggestions_section
from trainsleuth.finding import COMMAND_SHOWN, Finding
from trainsleuth.notes import FILE_NAME
from trainsleuth.wording import one_line, path_text, quoted, shown, strict, visible, wrapped

if TYPE_CHECKING:
    from trainsleuth.accepted import Review
    from trainsleuth.again import AgainReport
    from trainsleuth.checks import CheckReport
    from trainsleuth.map import Expansion, Map
    from trainsleuth.observing import ObservedMap
    from trainsleuth.probing import ProbeReport, Request
    from trainsleuth.triage import Case

NARROW_CHECK = "paths or only (a check id)"
NARROW_PROBE = "only (a probe)"


def map_answer(found: Map | Expansion, files: Iterable[str], has_code: bool = True) -> Answer:
    """The map, or a part of it in full, as its own text says it; without code that could be read it failed.

    `files` are all paths of the repository: a line end in one stays visible.
    """
    code = NOTHING_WRONG if has_code else FAILED
    return Answer(head=_harmless(found.text, files), sections=(), plain=found.to_dict(), code=code)


def _harmless(text: str, files: Iterable[str]) -> str:
    for odd in sorted((path for path in files if path != path_text(path)), key=len, reverse=True):
        text = text.replace(odd, path_text(odd))
    return visible(text)


def observed_map_answer(found: ObservedMap, files: Iterable[str]) -> Answer:
    """The map with what ran on it; where nothing trained, the program's last words below it."""
    seen = found.observation
    said = (quoted(seen.output[-2_000:]),) if seen.output.strip() and not seen.trained else ()
    return replace(
        map_answer(found.map, files),
        sections=(Section("the last words of the program:", said),),
        plain=found.to_dict(),
        code=NOTHING_WRONG if seen.trained else FAILED,
    )


def check_answer(
    review: Review,
    findings: Sequence[Finding],
    where: str,
    sources: Collection[str],
    read: Collection[str],
    width: int | None = None,
) -> Answer:
    """What the checks say about the files of code at `where`, `sources`, of which some were `read`.

    `findings`: those of the review, copies folded.
    """
    report = review.report
    accepted = tuple(
        f"  {path_text(one.finding.place)}  {one.finding.by}: {one_line(one.reason)} ({one.how})"
        for one in review.accepted
    )
    sites = sum(one["sites"] for one in report.examined.values())
    asked = f"{len(report.examined)} {'check' if len(report.examined) == 1 else 'checks'}"
    outcome = _outcome(findings, sites) if read else f"nothing was examined, {_why_nothing(sources)}"
    outcome += f", {len(accepted)} accepted" if accepted else ""
    left = {one.path for one in report.skipped} & {*sources}
    outcome += f"; {_files(len(left))} left out or read in part, see below" if left else ""
    unresolved = tuple(f"  {line}" for line in unresolved_lines(report))
    skipped = tuple(f"  {path_text(one.path)}: {one_line(one.reason)}" for one in report.skipped)
    return Answer(
        head=wrapped(
            f"{path_text(where)}: {outcome} ({_files(len(read))}, {asked} at {sites} places; nothing was run)",
            "",
            width,
        ),
        sections=(
            *sections(findings, width, NARROW_CHECK),
            Section("accepted:", accepted, NARROW_CHECK),
            Section("could not be resolved:", unresolved, NARROW_CHECK),
            Section("files left out, or read in part:", skipped, "paths"),
        ),
        plain={
            "findings": [finding.to_dict() for finding in findings],
            "accepted": [
                {"finding": one.finding.to_dict(), "how": one.how, "reason": one.reason} for one in review.accepted
            ],
            "baseline_fixed": review.fixed,
            "examined": report.examined,
            "sources": len(sources),
            "read": len(read),
            "unresolved": report.unresolved,
            "skipped": report.skipped,
            "ran": [],
        },
        tail=_fixed_text(review.fixed),
        code=_code(findings, bool(read)),
    )


def _outcome(findings: Sequence[Finding], sites: int) -> str:
    if not sites and not any(finding.outcome == "fail" for finding in findings):
        return "nothing to examine: no check found a place that concerns it (tests are left out)"
    return counted(findings)


def _why_nothing(sources: Collection[str]) -> str:
    if not sources:
        return "there is no Python code"
    return f"{_files(len(sources))} of Python could not be read"


def _files(number: int) -> str:
    return f"{number} {'file' if number == 1 else 'files'}"


def _fixed_text(fixed: int) -> str:
    if not fixed:
        return ""
    return f"{fixed} of the baseline {'is' if fixed == 1 else 'are'} found no more: write it again"


def unresolved_lines(report: CheckReport) -> list[str]:
    """What the checks could not follow, a line each."""
    return [f"{path_text(one.path)}:{one.line}  {one_line(one.why, 300)}" for one in report.unresolved]


def probe_answer(report: ProbeReport, asked: Request, width: int | None = None, notes: Path | None = None) -> Answer:
    """What the probes say about the run that was asked for; `notes` are those that it was added to."""
    outcome = counted(report.findings)
    if not report.trained:
        outcome = "nothing was examined, no training step was seen"
    return Answer(
        head=wrapped(f"{one_line(shlex.join(asked.command), COMMAND_SHOWN)}: {outcome}", "", width),
        sections=(
            *sections(report.findings, width, NARROW_PROBE),
            unobserved_section(report.unobserved, width),
        ),
        plain={
            "findings": [finding.to_dict() for finding in report.findings],
            "examined": report.examined,
            "unresolved": report.unresolved,
            "ran": report.ran,
            "trained": report.trained,
            "run": report.run,
            "artifacts": report.artifacts,
        },
        tail="\n".join(
            [
                _examined_text(report.examined, width),
                repeated("probe", asked, ("--notes", str(notes)) if notes is not None else ()),
            ]
            + (
                [f"after a change: trainsleuth probe --again {report.run}"]
                if any(f.is_alarm for f in report.findings)
                else []
            )
        ),
        code=_code(report.findings, report.trained),
    )


def unobserved_section(lines: Iterable[str], width: int | None) -> Section:
    return Section("not observed:", tuple(wrapped(one_line(line, 300), "  ", width, "  ") for line in lines))


def again_answer(again: AgainReport, width: int | None = None) -> Answer:
    """What became of each failure of an earlier run, and what the new run says."""
    flipped = sum(flip.became == "flipped" for flip in again.flips)
    answer = probe_answer(again.report, again.request, width)
    lines = tuple(wrapped(one_line(str(flip)), "  ", width, "  ") for flip in again.flips)
    told = [{"by": f.before.by, "became": f.became, "before": f.before, "after": f.after} for f in again.flips]
    return replace(
        answer,
        head=wrapped(
            f"{one_line(shlex.join(again.request.command))}: {flipped} of {len(again.flips)} failures flipped",
            "",
            width,
        ),
        sections=(Section("what failed before:", lines, NARROW_PROBE), *answer.sections),
        plain={**answer.plain, "again": strict(told)},
        code=answer.code if again.is_mended or answer.code == FAILED else FOUND,
    )


def triage_answer(case: Case, asked: Request, symptom: str = "", width: int | None = None) -> Answer:
    """The case: its cause first, then what speaks for which hypothesis and what to test next."""
    stopped = [] if case.trained else [f for f in case.findings if f.by == "probe:run" and f.outcome == "open"]
    failures, *rest = sections([f for f in case.findings if f not in (*stopped, *case.elsewhere)], width, NARROW_PROBE)
    elsewhere = tuple(failure_text(f, width) for f in case.elsewhere)
    tail = [_examined_text(run, width) for run in case.examined.get("runs", ())]
    tail += [wrapped(line, "", width, "  ") for line in course_lines(case.course) if case.course.cut_from is not None]
    tail.append(repeated("triage", asked, _of_triage(case, asked, symptom)))
    if case.notes is not None:
        tail.append(f"notes: {path_text(str(case.notes))}")
    if case.unwritten:
        tail.append(f"no notes were written: {one_line(case.unwritten, 300)}, or do without by --no-notes")
    failing = [f for f in case.findings if f.is_alarm]
    outcome, guesses = counted(case.findings), [pointed_section(case.hypotheses, width)]
    if case.trained and any(
        "program-crashes" in f.suspects for f in failing
    ):  # the traceback is the answer, and every test would crash too
        guesses = guesses if any(f.by != "probe:run" for f in failing) else []
        tail.insert(0, "next: mend what the traceback names, then do this again")
    elif case.trained:
        guesses.append(suggestions_section(case.suggestions, width, shlex.join(asked.command), shlex.join(_how(asked))))
    else:  # no probe can be asked of a program that does not come to train: that is to be mended first
        outcome = f"no training step was seen; in the code alone: {counted(_of_code(case.findings))}"
        guesses = guesses if any(f.is_alarm for f in _of_code(case.findings)) else []
        told = stopped[0].next if stopped else ""
        mended = told or "mend what kept the program from training (above)"
        tail.insert(0, f"next: {mended}, then do this again")
    return Answer(
        head=wrapped(f"{one_line(shlex.join(asked.command), COMMAND_SHOWN)}: {outcome}", "", width),
        sections=(
            Section("", tuple(line_text(f, width) for f in stopped)),
            failures,
            *guesses,
            Section("in files that this command did not load:", elsewhere, NARROW_PROBE),
            *rest,
            unobserved_section(case.unobserved, width),
        ),
        plain={
            "findings": [finding.to_dict() for finding in case.findings],
            "hypotheses": [hypothesis.to_dict() for hypothesis in case.hypotheses],
            "suggestions": [{**asdict(one), "command": one.command} for one in case.suggestions],
            "examined": case.examined,
            "unresolved": case.unresolved,
            "course": asdict(case.course),
            "ran": case.ran,
            "notes": None if case.notes is None else str(case.notes),
            "notes_unwritten": case.unwritten,
            "trained": case.trained,
        },
        tail="\n".join(tail),
        code=_code(case.findings, case.trained),
    )


def _of_code(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.by.startswith("check:")]


def _code(findings: Iterable[Finding], examined: bool) -> int:
    """Without a training step, how the run ended (probe:run) is what its user saw anyway: nothing was examined."""
    if any(finding.is_alarm and (examined or finding.by != "probe:run") for finding in findings):
        return FOUND
    return NOTHING_WRONG if examined else FAILED


def _examined_text(examined: Mapping[str, Any], width: int | None) -> str:
    said = {name: value for name, value in examined.items() if value not in (None, [], (), {}, "")}
    return wrapped(f"examined: {'; '.join(f'{name} {shown(value)}' for name, value in said.items())}", "", width, "  ")


def _how(asked: Request) -> Iterator[str]:
    """The options by which the user's program was run, but for the time."""
    given = {"--steps": asked.steps, "--root": asked.root, "--python": asked.python}
    yield from (word for name, value in given.items() if value for word in (name, str(value)))
    yield from ("--contain", asked.contain) if asked.contain != "auto" else ()


def _of_triage(case: Case, asked: Request, symptom: str) -> Iterator[str]:
    """Options that only triage has."""
    yield from ("--symptom", symptom) if symptom else ()
    if case.notes is None and not case.unwritten:
        yield "--no-notes"
    elif case.notes is not None and case.notes.resolve() != ((asked.root or Path.cwd()) / FILE_NAME).resolve():
        yield from ("--notes", str(case.notes))


def repeated(verb: str, asked: Request, more: Iterable[str] = ()) -> str:
    """The command that does the same again; how the program itself was started stands under "ran" in the JSON."""
    words = ["trainsleuth", verb, "--time", f"{asked.given or asked.seconds:g}"]
    words += [word for name in sorted(asked.only or ()) for word in ("--only", name)]
    words += [*_how(asked), *more]
    folder = f"cd {shlex.quote(str(asked.cwd))} && " if asked.cwd else ""
    return f"to repeat: {one_line(folder + shlex.join([*words, '--', *asked.command]))}"
