"""What changes a key after its definition: the launch command, set_defaults, and assignments in code."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from trainsleuth.facts import MODULE_BODY, Event, Expr, Function, bindings

from ...drawing.statements import conditions
from ...launching.launch import Command, that_counts
from ...naming.only_values import only_value
from ...program import Program
from ..forms.command_line import given_by, launched_by, with_variables
from ..forms.literals import is_literal, text_of
from ..forms.mappings_in_json import unfolded
from ..forms.options import words_asked
from ..forms.positional import given_by_place, parsed
from ..forms.subcommands import subcommands
from ..records import Layer
from ..use.reads import subscripts
from .templates import written_in

_OF_SHELL = re.compile(r"\$(?:HOME|USER|PWD)\b|\$\{(?:HOME|USER|PWD)\}")  # variables that every shell has
_KEY = re.compile(r"[A-Z][A-Z_0-9]*")  # at the top of a configuration of yacs: OUTPUT_DIR out/small
_HOLDS = re.compile(r"(?:^|\.)(?:(?i:\w*args?|opts?|cfg|conf|config|hparams|hps?|h|flags|options?)|C|_C)$")


_NAMED = re.compile(r"(?:^|_)(?:args?|opts?|cfg|conf|config|hparams|spec|settings)$")  # counts with a section behind it


def of_command(
    program: Program, launch: Command | None, flags: Mapping[str, str], negated: Mapping[str, str]
) -> Iterator[tuple[str, Layer]]:
    """(key, value) of the launch command: `launch`, else the first that the repository gives for the entry.

    `flags` are the names under which options are set -> their key; `negated` those that, given alone, make it False.
    """
    command = launch_of(program, launch)
    if command is None:
        return
    text = with_variables(program.index, command.path, command.line, command.text)
    told = {setting.key for setting in program.settings}  # by a line of its own in the script
    for name, value in launched_by(text):
        if name not in told:
            yield name, Layer("command", command.path or command.script, command.line, value)
    parser = parsed(program, text)
    merges = all(count < 0 for _, count in parser.positional) and any(
        program.is_reached(site.function) for site in program.index.calls("merge_from_list")
    )

    sections = {one.rpartition(".")[0] for one in told if not parser.takes}  # of a parser that is not seen here

    def is_key(word: str) -> bool:
        if "." in word and "=" not in word:  # wandb.use False
            return word in told or (word.rpartition(".")[0] in sections and not _is_file(program, word))
        return merges and (_KEY.fullmatch(word) is not None or word in told)

    for said, value in (*given_by(text, parser.takes, is_key), *given_by_place(parser, text)):
        name = said if said in flags else parser.meant.get(said, said)
        if _exchanges(program, name, value):
            continue
        if name in negated and value == "True":
            yield negated[name], Layer("command", command.path, command.line, "False")
            continue
        key = flags.get(name, name)
        layer = Layer("command", command.path, command.line, value, "$" not in _OF_SHELL.sub("", value))
        yield key, layer
        yield from ((one, layer._replace(value=below)) for one, below in unfolded(key, value))


def names_given(program: Program, launch: Command | None) -> frozenset[str]:
    """Options of that command, without their dashes."""
    command = launch_of(program, launch)
    text = with_variables(program.index, command.path, command.line, command.text) if command is not None else ""
    return frozenset(one.name for one in given_by(text))


def _is_file(program: Program, word: str) -> bool:
    return any(path == word or path.endswith(f"/{word}") for path in program.index.repository.files)


def _exchanges(program: Program, name: str, value: str) -> bool:
    """Chooses the file of a group (model=large, optim@encoder.optim=adam), which is no value of a key."""
    file = f"{name.partition('@')[0]}/{value}"
    stems = (path.rpartition(".")[0] for path in program.config_paths)
    return any(stem == file or stem.endswith(f"/{file}") for stem in stems)


def launch_of(program: Program, launch: Command | None) -> Command | None:
    """The command whose values count: the given one, or the repository's own; with a recipe, only one that names it."""
    return launch or that_counts(program.entry.commands, program.recipe)


def of_code(program: Program, known: Container[str]) -> Iterator[tuple[str, Layer]]:
    """(key, value) of parser.set_defaults(lr=...) and args.lr = ... in code that the program reaches."""
    asked = words_asked(program)
    for function, _ in program.functions():
        commands = subcommands(function, asked) if "set_defaults" in function.called else None
        for event in function.events:
            for call in event.calls:
                if call.last == "set_defaults" and not (commands is not None and commands.is_others(call)):
                    for part in call.parts[1:]:
                        if part.kind == "keyword":
                            value = part.parts[0]
                            sure = is_literal(value) and not event.block.branches
                            yield part.text, Layer("file", function.path, part.line, text_of(value), sure)
            if function not in program.left_aside:
                yield from _assigned(function, event, known)


def _assigned(function: Function, event: Event, known: Container[str]) -> Iterator[tuple[str, Layer]]:
    if event.kind not in ("assign", "augment") or event.value is None:
        return
    for target in event.targets:
        dotted = subscripts(target) if target.kind in ("path", "index") else ""
        head, _, name = dotted.rpartition(".")
        root, _, section = head.partition(".")
        constant = not head and event.kind == "augment" and function.name == MODULE_BODY
        holds = target.kind == "path" and (_HOLDS.search(head) or _HOLDS.search(root) or _is_alias(function, head))
        if not (constant or holds or (section and _NAMED.search(root))):
            continue
        first, below, _ = section.partition(".")
        is_other = below and not _HOLDS.search(first)  # self.critic.args.steps is no steps of the whole
        ends = (f"{section}.{name}", name) if (constant or holds) and not is_other else (f"{section}.{name}",)
        key = next((one for one in ends if one in known), None)
        if key is None or (event.value.kind == "path" and event.value.last == name) or _is_itself(event.value, key):
            continue
        if _is_put_back(function, event, dotted) or _is_afterwards(function, event, dotted):
            continue
        sure = is_literal(event.value) and event.kind == "assign" and not event.block.branches
        sign = f"{event.text} " if event.kind == "augment" else ""
        yield (
            key,
            Layer("code", function.path, event.line, sign + _computed(function, event.value), sure, conditions(event)),
        )


def _is_alias(function: Function, name: str) -> bool:
    """Bound once, to what holds the settings: hyper = args"""
    value = only_value(function, name) if name.isidentifier() else None
    return value is not None and value.kind == "path" and _HOLDS.search(value.text) is not None


def _is_put_back(function: Function, event: Event, dotted: str) -> bool:
    """For a while only: what it was is kept in a name before, and given back after."""
    at = function.events.index(event)
    kept = {
        name
        for name, found in bindings(function).items()
        for one in found
        if one.position < at and one.value is not None and _path(one.value) == dotted
    }
    after = function.events[at + 1 :] if kept else ()
    return any(
        one.value is not None and _path(one.value) in kept and dotted in map(_path, one.targets) for one in after
    )


def _is_afterwards(function: Function, event: Event, dotted: str) -> bool:
    """For what comes after a loop, in an arm that its own value has chosen: if args.test: ... else: train(); args.test = True"""
    arms = {
        (one.id, one.arm)
        for one in event.block.branches
        if any(_path(part) == dotted for test in one.tests for part in test.walk())
    }
    before = function.events[: function.events.index(event)] if arms else ()
    return any(
        one.kind in ("for", "while") and not arms.isdisjoint((branch.id, branch.arm) for branch in one.block.branches)
        for one in before
    )


def _path(expr: Expr) -> str:
    return subscripts(expr) if expr.kind in ("path", "index") else ""


def _is_itself(value: Expr, key: str) -> bool:
    """select(cfg, "optim.lr", 0.1), getattr(args, "lr", None): what was set, or a default."""
    asked = (part.text for part in value.arguments if part.kind == "string") if value.kind == "call" else ()
    return any(one == key or (one and key.endswith(f".{one}")) for one in asked)


def _computed(function: Function, value: Expr) -> str:
    """What is assigned; of a name that is bound once, what it stands for."""
    bound = bindings(function).get(value.text, ()) if value.kind == "path" else ()
    if len(bound) >= 1 and bound[0].value is not None and not bound[0].items:
        return written_in(function, bound[0].value, 90)
    return text_of(value) if is_literal(value) else written_in(function, value, 90)
