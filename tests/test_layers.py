"""Who may import whom: the table of the house, held against every import statement, lazy ones too."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS, SERVER = ROOT / "tools", ROOT / "server"

# Part -> the parts that it may import besides the standard library. A part is a module or a package of ours;
# what is not named here may import nothing of ours and nothing of others.
RECORDS = {"finding", "hypothesis", "question"}
ALLOWED: dict[str, set[str]] = {
    "": set(),
    "finding": set(),
    "hypothesis": {"finding"},
    "question": set(),
    "trace": set(),
    "step_order": {"trace"},
    "content": {"yaml"},
    "bm25": set(),
    "wording": {"finding"},
    "secrets": set(),
    "installed": set(),
    "repository": {"finding", "installed", "tracked", "python_ripgrep"},
    "projects": {"repository"},
    "history": set(),
    "cache": {"platformdirs"},
    "tracked": set(),
    "kept": {"cache", "repository", "msgspec"},
    "facts": {"cache", "finding", "repository", "msgspec", "tree_sitter", "tree_sitter_python", "yaml"},
    "lore": {"finding", "content", "bm25"},
    "entry": {"content", "lore"},
    "evidence": {"content", "lore"},
    "notes": {*RECORDS, "repository", "filelock"},
    "map": {"finding", "history", "repository", "secrets", "facts", "kept", "yaml"},
    "checks": {"finding", "repository", "projects", "facts", "kept", "lore"},
    "accepted": {"checks", "finding", "repository", "tomli", "tomllib"},
    "copies": {"finding", "repository"},
    "suggest": {"finding", "repository"},
    "probes": {"finding", "step_order", "trace"},
    "likelihoods": {*RECORDS, "content"},
    "next_test": {"hypothesis", "likelihoods"},
    "ledger": {*RECORDS, "likelihoods", "next_test"},
    "report": {*RECORDS, "notes", "wording"},
    "launcher": set(),
    "loss_surface": {"launcher", "matplotlib"},
    "sweep": {"scipy"},
    "probing": {"finding", "launcher", "probes", "trace"},
    "again": {"finding", "launcher", "probes", "probing"},
    "observing": {"launcher", "map", "probing", "step_order", "trace", "wording"},
    "reading": {"finding", "map", "notes", "observing", "probes", "probing", "question"},
    "handbook": {"", "checks", "lore", "probes"},
    "this_program": {"finding", "launcher", "repository", "trace"},
    "course": {"launcher", "probing", "trace"},
    "rehearsing": {"course", "probes", "probing", "this_program"},
    "triage": {*RECORDS, "checks", "course", "ledger", "notes", "probes", "probing", "rehearsing", "repository", "this_program", "trace"},
    "preflight": {"checks", "course", "finding", "ledger", "probes", "probing", "rehearsing", "repository", "this_program", "triage"},
    "watched": {"launcher"},
    "replaying": {"probing"},
    "comparing": {"finding", "launcher", "probing", "trace"},
    "agent": {
        *RECORDS, "launcher", "ledger", "likelihoods", "notes", "probing", "repository", "wording", "anthropic", "anyio", "mcp",
    },
    "answers": {
        *RECORDS, "", "accepted", "again", "agent", "checks", "comparing", "content", "course", "entry", "evidence", "launcher", "ledger", "likelihoods", "loss_surface", "lore", "map", "notes",
        "observing", "preflight", "probes", "probing", "reading", "replaying", "repository", "sweep", "triage", "wording",
    },
    "cli": {
        "", "accepted", "again", "agent", "answers", "cache", "checks", "comparing", "copies", "evidence", "finding", "loss_surface", "map", "notes", "observing", "preflight", "probing", "reading",
        "replaying", "report", "repository", "rich", "suggest", "sweep", "trainsleuth_mcp", "triage", "watched", "wording", "anyio",
    },
    "__main__": {"cli"},
    "runtime": {"torch", "numpy"},
    "trainsleuth_mcp": {
        *RECORDS, "", "accepted", "again", "answers", "checks", "copies", "ledger", "lore", "map", "notes", "observing", "probing", "reading", "repository",
        "triage", "wording", "anyio", "mcp", "mcp_types", "pydantic",
    },
}  # fmt: skip


def part_of(module: str) -> str:
    """`trainsleuth.notes.entries` is of the part `notes`; other distributions are parts by their own name."""
    top, _, rest = module.partition(".")
    if top != "trainsleuth":
        return top
    part = rest.partition(".")[0]
    here = TOOLS / "trainsleuth" / part
    return part if here.is_dir() or here.with_suffix(".py").exists() else ""


def module_of(path: Path) -> str:
    shelf = TOOLS if path.is_relative_to(TOOLS) else SERVER
    return ".".join(path.relative_to(shelf).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and module of every import, those inside functions and under TYPE_CHECKING too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node)
            yield from ((node.lineno, f"{base}.{alias.name}".strip(".")) for alias in node.names)


def _base(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module_of(path).split(".")
    package = package if path.name == "__init__.py" else package[:-1]
    return ".".join([*package[: len(package) + 1 - node.level], *([node.module] if node.module else [])])


SOURCES = sorted(path for shelf in (TOOLS, SERVER) for path in shelf.rglob("*.py") if "__pycache__" not in path.parts)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: module_of(path))
def test_imports_point_up(path: Path) -> None:
    own = part_of(module_of(path))
    assert own in ALLOWED, f"{path.name} is a new part: say in ALLOWED what it may import"
    for line, module in imports(path):
        other = part_of(module)
        if other != own and other not in sys.stdlib_module_names:
            assert other in ALLOWED[own], (
                f"{path.relative_to(ROOT)}:{line} imports {module}: {own} may not import {other}"
            )


@pytest.mark.parametrize("folder", ["checks", "probes"])
def test_neighbours_do_not_know_each_other(folder: str) -> None:
    """A check never imports a check, a probe never a probe; what they share starts with an underscore."""
    for path in sorted((TOOLS / "trainsleuth" / folder).glob("*.py")):
        if path.name.startswith("_"):
            continue
        for line, module in imports(path):
            words = module.split(".")
            neighbour = words[2] if words[:2] == ["trainsleuth", folder] and len(words) > 2 else "_"
            named = (path.parent / f"{neighbour}.py").exists() and not neighbour.startswith("_")
            assert not named, f"{path.relative_to(ROOT)}:{line} imports its neighbour {module}"


def test_nothing_of_ours_imports_the_runtime() -> None:
    for path in SOURCES:
        if part_of(module_of(path)) != "runtime":
            assert not any(part_of(module) == "runtime" for _, module in imports(path)), path


def test_only_the_launcher_starts_processes_but_for_git() -> None:
    starters = {
        part_of(module_of(path))
        for path in SOURCES
        for _, module in imports(path)
        if module.split(".")[0] in ("subprocess", "multiprocessing", "pty")
    }
    assert starters <= {"launcher", "runtime", "history"}


def loaded_by(code: str) -> set[str]:
    """Top-level packages in memory after `code` ran in a fresh interpreter."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{TOOLS}:{SERVER}", "PATH": "/usr/bin:/bin"},
        check=True,
    )
    return set(told.stdout.split("\n")[-2].split())


def test_commands_load_only_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("loss.backward()\n")
    loaded = loaded_by(f"from trainsleuth.cli import main; main(['check', {str(tmp_path)!r}])")
    assert not loaded & {"mcp", "anthropic", "torch", "rich", "pydantic"}
    assert "tree_sitter" in loaded


def test_the_server_loads_neither_torch_nor_anthropic() -> None:
    loaded = loaded_by("from trainsleuth_mcp.serving import build; build()")
    assert not loaded & {"torch", "anthropic", "tree_sitter", "yaml"}
    assert "mcp" in loaded
