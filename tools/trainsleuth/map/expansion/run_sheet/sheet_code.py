"""Statements for the sheet of a run: the one that runs, how often, under which condition, with its settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import islice
from typing import Any

from trainsleuth.facts import Function

from ...configuration import Key, Truth
from ...configuration.use.untaken import is_taken, untaken
from ...drawing.statements import enclosing, event_at, statement
from ...drawing.wording import clean
from ...loop.idle_features import SAID
from ...parts import Anatomy, source_lines
from ...program import Program
from ...programs.never_called import is_never_called
from ...programs.standing import off_at
from ...records import Part, Place
from ..settings.sections import NOTHING, is_set
from ..settings.values import values_in
from .chosen_devices import chosen_devices
from .idle_steps import idle_step
from .loss_terms import definitions, loss_terms
from .other_runs import OtherRuns
from .pace import pace
from .tails import Tails
from .telling import telling
from .topics import Topic, Where, topic_of
from .under import after_batches, called_under, ends_training, is_after_training, tests_above

MAX_PLACES = 3  # of a topic
MAX_REST = 2  # of a role, where there is room left
MAX_VALUES = 2  # of a statement
WIDTH = 92
FULL = 600  # of a statement as it stands
WHOLE = 330  # of a statement where there is room left
WHEN_WIDTH = 64
MOST_ALIKE = 24  # places of one role that are looked through
_OTHER = {  # what wraps an optimizer, no schedule of the rate, nothing that saves, no loss
    "optimizer": re.compile(r"[A-Z]\w*\(\s*(?:self\.)?(?:base_|inner_)?optim(?:izer)?s?\s*[,)]"),
    "schedule": re.compile(r"noise_?sched|denois", re.I),
    "saved": re.compile(r"^(?!.*(?:sav|write|dump)).*load_\w*checkpoint|load_models", re.I),
    "loss": re.compile(r"loss\w* \*?= (?:0|\[|dict\(|\{)|loss_?name\w* =", re.I),
}
_EVALUATES = re.compile(r"_?(?:val|valid|validate|validation|eval|evaluate|evaluation|test)(?:_|$)", re.I)
_COUNTS = re.compile(r"^$|rank|step|epoch|iter|idx|index|^[a-z]$", re.I)
_LITERALS = ("string", "list", "tuple", "set")
_SAVES = re.compile(r"^(?!.*(?:loader|tokenizer|optim|scheduler|hook)).*(?:save|ckpt|write|dump)", re.I)
_ANYTHING, _NOTHING = re.compile(""), re.compile("(?!)")
_REPEATED = frozenset({"scheduler step", "save", "evaluation call", "averaged weights", "tracked", "printed"})
_LENGTHS = (
    re.compile(r"epoch", re.I),
    re.compile(
        r"max_(?:train_)?(?:steps|iter)|num_(?:train\w*_)?(?:steps|iter|updates)|total_|n_(?:steps|iters)|train_iter|max_step|steps\b",
        re.I,
    ),
    re.compile(r"loader|progress|batch|while True", re.I),
)
_PACED = (*_REPEATED, "learning rate", "save defined", "evaluation mode")
MOST_PACED = 8  # places of which one that stands in a loop is looked for


class Code:
    """Of one program; no statement is given twice."""

    def __init__(self, program: Program, truth: Truth, anatomy: Anatomy, tails: Tails) -> None:
        self.program, self.truth, self.anatomy, self.tails = program, truth, anatomy, tails
        self._by_default, self._other = truth.by_default(), OtherRuns(program)
        self._shown: set[tuple[str, int]] = set()

    def lines(self, topic: Topic, told: Sequence[Key]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The first place that runs of each role of the topic. `told` are the keys that are said beside it."""
        count = 0
        if topic.name == "evaluated":
            yield from self._idle_loops(topic)
        for where in topic.places:
            held = self._held(where)
            for place in self._first_of(
                self._of(topic, where, held.places), where, told, _OTHER.get(topic.name, _NOTHING)
            ):
                if (place.path, place.line) not in self._shown and count < MAX_PLACES:
                    self._shown.add((place.path, place.line))
                    count += 1
                    yield self._line(place, told)
            if topic.name == "saved" and (last := self._last_save(held.places, where)) is not None:
                self._shown.add((last.path, last.line))
                yield self._line(last, told)
            if not held.places and held.why.startswith(SAID):
                is_told = any(f" {key.name} = " in held.why for key in told)
                short = held.why.partition("; ")[2] or held.why.partition(" (")[0]
                yield short if is_told else clean(held.why, WIDTH), {"feature": where.part}
        asked = topic.places if topic.is_switch and not count else ()
        idle = (self._idle(self._of(topic, where, self._held(where).places), where) for where in asked)
        yield from islice((one for one in idle if one is not None), 1)

    def otherwise(self, topic: Topic) -> Iterator[tuple[str, dict[str, Any]]]:
        """Plain statements for a topic of which nothing else is known."""
        for where in topic.otherwise:
            for place in self._first_of(self._held(where).places, where, (), _NOTHING):
                self._shown.add((place.path, place.line))
                yield self._line(place, ())
        for place in chosen_devices(self.program, self.truth) if topic.name == "devices" else ():
            yield self._line(place, ())

    def terms(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The statements that put the loss together, in one line."""
        said, path, places, told = [], "", [], set[str]()
        for one in loss_terms(self.program, self.truth, self.anatomy):
            where = (
                f":{one.event.line}"
                if one.function.path == path
                else f"{self.tails.of(one.function.path)}:{one.event.line}"
            )
            path = one.function.path
            made = list(definitions(one.function, one.event))
            known = "; ".join(text for text in made if text not in told)
            told.update(made)
            said.append(f"{where} {one.text}" + (f" ({known})" if known else ""))
            places.append({"path": path, "line": one.event.line, "text": one.text})
            self._shown.add((path, one.event.line))
        if said:
            yield f"computed: {' · '.join(said)}", {"computed": places, "keys": []}

    def rest(self, topic: Topic, told: Sequence[Key]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Further places that run, one of each role in turn."""
        for where in topic.places:
            held = (one for one in self._of(topic, where, self._held(where).places) if where.takes(one))
            if topic.is_rare:  # what few runs have is told by its words alone
                held = (one for one in held if where.says.search(self._statement(one)))
            new = (one for one in held if (one.path, one.line) not in self._shown)
            running = (one for one in new if self._runs(one))
            ours = (one for one in running if not self._is_aside(where, one))
            for place in islice(ours, MAX_REST):
                self._shown.add((place.path, place.line))
                yield self._line(place, told)

    def _of(self, topic: Topic, where: Where, places: Sequence[Place]) -> Sequence[Place]:
        """Nothing is resumed by what loads the best weights when training is over: no topic tells of it."""
        loads = [one for one in places if where.takes(one)] if topic.name == "resumed" else []
        after = [one for one in loads if self._is_afterwards(one)]
        self._shown.update((one.path, one.line) for one in after)
        return [one for one in places if one not in after]

    def _is_afterwards(self, place: Place) -> bool:
        file = self.program.index.files.get(place.path)
        return file is not None and ends_training(self.program, self.truth, enclosing(file, place.line), place.line)

    def _is_aside(self, where: Where, place: Place) -> bool:
        """Of evaluation where something else is asked, of another run than training."""
        return self._other.holds(place) or (where.part != "evaluation" and self._is_of_evaluation(place))

    def _held(self, where: Where) -> Part:
        return (self.anatomy.parts if where.part in self.anatomy.parts else self.anatomy.features)[where.part]

    def _idle(self, places: Sequence[Place], where: Where) -> tuple[str, dict[str, Any]] | None:
        """The first place, which a setting keeps from running, with that setting."""
        for place in places[:MOST_PACED]:
            says = where.takes(place) and where.says.search(self._statement(place))
            why = off_at(self.program, self.truth, place) if says else ""
            if why:
                text = clean(place.text, WIDTH)
                return f"off: {self.tails.of(place.path)}:{place.line} {text} · {why}", {**place.to_dict(), "off": why}
        return None

    def _first_of(
        self, places: Sequence[Place], where: Where, told: Sequence[Key], other: re.Pattern[str]
    ) -> list[Place]:
        """The best that runs and says it, first one that stands under a value that was set; of loops two, outer first."""
        new = (one for one in places if where.takes(one) and (one.path, one.line) not in self._shown)
        running = (one for one in new if not other.search(self._statement(one)) and self._runs(one))
        running = (one for one in running if not self._other.holds(one))
        values = {key.value.lower() for key in told if is_set(key) or key.value not in NOTHING}
        best = list(islice((one for one in running if where.says.search(self._statement(one))), MOST_ALIKE))
        if "loop" in where.roles and where.part == "training_loop":
            return sorted(best, key=lambda one: self._ends(one))[:2]
        says = _SAVES if "save" in where.roles else _ANYTHING
        ranked = sorted(
            best,
            key=lambda one: (
                where.part != "evaluation" and self._is_of_evaluation(one),
                not self._is_under(one, values),
                self._is_open(one),
                not says.search(self._statement(one)),
            ),
        )
        repeats = not where.says.pattern and not _REPEATED.isdisjoint(where.roles)
        often = (one for one in ranked[:MOST_PACED] if repeats and self._pace(one))
        return [one for one in (next(often, None), *ranked) if one is not None][:1]

    def _idle_loops(self, topic: Topic) -> Iterator[tuple[str, dict[str, Any]]]:
        """A loop that a setting of the topic keeps from running, when none runs."""
        for where in (one for one in topic.places if "loop" in one.roles):
            loops = [one for one in self._held(where).places if where.takes(one)][:MOST_ALIKE]
            if not any(map(self._runs, loops)):
                idle = (self._idle([one], where) for one in loops)
                told = (one for one in idle if one and topic_of(one[1]["off"].partition(" = ")[0]) == topic.name)
                yield from islice(told, 1)

    def _last_save(self, places: Sequence[Place], where: Where) -> Place | None:
        """The first that saves below training, when it runs."""
        new = (one for one in places if where.takes(one) and (one.path, one.line) not in self._shown)
        files = self.program.index.files
        below = (
            one
            for one in new
            if one.path in files and is_after_training(self.program, enclosing(files[one.path], one.line), one.line)
        )
        return next((one for one in below if _SAVES.search(self._statement(one)) and self._runs(one)), None)

    def _ends(self, place: Place) -> int:
        """How little a loop says of the length of a run: one over epochs or steps before one over batches, then others."""
        text = self._statement(place)
        return next((number for number, one in enumerate(_LENGTHS) if one.search(text)), len(_LENGTHS))

    def _statement(self, place: Place) -> str:
        return statement(source_lines(self.program.index, place.path), place.line)

    def _pace(self, place: Place) -> str:
        return pace(self.program, enclosing(self.program.index.files[place.path], place.line), place.line)

    def _is_of_evaluation(self, place: Place) -> bool:
        """In validate(), or val_loss_fn = ..."""
        file = self.program.index.files.get(place.path)
        bound = self._statement(place).lstrip().removeprefix("self.").partition(" = ")
        names = (bound[0] if bound[1] else "", enclosing(file, place.line).name if file is not None else "")
        return any(_EVALUATES.match(name) for name in names)

    def _is_under(self, place: Place, values: Container[str]) -> bool:
        """A test above the place names one of the values: elif kind == "adamw8bit"."""
        found = event_at(enclosing(self.program.index.files[place.path], place.line), place.line)
        tests = (one.test for one in found[1].block.branches if one.test is not None) if found is not None else ()
        return any(part.kind == "string" and part.text.lower() in values for test in tests for part in test.walk())

    def _is_open(self, place: Place) -> bool:
        """It stands in one of several arms of which is not known which one runs: elif kind == "adamw8bit"."""
        function = enclosing(self.program.index.files[place.path], place.line)
        found = event_at(function, place.line)
        branches = [one for one in found[1].block.branches if one.kind == "if"] if found is not None else []
        tests = [one.tests[0] for one in branches if not is_taken(self.truth, function, one)]
        return any(one.test is not None and one.test.last == "startswith" for one in branches) or any(
            test.kind == "compare"
            and test.text in ("==", "in")
            and test.parts[0].kind == "path"
            and (
                test.parts[-1].kind in _LITERALS
                or (test.parts[-1].kind == "number" and not _COUNTS.search(test.parts[0].last))
            )
            for test in tests
        )

    def _runs(self, place: Place) -> bool:
        file = self.program.index.files.get(place.path)
        if file is None:
            return False
        function = enclosing(file, place.line)
        if not self.program.is_reached(function) or off_at(self.program, self.truth, place):
            return False
        if is_never_called(self.program, function):
            return False
        return not (self.truth.open and untaken(self._by_default, function, place.line))

    def _line(self, place: Place, told: Sequence[Key]) -> tuple[str, dict[str, Any]]:
        program = self.program
        function = enclosing(program.index.files[place.path], place.line)
        found = event_at(function, place.line)
        lines = source_lines(program.index, place.path)
        text, whole = (
            telling(statement(lines, place.line, width=FULL), WIDTH),
            statement(lines, place.line, width=WHOLE),
        )
        where = f"{self.tails.of(place.path)}:{place.line}"
        said: list[str] = []
        said += self._often(place, function)
        if found is not None:
            said += list(definitions(function, found[1], ("choice",)))[:1]
        if found is not None and (when := tests_above(self.truth, function, found[1])):
            said.append(f"when {_inner(when)}")
        elif place.role in _PACED and (under := called_under(program, self.truth, function, place.line)):
            said.append(f"called {self.tails.of(under[0].path)}:{under[1]} when {_inner(under[2])}")
        if (
            found is not None
            and place.role == "scheduler"
            and (why := idle_step(program, self.truth, function, found[1]))
        ):
            said.append(f"its step() is off: {clean(why, WHEN_WIDTH)}")
        known = list(values_in(program, self.truth, function, found[1], place.line)) if found is not None else []
        last = {(key.name.rpartition(".")[2], key.value) for key in told}
        known = [(name, value) for name, value in known if not _is_told(name, value, last)][:MAX_VALUES]
        said += [f"{name.rpartition('.')[2]}: {self.tails.within(value)}" for name, value in known]
        item = {**place.to_dict(), "text": text, "values": dict(known)}
        if whole != text:
            item["whole"] = " · ".join([f"{where} {whole}", *said])
        return " · ".join([f"{where} {text}", *said]), item

    def _often(self, place: Place, function: Function) -> Iterator[str]:
        often = self._pace(place) if place.role in _PACED else ""
        if often.startswith("epoch") and after_batches(self.program, self.truth, function, place.line):
            yield f"each {often}, after its batches"
        elif often:
            yield f"each {often}"
        elif place.role == "save" and is_after_training(self.program, function, place.line):
            yield "after training"


def _is_told(name: str, value: str, told: Collection[tuple[str, str]]) -> bool:
    """The sheet says it beside the statement; not of a local name that has another value than the setting."""
    last = name.rpartition(".")[2]
    return any(one == last and ("." in name or f"= {held} (" in f"= {value}") for one, held in told)


def _inner(when: str) -> str:
    """The tests right above a statement, which decide it, where all do not fit."""
    tests = when.split(" and ")
    while len(tests) > 1 and len(" and ".join(tests)) > WHEN_WIDTH and not _is_inside(tests[1:]):
        tests = tests[1:]
    short = " and ".join(tests)
    return clean(short if short == when else f"... and {short}", WHEN_WIDTH + 8)


def _is_inside(tests: Sequence[str]) -> bool:
    """What is left began inside a bracket."""
    left = " and ".join(tests)
    return left.count("(") != left.count(")")
