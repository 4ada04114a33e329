"""Classes of settings that the program's own parser fills, and those beside them that this run has nothing of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainsleuth.facts import Class, External

from ...loop.frameworks import FRAMEWORKS
from ...program import Program
from ...recipe.parsed_classes import parsed_classes

_PACKAGES = frozenset(package for framework in FRAMEWORKS for package in framework.packages)
_PARSER = re.compile(r"[A-Z]\w*Parser")


def filled(program: Program) -> tuple[Class, ...]:
    """The classes that a parser in reached code is handed: HfArgumentParser((ModelArguments, SFTConfig))."""
    found = (
        cls
        for called in program.reached_calls
        if _PARSER.fullmatch(called.call.last)
        for cls in parsed_classes(program.index, called.function, called.call)
    )
    return tuple(dict.fromkeys(found))


def is_told_with(program: Program, cls: Class, parsed: Sequence[Class]) -> bool:
    """Its fields are none of this run on their own: it is of the parser's classes, or of their bases, whose fields are
    told with those; or it is a sister of one that nobody in reached code makes.
    """
    families = {base for one in parsed for base in program.index.lineage(one)}
    if cls in families:
        return True
    return cls not in program.made_at and not families.isdisjoint(program.index.lineage(cls))


def is_of_framework(program: Program, cls: Class) -> bool:
    """It derives from the arguments of a framework, which reads them: class SFTConfig(TrainingArguments)."""
    bases = (program.index.resolve(one.body, base.text) for one in program.index.lineage(cls) for base in one.bases)
    return any(isinstance(base, External) and base.name.partition(".")[0] in _PACKAGES for base in bases)
