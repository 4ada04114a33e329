"""Three bundled cases, solved end to end by fixed replies: triage, reading, a change on a copy, a flipped probe, a diff."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import anyio
import pytest
from api_stand_in import call, say, stand_in
from small_programs import PYTHON
from trainsleuth.agent import Agreement, Limits
from trainsleuth.agent.loop import Report, investigate
from trainsleuth.notes import Notes
from trainsleuth_mcp.serving import build
from twins import ROOT, copied, tree_hash

pytestmark = [pytest.mark.twins, pytest.mark.timeout(600)]
pytest.importorskip("torch", reason="the programs train with torch: install the torch extra")


@dataclass(frozen=True)
class Case:
    """A broken program and its healthy twin, the cause, the lines that are read for it, and the edits that mend it."""

    folder: str
    words: tuple[str, ...]
    symptom: str
    hypothesis: str
    flipped: str
    read: tuple[dict[str, Any], ...]
    edits: tuple[dict[str, str], ...]


CASES = [
    Case(
        "demo",
        ("train.py",),
        "the loss stops at 4",
        "double-normalised-loss",
        "probe:loss_contract",
        ({"path": "losses.py"}, {"path": "model.py", "start": 60, "lines": 30}),
        (
            {"path": "model.py", "old": "return F.softmax(scores, dim=-1)", "new": "return scores"},
            {
                "path": "model.py",
                "old": "[:, -1]\n",
                "new": "[:, -1].softmax(dim=-1)\n",
            },
        ),
    ),
    Case(
        "tests/runs/missing_zero_grad",
        ("main.py",),
        "the validation error is far too high",
        "missing-zero-grad",
        "probe:step_trace",
        ({"path": "trainer.py"}, {"path": "main.py"}),
        (
            {
                "path": "trainer.py",
                "old": "def training_step(self, past, future):\n",
                "new": "def training_step(self, past, future):\n        self.optimizer.zero_grad()\n",
            },
        ),
    ),
    Case(
        "tests/runs/head_not_optimized",
        ("-m", "finetune.run"),
        "accuracy on the new topics is poor",
        "optimizer-misses-parameters",
        "probe:parameter_table",
        ({"path": "finetune/run.py"}, {"path": "finetune/encoder.py"}),
        (
            {
                "path": "finetune/run.py",
                "old": "    optimizer = torch.optim.AdamW(trainable(model), lr=args.lr, weight_decay=0.0)  # cause\n"
                "    model.reset_head(TOPICS)  # cause\n",
                "new": "    model.reset_head(TOPICS)\n"
                "    optimizer = torch.optim.AdamW(trainable(model), lr=args.lr, weight_decay=0.0)\n",
            },
        ),
    ),
]


def solved(case: Case, repo: Path, home: Path) -> tuple[Report, Any]:
    agreement = Agreement(repo, (PYTHON, *case.words), seconds=90, may_change=True)
    script = (
        [call("triage_training_run", symptom=case.symptom)],
        [call("run_probe", only=[case.flipped.removeprefix("probe:")])],  # a slow machine may end triage before it
        [call("read_code", **lines) for lines in case.read],
        [call("try_change", hypothesis=case.hypothesis, edits=list(case.edits))],
        [say("mended")],
    )

    async def work(url: str) -> Report:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as client:
            told: dict[str, Any] = {"symptom": case.symptom, "limits": Limits(seconds=500), "folder": home / "agent"}
            return await investigate(agreement, client, build(), model="stand-in", **told)

    with stand_in(*script) as api:
        return anyio.run(work, api.url), api


@pytest.mark.parametrize("case", CASES, ids=lambda case: Path(case.folder).name)
def test_a_case_ends_with_a_flipped_probe_and_the_healthy_program(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(home))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    repo = copied(ROOT / case.folder / "broken", tmp_path)
    for beside in (ROOT / case.folder).glob("*.txt"):  # a program may read what lies next to its folder
        shutil.copy(beside, tmp_path)
    before = tree_hash(repo)
    report, api = solved(case, repo, home)
    assert f"flipped: {case.hypothesis} is confirmed" in api.text(4), api.text(4)
    assert f"{case.flipped} before: fail" in api.text(4) and ": still passes" in api.text(4)
    assert not [block for turn in (1, 2, 3, 4) for block in api.results(turn) if block.get("is_error")]
    assert tree_hash(repo) == before
    written = Notes(repo).read()
    assert [one.id for one in written.hypotheses if one.verdict == "confirmed"] == [case.hypothesis]
    assert report.diff is not None
    subprocess.run(["git", "apply", str(report.diff)], cwd=repo, check=True)
    assert programs(repo) == programs(ROOT / case.folder / "healthy")


def programs(folder: Path) -> dict[str, str]:
    """The code of each file, without the marks that tell the tests where the cause is."""
    files = folder.rglob("*.py")
    return {path.relative_to(folder).as_posix(): path.read_text().replace("  # cause", "") for path in files}
