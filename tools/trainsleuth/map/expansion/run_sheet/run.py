"""The run on one sheet: what is asked of every run, each with its values, where they are set and where they are used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...configuration import Key, Truth
from ...drawing.wording import clean
from ...parts import OF_COMMAND, OF_CONFIGURATION, Anatomy
from ...program import Program
from ..blocks.frozen import frozen_blocks
from ..blocks.writing import Block
from ..settings.built_by import built_lines
from ..settings.pipelines import pipelines
from ..settings.sections import NOTHING, is_set
from .back_end import back_ends
from .chosen_in_code import chosen_in_code
from .code_transforms import code_transforms
from .held_state import held_state
from .left_defaults import FIRST, left_defaults
from .lengths import worked_out
from .parser_actions import parser_actions
from .per_step import per_step
from .sheet_code import Code
from .started import started
from .tails import Tails
from .to_be_given import to_be_given
from .told_keys import BESIDE, OTHER, by_topic, reader, said
from .topics import TOPICS, Topic, topic_of
from .undecayed import without_decay
from .validated import validated
from .written_files import written_files

FIRST_WIDTH = 220  # characters of the first line of settings of a topic
MORE_WIDTH = 240  # of those that follow
FIRST_OTHER = 2.0  # rank of what changes other settings
LAST = 4.0  # rank of settings that belong to no topic
OTHERWISE = 2.0  # of statements without a word of the topic
LEFT = 5.0  # of the first defaults of which no topic says a word
REST = 6.0  # of further places
LAST_LEFT = 40.0  # of the other defaults
FULL = 9000  # characters of a sheet that need no further places
FROZEN_WIDTH = 220
FILES_WIDTH = 330
LIST_WIDTH = 560
_CODE_LATER = ("data", "batch", "model", "seed", "devices")  # whose values say most
_PARTLY = re.compile(r"freez|frozen|lora|adapter|network_|name_or_path|peft", re.I)  # not every weight may be trained
_FREEZES = re.compile(r"(?:freez|frozen)[^.]*$", re.I)
_LISTS_FIRST = ("augmentation", "schedule")
_BUILT_FIRST = ("loss", "model")


BACK_END = "back end"
CHOSEN = "chosen in code"
START = "started"
UNREAD = "not read"
DEFAULTS = "other defaults that it reads"


class Line(NamedTuple):
    """`rank`: lines of a lower one stand on the sheet before any line of a higher one does."""

    rank: float
    text: str
    item: Mapping[str, Any]


def blocks(program: Program, truth: Truth, anatomy: Anatomy, names: Mapping[str, str]) -> Iterator[Block]:
    """Line by line: the best of every topic, then the second of every topic, and so on; first what is missing."""
    tails = Tails({*program.entry.reach.files, *program.config_paths}, names)
    keys, code = by_topic(program, truth), Code(program, truth, anatomy.by_lines(), tails)
    found = {topic.name: list(_lines(topic, truth, keys[topic.name], code, tails)) for topic in TOPICS}
    beside = enumerate(_rows(truth, keys[BESIDE.name], tails))
    built = {line.item.get("built") for lines in found.values() for line in lines}
    others = enumerate(_rows(truth, [key for key in keys[OTHER.name] if key.name not in built], tails))
    found[OTHER.name] = [Line(FIRST_OTHER, *one) for one in parser_actions(program, tails)]
    found[OTHER.name] += [Line(0.4 + 1.6 * number, *_settings(truth, row, tails)) for number, row in beside]
    found[OTHER.name] += [Line(LAST + number, *_settings(truth, row, tails)) for number, row in others]
    if sum(len(line.text) for lines in found.values() for line in lines) < FULL:
        for topic in TOPICS:
            rest = enumerate(code.rest(topic, keys[topic.name]))
            found[topic.name] += [Line(REST + number, *one) for number, one in rest]
    told = {key["name"] for lines in found.values() for line in lines for key in line.item.get("keys", ())}
    left = enumerate(left_defaults(truth, told, tails))
    found[DEFAULTS] = [Line((LEFT if number < FIRST else LAST_LEFT) + number, *one) for number, one in left]
    chosen = enumerate(chosen_in_code(program, truth, tails))
    found = {
        UNREAD: [Line(0.0, *one) for one in _unread(anatomy)],
        BACK_END: [Line(0.0, *one) for one in back_ends(program, truth, tails)],
        CHOSEN: [Line(0.5 + 0.5 * number, *one) for number, one in chosen],
        START: [Line(0.0, *one) for one in started(program, tails)],
        **found,
    }
    for topic in TOPICS:
        if not any(map(_says, found[topic.name])):
            found[topic.name] += [Line(0.0, *one) for one in _of_framework(program, topic)]
        if not found[topic.name]:
            found[topic.name] += [Line(OTHERWISE, *one) for one in code.otherwise(topic)]
    missing = [topic.name for topic in TOPICS if not found[topic.name] and not topic.is_rare]
    if missing:
        yield Block((), (len(TOPICS),), (f"nothing found: {', '.join(missing)}",), {"missing": missing})
    if (awaited := to_be_given(truth, tails)) is not None:
        yield Block((), (len(TOPICS) + 1,), (awaited[0],), awaited[1])
    every = [(line, number, name) for number, (name, lines) in enumerate(found.items()) for line in lines]
    for line, number, name in sorted(every, key=lambda one: (one[0].rank, one[1])):
        item = {"topic": name, **{what: said for what, said in line.item.items() if what != "whole"}}
        whole = (f"  {line.item['whole']}",) if "whole" in line.item else ()
        yield Block((f"# {name}",), (number, line.rank), (f"  {line.text}",), item, opened=whole)


def _unread(anatomy: Anatomy) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the command names and nobody found: the values below may be other ones."""
    for one in anatomy.unresolved:
        if one.startswith((OF_COMMAND, OF_CONFIGURATION)):
            yield clean(one, FIRST_WIDTH), {"unread": one, "keys": []}


def _of_framework(program: Program, topic: Topic) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the framework does of a topic on which neither settings nor code of the repository say a word."""
    framework = program.training.framework
    if framework is not None and (unasked := dict(framework.unasked).get(topic.name)):
        yield f"set inside {framework.name}: {unasked} unless told otherwise", {"framework": framework.name, "keys": []}
    elif framework is not None and _HELD.get(topic.name) in framework.holds:
        yield f"inside {framework.name}", {"framework": framework.name, "keys": []}


def _says(line: Line) -> bool:
    """It is more than settings that are nothing."""
    keys = line.item.get("keys")
    return not keys or any(key["value"] not in NOTHING for key in keys)


_HELD = {"logged": "logging", "devices": "training_loop", "schedule": "optimizer_scheduler"}


def _lines(topic: Topic, truth: Truth, keys: list[Key], code: Code, tails: Tails) -> Iterator[Line]:
    """What is known of one topic; its best line has rank 0."""
    lists = list(_lists(topic, truth, tails))
    built = list(built_lines(truth, topic, tails)) if topic.name != "augmentation" else []
    first = [text for text, _ in lists[:1]] if topic.name in _LISTS_FIRST else []
    first += [text for text, _ in built[:1]] if topic.name in _BUILT_FIRST or truth.program.values.objects.made else []
    told = {one["name"] for text, item in (*lists, *built) for one in item["keys"] if text in first}
    told |= {item["built"] for _, item in built}
    rows = _rows(truth, [key for key in keys if key.name not in told], tails)
    beside = {
        one["name"] for text, item in built for one in item["keys"] if f"{one['name'].rpartition('.')[2]}=" in text
    }
    rest = [key for row in rows[1:] for key in row if key.name not in beside]
    rows = rows[:1] + _rows(truth, rest, tails)
    settings = [_settings(truth, row, tails) for row in rows]
    files = list(_files(truth, tails)) if topic.name == "saved" else []
    terms = list(code.terms()) if topic.name == "loss" else list(_of_code(topic, truth, tails, bool(lists)))
    places = list(code.lines(topic, keys))
    if settings and not places and (read := reader(truth.program, keys[0], tails)):
        settings[0] = (f"{settings[0][0]}, {read}", settings[0][1])
    ranked = [(0.0, one) for one in (*lists, *built) if one[0] in first]
    ranked += [(0.2 + 1.6 * number, one) for number, one in enumerate(settings)]
    ranked += [(1.0 + 0.9 * number, one) for number, one in enumerate(terms)]
    ranked += [(1.0, one) for one in files]
    if topic.name == "batch" and (product := per_step(truth)) is not None:
        ranked.append((0.1, product))
    partly = any(is_set(key) and _PARTLY.search(key.name) for key in keys)
    ranked += [(1.3 if partly else 1.7, one) for one in (_frozen(truth, tails) if topic.name == "model" else ())]
    later = 0.4 if topic.name in _CODE_LATER or first or (terms and topic.name == "loss") else 0.0
    apart = 0.3 if topic.name == "saved" else 0.9
    ranked += [(1.1 + later + apart * number, one) for number, one in enumerate(places)]
    ranked += [(1.4 + 0.5 * number, one) for number, one in enumerate((*built, *lists)) if one[0] not in first]
    for place, (rank, (text, item)) in enumerate(sorted(ranked, key=lambda one: one[0])):
        yield Line(rank if place else 0.0, text, item)


def _of_code(topic: Topic, truth: Truth, tails: Tails, is_listed: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """What statements of the code say of a topic that has no place among the parts."""
    asked = _OF_CODE.get(topic.name)
    if asked is not None and not (is_listed and topic.name == "augmentation"):
        yield from ((clean(text, LIST_WIDTH), item) for text, item in asked(truth.program, truth, tails))


_OF_CODE = {
    "optimizer": without_decay,
    "length": worked_out,
    "augmentation": code_transforms,
    "saved": held_state,
    "evaluated": validated,
}


def _settings(truth: Truth, keys: list[Key], tails: Tails) -> tuple[str, dict[str, Any]]:
    return said(truth, keys, tails), {"keys": [key.to_dict() for key in keys]}


def _rows(truth: Truth, keys: list[Key], tails: Tails) -> list[list[Key]]:
    """As many as stand in one line, and in the next."""
    rows: list[list[Key]] = []
    room = 0
    for key in keys:
        cost = len(said(truth, [key], tails)) + 2
        if cost > room:
            rows.append([])
            room = MORE_WIDTH if rows[1:] else FIRST_WIDTH
        rows[-1].append(key)
        room -= cost
    return rows


def _lists(topic: Topic, truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in pipelines(truth):
        if topic_of(f"{one.name}.type") == topic.name:
            held = (*one.items, *(key for keys in one.given.values() for key in keys))
            yield one.line(truth, tails.of, LIST_WIDTH), {"list": one.name, "keys": [key.to_dict() for key in held]}
            if topic.name == "augmentation" and (left := one.defaults(truth)):
                yield clean(f"by default: {left}", LIST_WIDTH), {"list": one.name, "keys": []}


def _files(truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    if found := written_files(truth.program, truth):
        texts = [f"{one.name} {tails.of(one.path)}:{one.line} {one.when}".strip() for one in found]
        yield clean(f"files: {', '.join(texts)}", FILES_WIDTH), {"files": [one._asdict() for one in found], "keys": []}


def _frozen(truth: Truth, tails: Tails) -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements that freeze or thaw, each text once."""
    found = {str(one.item["text"]): one.item for one in frozen_blocks(truth.program, truth)}
    texts = [f"{tails.of(item['path'])}:{item['line']} {text}" for text, item in found.items()]
    empty = [key for key in truth.keys if _FREEZES.search(key.name) and is_set(key) and key.value in NOTHING]
    if texts:
        told = [f" · {said(truth, empty[:1], tails)}"] if empty else []
        yield (
            "".join([clean(f"frozen or thawed: {', '.join(texts)}", FROZEN_WIDTH), *told]),
            {"frozen": list(found.values()), "keys": []},
        )
