"""Is a key read at all: by its name, or by somebody who is handed the section that holds it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

from trainsleuth.facts import MODULE_BODY, written
from trainsleuth.facts.reading.config import BUILDING_TAGS

from ...calling.engines import INITIALIZE
from ...program import Program
from ..forms.engines import engine_settings
from ..forms.fields import of_framework
from ..forms.handed import arguments
from .reads import Reads

_TARGET = (
    "_target_",
    "class_path",
    "target",
    "type",
    "name",
    "_name",
    "class_name",
    "cls",
    "_component_",
    *BUILDING_TAGS,
)
_NAMES_A_CLASS = ("_target_", "class_path", "type", "class_name", "_component_")  # of any library
_WHOLESALE = ("from_argparse_args", "parse_args_into_dataclasses", "parse_dict", "parse_yaml_file", "parse_json_file", "cli", "LightningCLI")  # fmt: skip
_DICT_OF = re.compile(r"vars\(|__dict__|\.to_dict\(|to_container\(|asdict\(")
_ITSELF = re.compile(r"(?:[Hh][Pp]arams|HParams|Config|Args|Namespace|[Dd]ict|Settings|Options)$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Taken:
    """Answers for the keys of one program."""

    def __init__(self, program: Program, reads: Reads, is_asked_by_name: bool = False) -> None:
        """`is_asked_by_name`: code is seen to ask the whole recipe for its sections."""
        self._is_asked_by_name = is_asked_by_name
        self._left: dict[str, bool] = {}
        self.program = program
        self.reads = reads

    def by(self, name: str, is_read: bool, constant: bool) -> tuple[Literal["read", "given", "unread", "unknown"], str]:
        """How a key is used, and by whom when its section is handed on. Never "unread" where that is not sure."""
        if is_read and not self._is_left(name.partition(".")[0]):
            return "read", ""
        if self._is_left(name.partition(".")[0]):
            return "unread", ""
        if (taker := self._built_by(name)) is not None:
            return "given", taker
        last = name.rpartition(".")[2]
        if last.isdigit() or _IDENTIFIER.fullmatch(last) is None or self.reads.is_said(last):
            return "unknown", ""
        if constant or not self._is_handed_on(name):
            return "unread", ""
        return "unknown", ""

    def _is_left(self, section: str) -> bool:
        """It says what it builds, nobody asks the recipe for it, and no code that runs has its name in quotes."""
        if section not in self._left:
            quoted = re.compile(rb"[\"']%s[\"'._]" % re.escape(section).encode())
            self._left[section] = (
                self._is_asked_by_name
                and section in self._built
                and not self.reads.is_asked(section)
                and not any(one.source.holds(quoted) for one in self.program.run if one.name != MODULE_BODY)
            )
        return self._left[section]

    def _built_by(self, name: str) -> str | None:
        """The class that the section of this key names: its constructor gets the key."""
        sections = name.split(".")[:-1]
        while sections:
            if (taker := self._built.get(".".join(sections))) is not None:
                return taker
            sections.pop()
        return self._taking.get(name)

    @cached_property
    def _built(self) -> dict[str, str]:
        """Sections of the configuration -> what they name; whole ones first, by what is chosen from the project."""
        found: dict[str, str] = {}
        for setting in self.program.settings:
            section, _, last = setting.key.rpartition(".")
            if section and last in _NAMES_A_CLASS and setting.value:
                found[section] = setting.value
        for choice in self.program.choices:
            section, _, last = choice.key.rpartition(".")
            if last in _TARGET:
                found[section] = choice.value
        return found

    @cached_property
    def _taking(self) -> dict[str, str]:
        """Keys that are arguments of a framework's own class, or fields of one that derives from it."""
        told = {one.name: one.group for one in (*of_framework(self.program), *arguments(self.program))}
        return {**told, **{one.name: INITIALIZE.name for one in engine_settings(self.program)}}

    def _is_handed_on(self, name: str) -> bool:
        """Somebody may read it under a name that is computed, or gets all keys at once."""
        sections = name.split(".")[:-1]
        if any(section.isdigit() or self.reads.is_taken(section) for section in sections):
            return True
        return self._all_at_once

    @cached_property
    def _all_at_once(self) -> bool:
        if is_handed_out(self.program):
            return True
        for called in self.program.reached_calls:
            if called.call.last in _WHOLESALE:
                return True
            if _ITSELF.search(called.call.last) or called.function.name.startswith("__get"):
                continue  # the settings come into being: nobody has read them yet
            for part in called.call.parts[1:]:
                if part.kind == "doublestar" and (_DICT_OF.search(given := written(part.parts[0])) or _holds(given)):
                    return True
                if called.call.last == "getattr" and len(called.call.arguments) > 1:
                    if called.call.arguments[1].kind != "string" and _holds(called.call.arguments[0].text):
                        return True
        return False


def is_handed_out(program: Program) -> bool:
    """A function of another library gets all settings at once, and may read any: create_optimizer(args, model)."""
    return any(
        _WHOLE.fullmatch(part.parts[0].text if part.kind == "keyword" else part.text)
        for called in program.reached_calls
        if called.call.callee and called.call.last not in _TELLING
        for part in called.call.parts[1:]
        if program.full_name(called.function, called.call.callee).partition(".")[0] not in _NO_READERS
    )


_WHOLE = re.compile(r"(?:self\.)?(?:args?|opts?|cfg|conf|config|hparams|flags|params|options)")
_TELLING = (
    "init",
    "dump",
    "safe_dump",
    "save",
    "deepcopy",
    "spawn",
    "info",
    "debug",
    "pformat",
    "pprint",
    "start_processes",
)
_NO_READERS = ("", "builtins", "json", "yaml", "logging", "pprint", "copy", "pickle", "argparse", "wandb", "os")


def _holds(text: str) -> bool:
    return re.search(r"(?:^|[._])(?:args?|opts?|cfg|conf|config|hparams|flags|params|self)$", text, re.I) is not None
