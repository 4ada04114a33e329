"""The whole statement at a line, and the function around it."""

from __future__ import annotations

from collections.abc import Sequence

from trainsleuth.facts import Class, Event, Expr, FileFacts, Function, written

from .wording import clean

MOST_TESTS = 3
MAX_LINES = 24  # of one statement
TEST_WIDTH = 190  # characters of one test
WIDTH = 230  # characters of one statement that are shown


def enclosing(file: FileFacts, line: int) -> Function:
    """The innermost function or class body that holds `line`, else the module's."""
    inside = [one for one in file.functions.values() if one.line <= line <= one.end_line]
    return max(inside, key=lambda one: (one.line, one.end_line < file.lines), default=file.body)


def is_class_body(file: FileFacts, function: Function) -> bool:
    """What `enclosing` gave is a class, not a function."""
    return body_of(file, function) is not None


def body_of(file: FileFacts, function: Function) -> Class | None:
    """The class whose body it is."""
    cls = file.classes.get(function.qualname.removesuffix(".<class>"))
    return cls if cls is not None and cls.body is function else None


def event_at(function: Function, line: int) -> tuple[int, Event] | None:
    """(position, event) of the statement that `line` belongs to."""
    found = None
    for position, event in enumerate(function.events):
        if event.line <= line and (found is None or event.line >= found[1].line):
            found = (position, event)
    return found


def statement(lines: Sequence[str], line: int, limit: int = MAX_LINES, width: int = WIDTH) -> str:
    """Source from `line` on until its brackets are closed, as one line."""
    depth, kept = 0, []
    for text in lines[line - 1 : line - 1 + limit]:
        code = text.split("  #")[0]
        kept.append(code)
        depth += sum(code.count(one) for one in "([{") - sum(code.count(one) for one in ")]}")
        if depth <= 0 and not code.rstrip().endswith("\\"):
            break
    return clean(" ".join(part.strip().rstrip("\\") for part in kept), width)


def conditions(event: Event) -> str:
    """The tests under which a statement runs, outer first; "" when it always does."""
    said = []
    for branch in event.block.branches:
        if branch.kind != "if" or (branch.test is not None and _says_nothing(branch.test)):
            continue
        said.append(_test(branch.test) if branch.test is not None else f"not ({any_of(branch.tests)})")
    kept = said[-MOST_TESTS:]
    while len(kept) > 1 and len(" and ".join(kept)) > 2 * TEST_WIDTH:
        kept = kept[1:]  # the inner ones decide
    return " and ".join(kept if len(kept) == len(said) else ["...", *kept])


def _says_nothing(test: Expr) -> bool:
    """if True: what stood under a context once; the guard of a file."""
    return (test.kind == "constant" and test.text == "True") or "__name__" in written(test)


def any_of(tests: Sequence[Expr], width: int = TEST_WIDTH) -> str:
    """The tests of all arms before an else; of many the first."""
    more = ["..."] if len(tests) > MOST_TESTS else []
    return " or ".join([*(written(test, width // len(tests)) for test in tests[:MOST_TESTS]), *more])


def _test(test: Expr) -> str:
    text = written(test, TEST_WIDTH)
    return f"({text})" if test.kind == "boolean" else text
