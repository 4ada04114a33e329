"""What may hold a thing: wide, so that nothing that can be proved is hidden, and no wider than the names say."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.facts import Function, Index, Spot, Target, build_index
from trainsleuth.repository import Repository

TESTS = Path(__file__).resolve().parents[1]


def _index(tmp_path: Path, source: str) -> Index:
    (tmp_path / "a.py").write_text(dedent(source))
    return build_index(Repository(tmp_path))


def _called(index: Index, *names: str) -> set[int]:
    return {site.call.line for site in index.calls_holding(names)}


def test_a_local_name_is_one_of_its_function(tmp_path: Path) -> None:
    index = _index(
        tmp_path,
        """
        from torch import nn

        def train(model, x, y):
            f = nn.CrossEntropyLoss()
            return f(model(x), y)

        def parse(f, text):
            return f(text)

        def read(load):
            f = load
            return f("a")
        """,
    )
    assert _called(index, "CrossEntropyLoss") == {6}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("class T:\n    def __init__(self, f): self.f = f\n    def step(self, a): return self.f(a)\nT(CE())", 4),
        ("def step(f, a):\n    return f(a)\nstep(CE(), 1)", 3),
        ("def step(a, f):\n    def inner():\n        return f(a)\n    return inner\nstep(1, f=CE())", 4),
        ("def make():\n    return CE()\nf = make()\nf(1)", 5),
        ("def make(kind=CE):\n    f = kind()\n    return f(1)", 4),
        ("class T:\n    kinds = {'ce': CE}\n    def step(self, a):\n        f = self.kinds['ce']()\n        return f(a)", 6),
        ("for f in [CE(), 1]:\n    f(1)", 3),
        ("[f(1) for f in (CE(),)]", 2),
        ("class Net:\n    def forward(self, f):\n        return f(1)\nnet = Net()\nnet(CE())", 4),
        ("class A:\n    def __init__(self, f): self.f = f\nclass B(A):\n    def __init__(self, g):\n"
         "        super().__init__(g)\n    def step(self): return self.f(1)\nB(CE())", 7),
        ("class A:\n    def __init__(self, f): self.f = f\n    @classmethod\n    def make(cls): return cls(CE())\n"
         "    def step(self): return self.f(1)", 6),
        ("def step(f):\n    return f(1)\ntable = {'a': step}\nrun = table['a']\nrun(CE())", 3),
    ],
)  # fmt: skip
def test_it_is_handed_on(tmp_path: Path, source: str, line: int) -> None:
    assert line in _called(
        _index(tmp_path, f"from torch.nn import CrossEntropyLoss as CE\n{source}\n"), "CrossEntropyLoss"
    )


def _proved(index: Index, function: Function) -> set[int]:
    """Lines of the calls in `function` that surely run a function of the project."""
    return {
        call.line
        for position, event in enumerate(function.events)
        for call in event.calls
        for target in index.calling.targets(call, Spot(function, position))
        if isinstance(target, Target)
    }


@pytest.mark.parametrize(
    "folder", [TESTS / "runs", TESTS.parent / "tools" / "trainsleuth" / "facts"], ids=["runs", "facts"]
)
def test_nothing_that_is_proved_is_hidden(folder: Path) -> None:
    index = build_index(Repository(folder))
    proved = 0
    for function in index.functions():
        allowed = {call.line for event in function.events for call in event.calls if index.may_run(call, function)}
        lines = _proved(index, function)
        assert lines <= allowed, (function.path, lines - allowed)
        proved += len(lines)
    assert proved > 100
