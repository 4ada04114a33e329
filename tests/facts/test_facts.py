"""What one source says: definitions at once, bodies when they are asked for; anything at all is read without failing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.facts import Expr, FileFacts, Function, build_index, written
from trainsleuth.facts.build import FEW_PLAIN
from trainsleuth.facts.reading.notebook import join_cells
from trainsleuth.facts.reading.plain import is_plain, read_plain
from trainsleuth.facts.reading.searched import alternatives, word_of
from trainsleuth.facts.reading.source import read_source
from trainsleuth.facts.reading.stored import pack, unpack
from trainsleuth.repository import Repository


def _read(source: str) -> FileFacts:
    return read_source("a.py", dedent(source))


def _only(source: str) -> Expr:
    """The expression that a source is."""
    (event,) = _read(source).body.events
    assert event.value is not None
    return event.value


@pytest.mark.parametrize(
    "source",
    [
        "a.b.c(x, *y, key=1, **z)",
        "f(x)[0].g(1)(2)",
        "[a, b][1:2]",
        "x @ y + -z",
        "a if b else c",
        "{'k': v, 'l': (1, 2)}",
        "not a",
        "a < b",
        "a is not b",
        "0 < a <= b",
        "a is not b not in c < d",
        "a not in b",
        "a and b",
    ],
)
def test_an_expression_reads_back_as_written(source: str) -> None:
    assert written(_only(source)) == source


@pytest.mark.parametrize(
    ("source", "kind", "text", "parts"),
    [
        ("self.net.fc", "path", "self.net.fc", 0),
        ("(self\n  .net)", "path", "self.net", 0),
        ("f().fc", "attr", "fc", 1),
        ("a and \\\n    b", "boolean", "and", 2),
        ("f(a, \\\n    b)", "call", "", 3),
        ("lambda x, y=1: x", "lambda", "x,y", 1),
        ("[x for x in y if x]", "each", "list", 3),
        ("{x: y for x in z}", "each", "dictionary", 2),
        ("f(x for x in y)", "call", "", 2),
        ("x = f'{a} and {b.c}'", "format", "", 2),
        ("'a' 'b'", "string", "ab", 0),
        ("f'{a}' 'b'", "format", "", 2),
        ("(y := 3)", "walrus", "y", 1),
        ("await f()", "await", "", 1),
        ("naïve.größe", "path", "naïve.größe", 0),
        ("x[1:2, ::3]", "index", "", 3),
    ],
)
def test_kinds_of_expressions(source: str, kind: str, text: str, parts: int) -> None:
    expr = _only(source)
    assert (expr.kind, expr.text, len(expr.parts)) == (kind, text, parts)


@pytest.mark.parametrize(
    ("source", "text"),
    [("'a b'", "a b"), ('"""long"""', "long"), ("rb'x'", "x"), ("'{not a place}'", "{not a place}"), ("f''", "")],
)
def test_strings_have_no_quotes(source: str, text: str) -> None:
    call = _only(f"f({source})")
    assert (call.parts[1].kind, call.parts[1].text) == ("string", text)


def test_calls_of_an_event_come_inner_before_outer() -> None:
    (event,) = _read("x[f(1)], y = g(h(2), k=i(3)).j(4)").body.events
    assert [call.last for call in event.calls] == ["f", "h", "i", "g", "j"]
    assert [call.line for call in event.calls] == [1] * 5


SHAPES = """
    import torch
    from . import near as n, far
    from torch.nn import *

    @register("net", size=make())
    class Net(Base, metaclass=Meta(1)):
        depth: int = compute()

        @property
        def size(self): return self.n

        def forward(self, x, *args, y: int = 3, **kwargs):
            def inner(z):
                return z.call_in_inner()
            if x:
                class Local:
                    def method(self): pass
                return inner(x)
            for i in range(3):
                try:
                    x = x + i
                except ValueError:
                    x = None
                while i:
                    i -= 1
            with torch.no_grad() as g, other():
                del x
            match y:
                case 1: one()
                case _: two()

    if torch:
        async def loose(a, /, b, *, c): ...
"""


def test_definitions_wherever_they_stand() -> None:
    facts = _read(SHAPES)
    assert set(facts.classes) == {"Net", "Net.forward.Local"}
    assert set(facts.functions) == {
        "<module>", "Net.<class>", "Net.size", "Net.forward", "Net.forward.inner", "Net.forward.Local.<class>",
        "Net.forward.Local.method", "loose",
    }  # fmt: skip
    net = facts.classes["Net"]
    assert ([base.text for base in net.bases], [one.text for one in net.keywords]) == (["Base"], ["metaclass"])
    assert list(net.methods) == ["size", "forward"]
    forward = net.methods["forward"]
    assert [(p.name, p.kind, p.annotation, p.keyword_only) for p in forward.parameters] == [
        ("self", "", "", False), ("x", "", "", False), ("args", "*", "", False), ("y", "", "int", True),
        ("kwargs", "**", "", True),
    ]  # fmt: skip
    assert (forward.owner, forward.self_name, forward.line, forward.end_line) == ("Net", "self", 13, 31)
    assert facts.functions["Net.forward.inner"].outer == "Net.forward"
    assert [(i.alias, i.module, i.name, i.level) for i in facts.imports] == [
        ("torch", "torch", "", 0), ("n", "", "near", 1), ("far", "", "far", 1), ("*", "torch.nn", "*", 0),
    ]  # fmt: skip


def _kinds(function: Function) -> str:
    return " ".join(event.kind for event in function.events)


def test_events_and_where_they_stand() -> None:
    facts = _read(SHAPES)
    forward = facts.functions["Net.forward"]
    assert _kinds(forward) == (
        "define if define return for assign assign while augment with with delete if if expression expression"
    )
    assert [(loop.kind, loop.line) for loop in forward.loops] == [("for", 20), ("while", 25)]
    augment = next(event for event in forward.events if event.kind == "augment")
    assert (augment.block.loops, augment.text) == ((0, 1), "-=")
    failed = [event for event in forward.events if event.kind == "assign"][1]
    assert [(branch.kind, branch.arm, branch.arms) for branch in failed.block.branches] == [("try", 1, 2)]
    delete = next(event for event in forward.events if event.kind == "delete")
    assert [context.last for context in delete.block.contexts] == ["no_grad", "other"]
    assert _kinds(facts.body) == "define if define"
    assert [call.last for call in facts.body.events[0].calls] == ["make", "register", "Meta"]


def test_a_body_is_not_read_before_it_is_asked_for() -> None:
    facts = _read(SHAPES)
    assert not any(function.is_read for function in facts.functions.values())
    assert facts.functions["Net.size"].events[0].kind == "return"
    assert [key for key, function in facts.functions.items() if function.is_read] == ["Net.size"]


CALLS = """
    def f():
        a . b (1)
        c\\
        (2)
        d(3)(4)
        e[0](5)
        ("g")(6)
        (lambda: 0)(7)
        größe(8)
        def inner(): hidden(9)
"""


def test_what_may_be_called_is_never_too_little() -> None:
    facts = _read(CALLS)
    for function in facts.functions.values():
        assert {call.last for event in function.events for call in event.calls} <= function.called
    assert facts.functions["f"].called == {"b", "c", "d", "", "größe"}


def _flat(value: object) -> object:
    """Without identity: equal when it holds the same."""
    return tuple(_flat(part) for part in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("source", [SHAPES, CALLS])
def test_stored_facts_come_back_the_same(source: str) -> None:
    facts, text = _read(source), dedent(source)
    unread = unpack("a.py", text, pack(facts))
    for function in facts.functions.values():
        assert function.events is not None
    back = unpack("b.py", text, pack(facts))
    for other in (back, unread):
        assert list(other.functions) == list(facts.functions)
        for key, function in facts.functions.items():
            again = other.functions[key]
            assert _flat(again.events) == _flat(function.events)
            assert _flat(again.loops) == _flat(function.loops)
            assert _flat(again.parameters) == _flat(function.parameters)
            assert (again.called, again.owner, again.self_name) == (function.called, function.owner, function.self_name)
        assert (other.imports, other.names, other.lines) == (facts.imports, facts.names, facts.lines)
    for cls in back.classes.values():
        assert all(method is back.functions[method.qualname] for method in cls.methods.values())
    assert {function.path for function in back.functions.values()} == {"b.py"}


def test_an_expression_in_two_records_is_one_object_again() -> None:
    text = "if ready(x):\n    with lock():\n        go()\n"
    facts = read_source("a.py", text)
    assert len(facts.body.events) == 3
    test, context, go = unpack("a.py", text, pack(facts)).body.events
    assert go.block.branches[0].test is test.value
    assert go.block.contexts[0] is context.value
    assert test.value is not None
    assert test.calls[0] is test.value


@pytest.mark.parametrize(
    "source",
    [
        "print 'python 2'\nx = 1\n",
        "def f(:\n  x = = 3\nclass\n",
        "x = (" + "(" * 3000 + "1" + ")" * 3000 + ")",
        "x = " + "f(" * 3000 + ")" * 3000,
        "x = " + "[" * 5000,
        "x = a" + ".b()" * 3000,
        "x = " + "1 + " * 20000 + "1",
        "if a:\n" + "".join(" " * n + "if b:\n" for n in range(1, 90)) + " " * 90 + "f()\n",
        "x = [" + "1, " * 100_000 + "]",
        "\x00\x01\x02",
        "\ud800 = 1",
        "",
        "\\",
        "@",
        "f'{'",
        "f'{}'",
        "def f(" + ", ".join(f"a{n}" for n in range(3000)) + "): pass",
    ],
    ids=range(17),
)
def test_anything_is_read_without_failing(source: str) -> None:
    facts = read_source("a.py", source)
    for function in facts.functions.values():
        assert len(function.events) <= 60_000
    assert unpack("a.py", source, pack(facts)).lines == source.count("\n") + 1


def test_a_very_long_if_does_not_hold_all_tests_in_all_arms() -> None:
    facts = _read("if a: b()\n" + "elif a: b()\n" * 3000)
    held = sum(len(branch.tests) for event in facts.body.events for branch in event.block.branches)
    assert (len(facts.body.events), held) == (6002, 0)
    short = _read("if a: b()\n" + "elif a: b()\n" * 3)
    assert [len(e.block.branches[0].tests) for e in short.body.events if e.block.branches] == [1, 2, 3, 4]


def test_what_could_not_be_read_is_told_and_the_rest_is_there() -> None:
    facts = _read("def f(:\n    pass\n\ndef g():\n    return 1\n")
    assert facts.problems[0][0] == 1
    assert [event.kind for event in facts.functions["g"].events] == ["return"]


@pytest.mark.parametrize(
    "source",
    [
        "(a + 1) % b == 0", "a - (b - c)", "a - b - c", "a * b / c", "-(a + b)", "not (a and b)", "(a or b) and c",
        "(a + b).mean()", "x[(i + 1) * 2]", "(a if b else c)(d)", "(-a) ** 2", "f(a + b, k=c or d)", "(a, b)[0]",
        "a if (b if c else d) else e", "not a == b", "a @ (b @ c)", "a ** b ** c", "(a ** b) ** c", "(lambda x: x)(3)",
    ],
)  # fmt: skip
def test_an_expression_is_written_with_the_parentheses_that_it_needs(source: str) -> None:
    (event,) = (one for one in read_source("a.py", f"y = {source}\n").body.events if one.value is not None)
    assert event.value is not None and written(event.value) == source


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('print(f"{name}: {weight:=>{pad}f}")', "line 1 is Python that the grammar does not take"),
        ('print "hello" % (', "line 1 not understood as Python"),
    ],
)
def test_what_python_takes_and_the_grammar_does_not_is_told_so(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{line}\nx = 1\n")
    index = build_index(Repository(tmp_path))
    assert any(said in one.reason for one in index.repository.skipped), index.repository.skipped


PLAIN = (
    "",
    "\n\n  # settings\n\nmodel = dict(type='Net', depth=f(3))\nlr = 0.1",
    "\x0c\nx = [a(1), b.c(2)(3)]\nfor y in x:\n    y.go()\n\n\n",
    "\\\nx = 1\n# end\n\n",
    "num_classes = default = 3\n",
    "x = = 3\ny = 4\n",
)


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_file_is_known_before_it_is_parsed_as_it_is_after(text: str) -> None:
    assert is_plain(text)
    told: list[tuple[tuple[int, str], ...]] = []
    plain, read = read_plain("a.py", text, (), told.append), read_source("a.py", text)
    assert not told
    assert (plain.lines, plain.names, plain.imports, plain.classes) == (read.lines, read.names, (), {})
    one, same = plain.body, read.body
    assert (one.line, one.end_line, one.called) == (same.line, same.end_line, same.called)
    assert (one.source.start, one.source.end) == (same.source.start, same.source.end)
    assert _flat(one.events) == _flat(same.events)
    assert told == [read.problems]


@pytest.mark.parametrize(
    "text", ["import a\n", "x = 1\nclass\tA: pass\n", "def \\\n  f(): pass\n", "from . import b\n"]
)
def test_what_defines_or_imports_is_not_plain(text: str) -> None:
    assert not is_plain(text)


def test_of_very_many_plain_files_one_is_parsed_when_it_is_asked_for(tmp_path: Path) -> None:
    for number in range(FEW_PLAIN + 2):
        (tmp_path / f"{number:03}.py").write_text("x = = 3\n")
    index = build_index(Repository(tmp_path))
    last = f"{FEW_PLAIN + 1}.py"
    assert len(index.repository.skipped) == FEW_PLAIN
    assert index.files[last].body.events
    assert last in {one.path for one in index.repository.skipped}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (rb"setattr\(|\._modules\[", (b"setattr(", b"._modules[")),
        (rb"\bregister_(?:new_)?resolver\b", (b"register_",)),
        (rb"optims?\w*grads*\b", (b"optim",)),
        (rb"[]abc]def{0,3}", (b"de",)),
        (rb"\(class\)x?", (b"(class)",)),
        (rb"LOOPS(?<!\wLOOPS)\b", (b"LOOPS",)),
        (rb"a\|b[|(]c", (b"a|b",)),
        (rb"-100\b", (b"-100",)),
        (rb"(?:one|two)|three", (b"one", b"two", b"three")),
        (rb"(?:one|two)+|three", (b"", b"three")),
        (rb"^(?:(?:one|two)!)+$", (b"",)),
        (rb"\b(?:a|b|c|d)\b", (b"",)),
        (rb"(one)\1|two", (b"",)),
        (rb"(?i)mask", (b"",)),
    ],
)
def test_words_that_every_match_holds(pattern: bytes, words: tuple[bytes, ...]) -> None:
    assert tuple(map(word_of, alternatives(re.compile(pattern)))) == words


@pytest.mark.parametrize(
    "pattern",
    [
        rb"=\s*\[",
        rb"^x",
        rb"^w",
        re.compile(rb"^w", re.M),
        rb"\]\Z",
        rb"\d$",
        re.compile(rb"=$", re.M),
        rb"\s[wy]",
        rb"y|\[",
        rb"(?<!\n)w",
    ],
)
def test_what_holds_a_pattern_is_found_in_all_texts_at_once(tmp_path: Path, pattern: bytes | re.Pattern[bytes]) -> None:
    """A match does not reach from one file into the next, and its ends are those of the file."""
    sources = {"a.py": "x = 3\ny =", "b.py": "[4]", "c.py": "w = [5]\nwide = [6]", "d.py": "x\nw", "e.py": ""}
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    compiled = re.compile(pattern)
    index = build_index(Repository(tmp_path))
    expected = [name for name, text in sources.items() if compiled.search(text.encode())]
    assert [file.path for file in index.files_holding(compiled)] == expected


def test_a_remainder_that_begins_a_line_of_a_notebook_is_no_magic() -> None:
    cell = {"cell_type": "code", "source": 'print("step %d: %.2f"\n      %(step, loss))\n%matplotlib inline\n!ls\n'}
    text, _ = join_cells(json.dumps({"cells": [cell]}))
    assert text.split("\n")[:4] == ['print("step %d: %.2f"', "      %(step, loss))", "", ""]


def test_what_a_condition_around_an_import_calls_stays_with_the_condition() -> None:
    source = "def first():\n    start()\n\ndef later():\n    if has(package):\n        import gym\n"
    functions = read_source("a.py", source).functions
    assert [[call.callee for call in event.calls] for event in functions["first"].events] == [["start"]]
    assert [call.callee for call in functions["later"].events[0].calls] == ["has"]
