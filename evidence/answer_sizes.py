"""What each tool's answer costs a model: tokens (characters / 4) on three large repositories.

    python evidence/answer_sizes.py CHECKOUTS [CHECKOUTS ...] > evidence/answer_sizes.md

CHECKOUTS are folders that hold a checkout of each repository under its name. Their own programs need data and
hardware, so the two tools that run code run the broken demo from a folder inside of a copy of the repository. Full
is what an agent gets with detail="full". Every answer is asked through the MCP server, as a host would.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
from anatomies import checkout
from mcp import Client
from trainsleuth_mcp.serving import INSTRUCTIONS, build

ROOT = Path(__file__).parents[1]
CHARACTERS_PER_TOKEN = 4
REPOSITORIES = {  # name: what to map in it alone
    "facebookresearch/fairseq": "fairseq_cli/train.py",
    "huggingface/pytorch-image-models": "train.py",
    "facebookresearch/audiocraft": "audiocraft/train.py",
}
Row = tuple[str, list[int]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    given = parser.parse_args().checkouts
    found = {name: checkout(name, given) for name in REPOSITORIES}
    if missing := [name for name, folder in found.items() if folder is None]:
        print(f"no checkout of {', '.join(missing)} in {', '.join(map(str, given))}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="trainsleuth-sizes-") as place:
        os.environ["TRAINSLEUTH_HOME"] = f"{place}/home"
        columns = [anyio.run(_column, name, folder, Path(place)) for name, folder in found.items() if folder]
    print(_page(list(found), columns))
    return 0


async def _column(name: str, folder: Path, place: Path) -> dict[str, int]:
    root = place / folder.name
    shutil.copytree(folder, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    shutil.copytree(ROOT / "demo" / "broken", root / "demo_run")
    shutil.copy(ROOT / "demo" / "text.txt", root)
    sizes = {}
    async with Client(build()) as client:
        for label, tool, arguments in _asked(root, REPOSITORIES[name]):
            result = await client.call_tool(tool, {**arguments, **({"root": str(root)} if tool != LORE else {})})
            text = "".join(getattr(block, "text", "") for block in result.content)
            if result.is_error:
                raise RuntimeError(f"{label} on {name}: {text}")
            sizes[label] = -(-len(text) // CHARACTERS_PER_TOKEN)
            print(f"{name}: {label}: {sizes[label]:,}", file=sys.stderr)
    return sizes


LORE = "look_up_folklore"


def _asked(root: Path, entry: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    run = {"command": [sys.executable, "train.py"], "cwd": "demo_run", "seconds": 60}
    full = {"detail": "full"}
    yield "map_training_repo", "map_training_repo", {}
    yield f"map_training_repo, scope = its {Path(entry).name}", "map_training_repo", {"scope": entry}
    yield "find_silent_bugs", "find_silent_bugs", {}
    yield "find_silent_bugs, full", "find_silent_bugs", full
    yield "run_probe", "run_probe", run
    yield "triage_training_run", "triage_training_run", {**run, "symptom": "loss stuck at 4"}
    yield "suggest_next_test", "suggest_next_test", {"symptom": "loss stuck at 4"}
    yield LORE, LORE, {"query": "loss does not go down"}
    yield "add_to_notes", "add_to_notes", {"text": "the labels were checked by hand", "include_findings": True}
    yield "read_notes", "read_notes", {}
    yield "read_notes, full", "read_notes", full


def _page(names: list[str], columns: list[dict[str, int]]) -> str:
    tools = anyio.run(_definitions)
    heads = [name.rpartition("/")[2] for name in names]
    rows = [f"| {label} | " + " | ".join(f"{column[label]:,}" for column in columns) + " |" for label in columns[0]]
    return "\n".join(
        [
            "# What an answer costs",
            "",
            f"Tokens (characters / {CHARACTERS_PER_TOKEN}) of each tool's answer, by `python evidence/answer_sizes.py`.",
            "The tools that run code ran the broken demo from a folder inside of the repository.",
            f"Before any call, a host holds the definitions of the eight tools ({tools:,} tokens; Claude Code loads them on demand)",
            f"and the server's instructions ({len(INSTRUCTIONS) // CHARACTERS_PER_TOKEN:,}).",
            "",
            f"| tool | {' | '.join(heads)} |",
            f"|---|{'---:|' * len(heads)}",
            *rows,
        ]
    )


async def _definitions() -> int:
    async with Client(build()) as client:
        listed = (await client.list_tools()).tools
    seen = [tool.model_dump_json(include={"name", "description", "input_schema"}) for tool in listed]
    return sum(map(len, seen)) // CHARACTERS_PER_TOKEN


if __name__ == "__main__":
    sys.exit(main())
