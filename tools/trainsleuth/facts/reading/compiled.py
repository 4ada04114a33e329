"""What CPython's own compiler says of one file: names that nothing binds, or too late, attributes that something sets."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import NamedTuple

from ..words import words

MAX_CHARACTERS = 1_000_000
_BY_NAME = frozenset(("exec", "eval", "globals", "locals", "vars", "__builtins__", "builtins"))
_GIVEN = words(
    "WindowsError get_ipython display profile unicode xrange raw_input long basestring reduce unichr reload _"
)

_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_SAVES = "LOAD_FAST_AND_CLEAR"  # what a comprehension keeps aside, from Python 3.12 on

Body = tuple[dis.Instruction, ...]


class Compiled(NamedTuple):
    """`unbound`: (line, name) of each read that ends in a NameError; `early`: of each read of a local that only later
    lines bind. `top`: what the body binds; None when an import of everything that is not known, or code that is made of
    text, may bind more. `attributes`: those that are set on any object. `caught`: first and last lines of what stands in a try that
    has an except. `imported`: lines of the imports that run whenever the file does. `defined`: (line, name) of what
    the definitions that run then read before any call: annotations, defaults, decorators, bases.
    """

    unbound: frozenset[tuple[int, str]]
    early: frozenset[tuple[int, str]]
    top: frozenset[str] | None
    attributes: frozenset[str]
    caught: tuple[tuple[int, int], ...]
    imported: frozenset[int]
    defined: frozenset[tuple[int, str]]


Brought = Callable[[str, int], frozenset[str] | None]


def _nothing_known(module: str, level: int) -> None:
    return None


def compiled(text: str, brought: Brought = _nothing_known) -> Compiled | None:
    """None for what this interpreter cannot compile: code of Python 2, a file that is broken or too large. `brought`: the
    names that an import of everything from a module (its name, and how many levels up) may bind; None where not known.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            whole = compile(tree, "", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    codes = list(_codes(whole))
    bodies = [tuple(dis.get_instructions(code)) for code in codes]
    top = _named(bodies[0], "STORE_NAME", "DELETE_NAME").union(
        *(_named(body, "STORE_GLOBAL", "DELETE_GLOBAL") for body in bodies)
    )
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    names = [brought(node.module or "", node.level) for node in imports]
    is_open = _hands_out(tree) or None in names
    others = frozenset().union(*(one for one in names if one is not None))
    top |= others
    known = frozenset(dir(builtins)) | _GIVEN | top
    return Compiled(
        frozenset() if is_open else frozenset(read for body in bodies for read in _unbound(body, known)),
        frozenset(read for code, body in zip(codes, bodies, strict=True) for read in _early(code, body)).union(
            () if is_open else (read for read in _early_at_top(bodies) if read[1] not in others)
        ),
        None if is_open else top,
        frozenset().union(*(_named(body, "STORE_ATTR", "DELETE_ATTR") for body in bodies)),
        tuple(_caught(tree)),
        frozenset(node.lineno for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)),
        frozenset((one.lineno, one.id) for one in _defined(tree.body)),
    )


def bad_indentation(text: str) -> int | None:
    """The line that is indented in a way that no Python takes; None where there is none, or another error comes first."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except TabError:
        return None  # Python 2 took it
    except IndentationError as error:
        return error.lineno if "expected an indented" not in error.msg else None  # a magic may have stood there
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None


def _defined(body: Sequence[ast.stmt]) -> Iterator[ast.Name]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = [*node.decorator_list, node.args, *([node.returns] if node.returns is not None else [])]
        elif isinstance(node, ast.ClassDef):
            own = [*node.decorator_list, *node.bases, *node.keywords]
            yield from _defined(node.body)
        else:
            continue
        yield from (one for part in own for one in ast.walk(part) if isinstance(one, ast.Name))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of the file, then of all that is defined in it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [inner for inner in one.co_consts if isinstance(inner, CodeType)]


def _named(body: Body, *operations: str) -> frozenset[str]:
    return frozenset(one.argval for one in body if one.opname in operations)


def _hands_out(tree: ast.Module) -> bool:
    """It may bind names that are not written."""
    looked_in = {
        id(side.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.In | ast.NotIn) for one in node.ops)
        for side in node.comparators
        if isinstance(side, ast.Call)
    }  # "__file__" in globals()
    return any(
        isinstance(node, ast.Name) and node.id in _BY_NAME and id(node) not in looked_in for node in ast.walk(tree)
    )


def _unbound(body: Body, known: frozenset[str]) -> Iterator[tuple[int, str]]:
    own = _named(body, "STORE_NAME", "DELETE_NAME")
    line = 0
    for one in body:
        line = _line(one) or line
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME") and one.argval not in known and one.argval not in own:
            if one.argval[:2] != "__":
                yield line, one.argval


def _early(code: CodeType, body: Body) -> Iterator[tuple[int, str]]:
    """Reads of locals before the first statement that binds them, unless a loop around both comes back to them."""
    stored = _first_stored(body, "STORE_FAST", "DELETE_FAST")
    given = code.co_argcount + code.co_kwonlyargcount
    given += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    for name in (*code.co_varnames[:given], *code.co_cellvars):
        stored.pop(name, None)
    yield from _read_before(body, stored, "LOAD_FAST")


def _early_at_top(bodies: Sequence[Body]) -> Iterator[tuple[int, str]]:
    """The same of names at the top of the file that no function binds and that mean nothing before."""
    body, *inner = bodies
    elsewhere = frozenset().union(*(_named(one, "STORE_GLOBAL", "DELETE_GLOBAL") for one in inner))
    stored = _first_stored(body, "STORE_NAME", "DELETE_NAME")
    given = frozenset(dir(builtins)) | _GIVEN | elsewhere
    yield from _read_before(body, {name: at for name, at in stored.items() if name not in given}, "LOAD_NAME")


def _first_stored(body: Body, *operations: str) -> dict[str, int]:
    stored: dict[str, int] = {}
    for one in body:
        if one.opname.startswith(operations):
            for name in _names(one):
                stored.setdefault(name, one.offset)
    return stored


def _read_before(body: Body, stored: Mapping[str, int], loads: str) -> Iterator[tuple[int, str]]:
    """In a loop only what its own statement binds: total = total(x)."""
    jumps = [one for one in body if one.opcode in _JUMPS]
    rounds = [(one.argval, one.offset) for one in jumps if one.argval < one.offset]
    bound_at = {one.offset: _line(one) for one in body}
    line = 0
    for one in body:
        line = _line(one) or line
        for name in _names(one) if one.opname.startswith(loads) and one.opname != _SAVES else ():
            first = stored.get(name, -1)
            comes_back = any(start <= one.offset and first <= end for start, end in rounds)
            if first > one.offset and (not comes_back or bound_at[first] == line):
                yield line, name


def _names(instruction: dis.Instruction) -> tuple[str, ...]:
    """Of the locals that it reads or binds; two from Python 3.13 on."""
    return instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)


def _line(instruction: dis.Instruction) -> int | None:
    positions = getattr(instruction, "positions", None)  # from Python 3.11 on
    return positions.lineno if positions is not None else instruction.starts_line


def _caught(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            yield node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno
        elif isinstance(node, ast.With) and any("suppress" in ast.unparse(item.context_expr) for item in node.items):
            yield node.lineno, node.end_lineno or node.lineno
