"""Settings for hosts: one name, one version and one launch line everywhere, and files that their readers accept."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_programs import PYTHON, SOFTMAX, environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="TOML is read by Python 3.11 and later")

ROOT = Path(__file__).parents[1]
LAUNCH = ["uvx", "--from", "trainsleuth", "trainsleuth-mcp"]


def read(path: str) -> Any:
    text = (ROOT / path).read_text(encoding="utf-8")
    return tomllib.loads(text) if path.endswith(".toml") else yaml.safe_load(text)


@pytest.mark.parametrize(
    "path",
    [".claude-plugin/plugin.json", "gemini-extension.json", "hosts/claude-desktop/manifest.json", "server.json"],
)
def test_one_name_one_version(path: str) -> None:
    project, manifest = read("pyproject.toml")["project"], read(path)
    assert manifest["name"].rpartition("/")[2] == project["name"]
    assert manifest["version"] == project["version"]
    if path != "server.json":  # the registry allows 100 characters
        assert manifest["description"] == project["description"]


def test_the_marketplace_offers_this_plugin_and_the_skill_has_the_same_name() -> None:
    market, plugin = read(".claude-plugin/marketplace.json"), read(".claude-plugin/plugin.json")
    assert [one["name"] for one in market["plugins"]] == [plugin["name"]]
    front = (ROOT / "SKILL.md").read_text(encoding="utf-8").split("---")[1]
    assert yaml.safe_load(front)["name"] == plugin["name"]
    assert not (ROOT / ".mcp.json").exists()  # it would be the project configuration of everyone who opens this


def test_every_host_starts_the_same_program() -> None:
    cursor, vscode = read("hosts/cursor.json")["mcpServers"], read("hosts/vscode.json")["servers"]
    codex = read("hosts/codex.toml")["mcp_servers"]
    for servers in (cursor, vscode, codex):
        assert [servers["trainsleuth"]["command"], *servers["trainsleuth"]["args"]] == LAUNCH
    assert "trainsleuth-mcp" in read("pyproject.toml")["project"]["scripts"]
    page = (ROOT / "hosts/README.md").read_text(encoding="utf-8")
    link = re.search(r"cursor://anysphere\.cursor-deeplink/mcp/install\?([^)]+)\)", page)
    assert link is not None
    query = urllib.parse.parse_qs(link[1])
    config = json.loads(base64.b64decode(query["config"][0]))
    assert query["name"] == ["trainsleuth"] and [config["command"], *config["args"]] == LAUNCH


def test_the_registry_entry_keeps_the_rules_of_its_schema() -> None:
    entry = read("server.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert package["registryType"] == "pypi" and package["transport"] == {"type": "stdio"}
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_desktop_bundle_points_at_what_is_there() -> None:
    server = read("hosts/claude-desktop/manifest.json")["server"]
    assert (ROOT / server["entry_point"]).is_file()
    assert server["mcp_config"]["args"][-1] in read("pyproject.toml")["project"]["scripts"]


def test_every_input_of_the_action_reaches_its_script_as_a_variable() -> None:
    action = read("action.yml")
    step = action["runs"]["steps"][-1]
    assert "${{" not in step["run"]  # a command line is never a template: it would be run while it is filled in
    script = (ROOT / "hosts/github/triage.sh").read_text(encoding="utf-8")
    for name in action["inputs"]:
        assert f"INPUT_{name.upper()}" in step["env"] and f"INPUT_{name.upper()}" in script


def test_the_action_posts_what_was_found(tmp_path: Path) -> None:
    repo, binary = tmp_path / "repo", tmp_path / "trainsleuth"
    repo.mkdir()
    (repo / "train.py").write_text(SOFTMAX + 'print("`````\\n# not a heading of ours")\n')
    binary.write_text(f'#!/bin/sh\nexec {PYTHON} -m trainsleuth "$@"\n')
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    env = environment(
        tmp_path / "home",
        TRAINSLEUTH=str(binary),
        RUNNER_TEMP=str(tmp_path),
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
        GITHUB_OUTPUT=str(tmp_path / "output"),
        INPUT_COMMAND="python train.py | cat; exit $((1 - 1))",
        INPUT_SECONDS="60",
        INPUT_SYMPTOM='stuck; $(touch hacked) "',
    )
    script = ["bash", str(ROOT / "hosts/github/triage.sh")]
    done = subprocess.run(script, cwd=repo, env=env, capture_output=True, text=True, timeout=200)
    summary = (tmp_path / "summary.md").read_text()
    assert done.returncode == 1, done.stderr + summary
    assert "error  check:double-softmax" in summary and "probe:loss_contract" in summary
    assert summary.count("\n`````") == 2  # the block that we opened and closed
    assert "code=1" in (tmp_path / "output").read_text()
    assert not os.path.exists(repo / "hacked")
    assert (repo / "trainsleuth-notes.md").is_file()


def test_no_source_is_left_out_of_the_wheel() -> None:
    """A build leaves out what git would ignore, tracked or not."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    sources = [path for shelf in ("tools", "server") for path in (ROOT / shelf).rglob("*.py")]
    names = "\n".join(str(path.relative_to(ROOT)) for path in sources)
    asked = ["git", "check-ignore", "--no-index", "--stdin"]
    assert subprocess.run(asked, cwd=ROOT, input=names, capture_output=True, text=True).stdout == ""
