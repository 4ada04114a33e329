"""How the loss is computed: the statements that weigh and add its terms, and those that compute one."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from trainsleuth.facts import Event, Function, written

from ...configuration import Truth
from ...drawing.statements import enclosing, statement
from ...drawing.wording import clean
from ...naming.only_values import only_value
from ...parts import Anatomy, source_lines
from ...program import Program
from ...programs.standing import off
from ...signs.unused import is_unused

MOST = 4
MOST_FUNCTIONS = 16
WIDTH = 96
DEFINITION_WIDTH = 52
_ADDS = re.compile(r"\+= (?!0\b|1\b)|[\w)\]] \+ |(?<!\.)\bsum\(|\* \(?(?:self\.)?\w*(?:weight|coef|lambda|alpha|beta|pref)|(?:weight|coef|lambda|pref)\w* \*", re.I)  # fmt: skip
_WEIGHS = re.compile(r"weight|coef|lambda|alpha|beta|pref|scale|\bsum\(", re.I)
_AVERAGES = re.compile(r"loss\w* (?:\*|/=?) .*(?:_len|num_|n_|count|tokens?|total|world_size|dp_size)\w*")  # over what
_WEIGHT = re.compile(r"\w*(?:weight|coef|lambda|pref)\w*", re.I)
_COMPUTES = re.compile(r"(?:\bF|functional|ops)\.\w*(?:loss|entropy\w*|kl_div|with_logits)\(|logsigmoid|Loss\(|\*\* ?2|\.pow\(2|square\(|self\.\w*(?:loss|criterion)\w*\(")  # fmt: skip
_GAP = re.compile(r"(?<=[(\[{]) | (?=[)\]}])")
_LOSS = re.compile(r"loss|criterion", re.I)
_OTHER = re.compile(
    r"^(?:self\.)?_?(?:val|valid|eval|test)\w* =|process\w*\(|reduced|log_|_log|metric|build_|record|meter|penalty_log|get_\w+\(|\+= .*\.item\(\)"
)


_BRIEF = ("binary", "choice", "number")


class Term(NamedTuple):
    """A statement of `function` that runs; `worth`: one that weighs terms says most."""

    function: Function
    event: Event
    text: str
    worth: float


def loss_terms(program: Program, truth: Truth, anatomy: Anatomy) -> list[Term]:
    """The best few, in the order of the functions; no text twice."""
    found: dict[str, Term] = {}
    for number, function in enumerate(_functions(program, truth, anatomy)):
        for one in _inside(program, function, number):
            if not off(program, truth, function, one.event.line):
                found.setdefault(one.text.partition("=")[2].strip(), one)
    best: list[Term] = []
    told: set[str] = set()
    for one in sorted(found.values(), key=lambda one: -one.worth):
        weights = set(_WEIGHT.findall(one.text))
        if len(best) < MOST and not (weights and weights <= told):
            best.append(one)
            told |= weights
    return [one for one in found.values() if one in best]


def _functions(program: Program, truth: Truth, anatomy: Anatomy) -> list[Function]:
    """Those that hold a place of the loss which runs, best first."""
    found: dict[Function, None] = {}
    for place in anatomy.parts["loss"].places:
        file = program.index.files.get(place.path)
        function = enclosing(file, place.line) if file is not None and place.cell is None else None
        if function is None or function in found or not program.is_reached(function):
            continue
        if not off(program, truth, function, place.line):
            found[function] = None
    return list(found)[:MOST_FUNCTIONS]


def _inside(program: Program, function: Function, number: int) -> Iterator[Term]:
    lines = source_lines(program.index, function.path)
    for event in function.events:
        named = event.kind == "return" or any(_LOSS.search(target.text) for target in event.targets)
        if event.kind not in ("assign", "augment", "return") or not named or event.value is None:
            continue
        text = clean(_GAP.sub("", statement(lines, event.line)), WIDTH)
        worth = (
            2.0 * bool(_AVERAGES.search(text))
            + 3.0 * bool(_ADDS.search(text))
            + bool(_WEIGHS.search(text))
            + 2.5 * bool(_COMPUTES.search(text))
        )
        if worth > 1 and not _OTHER.search(text) and not is_unused(function, event):
            yield Term(function, event, text, worth - 0.3 * number - (event.kind == "return"))


def definitions(function: Function, event: Event, kinds: Container[str] = _BRIEF) -> Iterator[str]:
    """ "norm = 1.0 / count": what the names in a statement are, where they are given once and briefly."""
    used = (part.text for part in event.value.walk() if part.kind == "path") if event.value else ()
    for name in dict.fromkeys(used):
        value = only_value(function, name)
        text = written(value) if value is not None and value.kind in kinds and "." not in name else ""
        if text and len(text) <= DEFINITION_WIDTH:
            yield f"{name} = {text}"
