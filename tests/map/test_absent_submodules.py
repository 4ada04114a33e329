"""A clone without its submodules: what the program imports of one that is not there is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import map_repository

MODULES = (
    '[submodule "shared"]\n\tpath = app/shared\n\turl = git@host:shared.git\n[submodule "docs"]\n\tpath = docs/theme\n'
)


def _unresolved(root: Path, imports: str, more: str = "") -> tuple[str, ...]:
    (root / "app").mkdir(exist_ok=True)
    (root / ".gitmodules").write_text(MODULES)
    (root / "app/__init__.py").write_text("")
    (root / "app/train.py").write_text(
        f"import torch\n\n{imports}\n\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n{STEP}"
    )
    if more:
        (root / more).parent.mkdir(parents=True)
        (root / more).write_text("def setup():\n    return 1\n")
    return map_repository(root).unresolved


@pytest.mark.parametrize(
    "imports", ["from .shared import setup", "from app.shared.logs import setup", "from . import shared"]
)
def test_a_submodule_that_is_not_there_is_named_where_it_is_imported(tmp_path: Path, imports: str) -> None:
    said = [one for one in _unresolved(tmp_path, imports) if "submodule" in one]
    assert len(said) == 1 and said[0].startswith("app/shared is a git submodule") and "app/train.py:3" in said[0]


def test_nothing_is_said_of_one_that_is_there_or_that_nobody_imports(tmp_path: Path) -> None:
    assert not any("submodule" in one for one in _unresolved(tmp_path, "import json"))
    there = _unresolved(tmp_path, "from .shared import setup", "app/shared/__init__.py")
    assert not any("submodule" in one for one in there)
