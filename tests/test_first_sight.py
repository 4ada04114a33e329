"""A check speaks as loudly as it has been right: the figures that ship are those of the readers, and the rule holds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.answers.findings import failure_text
from trainsleuth.checks import check_ids, explain, run_checks
from trainsleuth.checks._record import Record, record
from trainsleuth.checks.docs import files_of
from trainsleuth.content import read_evidence
from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = read_evidence("check_reports.yaml")
    return found


@pytest.fixture
def first_sight(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT / "evidence"))
    return import_module("first_sight")


def test_each_report_on_public_code_has_one_verdict(first_sight: Any, recorded: dict[str, Any]) -> None:
    halves = first_sight.halves(recorded)
    assert len(halves) >= 37
    small = [half["half"] for half in halves if sum(row["lines"] for row in half["of"]) < 500_000]
    assert small == ["thirty-second unopened half", "forty-ninth unopened half"]
    for half in halves:
        searched = half["of"]
        assert len({row["repository"] for row in searched}) == len(searched) >= 20, half["half"]
        for row in [*searched, *half.get("not_finished", ()), *half.get("partly_tuned_on", ())]:
            assert len(row["commit"]) == 40 and (row["lines"] or row["notebooks"]), row["repository"]
        reports = [(row["repository"], one) for row in searched for one in row["reports"]]
        assert len({(where, one["check"], one["place"]) for where, one in reports}) == len(reports)
        for where, one in reports:
            assert one["check"] in check_ids() and one["verdict"] in ("true", "false", "unsure") and one["why"], where
            assert one["place"].rpartition(":")[2].isdigit(), one["place"]
            assert one["verdict"] == "false" or not one.get("cured"), one["place"]


def test_what_ships_is_what_the_readers_said(first_sight: Any, recorded: dict[str, Any]) -> None:
    shipped = first_sight.shipped(recorded)
    assert (ROOT / "tools/trainsleuth/checks/first_sight.json").read_text("utf-8") == shipped, (
        "check_reports.yaml has changed: run python evidence/first_sight.py"
    )


def test_each_recorded_form_is_one_that_its_check_has(first_sight: Any, recorded: dict[str, Any]) -> None:
    for check, told in first_sight.figures(recorded).items():
        said = import_module(f"trainsleuth.checks.{check.replace('-', '_')}").SAY
        assert set(told["reports"]) <= set(said.forms or [""]), check


@pytest.mark.parametrize(
    ("told", "speaks"),
    [
        (Record(right=1), False),
        (Record(right=2), True),
        (Record(right=1, sites=60, is_sure=True), True),
        (Record(right=1, sites=59, is_sure=True), False),
        (Record(right=1, unsure=1, sites=900, is_sure=True), False),
        (Record(wrong=1, sites=900, is_sure=True), False),
        (Record(unsure=2, sites=900), False),
        (Record(right=2, wrong=1, cured=1), False),
        (Record(right=5, wrong=1), True),
        (Record(right=4, unsure=2), True),
        (Record(right=4, unsure=3), False),
        (Record(right=6, wrong=2, cured=2), False),
        (Record(sites=900, is_sure=True), False),
        (Record(sites=900), False),
    ],
)
def test_the_rule(told: Record, speaks: bool) -> None:
    assert told.speaks == speaks
    assert told.words.endswith("asks and does not accuse") == (not speaks)


def _first_failure(check: str, folder: Path) -> Finding:
    cases = import_module(f"tests.checks.cases.{check.replace('-', '_')}")
    for name, source in files_of(next(iter(cases.FAILS.values()))):
        (folder / name).write_text(source)
    return run_checks(Repository(folder), only=[check]).findings[0]


@pytest.mark.parametrize(
    ("check", "severity"),
    [("double-softmax", "error"), ("accumulation-cleared", "note"), ("mean-of-batch-means", "note")],
)
def test_a_finding_says_what_its_confidence_rests_on(check: str, severity: str, tmp_path: Path) -> None:
    finding = _first_failure(check, tmp_path)
    grounds = record(check).words if check != "mean-of-batch-means" else ""  # one that asks by design has none
    assert (finding.severity, finding.grounds) == (severity, grounds)
    assert grounds in failure_text(finding)


def test_explain_tells_the_record_of_each_form() -> None:
    assert record("double-softmax").words in explain("double-softmax").record.lower()
    assert len(explain("nll-without-log").record.split("; ")) == 5
    told = {id: explain(id) for id in check_ids()}
    assert told["mean-of-batch-means"].record == "It asks by design."
    assert told["accumulation-cleared"].severity == "note"


def test_a_form_that_no_check_has_is_refused() -> None:
    say = import_module("trainsleuth.checks.softmax_axis").SAY
    with pytest.raises(ValueError, match="named, unnamed"):
        say.fail("a.py", 1, "", (), form="other")


LESSON = """import torch

def NAME(model, loader):
    WORDS
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
"""


@pytest.mark.usefixtures("right_so_far")
@pytest.mark.parametrize(
    ("name", "words", "severity"),
    [
        ("train", '"""One epoch."""', "error"),
        ("wrong_loop", '"""One epoch."""', "note"),
        ("train_without_zero_grad", "pass", "note"),
        ("train", '"""What not to do: nothing clears."""', "note"),
        ("train", "# a common mistake", "note"),
    ],
)
def test_an_error_that_is_shown_on_purpose_is_a_note(name: str, words: str, severity: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LESSON.replace("NAME", name).replace("WORDS", words))
    found = run_checks(Repository(tmp_path), only=["missing-zero-grad"]).findings[0]
    assert (found.outcome, found.severity) == ("fail", severity)
