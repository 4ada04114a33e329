"""The plugin in the real Claude Code, headless, against a stand-in of the API; nothing leaves this machine for a model.

    TRAINSLEUTH_CLAUDE=/path/to/claude python -m pytest tests/test_claude_code.py

The server is started by the line of plugin.json as it stands, so `uvx` must be on PATH and reach a package index.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from api_stand_in import StandIn, call, say, stand_in
from small_programs import PYTHON, SOFTMAX

ROOT = Path(__file__).parents[1]
CLAUDE = os.environ.get("TRAINSLEUTH_CLAUDE", "")
PREFIX = "mcp__plugin_trainsleuth_trainsleuth__"
EIGHT = {
    f"{PREFIX}{name}"
    for name in (
        "triage_training_run",
        "map_training_repo",
        "find_silent_bugs",
        "run_probe",
        "suggest_next_test",
        "look_up_folklore",
        "read_notes",
        "add_to_notes",
    )
}

pytestmark = [
    pytest.mark.skipif(not CLAUDE, reason="TRAINSLEUTH_CLAUDE names no claude binary"),
    pytest.mark.skipif(not shutil.which("uvx"), reason="uvx, which plugin.json starts the server with, is not on PATH"),
]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The first start builds the wheel and fetches what it needs, which takes longer than a host waits."""
    subprocess.run(["uvx", "--from", str(ROOT), "trainsleuth-mcp", "--version"], check=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "train.py").write_text(SOFTMAX)
    return folder


def claude(api: StandIn, repo: Path, prompt: str) -> list[dict[str, Any]]:
    """The messages of one headless conversation in `repo`, with a home of its own."""
    home = repo.parent / "home"
    home.mkdir()
    cache = subprocess.run(["uv", "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "ANTHROPIC", "PYTHON"))}
    own |= {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "none",
        "TRAINSLEUTH_HOME": str(home / "trainsleuth"),
        "UV_CACHE_DIR": cache,
        "OMP_NUM_THREADS": "1",
    }
    words = [CLAUDE, "-p", prompt, "--plugin-dir", str(ROOT), "--allowedTools", f"{PREFIX}*,Skill"]
    words += ["--output-format", "stream-json", "--verbose"]
    done = subprocess.run(
        words, cwd=repo, env=own, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def found(body: dict[str, Any]) -> Any:
    """Asks for our tools until the server has started: Claude Code tells the model their schemas on demand only."""
    if offered(body) >= EIGHT:
        return None
    return [call("ToolSearch", query="select:" + ",".join(sorted(EIGHT)), max_results=len(EIGHT))]


def offered(body: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in body.get("tools", ())}


def test_the_plugin_brings_the_skill_and_eight_tools_and_reads_a_repository(repo: Path) -> None:
    read = [call("Skill", skill="trainsleuth"), call(f"{PREFIX}map_training_repo")]
    with stand_in(found, read, [say("the loop is at train.py:10")]) as api:
        told = claude(api, repo, "explain this repository")
    start, end = told[0], told[-1]
    assert "trainsleuth" in [plugin["name"] for plugin in start["plugins"]]
    assert "trainsleuth:trainsleuth" in start["skills"]
    assert {name for name in offered(api.asked[-1]) if name.startswith(PREFIX)} == EIGHT
    heard = json.dumps(api.asked[-1]["messages"])
    assert f"Base directory for this skill: {ROOT}" in heard
    assert "10 for step in range(200):" in heard
    assert end["result"] == "the loop is at train.py:10" and not end["is_error"]
    assert [path.name for path in repo.iterdir()] == ["train.py"]


def test_a_triage_finds_the_cause_and_leaves_the_notes(repo: Path) -> None:
    triage = call(f"{PREFIX}triage_training_run", command=[PYTHON, "train.py"], symptom="loss is stuck", seconds=60)
    with stand_in(found, [triage], [say("done")]) as api:
        told = claude(api, repo, "why does my loss not fall?")
    heard = json.dumps(api.asked[-1]["messages"])
    assert "check:double-softmax" in heard and "probe:loss_contract" in heard
    assert told[-1]["result"] == "done" and not told[-1]["permission_denials"]
    assert "double-normalised-loss" in (repo / "trainsleuth-notes.md").read_text()
    assert sorted(path.name for path in repo.iterdir()) == ["train.py", "trainsleuth-notes.md"]
