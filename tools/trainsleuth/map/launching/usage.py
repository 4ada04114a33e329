"""The Python blocks of a README: the way a library is used.

Blocks that stand by themselves are programs of their own, often over namesakes (`model`, `trainer`). Read as one they
would hand each other's objects on, so that one is read which trains most; the rest is told.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent

_FENCE = re.compile(r"^\s*(```|~~~)\s*(\w*)")
_STEPS = re.compile(r"\.(?:step|fit|learn)\(|\b(?!\w*(?:model|net|module)\b)\w+\.train\(", re.I)
_PYTHON = ("python", "py", "python3")


@dataclass(frozen=True)
class _Block:
    """The lines of one fence, the first of them at line `line` of the page."""

    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return dedent("\n".join(self.lines))

    def stands_alone(self) -> bool:
        """It begins with an import and uses no name that it does not bind: of `import *` nobody knows."""
        try:
            body = ast.parse(self.text)
        except SyntaxError:
            return False
        begins = bool(body.body) and isinstance(body.body[0], ast.Import | ast.ImportFrom)
        bound: set[str] = set(dir(builtins))
        used: set[str] = set()
        for node in ast.walk(body):
            if isinstance(node, ast.alias):
                bound.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        return begins and "*" not in bound and used <= bound


def usage(text: str) -> tuple[str, tuple[int, ...]]:
    """The program that the Python blocks make, each line at its own number and all else blank; and the lines at which
    others begin that train as well and are left out.
    """
    programs = list(_programs(_blocks(text.split("\n"))))
    worth = [_worth(one) for one in programs]
    best = max(worth, default=0)
    chosen = programs[worth.index(best)] if best else [block for one in programs for block in one]
    kept = [""] * len(text.split("\n"))
    for block in chosen:
        kept[block.line - 1 : block.line - 1 + len(block.lines)] = block.lines
    others = (one[0].line for one, how in zip(programs, worth, strict=True) if best and how and one is not chosen)
    return "\n".join(kept), tuple(others)


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    inside: list[str] | None = None
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if fence is None:
            if inside is not None:
                inside.append(line.removeprefix(">>> "))
        elif inside is not None:
            yield _Block(number - len(inside), tuple(inside))
            inside = None
        else:
            inside = [] if fence[2].lower() in _PYTHON else None
    if inside:
        yield _Block(number - len(inside) + 1, tuple(inside))


def _programs(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """What stands alone begins one; all else belongs to the one before."""
    current: list[_Block] = []
    for block in blocks:
        if current and block.stands_alone():
            yield current
            current = []
        current.append(block)
    if current:
        yield current


def _worth(program: Iterable[_Block]) -> int:
    """2 where weights are changed, 1 where a gradient is made, 0 where nothing trains."""
    text = "\n".join(block.text for block in program)
    return 2 if _STEPS.search(text) else 1 if ".backward(" in text else 0
