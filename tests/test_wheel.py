"""What people install: the wheel alone, in an environment of its own, serves MCP to the official client, without torch."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_session import told
from small_programs import PYTHON, SOFTMAX

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment that holds our wheel and what it asks for."""
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [PYTHON, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)], check=True
    )
    venv.create(place / "venv", with_pip=True)
    programs = place / "venv" / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", *place.glob("*.whl")], check=True)
    return programs


@pytest.mark.twins
@pytest.mark.timeout(600)
def test_the_wheel_serves_the_official_client_without_torch(installed: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "train.py").write_text(SOFTMAX)
    env = {"PATH": os.environ["PATH"], "TRAINSLEUTH_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}

    async def conversation() -> tuple[set[str], list[str]]:
        server = StdioServerParameters(command=str(installed / "trainsleuth-mcp"), env=env, cwd=repo)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("map_training_repo", {}),
            ("find_silent_bugs", {}),
            ("look_up_folklore", {"query": "softmax-before-ce-floor"}),
            ("suggest_next_test", {"symptom": "loss is stuck"}),
            # the command's own interpreter has torch, ours has not
            ("run_probe", {"command": [PYTHON, "train.py"], "only": ["loss_contract"], "seconds": 60}),
        ]
        async with Client(server, read_timeout_seconds=120) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, [told(await client.call_tool(*one)) for one in calls]

    names, (map_, bugs, lore, next_, probed) = anyio.run(conversation)
    assert len(names) == 8
    assert "train.py" in map_ and "check:double-softmax" in bugs
    assert "source:" in lore  # the evidence is in the wheel
    assert next_.startswith("next test:")
    assert "probe:loss_contract" in probed.split("ruled out:")[0]
    without = subprocess.run([installed / "python", "-c", "import torch"], capture_output=True, text=True)
    assert "No module named 'torch'" in without.stderr
    shadow = subprocess.run([installed / "python", "-I", "-c", "import tools"], capture_output=True)
    assert shadow.returncode != 0  # training code has a `tools` of its own
