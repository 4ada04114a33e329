"""How runs end: one word, one sentence, the exit code, and never an exception."""

from __future__ import annotations

import json
import time

import pytest
from launching import TRAIN, Project, first, kinds
from trainsleuth.launcher import LaunchError, Limits, environment, launch

SOON = 1.5 + 2.0  # seconds: all is to be gone in 1.5, and a busy machine starts us late


def test_runs_to_its_end(project: Project) -> None:
    run = project.run(TRAIN.format(steps=2))
    assert (run.ended, run.exit_code) == ("finished", 0), run.why
    assert [kind for kind in kinds(run) if "wrote" not in kind] == ["hello", "hooks", "exit"]
    assert run.wrote == run.deleted == ()
    assert first(run, "hooks")["hooks"] == {"all": "ok"}
    assert first(run, "exit")["code"] == 0
    assert run.output == "trained to the end\n"


def test_is_stopped_at_the_step_budget(project: Project) -> None:
    run = project.run(TRAIN.format(steps=10**9), experiment={"steps": 3})
    assert (run.ended, run.exit_code) == ("stopped", 0), run.why
    assert "step budget reached" in run.why
    assert [event["number"] for event in run.events if event["kind"] == "step"] == [1, 2, 3]
    assert "trained" not in run.output


def test_a_crash_comes_with_its_traceback_and_the_users_last_line(project: Project) -> None:
    run = project.run("import json\n\n\ndef load():\n    return json.loads('{')\n\n\nload()\n")
    assert (run.ended, run.exit_code) == ("crashed", 1)
    crash = first(run, "crash")
    assert (crash["type"], crash["path"], crash["line"]) == ("JSONDecodeError", "train.py", 5)
    assert "Traceback" in crash["traceback"] and "train.py:5" in run.why
    assert "Traceback" in run.output


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("def f(:\n", 1, "SyntaxError at train.py:1"),
        ("import sys; sys.exit(3)", 3, "exit code 3"),
        ("raise SystemExit(70)", 70, "exit code 70"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -11, "SIGSEGV"),
        ("import sys; sys.excepthook = lambda *_: None; 1 / 0", 1, "ZeroDivisionError at train.py:1"),
    ],
)
def test_other_ends_keep_their_code(project: Project, text: str, code: int, words: str) -> None:
    run = project.run(text)
    assert run.exit_code == code
    assert words in run.why
    assert run.ended == ("not_probed" if code == 70 else "crashed")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-program",), "not found on PATH"),
        (("train.py",), "python train.py"),
        (("./train.py",), "not executable"),
        (("./missing",), "does not exist"),
        (("study.ipynb",), "jupyter nbconvert --to script study.ipynb"),
        (("python", "study.ipynb"), "no program: write it out"),
        (("./folder",), "is a folder"),
        (("./bare",), "bash SCRIPT"),
        (("./dangling",), "first line does not exist"),
    ],
)
def test_what_cannot_start_says_why(project: Project, command: tuple[str, ...], words: str) -> None:
    (project.folder / "folder").mkdir()
    project.write("{}", "study.ipynb")
    project.write("echo hello\n", "bare").chmod(0o755)
    project.write("#!/no/such/interpreter\n", "dangling").chmod(0o755)
    run = project.run("import torch\n", *command)
    assert (run.ended, run.exit_code) == ("not_started", None)
    assert words in run.why


def test_a_hang_ends_at_the_time_limit(project: Project) -> None:
    began = time.monotonic()
    run = project.run("import time\nprint('waiting', flush=True)\ntime.sleep(600)", seconds=1)
    assert run.ended == "timeout" and "still ran after 1 s" in run.why
    assert time.monotonic() - began < 1 + SOON
    assert run.output == "waiting\n"
    assert project.left_alive(0) == []


def test_too_much_memory(project: Project) -> None:
    run = project.run(
        "import time\nheld = b'x' * 300_000_000\ntime.sleep(600)",
        limits=Limits(seconds=30, memory_bytes=150_000_000),
    )
    assert run.ended == "out_of_memory", run.why
    assert run.peak_bytes > 150_000_000
    assert project.left_alive(0) == []


def test_cancelling(project: Project) -> None:
    project.write("import time\nprint('here', flush=True)\ntime.sleep(600)")
    heard: list[tuple[float, str]] = []
    run = project.run(
        cancelled=lambda: any("of 60 s: here" in line for _, line in heard),
        progress=lambda line: heard.append((time.monotonic(), line)),
    )
    assert run.ended == "cancelled"
    assert time.monotonic() - heard[-1][0] < SOON
    assert project.left_alive(0) == []


def test_an_error_in_our_own_caller_leaves_nothing(project: Project) -> None:
    def broken(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        project.run("import time\ntime.sleep(600)", progress=broken)
    assert project.left_alive() == []


def test_a_hundred_megabytes_of_output(project: Project) -> None:
    text = "import sys\nfor i in range(100):\n    sys.stdout.write(f'{i:07} filler\\n' * 66_000)\nprint('last')"
    began = time.monotonic()
    run = project.run(text)
    assert time.monotonic() - began < 30
    assert len(run.output) < 210_000
    assert run.output.startswith("0000000 filler\n") and run.output.endswith("\nlast\n")
    assert "bytes of output not kept" in run.output
    assert sum(path.stat().st_size for path in run.folder.rglob("*") if path.is_file()) < 1_000_000


def test_a_progress_bar_is_its_last_state(project: Project) -> None:
    text = "import os, sys\nfor i in range(50_000):\n    sys.stderr.write(f'\\r{i} of 50000')\n"
    run = project.run(text + "sys.stderr.write('\\n\\xff')\nos.write(1, b'\\xff!\\n')")
    assert run.output == "49999 of 50000\n\xff\ufffd!\n"


def test_the_line_that_ran_can_be_run_by_hand(project: Project) -> None:
    import subprocess

    run = project.run("import os\nprint(os.environ['OWN'])", experiment={"env": {"OWN": "a b", "WANDB_MODE": None}})
    assert "'OWN=a b'" in run.ran and "-u WANDB_MODE" in run.ran and "HF_HUB_OFFLINE=1" in run.ran
    before = len(list(run.folder.glob("events-*.jsonl")))
    again = subprocess.run(["bash", "-c", run.ran], capture_output=True, text=True, check=True)
    assert again.stdout == run.output
    assert again.stdout == "a b\n"
    assert len(list(run.folder.glob("events-*.jsonl"))) == before + 1


def test_wrong_use_raises(project: Project) -> None:
    for command in ((), "python train.py", ("python", "a\0b")):
        with pytest.raises(LaunchError):
            launch(command, {}, cwd=project.folder)
    with pytest.raises(LaunchError, match="JSON"):
        project.run("", experiment={"big": "x" * 200_000})
    with pytest.raises(LaunchError, match="JSON"):
        project.run("", experiment={"odd": object()})
    with pytest.raises(LaunchError, match="not a folder"):
        launch(("true",), {}, cwd=project.folder / "nowhere")


def test_an_unwritable_home(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(project.write("", "a-file") / "home"))
    run = project.run(TRAIN.format(steps=1))
    assert run.ended == "not_started" and "TRAINSLEUTH_HOME" in run.why


def test_only_the_newest_run_folders_stay(project: Project) -> None:
    for _ in range(23):
        last = project.run("", "no-such-program")
    folders = list(last.folder.parent.iterdir())
    assert len(folders) <= 21 and last.folder in folders
    assert last.folder.stat().st_mode & 0o777 == 0o700


def test_events_are_one_strict_json_per_line(project: Project) -> None:
    (environment.RUNTIME / "hooks.py").write_text(
        "def install(torch, config, events):\n"
        "    events('odd', nan=float('nan'), inf=[-float('inf')], text='\\udc80\\U0001f600', raw=b'\\xff',\n"
        "           key={1: {2}}, other=object(), cut='x' * 10)\n"
        "    events.cap = events.written + 300\n"
        "    for number in range(100):\n"
        "        events('many', number=number, filler='y' * 50)\n"
        "    return {}\n"
    )
    run = project.run("import torch")
    odd = first(run, "odd")
    assert (odd["nan"], odd["inf"], odd["text"]) == ("nan", ["-inf"], "\\udc80\U0001f600")
    assert (odd["raw"], odd["key"], odd["other"]) == ("\\xff", {"1": [2]}, "<object>")
    json.dumps(run.events, allow_nan=False).encode()
    assert kinds(run).count("truncated") == 1 and kinds(run)[-2:] == ["hooks", "exit"]
    assert 0 < kinds(run).count("many") < 10


def test_names_of_ours_and_theirs_never_meet(project: Project) -> None:
    """A project whose modules are named like ours, or like the standard library's, gets its own; so do we."""
    ours = ("tools", "utils", "emit", "hooks", "crash")
    theirs = ("traceback", "json", "signal", "atexit", "select")
    for name in ours:
        project.write("MINE = True", f"{name}.py")
    for name in theirs:
        project.write("raise SystemExit('shadowed')", f"{name}.py")
    run = project.run(
        "import sys, tools, utils, emit, hooks, crash\n"
        "print(all(m.MINE for m in (tools, utils, emit, hooks, crash)))\n"
        "print([p for p in sys.path if 'runtime' in p])\n"
        "1 / 0\n"
    )
    assert run.output.startswith("True\n[]\n"), run.output
    assert first(run, "crash")["type"] == "ZeroDivisionError"
