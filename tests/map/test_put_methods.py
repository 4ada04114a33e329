"""Methods that setattr puts on a class of the project run where the class's own are called."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.facts import build_index
from trainsleuth.map.calling.graph import Graph
from trainsleuth.map.calling.values import Values
from trainsleuth.repository import Repository

BOX = """
from steps import {names}

class Box:
    def __init__(self):
        self.set_up("plain")

    def set_up(self, kind):
        after = {first}
        {more}
        setattr(Box, "after_forward", after)

    def after_forward(self, loss):
        raise NotImplementedError

def train(loader):
    box = Box()
    for loss in loader:
        box.after_forward(loss)
"""


def _run_by_train(root: Path, names: list[str]) -> set[str]:
    more = "\n        ".join(f'if kind == "{name}":\n            after = {name}' for name in names[1:]) or "pass"
    (root / "box.py").write_text(BOX.format(names=", ".join(names), first=names[0], more=more))
    (root / "steps.py").write_text("".join(f"def {name}(self, loss):\n    loss.backward()\n\n" for name in names))
    index = build_index(Repository(root))
    function = index.files["box.py"].functions["train"]
    return {edge.target.name for edge in Graph(Values(index)).edges(function) if edge.target.path == "steps.py"}


def test_the_call_runs_what_was_put_there(tmp_path: Path) -> None:
    assert _run_by_train(tmp_path, ["plain", "clipped"]) == {"plain", "clipped"}


def test_one_of_many_is_not_known(tmp_path: Path) -> None:
    assert _run_by_train(tmp_path, [f"step_{letter}" for letter in "abcdef"]) == set()
