"""Which lines a program comes to is told once each, by either means, on every Python that there is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.launcher.environment import RUNTIME
from twins import one_in

PROGRAM = """import listening

def doubled(x):
    if x > 2:
        return 2 * x
    y = [one for one in range(3)]
    return x

def never():
    return 3

for i in range(4):
    doubled(i)
listening.show()
"""
LISTENING = """
import importlib, importlib.util, json, os, sys, types

folder = os.environ["RUNTIME"]
spec = importlib.util.spec_from_file_location("_runtime", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
sys.modules["_runtime"] = runtime = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runtime)
visited, sites = (importlib.import_module("_runtime." + name) for name in ("visited", "sites"))
told = []
here = sites.Sites(os.path.dirname(os.path.abspath(__file__)))
asked = json.loads(os.environ["VISIT"])
bus = types.SimpleNamespace(experiment={"visit": {"program.py": asked}}, sites=here, steps=0, events=lambda kind, **fields: told.append(dict(fields, kind=kind)))
if "TRACED" in os.environ:
    sys.settrace(lambda *_: None)
listener = visited.Listener(bus)

def show():
    traced = sys.gettrace() is not None
    listener.close("exit")
    print(json.dumps({"told": told, "traced": traced}))
"""
OTHERS = {path.parts[-3]: str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))}
PYTHONS = {name: path for name, path in OTHERS.items() if int(name.split(".")[1]) >= 8} | {"this": sys.executable}
ASKED = [4, 5, 6, 7, 10, 12, 13]


def told(python: str, folder: Path, lines: list[int], **variables: str) -> dict[str, Any]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "listening.py").write_text(LISTENING)
    environment = {"RUNTIME": str(RUNTIME), "VISIT": json.dumps(lines), **variables}
    done = subprocess.run([python, "program.py"], cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=60)  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("python", one_in(4, PYTHONS))
def test_lines_that_run_are_told_once_and_others_never(python: str, tmp_path: Path) -> None:
    first, *visited = told(PYTHONS[python], tmp_path, ASKED)["told"]
    assert first == {"kind": "watches_lines", "lines": len(ASKED), "why": ""}
    assert sorted(one["line"] for one in visited) == [4, 5, 6, 7, 12, 13]
    assert {one["path"] for one in visited} == {"program.py"}


@pytest.mark.parametrize("python", one_in(4, PYTHONS))
def test_nothing_is_traced_once_all_lines_were_met(python: str, tmp_path: Path) -> None:
    said = told(PYTHONS[python], tmp_path, [4, 12])
    assert len(said["told"]) == 3 and not said["traced"]


def test_a_program_that_is_traced_already_is_left_alone(tmp_path: Path) -> None:
    python = next((path for name, path in PYTHONS.items() if name.startswith(("3.8.", "3.9.", "3.10.", "3.11."))), "")
    if not python:
        pytest.skip("no Python here that has to be traced")
    assert told(python, tmp_path, ASKED, TRACED="1")["told"] == [
        {
            "kind": "watches_lines",
            "lines": len(ASKED),
            "why": "a debugger or a measurement of coverage traces the program",
        }
    ]
