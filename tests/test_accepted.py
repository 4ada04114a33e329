"""What people decide about findings: comments, settings, a baseline; and how checks speak to CI."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from trainsleuth.accepted import BaselineError, Review, SettingsError, read_baseline, reviewed, write_baseline
from trainsleuth.answers.github import workflow_commands
from trainsleuth.answers.sarif import sarif
from trainsleuth.cli import main
from trainsleuth.repository import Repository

pytestmark = pytest.mark.usefixtures("right_so_far")

ROOT = Path(__file__).parents[1]
LOOP = dedent(
    """\
    import torch

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
    """
)
STEP = "        optimizer.step()\n"
WHY = "# trainsleuth: ignore[missing-zero-grad] the sum over rounds is meant"


def written(root: Path, source: str, **more: str) -> Repository:
    (root / "train.py").write_text(source)
    for name, text in more.items():
        (root / name.replace("_", ".")).write_text(text)
    return Repository(root)


def failures(review: Review) -> list[str]:
    return [f.by.removeprefix("check:") for f in review.report.findings if f.outcome == "fail"]


@pytest.mark.parametrize(
    "source",
    [
        LOOP.replace(STEP, f"        optimizer.step()  {WHY}\n"),
        LOOP.replace(STEP, f"        {WHY}\n{STEP}"),
        LOOP.replace(STEP, f"        {WHY}\n        # see the paper\n\n{STEP}"),
        LOOP.replace(STEP, f"        optimizer.step(\n        )  {WHY}\n"),
    ],
    ids=["behind", "above", "above a comment", "behind the last of its lines"],
)
def test_comment_accepts_what_stands_at_its_line(source: str, tmp_path: Path) -> None:
    review = reviewed(written(tmp_path, source))
    assert failures(review) == []
    (accepted,) = review.accepted
    assert (accepted.how, accepted.reason) == ("comment", "the sum over rounds is meant")


def test_an_idle_id_beside_one_that_accepts_is_a_note(tmp_path: Path) -> None:
    source = LOOP.replace(STEP, f"        optimizer.step()  {WHY.replace('[', '[double-softmax, ')}\n")
    review = reviewed(written(tmp_path, source))
    (told,) = [finding for finding in review.report.findings if finding.outcome == "fail"]
    assert (told.by, told.severity) == ("check:ignore-comment", "note") and "leave out double-softmax" in told.message
    assert len(review.accepted) == 1


@pytest.mark.parametrize(
    ("source", "left", "said"),
    [
        (LOOP.replace(STEP, f"        optimizer.step()  {WHY.partition(']')[0]}]\n"), True, "gives no reason"),
        (LOOP.replace(STEP, "        optimizer.step()  # trainsleuth: ignore it is meant\n"), True, "names no check"),
        (LOOP.replace(STEP, f"        optimizer.step()  {WHY.replace('zero', 'nil')}\n"), True, "is no check"),
        (LOOP.replace(STEP, f"        optimizer.zero_grad()\n        optimizer.step()  {WHY}\n"), False, "delete it"),
        (LOOP + f"\n\n{WHY}\nx = 1\n", True, "delete it"),
    ],
    ids=["no reason", "no id", "unknown id", "nothing to accept", "another line"],
)
def test_comment_that_is_wrong_is_reported(source: str, left: bool, said: str, tmp_path: Path) -> None:
    review = reviewed(written(tmp_path, source), only=["missing-zero-grad"])
    found = failures(review)
    assert ("missing-zero-grad" in found) == left and "ignore-comment" in found
    assert said in next(f.message for f in review.report.findings if f.by == "check:ignore-comment")


def test_comment_in_a_program_without_an_ending(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("#!/usr/bin/python3\n" + LOOP.replace(STEP, f"        optimizer.step()  {WHY}\n"))
    review = reviewed(Repository(tmp_path))
    assert failures(review) == [] and len(review.accepted) == 1


def test_comment_about_a_check_that_did_not_run_is_not_called_unused(tmp_path: Path) -> None:
    repository = written(tmp_path, LOOP.replace(STEP, f"        optimizer.step()  {WHY}\n"))
    assert failures(reviewed(repository, only=["double-softmax"])) == []


def test_comment_in_a_text_is_none(tmp_path: Path) -> None:
    review = reviewed(written(tmp_path, LOOP.replace(STEP, f'        print("{WHY}")\n{STEP}')))
    assert failures(review) == ["missing-zero-grad"]


def test_settings_choose_exclude_and_ignore(tmp_path: Path) -> None:
    table = '[tool.trainsleuth]\nonly = ["missing-zero-grad"]\nexclude = ["old"]\n'
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "train.py").write_text(LOOP)
    review = reviewed(written(tmp_path, LOOP, pyproject_toml=table))
    assert set(review.report.examined) == {"missing-zero-grad"}
    assert [f.path for f in review.report.findings if f.outcome == "fail"] == ["train.py"]
    assert [one.reason for one in review.accepted] == ["pyproject.toml excludes old"]
    table = '[tool.trainsleuth.ignore]\nmissing-zero-grad = "a course on what goes wrong"\n'
    review = reviewed(written(tmp_path, LOOP, pyproject_toml=table))
    assert {one.reason for one in review.accepted} == {"a course on what goes wrong"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[tool.trainsleuth]\nonyl = []\n", "no key 'onyl'; there are only, exclude, ignore, baseline"),
        ('[tool.trainsleuth]\nonly = ["double-sofmax"]\n', "'double-sofmax', which is no check"),
        ('[tool.trainsleuth.ignore]\ndouble-softmax = ""\n', "gives each check a reason"),
        ("[tool.trainsleuth]\nexclude = 3\n", "exclude in pyproject.toml is a list of texts"),
        ("[tool.trainsleuth\n", "pyproject.toml cannot be read"),
    ],
)
def test_wrong_settings_say_what_is_right(table: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        reviewed(written(tmp_path, LOOP, pyproject_toml=table))
    assert said in str(caught.value)


def test_broken_settings_of_others_do_not_end_the_search(tmp_path: Path) -> None:
    review = reviewed(written(tmp_path, LOOP, pyproject_toml="[project\nname = 'theirs'\n"))
    assert failures(review) == ["missing-zero-grad"]
    assert [one.path for one in review.report.skipped] == ["pyproject.toml"]


def test_settings_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    table = '\ufeff[tool.trainsleuth.ignore]\nmissing-zero-grad = "meant"\n'
    assert {one.reason for one in reviewed(written(tmp_path, LOOP, pyproject_toml=table)).accepted} == {"meant"}


def test_baseline_lets_old_findings_pass_and_new_ones_not(tmp_path: Path) -> None:
    repository, file = written(tmp_path, LOOP), tmp_path / "baseline.json"
    assert write_baseline(file, repository, reviewed(repository).report.findings) == 1
    moved = "# a line more\n" + LOOP
    assert failures(reviewed(written(tmp_path, moved), baseline=file)) == []
    twice = LOOP + LOOP.replace("def train", "def again")
    review = reviewed(written(tmp_path, twice), baseline=file)
    assert failures(review) == ["missing-zero-grad"] and len(review.accepted) == 1
    healthy = LOOP.replace(STEP, f"{STEP}        optimizer.zero_grad()\n")
    review = reviewed(written(tmp_path, healthy), baseline=file)
    assert review.fixed == 1


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9, "findings": []}', '{"version": 1, "findings": [{}]}'])
def test_what_is_no_baseline_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(BaselineError, match="--write-baseline"):
        read_baseline(tmp_path / "b.json")
    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline(tmp_path / "nowhere.json")


@pytest.mark.parametrize("text", ["import torch\n", "{}", '{"a": 1}', "\xff"])
def test_a_baseline_is_written_over_nothing_else(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "train.py"
    file.write_text(text)
    assert main(["check", str(tmp_path), "--write-baseline", str(file)]) == 2
    assert "holds something else than a baseline" in capsys.readouterr().err and file.read_text() == text
    old = tmp_path / "old.json"
    old.write_text('{"version": 0, "findings": []}')
    assert write_baseline(old, written(tmp_path, LOOP), []) == 0 and read_baseline(old).entries == ()


def test_command_writes_and_takes_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, LOOP)
    file = str(tmp_path / "known.json")
    assert main(["check", str(tmp_path)]) == 1
    assert main(["check", str(tmp_path), "--write-baseline", file]) == 0
    assert main(["check", str(tmp_path), "--baseline", file]) == 0
    assert "accepted:" in capsys.readouterr().out


def test_annotations_are_workflow_commands(tmp_path: Path) -> None:
    review = reviewed(written(tmp_path, LOOP))
    (line,) = workflow_commands(review.report.findings).split("\n")
    assert line.startswith("::error file=train.py,line=7,title=missing-zero-grad::optimizer.step() at train.py:7 runs")


def test_annotations_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a,b:100%").mkdir()
    (tmp_path / "a,b:100%" / "train.py").write_text(LOOP)
    text = workflow_commands(reviewed(Repository(tmp_path)).report.findings)
    assert text.startswith("::error file=a%2Cb%3A100%25/train.py,line=7,title=") and "100%25/train.py:7" in text


def test_sarif_has_what_the_standard_demands(tmp_path: Path) -> None:
    twice = LOOP + LOOP.replace("def train", "def again").replace(STEP, f"        optimizer.step()  {WHY}\n")
    log = json.loads(sarif(reviewed(written(tmp_path, twice)), ["train.py:1  not resolved"]))
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert run["tool"]["driver"]["name"] and len(rules) == len(set(rules))
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)
    told, accepted = run["results"]
    for result in (told, accepted):
        assert result["message"]["text"] and rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error") and -1 <= result["rank"] <= 100
        for place in (*result["locations"], *result["relatedLocations"]):
            _is_location(place["physicalLocation"])
    assert "suppressions" not in told
    assert accepted["suppressions"] == [{"kind": "inSource", "justification": "the sum over rounds is meant"}]


def _is_location(place: dict[str, Any]) -> None:
    assert place["artifactLocation"]["uri"] == "train.py" and place["region"]["startLine"] >= 1


def test_hook_runs_a_command_that_exists() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python" and hook["pass_filenames"] is False
    program, verb = hook["entry"].split()
    assert program == "trainsleuth"
    assert main([verb, "--help"]) == 0
