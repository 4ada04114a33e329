"""The command line as a user meets it: output, exit codes, streams, signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_programs import (
    ENDLESS,
    HEALTHY,
    NO_TRAINING,
    NONFINITE,
    PYTHON,
    SOFTMAX,
    WAITING,
    environment,
    gone_after,
    wait_for,
)
from trainsleuth import ledger
from trainsleuth.answers.findings import counted, sections
from trainsleuth.answers.hypotheses import hypotheses_section, pointed_section, suggestions_section
from trainsleuth.finding import Finding
from trainsleuth.hypothesis import reference
from twins import Answer

TRAIN = ["--", PYTHON, "train.py"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "train.py").write_text(SOFTMAX)
    return folder


def cli(cwd: Path, *words: str | bytes, **env: str) -> subprocess.CompletedProcess[str]:
    """One call of the command, in `cwd`."""
    return subprocess.run(
        [PYTHON, "-m", "trainsleuth", *words],
        cwd=cwd,
        env=environment(cwd.parent / "home", **env),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=200,
    )


def parsed(text: str) -> Any:
    """Strict JSON: NaN and infinities are not in it."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


WRONG = [
    ([], "no command was given"),
    (["chek"], "invalid choice: 'chek'"),
    (["preflight"], "for example: trainsleuth preflight -- python train.py"),
    (["probe"], "put your own command after --"),
    (["triage", "--symptom", "stuck", "python", "train.py"], "for example: trainsleuth triage -- python train.py"),
    (["triage", "train.py", "--lr", "1"], "for example: trainsleuth triage -- python train.py --lr 1"),
    (["check", "--speed", "9"], "check does not know --speed"),
    (["probe", "--time", "-1", *TRAIN], "'-1' is not a number of seconds above 0"),
    (["probe", "--time", "nan", *TRAIN], "'nan' is not a number of seconds above 0"),
    (["probe", "--steps", "0", *TRAIN], "'0' is not a whole number of at least 1"),
    (["probe", "--only", "modes, sofmax", *TRAIN], "no probe is called 'sofmax'; there are:"),
    (["probe", "--only", "sofmax", *TRAIN], "no probe is called 'sofmax'; there are:"),
    (["probe", "--contain", "maybe", *TRAIN], "invalid choice: 'maybe'"),
    (["check", "nowhere"], "nowhere does not exist"),
    (["check", "--only", "double-sofmax"], "double-softmax"),
    (["check", *TRAIN], "check runs no program"),
    (["check", "--root", "empty", "train.py"], "is not inside of empty"),
    (["map", "nowhere"], "nowhere"),
    (["map", "--budget", "3"], "budget 3 is too small"),
    (["explain", "e365b59e"], "no finding in the notes has the id 'e365b59e'"),
    (["explain", "double-sofmax"], "did you mean double-softmax"),
    (["notes", "nowhere"], "nowhere does not exist"),
    (["report"], "there are no notes"),
    (["notes", "--add", "hello", "--at", "nosuch.py:3"], "--at nosuch.py: there is no such file in"),
    (
        ["notes", "--add", "hello", "--at", "train.py:9999"],
        "--at train.py:9999: there is no such line, it has 15 lines",
    ),
    (["notes", "train.py"], "train.py holds no notes of trainsleuth"),
    (["notes", "--add", "hello", "train.py"], "train.py holds no notes of trainsleuth"),
    (["read", "--notes", "train.py"], "train.py holds no notes of trainsleuth"),
    (["probe", "--notes", "train.py", *TRAIN], "train.py holds no notes of trainsleuth"),
    (["triage", "--notes", "train.py", *TRAIN], "train.py holds no notes of trainsleuth"),
]


@pytest.mark.parametrize(
    ("words", "expected"), WRONG, ids=lambda given: " ".join(given) if isinstance(given, list) else ""
)
def test_wrong_usage_exits_with_2_and_says_what_to_do(repo: Path, words: list[str], expected: str) -> None:
    (repo / "empty").mkdir()
    done = cli(repo, *words)
    assert done.returncode == 2, done.stdout
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert (repo / "train.py").read_text() == SOFTMAX


def test_a_program_that_trained_unseen_is_asked_for_its_environment(repo: Path) -> None:
    done = cli(repo, "triage", "--no-notes", "--", "env", "-u", "PYTHONPATH", PYTHON, "train.py")
    assert "next: start the Python that trains with the environment that it is given" in done.stdout, done.stdout


def test_what_the_program_said_is_no_next_step(repo: Path) -> None:
    done = cli(repo, "triage", "--no-notes", "--", "python", "-c", "import sys; sys.exit('no data here')")
    assert "| no data here" in done.stdout and "next: no data" not in done.stdout
    missing = cli(repo, "probe", "--", "python", "nosuch.py")
    assert missing.returncode == 2 and f"nosuch.py does not exist in {repo}" in missing.stdout


@pytest.mark.parametrize(
    "words", [["check", "--speed"], ["triage"], ["probe", "train.py"], ["map", "--", "python", "x"]]
)
def test_wrong_usage_of_a_command_shows_its_own_help(repo: Path, words: list[str]) -> None:
    assert cli(repo, *words).stderr.startswith(f"usage: trainsleuth {words[0]} ")


def test_help_and_version(repo: Path) -> None:
    assert cli(repo, "--version").stdout == "trainsleuth 0.1.0\n"
    help_ = cli(repo, "--help")
    assert help_.returncode == 0 and "triage" in help_.stdout
    for command in ("map", "check", "probe", "triage", "notes", "explain", "report", "evidence", "sweep", "serve"):
        assert cli(repo, command, "--help").returncode == 0


def test_check_names_the_line_and_its_chain(repo: Path) -> None:
    text, plain = cli(repo, "check"), cli(repo, "check", "--format", "json")
    assert (text.returncode, plain.returncode) == (1, 1), text.stderr
    first = parsed(plain.stdout)["findings"][0]
    assert first["by"] == "check:double-softmax" and first["path"] == "train.py"
    assert f"\ntrain.py:{first['line']}  " in text.stdout
    assert "\x1b" not in text.stdout and text.stderr == ""


def test_check_as_sarif(repo: Path) -> None:
    done = cli(repo, "check", "--format", "sarif")
    (run,) = parsed(done.stdout)["runs"]
    (result, *_) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert done.returncode == 1 and result["level"] == "error"
    assert place["artifactLocation"]["uri"] == "train.py" and place["region"]["startLine"] > 0
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "double-softmax"


def test_check_of_healthy_code_is_silent(repo: Path) -> None:
    (repo / "train.py").write_text(HEALTHY)
    done = cli(repo, "check")
    assert done.returncode == 0 and "nothing wrong found" in done.stdout


def test_check_of_nothing_is_not_fine(repo: Path) -> None:
    (repo / "train.py").unlink()
    done = cli(repo, "check")
    assert done.returncode == 2 and "nothing wrong found" not in done.stdout


@pytest.mark.parametrize("content", [b"\0\1\2", b"x" * 1_000_001])
@pytest.mark.parametrize("verb", [["check"], ["map"], ["map", "--expand", "loss"]])
def test_code_that_cannot_be_read_was_not_examined(
    repo: Path, content: bytes, verb: list[str], warm: Callable[..., Answer]
) -> None:
    (repo / "train.py").write_bytes(content)
    done = warm(*verb, cwd=repo)
    assert done.code == 2 and "nothing wrong found" not in done.output
    (repo / "fine.py").write_text(HEALTHY)
    assert warm(*verb, cwd=repo).code == 0


@pytest.mark.parametrize("verb", [["map"], ["map", "--expand", "loss"], ["map", "--format", "mermaid"]])
def test_a_map_of_nothing_is_not_fine(repo: Path, verb: list[str], warm: Callable[..., Answer]) -> None:
    (repo / "train.py").unlink()
    assert warm(*verb, cwd=repo).code == 2


@pytest.mark.parametrize("words", [["repo"], ["repo/train.py"], ["--root", "repo", "repo/train.py"]])
def test_check_takes_folders_files_and_a_root(repo: Path, words: list[str]) -> None:
    done = cli(repo.parent, "check", *words, "--format", "json")
    (first, *_) = parsed(done.stdout)["findings"]
    assert done.returncode == 1
    assert first["path"] == ("repo/train.py" if words == ["repo/train.py"] else "train.py")


def test_map_shows_what_its_json_says(repo: Path) -> None:
    text, plain = cli(repo, "map"), cli(repo, "map", "--format", "json")
    assert (text.returncode, plain.returncode) == (0, 0)
    found = parsed(plain.stdout)
    assert found["components"]["training_loop"]["status"] == "found"
    assert text.stdout.strip() == found["text"].strip()


PROBED = [(HEALTHY, 0, "nothing wrong found"), (SOFTMAX, 1, "error  "), (NO_TRAINING, 2, "nothing was examined")]


@pytest.mark.parametrize(("source", "code", "words"), PROBED, ids=["healthy", "broken", "does not train"])
def test_probe_says_what_it_saw(repo: Path, warm: Callable[..., Answer], source: str, code: int, words: str) -> None:
    (repo / "train.py").write_text(source)
    done = warm("probe", "--time", "40", "--format", "json", *TRAIN, cwd=repo)
    assert done.code == code, done.output
    found = parsed(done.output)
    assert found["trained"] is (code != 2) and found["ran"]
    text = warm("probe", "--time", "40", "--only", "loss_contract,shapes", *TRAIN, cwd=repo)
    assert words in text.output and "to repeat: trainsleuth probe" in text.output
    assert text.code == code and text.errors == ""
    assert [path.name for path in repo.iterdir()] == ["train.py"]


def test_measured_numbers_that_json_has_not(repo: Path) -> None:
    (repo / "train.py").write_text(NONFINITE)
    done = cli(repo, "probe", "--time", "40", "--only", "first_nonfinite", "--format", "json", *TRAIN)
    assert done.returncode == 1
    assert '"-inf"' in done.stdout and parsed(done.stdout)


def test_a_command_that_does_not_exist_was_not_examined(repo: Path) -> None:
    done = cli(repo, "probe", "--", "no-such-command")
    assert done.returncode == 2 and "no-such-command" in done.stdout and "nothing was examined" in done.stdout


@pytest.mark.parametrize(
    ("command", "why"),
    [("no-such-command --lr 1", "no-such-command"), (f"{PYTHON} crash.py", "KeyError: 'lr'")],  # quoted as a whole
)
def test_a_program_that_never_trains_is_told_why_and_no_guesses(repo: Path, command: str, why: str) -> None:
    (repo / "train.py").write_text(HEALTHY)
    (repo / "crash.py").write_text("import torch\n\n{}['lr']\n")
    done = cli(repo, "triage", "--no-notes", "--", command)
    above = done.stdout.partition("ruled out:")[0]
    assert done.returncode == 2 and "no training step was seen" in above
    assert why in above
    assert "hypotheses" not in done.stdout and "next tests" not in done.stdout
    assert "next: mend what kept the program from training" in done.stdout


def test_triage_names_the_cause_and_writes_the_notes(repo: Path) -> None:
    (repo.parent / ".git").mkdir()  # check and probe tell one place by one path, also below a work tree
    (repo / "train.py").write_text(SOFTMAX.replace("range(200)", "range(150)"))  # ends by itself
    done = cli(repo, "triage", "--symptom", "loss is stuck", "--time", "40", "--format", "json", *TRAIN)
    assert done.returncode == 1, done.stdout
    case = parsed(done.stdout)
    assert case["hypotheses"][0]["id"] == "double-normalised-loss"
    assert case["hypotheses"][0]["verdict"] == "supported"
    alarms = [f for f in case["findings"] if f["outcome"] == "fail" and f["severity"] == "error"]
    assert {f["by"] for f in alarms} == {"check:double-softmax", "probe:loss_contract"}
    assert {f["path"] for f in alarms} == {"train.py"} and alarms[0]["seen_by"] == ["probe:loss_contract"]
    assert reference(Finding.from_dict(alarms[0])) in case["hypotheses"][0]["for"]
    assert Path(case["notes"]).samefile(repo / "trainsleuth-notes.md")
    shown = cli(repo, "notes")
    assert shown.returncode == 0 and "check:double-softmax" in shown.stdout


def test_the_head_counts_a_problem_once_and_calls_a_note_a_note() -> None:
    check = Finding(by="check:double-softmax", outcome="fail", severity="error", message="twice", path="a.py", line=3)
    seen = replace(check, seen_by=("probe:loss_contract",))
    probe, note = replace(check, by="probe:loss_contract"), replace(check, severity="note", line=9)
    assert counted([seen, probe, note]) == "1 problem found, 1 note to look into"
    assert counted([check, probe]) == "2 problems found"
    assert counted([note, note]) == "no alarm, 2 notes to look into"


def test_what_no_finding_points_to_is_one_line() -> None:
    guesses = ledger.update([])[:6]
    (told,) = pointed_section(guesses).items
    assert told.startswith("  open  nothing points anywhere; ") and all(one.id in told for one in guesses)
    seen = Finding("probe:loss_contract", "fail", "broadcasts", "error", "high", claims=("shape-broadcast-loss",))
    first, second, below = pointed_section(ledger.update([seen])).items
    assert first.startswith("  supported  ") and "broadcast-in-loss: " in first
    assert second.endswith("more") and "library-or-hardware" in below


def test_an_order_that_findings_do_not_give_says_why() -> None:
    doubt = Finding("check:padding-in-loss", "fail", "counts padding", confidence="low", family="loss")
    first, rest = pointed_section(ledger.update([replace(doubt, suspects=("wrong-loss-choice",))])[:6]).items
    assert "wrong-loss-choice: " in first
    assert "no finding points to: label-noise" in rest or "no finding points to: preprocessing-mismatch" in rest
    assert "likelier only by what goes wrong most often" in rest


def test_a_cause_that_is_all_but_excluded_is_counted() -> None:
    stays = Finding("probe:overfit_one_batch", "fail", "the loss stays", "warning")
    sure = Finding("probe:loss_contract", "fail", "broadcasts", "error", "high", claims=("shape-broadcast-loss",))
    passes = [Finding(f"probe:{name}", "pass", "", confidence="high") for name in ("parameter_table", "step_trace")]
    lines = hypotheses_section(ledger.update([sure, stays, *passes])).items
    assert not [line for line in lines if line.startswith("  open  0.000  ")]


def test_checks_without_a_site_are_counted() -> None:
    skips = [Finding(f"check:number-{n}", "skip", "none") for n in range(30)]
    assert sections(skips, None, "")[-1].items == (
        "  nothing in this code to examine: 30 checks (the JSON result names them)",
    )
    assert "check:number-1" in sections(skips[:2], None, "")[-1].items[0]


def test_tests_to_do_next_can_be_copied() -> None:
    (first, *_) = suggestions_section(ledger.suggest(ledger.update([])), command="python 'a b.py'").items
    assert " -- python 'a b.py'  (about" in first


@pytest.mark.twins
def test_a_program_that_crashes_is_not_run_again(repo: Path) -> None:
    (repo / "crash.py").write_text(
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(4):\n    model(torch.ones(3, 2)).mean().backward()\n    optimizer.step()\n"
        "raise OSError('disk full')\n"
    )
    said = parsed(cli(repo, "triage", "--no-notes", "--format", "json", "--", "python", "crash.py").stdout)
    assert len(said["ran"]) == 1
    assert any("disk full" in finding["message"] for finding in said["findings"])


def test_triage_without_notes_leaves_no_trace(repo: Path, warm: Callable[..., Answer]) -> None:
    (repo / "train.py").write_text(HEALTHY)
    done = warm("triage", "--no-notes", "--time", "40", *TRAIN, cwd=repo)
    assert done.code == 0, done.output
    assert [path.name for path in repo.iterdir()] == ["train.py"]


def test_triage_answers_where_no_notes_can_be_written(repo: Path, warm: Callable[..., Answer]) -> None:
    done = warm("triage", "--time", "40", "--notes", "missing/case.md", *TRAIN, cwd=repo)
    assert done.code == 1 and "check:double-softmax" in done.output
    assert (
        "no notes were written: " in done.output
        and "case.md cannot be written" in done.output
        and "--no-notes" in done.output
    )
    assert [path.name for path in repo.iterdir()] == ["train.py"]


def test_a_diff_of_nothing_is_said_beside_it(repo: Path, warm: Callable[..., Answer]) -> None:
    done = warm("check", "--format", "diff", cwd=repo)
    assert (done.code, done.output) == (1, "") and "none of 1 findings has a change of one line" in done.errors


def test_notes_are_shown_added_to_and_reported(repo: Path) -> None:
    hostile = "</dd><script>alert(1)</script> ]]> <img src=x> & \u202e"
    added = cli(repo, "notes", "--add", hostile, "--at", "train.py:7")
    assert added.returncode == 0 and "added to" in added.stderr and "train.py:7" in added.stdout
    assert "says so already" in cli(repo, "notes", "--add", hostile, "--at", "train.py:7").stderr
    page = Path(cli(repo, "report").stdout.strip())
    assert not page.is_relative_to(repo)
    html = page.read_text()
    assert "&lt;script&gt;alert(1)" in html and "<script" not in html and "<img" not in html
    assert "http:" not in html and "https:" not in html and "src=" not in html.replace("&lt;img src=x&gt;", "")
    assert 'name="viewport"' in html and "prefers-color-scheme: dark" in html
    own = cli(repo, "report", "--notes", "trainsleuth-notes.md", "-o", "out/page.html")
    assert own.returncode == 0 and (repo / "out/page.html").read_text() == html


EXPLAINED = ["double-softmax", "check:double-softmax", "probe:step-trace", "step_trace", "double-normalised-loss", "[fails-silently]", "goodfellow-ch11"]  # fmt: skip


@pytest.mark.parametrize("id", EXPLAINED)
def test_explain_knows_every_kind_of_id(repo: Path, id: str) -> None:
    text, plain = cli(repo, "explain", id), cli(repo, "explain", id, "--format", "json")
    assert text.returncode == 0 and len(text.stdout) > 80, text.stderr
    assert parsed(plain.stdout)["what"] in ("check", "probe", "hypothesis", "claim", "source")


def test_explain_finds_what_the_notes_hold_under_the_id_that_they_show(repo: Path, warm: Callable[..., Answer]) -> None:
    assert warm("triage", "--time", "40", *TRAIN, cwd=repo).code == 1
    told = warm("notes", cwd=repo).output
    cited = {one for refs in re.findall(r"for: ([0-9a-f, ]+)", told) for one in refs.split(", ")}
    assert cited and cited <= set(re.findall(r"\[([0-9a-f]{8})\]", told))
    for id in cited:
        text, plain = warm("explain", f"[{id}]", cwd=repo), warm("explain", id, "--format", "json", cwd=repo)
        assert text.code == 0 and f"[{id}]" in text.output
        assert (parsed(plain.output)["what"], parsed(plain.output)["id"]) == ("finding", id)


def test_explain_alone_lists_the_tests(repo: Path) -> None:
    listed = cli(repo, "explain").stdout
    assert "double-softmax  " in listed and "overfit_one_batch  " in listed and "missing-zero-grad" in listed


def test_a_terminal_that_knows_only_ascii(repo: Path) -> None:
    (repo / "träin.py").write_text(SOFTMAX)
    done = cli(repo, "check", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 1 and "tr\\xe4in.py" in done.stdout and "Traceback" not in done.stderr


def test_odd_file_names_are_shown_as_escapes(repo: Path) -> None:
    os.rename(repo / "train.py", os.fsencode(repo) + b"/caf\xe9.py")
    for words in (["check"], ["check", "--format", "json"], ["map"], ["map", "--format", "json"]):
        done = cli(repo, *words)
        assert "Traceback" not in done.stderr, done.stderr
        done.stdout.encode("ascii" if "json" in words else "utf-8")


@pytest.mark.parametrize("words", [["explain"], ["check"]])
def test_a_reader_that_closes_early(repo: Path, words: list[str]) -> None:
    for number in range(60):
        (repo / f"train_{number}.py").write_text(SOFTMAX)
    asked = subprocess.Popen(
        [PYTHON, "-m", "trainsleuth", *words],
        cwd=repo,
        env=environment(repo.parent / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert asked.stdout is not None and asked.stderr is not None
    asked.stdout.close()
    assert b"Error" not in asked.stderr.read()
    assert asked.wait(60) in (0, 1, 2)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_the_end_of_the_command_ends_the_program(repo: Path, number: signal.Signals, code: int) -> None:
    (repo / "train.py").write_text(ENDLESS if number == signal.SIGKILL else WAITING)
    word = uuid.uuid4().hex
    asked = subprocess.Popen(
        [PYTHON, "-m", "trainsleuth", "probe", "--time", "120", *TRAIN],
        cwd=repo,
        env=environment(repo.parent / "home", MARK=word),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for(word, "sleep 600")
    started = time.monotonic()
    asked.send_signal(number)
    assert asked.wait(20) == code
    gone_after(word)
    assert time.monotonic() - started < 2.0
    _, told = asked.communicate()
    assert b"Traceback" not in told


def on_terminal(repo: Path, *words: str, **env: str) -> str:
    """Everything that a terminal of 80 columns is sent."""
    ours, theirs = pty.openpty()
    asked = subprocess.Popen(
        [PYTHON, "-m", "trainsleuth", *words],
        cwd=repo,
        env=environment(repo.parent / "home", TERM="xterm-256color", COLUMNS="80", **env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        sent += chunk
    os.close(ours)
    assert asked.wait(60) in (0, 1, 2)
    return sent.decode()


def test_colour_and_folding_on_a_terminal_only(repo: Path) -> None:
    coloured, plain = on_terminal(repo, "check"), on_terminal(repo, "check", NO_COLOR="1")
    assert "\x1b[1;36mtrain.py:" in coloured
    assert "\x1b" not in plain
    assert max(len(line) for line in plain.splitlines() if "://" not in line) <= 80


NOT_FROZEN = (
    "from torch import nn\n\nmodel = nn.Linear(4, 2)\nfor p in model.parameters():\n    p.require_grad = False\n"
)


def test_notes_end_in_a_code_of_their_own_only_when_asked(repo: Path) -> None:
    (repo / "train.py").write_text(NOT_FROZEN)
    usual = cli(repo, "check", "--only", "ineffective-requires-grad")
    assert usual.returncode == 0 and "1 note to look into" in usual.stdout
    assert cli(repo, "check", "--only", "ineffective-requires-grad", "--fail-on", "note").returncode == 1
    (repo / "train.py").write_text(SOFTMAX)
    assert cli(repo, "check", "--fail-on", "error").returncode in (0, 1)
    assert cli(repo, "check").returncode == 1


def test_what_could_not_be_read_is_said_first(repo: Path) -> None:
    (repo / "train.py").write_text("import torch\n\n\ndef broken(:\n    pass\n")
    done = cli(repo, "check")
    head = done.stdout.split("\n")[0]
    assert "nothing to examine" in head and "1 file left out or read in part" in head
    assert "::notice file=train.py" in cli(repo, "check", "--format", "github").stdout
    run = parsed(cli(repo, "check", "--format", "sarif").stdout)["runs"][0]
    assert any("train.py" in one["message"]["text"] for one in run["invocations"][0]["toolExecutionNotifications"])


def test_a_finding_of_a_notebook_has_no_line_of_its_json(repo: Path) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "source": NOT_FROZEN,
        "outputs": [],
        "metadata": {},
        "execution_count": None,
    }
    (repo / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    told = cli(repo, "check", "--only", "ineffective-requires-grad", "--format", "github").stdout
    assert "file=a.ipynb,title=" in told and "In the notebook: cell 1, line 5" in told
    (result,) = parsed(cli(repo, "check", "--only", "ineffective-requires-grad", "--format", "sarif").stdout)["runs"][
        0
    ]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_explain_answers_a_symptom_and_remarks_are_no_runs(repo: Path) -> None:
    assert "entries for 'loss is nan'" in cli(repo, "explain", "loss is nan").stdout
    assert "accepts a finding" in cli(repo, "explain", "ignore-comment").stdout
    (repo / "train.py").write_text(HEALTHY)
    cli(repo, "notes", "--add", "looks odd", "--at", "train.py:1")
    assert "1 finding, 0 runs" in cli(repo, "notes").stdout
