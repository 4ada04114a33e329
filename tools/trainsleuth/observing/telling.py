"""The lines below a map that say what ran, the most telling first, within a number of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from trainsleuth.observing.records import Difference, Observation
from trainsleuth.observing.words import tells, words_of
from trainsleuth.wording import one_line, shown

LINE, LONG = 400, 900  # characters of a line at most; of one with the values of a configuration
ALIKE = 4  # lines on parts of one role
NAMES = {"entry_point": "entry point", "optimizer_scheduler": "optimizer", "training_loop": "training loop"}
PASSED_BY = ("evaluation", "checkpointing", "logging")  # what a few steps rarely come to


def lines(seen: Observation, differences: Iterable[Difference], room: int) -> list[str]:
    """As many lines as fit into `room` characters, line ends included."""
    taken: list[str] = []
    for line in _lines(seen, tuple(differences)):
        indent = " " * line.startswith(" ")
        line = indent + one_line(line, LONG if line.startswith(" configuration:") else LINE)
        if len(line) + 1 > room:
            break
        room -= len(line) + 1
        taken.append(line)
    return taken


def _lines(seen: Observation, differences: tuple[Difference, ...]) -> Iterator[str]:
    if not seen.trained:
        yield f"# observed: no training step was seen: {seen.why}"
        yield from _parts(seen)
        return
    more = f", {seen.processes} processes that train, the first is told" if seen.processes > 1 else ""
    steps = "1 step" if seen.steps == 1 else f"{seen.steps} steps"
    yield f"# observed in {steps} of the run, lines marked [ran] ({seen.why}{more})"
    for difference in differences:
        name = NAMES.get(difference.component, difference.component)
        word = "settled" if difference.settles else "differs"
        yield f" {word}: {name}: read {difference.read}; ran {difference.seen}"
    if seen.order:
        yield f" step: {seen.order}"
    yield from _parts(seen)
    yield from _settings(seen)
    missing = [name for name in PASSED_BY if not seen.of(name)]
    if missing:
        yield f" not seen in these steps, which says nothing about later ones: {', '.join(missing)}"
    if not seen.of("data", "batch"):
        yield " no torch DataLoader gave a batch: batches come another way"
    for name, why in seen.hooks_missing.items():
        yield f" not observed: {name} ({why})"


def _parts(seen: Observation) -> Iterator[str]:
    """A line each, a few of one kind at most."""
    told: Counter[tuple[str, str]] = Counter()
    for one in seen.parts:
        told[one.component, one.role] += 1
        words = words_of(one)
        if words and told[one.component, one.role] <= ALIKE:
            yield f" {words}"
    for (component, role), count in told.items():
        if tells(component, role) and count > ALIKE:
            yield f" and {count - ALIKE} more: {NAMES.get(component, component)}, {role}"


def _settings(seen: Observation) -> Iterator[str]:
    for one in seen.settings:
        values = ", ".join(f"{key}={shown(value)}" for key, value in one.values.items())
        yield f" configuration: {one.name} ({one.type}) held at {one.path}:{one.line}: {values}"
    if seen.files:
        yield f" configuration files opened: {', '.join(seen.files)}"
