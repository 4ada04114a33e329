"""Settings of one topic on the sheet: which of them, in which order, and each in a few words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from trainsleuth.facts import Class, Function, bindings
from trainsleuth.repository import is_python

from ...configuration import Key, Truth
from ...configuration.forms.command_line import LAUNCHING
from ...configuration.forms.literals import is_literal, text_of
from ...configuration.forms.mappings_in_json import unfolded
from ...configuration.records import NO_VALUE, Layer, Use
from ...configuration.use.picked_in_code import picked_in_code
from ...configuration.use.switched_off import SWITCHES, is_switched_off
from ...configuration.use.unseen import is_unseen
from ...drawing.statements import enclosing
from ...drawing.wording import clean
from ...program import Program
from ..blocks.choosing import NEAR
from ..settings.idle import is_idle
from ..settings.lines import become
from ..settings.sections import NOTHING, entry_of, is_set
from ..settings.settings import is_of_others
from ..settings.strangers import is_of_strangers
from ..settings.values import value_of
from .handed_as import handed_topic
from .other_meaning import meant
from .tails import Tails
from .topics import DOUBTED, TAGS, TOPICS, Topic, is_named, says_section, topic_of

MAX_KEYS = 24  # of a topic
MOST_EMPTY = 2  # that somebody set to nothing, of a topic of which others say more: no schedule, no last epoch
CLAIMS = 2  # settings of a rare topic after which its weak words are its own
MOST_ALIKE = 2  # keys of one last name: depths of many blocks say little
VALUE_WIDTH = 60
MAYBE_WIDTH = 120
COMMAND = " the command"
LEFT_OUT = " (not in the recipe)"
OTHER = Topic("other settings")
BESIDE = Topic("settings beside")  # of words that mean a rare topic only where others say it, too
_SIDE = re.compile(
    r"(?:^|[._])(?:version|url|port|root|path|dir|file|help|username|project|name)$|name_or_path|^meta\.", re.I
)
_OF_CLASS = re.compile(r"^_?[A-Z]\w*\.")  # a name that several classes or tables have
_FILE = re.compile(r"\.(?:ya?ml|json|toml|py)$")
_YAML = re.compile(r"\.ya?ml$")
_COPY = re.compile(r"(?:self\.)?\w*(?:args|opts?|cfg|config|hparams)\.\w[\w.]*")
_CODE = re.compile(r"[A-Za-z_][\w.]*(?:\(.*|\[.*)?$")


def by_topic(program: Program, truth: Truth) -> dict[str, list[Key]]:
    """The keys of each topic, those that say most first; under OTHER those that are set and belong to none."""
    held: dict[str, list[Key]] = {one.name: [] for one in (*TOPICS, BESIDE, OTHER)}
    for key in truth.keys:
        if _says(truth, key) and not is_switched_off(truth, key):
            named = meant(program, key, topic_of(key.name)) or handed_topic(truth, key) or OTHER.name
            about = PRECISION if _is_dtype(key) else named
            if about not in _RARE or is_set(key) or _is_near(program, key):
                held[about].append(key)
    for topic in TOPICS:
        if topic.is_rare and sum(is_named(topic, key.name) == 1.0 for key in held[topic.name]) >= CLAIMS:
            for other in held.values():
                ours = [key for key in other if topic.weak.fullmatch(key.name.rpartition(".")[2])]
                other[:] = [key for key in other if key not in ours]
                held[topic.name] += ours
    for topic in TOPICS:
        if topic.name in DOUBTED and not any(_claims(topic, key) for key in held[topic.name]):
            held[BESIDE.name] += [key for key in held[topic.name] if is_set(key)]
            held[topic.name] = []
    held[OTHER.name] = [key for key in held[OTHER.name] if is_set(key) and _SIDE.search(key.name) is None]
    return {one.name: _best(truth, one, _that_say(truth, one, held[one.name])) for one in (*TOPICS, BESIDE, OTHER)}


PRECISION = "precision"
_DTYPE = re.compile(r"\w*(?:dtype|precision)")
_FLOATS = re.compile(r"(?:torch\.)?(?:bf16|fp16|fp32|bfloat16|float16|float32|half)", re.I)


def _is_dtype(key: Key) -> bool:
    """Somebody set the type of numbers, in whatever section."""
    last = key.name.rpartition(".")[2]
    return is_set(key) and _DTYPE.fullmatch(last) is not None and _FLOATS.fullmatch(key.value) is not None


def _claims(topic: Topic, key: Key) -> bool:
    """A word of it, the last or a section, that does not often mean something else."""
    words = [part for part in key.name.split(".") if not part.isdigit()]
    return is_set(key) and any(topic.tells(word) and not topic.doubtful.fullmatch(word) for word in words)


_RARE = frozenset(topic.name for topic in TOPICS if topic.is_rare)


def _is_near(program: Program, key: Key) -> bool:
    """Somebody reads it near the frame of the program, or nobody is seen to."""
    return max((weight for weight, _ in _readers(program, key)), default=1.0) > NEAR


def _that_say(truth: Truth, topic: Topic, found: list[Key]) -> list[Key]:
    """Not a default under a word that means much else; not what is empty, but for switches, where others say more."""
    named = [key for key in found if is_set(key) or _says_topic(topic, key) or _is_of_topic(truth, topic, key)]
    if topic.name in _NO_FLAGS:
        named = [key for key in named if not _FILE.search(key.value)]
    kept = [key for key in named if key.value not in _EMPTY or _is_replaced(key) or truth.is_absent(key)]
    empty = (key for key in named if key.value in _EMPTY and is_set(key) and _says_topic(topic, key))
    if kept and not topic.is_switch and topic.name not in _OFTEN_EMPTY:
        kept += sorted((key for key in empty if key not in kept), key=lambda key: -_worth(truth, topic, key))[
            :MOST_EMPTY
        ]
    return kept if kept and not topic.is_switch else [key for key in named if key.value not in ("{}", "[]")]


def _says_topic(topic: Topic, key: Key) -> bool:
    """By its own name, or that under which code hands it on: no name of its own says any topic."""
    return is_named(topic, key.name) == 1.0 or (topic is not OTHER and not topic_of(key.name))


def _is_of_topic(truth: Truth, topic: Topic, key: Key) -> bool:
    """A weak word beside one that is set in a section of the topic, or that code reads which is called after the topic."""
    if not topic.weak.fullmatch(key.name.rpartition(".")[2]):
        return False
    section = key.name.rpartition(".")[0]
    if section:
        return says_section(topic, section) and any(map(is_set, truth.by_section[section]))
    files = truth.program.index.files
    readers = (enclosing(files[use.path], use.line) for use in key.reads if use.path in files)
    names = (name for one in readers for name in (one.name, PurePosixPath(one.path).stem))
    return any(topic.sections.fullmatch(name.strip("_")) for name in names)


def _is_replaced(key: Key) -> bool:
    """None by default, for which code puts something else."""
    return key.value == "None" and key.layers[-1].how == "code"


_OFTEN_EMPTY = ("data", "batch", "loss")
_EMPTY = ("", "None", "null", "{}", "[]", "~")


def _says(truth: Truth, key: Key) -> bool:
    """It has a value of its own that this program uses: not lr=lr, not a field of a class that nobody filled."""
    if key.source is None or key.value in NO_VALUE or key.name.startswith("hydra."):
        return False
    if is_set(key):
        return key.source.how != "command" or not any(unfolded(key.name, key.value))  # its keys say it
    return _is_read_default(truth, key)


def defaults_read(truth: Truth) -> Iterator[Key]:
    """Of the settings that nobody set those that this run reads."""
    for key in truth.keys:
        if not is_set(key) and _says(truth, key) and not is_switched_off(truth, key):
            yield key


def _is_read_default(truth: Truth, key: Key) -> bool:
    if truth.is_absent(key):
        return not is_of_others(truth, key)
    last = key.name.rpartition(".")[2]
    takers = {cls.name for cls in (*truth.program.values.objects.made, *truth.owners.parsed)}
    made = key.uses == "given" and key.taker in takers
    if (
        not (key.uses == "read" or made)
        or is_of_others(truth, key)
        or is_of_strangers(truth, key)
        or truth.owners.is_of_another(key)
    ):
        return False
    if _OF_CLASS.match(key.name) and key.name.partition(".")[0] not in takers:
        return False
    if _COPY.fullmatch(key.value) and truth.find(key.value) not in (None, key):
        return False  # mixup_alpha=args.mixup
    return (
        not is_idle(truth, key)
        and key.value.rpartition(".")[2] != last
        and not (_CODE.match(key.value) and f".{last}" in key.value)
    )


def _best(truth: Truth, topic: Topic, found: Sequence[Key]) -> list[Key]:
    same: Counter[str] = Counter()
    twins: set[tuple[str, str]] = set()
    kept = []
    for key in sorted(found, key=lambda key: -_worth(truth, topic, key)):
        last = key.name.rpartition(".")[2]
        empty = key.value in NOTHING
        most = 1 if empty or not is_set(key) else MOST_ALIKE
        if (same[last] < most and (last, key.value) not in twins) or last in TAGS:
            kept.append(key)
            twins.add((last, key.value))
            same[last] += 1
    return kept[:MAX_KEYS]


def _worth(truth: Truth, topic: Topic, key: Key) -> float:
    """Set by somebody, the command and the recipe itself above all, used near the frame of the program, not nothing.

    That the recipe has none of it says as much as what it has.
    """
    program, left_out = truth.program, truth.is_absent(key)
    source = key.source
    by_command = source is not None and source.how == "command"
    by_recipe = _nearness_of_file(program, source.path) if source is not None else 0.0
    used = nearness(program, key)
    said = 4.0 * (is_set(key) or left_out) - 2 * (key.uses == "unread") + 3.5 * by_command + by_recipe + 2 * used
    said += 2 * (left_out or key.value not in NOTHING)
    flag = topic.name in _NO_FLAGS and key.value.lower() in ("true", "false")
    flag = flag or (not topic.is_switch and key.value.lower() == "false" and by_recipe < 1)
    aside = 0.3 * (_ASIDE.search(key.name) is not None)
    return (
        said
        + 2.5 * (_says_topic(topic, key) or is_named(topic, key.name))
        - 2 * flag
        - aside
        - 0.1 * key.name.count(".")
    )


def _nearness_of_file(program: Program, path: str) -> float:
    """2 for the recipe itself, less than 1 for each file that it builds on, 0 for what is no file of the configuration."""
    paths = program.config_paths
    return 2.0 if path in paths[-1:] else paths.index(path) / len(paths) if path in paths else 0.0


_ASIDE = re.compile(r"(?:^|[._])(?:critic|ref|reference|teacher|target|old)(?:[._]|$)")  # beside what is trained
_NO_FLAGS = ("optimizer", "schedule", "length")  # topics whose answers are names and numbers


def nearness(program: Program, key: Key) -> float:
    """How near to the frame of the program somebody reads it."""
    return max((weight for weight, _ in _readers(program, key)), default=0.0)


def _readers(program: Program, key: Key) -> Iterator[tuple[float, Use]]:
    """Lines that read a key, with how near their function is to the frame of the program."""
    files = program.index.files
    return ((program.weight(enclosing(files[use.path], use.line)), use) for use in key.reads if use.path in files)


def reader(program: Program, key: Key, tails: Tails) -> str:
    """ "read sg_trainer.py:1424": the line nearest to the frame of the program; "" when none is known."""
    found = _readers(program, key) if key.name.rpartition(".")[2] not in TAGS else iter(())  # many read a type
    near = max(found, key=lambda one: one[0], default=None)
    return f"read {tails.of(near[1].path)}:{near[1].line}" if near is not None else ""


def said(truth: Truth, keys: Sequence[Key], tails: Tails) -> str:
    """ "lr=2e-4 F:11, weight_decay=1e-5 :29": the file is not said again where it stays the same.

    "a=1, b=2 the command": neither is the command.
    """
    texts: list[str] = []
    path = ""
    for key in keys:
        text, path = _one(truth, key, tails, path)
        if texts and text.endswith(COMMAND) and texts[-1].endswith(COMMAND):
            texts[-1] = texts[-1].removesuffix(COMMAND)
        texts.append(text)
    return ", ".join(texts)


def _one(truth: Truth, key: Key, tails: Tails, before: str) -> tuple[str, str]:
    last = truth.last(key)
    source = last.source or key.source
    handed_on = "." in last.value and truth.program.values.objects.made  # lr=opts.lr
    value = clean(truth.effective(last.value) if handed_on else last.value, VALUE_WIDTH) or (
        "null" if not last.value and source is not None and _YAML.search(source.path) else repr(last.value)
    )
    where, path = COMMAND, before
    if source is not None and source.path:
        path = source.path
        where = f" :{source.line}" if path == before else f" {tails.of(path)}:{source.line}"
        where = f" the command{where}" if source.how == "command" else where
    default = LEFT_OUT if truth.is_absent(key) else " default" if source is not None and source.how == "default" else ""
    others = (layer for layer in key.layers if not layer.certain and layer is not key.source)
    maybe = next((layer for layer in others if source is None or layer.value != source.value), None)
    then = f" ({clean(become(maybe, tails.of(maybe.path)), MAYBE_WIDTH)})" if maybe is not None else ""
    if maybe is not None and _is_replaced(key):
        then = f" (then {clean(maybe.value, MAYBE_WIDTH)} {tails.of(maybe.path)}:{maybe.line})"
    made = _made(truth, key)
    if isinstance(made, Class) and last.value.endswith(f".{made.name}") and key.name.rpartition(".")[2] in TAGS:
        value = made.name
    built = f" ({tails.of(made.path)}:{made.line})" if made is not None else ""
    record = truth.program.named_records.get(key.value) if made is None and is_set(key) else None
    if record is not None:
        built = f" ({record} {tails.of(record.function.path)}:{record.call.line})"
    unread = key.uses == "unread" and is_set(key) and key.name not in LAUNCHING
    idle = " (no reader seen)" if unread or is_unseen(truth, key) else ""
    if key.instead is not None:
        use, other = key.instead
        idle = f" (not handed on: {tails.of(use.path)}:{use.line} has {clean(other, MAYBE_WIDTH)})"
    entry = f" (of {told})" if (told := entry_of(truth, key)) else ""
    worth = _of_name(truth, value, source) if not (entry or built) else ""
    return f"{short(truth, key)}={value}{worth}{default}{where}{entry}{built}{then}{idle}", path


def _of_name(truth: Truth, value: str, source: Layer | None) -> str:
    """What a name is worth that code hands on: learning_rate=learning_rate, of a parameter with a default."""
    file = truth.program.index.files.get(source.path) if source is not None and is_python(source.path) else None
    if file is None or source is None or not value.isidentifier() or value in ("None", "True", "False"):
        return ""
    function = enclosing(file, source.line)
    found = value_of(truth.program, truth, function, value)
    default = parameter.default if (parameter := function.parameter(value)) is not None else None
    if not found and default is not None and is_literal(default) and value not in bindings(function):
        found = f"{text_of(default)} by default"
    return f" ({clean(found, MAYBE_WIDTH)})" if found else ""


def _made(truth: Truth, key: Key) -> Class | Function | None:
    """What the recipe builds by this key, or a table holds under the value that code gives it."""
    found = (one.target for one in truth.program.choices if one.key == key.name and one.value.endswith(key.value))
    made = next(found, None) if key.value else None
    return made or picked_in_code(truth, key)


def short(truth: Truth, key: Key) -> str:
    """As many of its last names as no other key that is set to something else has."""
    words = key.name.split(".")
    for count in range(1, len(words)):
        end = ".".join(words[-count:])
        if words[-count] in (*TAGS, *SWITCHES) or words[-count].isdigit():  # alone they say nothing
            continue
        others = (one for one in truth.keys if is_set(one) and f".{one.name}".endswith(f".{end}"))
        if all(one.value == key.value for one in others):
            return end
    return key.name
