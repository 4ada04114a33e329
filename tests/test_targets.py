"""Triage on programs of other shapes: frameworks, launchers, hand-written loops, and programs that misbehave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from twins import HERE, Answer, copied, one_in, trainsleuth, tree_hash

pytest.importorskip("torch", reason="the programs train with torch: install the torch extra")

TARGETS = HERE / "targets"
HEALTHY = {
    "hf_trainer": "python hf_trainer.py",
    "package": "python -m package.train",
}
MORE = {  # make twins
    "ddp_gloo": "torchrun --nproc-per-node 2 ddp_gloo.py",
    "lightning_fit": "python lightning_fit.py",
    "gan": "python gan.py",
    "loader_workers": "python loader_workers.py",
    "accelerate_train": "accelerate launch --cpu accelerate_train.py",
    "amp_compile": "python amp_compile.py",
    "ppo": "python ppo.py",
    "lbfgs": "python lbfgs.py",
    "mnist_like": "python mnist_like.py",
    "nanogpt_like": "python nanogpt_like.py",
}
NEEDS = {"hf_trainer": "transformers", "lightning_fit": "lightning", "accelerate_train": "accelerate"}


PLAIN = {"package", "gan"}  # one process that nobody else starts


def triage(folder: Path, command: str, seconds: str = "30", by: Callable[..., Answer] = trainsleuth) -> Answer:
    return by("triage", "--format", "json", "--time", seconds, "--", *command.split(), cwd=folder)


@pytest.mark.parametrize("name", [*HEALTHY, *(pytest.param(name, marks=pytest.mark.twins) for name in MORE)])
def test_a_healthy_program_raises_no_alarm_and_its_folder_stays_as_it_was(
    name: str, tmp_path: Path, warm: Callable[..., Answer]
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="install the frameworks extra")
    folder = copied(TARGETS, tmp_path)
    before = tree_hash(folder)
    answer = triage(folder, {**HEALTHY, **MORE}[name], by=warm if name in PLAIN else trainsleuth)
    alarms = [f for f in answer.json["findings"] if f["outcome"] == "fail" and f["severity"] != "note"]
    assert not alarms, alarms
    assert answer.code == 0, answer.output + answer.errors
    assert any(f["by"] == "probe:step_trace" and f["outcome"] == "pass" for f in answer.json["findings"])
    assert tree_hash(folder) == before


@pytest.mark.parametrize("name", [pytest.param("hand_sgd", marks=pytest.mark.twins), "functional_grad"])
def test_what_has_no_optimizer_is_left_open(name: str, tmp_path: Path, warm: Callable[..., Answer]) -> None:
    answer = triage(copied(TARGETS, tmp_path), f"python {name}.py", by=warm)
    assert not [f for f in answer.json["findings"] if f["outcome"] == "fail"]
    assert any(f["outcome"] == "open" for f in answer.json["findings"])


ENDS = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("steps", "offered"), one_in(2, [(60, None), (100, "trainsleuth probe --steps 100 --only label_pairing")])
)
def test_a_test_that_the_program_is_too_short_for_is_not_offered(
    steps: int, offered: str | None, tmp_path: Path, warm: Callable[..., Answer]
) -> None:
    (tmp_path / "train.py").write_text(ENDS.replace("STEPS", str(steps)))
    answer = triage(tmp_path, "python train.py", by=warm)
    told = {one["test"]: one["command"] for one in answer.json["suggestions"]}
    assert (
        told and told.get("probe:label_pairing", "").partition(" --only")[0] == (offered or "").partition(" --only")[0]
    )


@pytest.mark.twins
def test_what_is_wrong_in_a_file_that_the_command_does_not_load_speaks_for_no_cause(
    tmp_path: Path, warm: Callable[..., Answer]
) -> None:
    (tmp_path / "train.py").write_text(ENDS.replace("STEPS", "100"))
    (tmp_path / "other.py").write_text(ENDS.replace("net(x)", "net(x).softmax(1)").replace("STEPS", "100"))
    answer = triage(tmp_path, "python train.py", by=warm)
    (told,) = [one for one in answer.json["findings"] if one["outcome"] == "fail"]
    assert (told["path"], told["next"]) == ("other.py", "probe the command that loads it"), told
    assert not [one for one in answer.json["hypotheses"] if one["for"]]
    text = warm("triage", "--no-notes", "--time", "30", "--", "python", "train.py", cwd=tmp_path).output
    order = ("hypotheses, likeliest first:", "in files that this command did not load:", "other.py:", "\nruled out:")
    assert sorted(order, key=text.index) == list(order), text


COUNTED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(150, 4)
data = TensorDataset(x, (x.sum(1) > 0).long())
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(16):
    for inputs, labels in DataLoader(data, 30, shuffle=True):
        loss = nn.functional.cross_entropy(net(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        scores = torch.zeros(150, 2)
        for number, (inputs, labels) in enumerate(DataLoader(data, 40)):
            scores[40 * number : 40 * number + len(inputs)] = net(inputs)
"""


@pytest.mark.twins
def test_a_probe_that_has_just_passed_is_no_next_step(tmp_path: Path, warm: Callable[..., Answer]) -> None:
    early = "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 20)\nfor epoch in range(16):\n    schedule.step()\n"
    (tmp_path / "train.py").write_text(COUNTED.replace("for epoch in range(16):\n", early))
    answer = triage(tmp_path, "python train.py", by=warm)
    (told,) = [one for one in answer.json["findings"] if one["by"] == "check:scheduler-before-optimizer"]
    assert told["outcome"] == "fail" and told["next"].startswith("the probe learning_rate passed in this run"), told


def test_an_evaluation_that_counts_on_the_size_of_its_batches_goes_on(
    tmp_path: Path, warm: Callable[..., Answer]
) -> None:
    (tmp_path / "train.py").write_text(COUNTED)
    answer = triage(tmp_path, "python train.py", by=warm)
    (told,) = [one for one in answer.json["findings"] if one["by"] == "probe:overfit_one_batch"]
    assert told["outcome"] == "pass", told
    assert not [one for one in answer.json["findings"] if one["by"] == "probe:run"]


# name: exit code, and words that say what happened
MISBEHAVING = {
    "bad_never_steps": (2, "no backward and no optimizer step"),
    "bad_exits_3": (2, "exit code 3"),
    "bad_hangs": (0, "still ran after"),  # it took steps before it hung, and they were in order
    "bad_prints_100mb": (None, ""),
    "bad_syntax_error": (2, "SyntaxError"),
    "bad_crash_midway": (1, "crashed after"),
}
LONG = (
    "bad_prints_100mb",
    "bad_exits_3",
    "bad_never_steps",
    "bad_hangs",
)  # make twins; test_time_limits.py hangs as well


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.twins) if name in LONG else name for name in MISBEHAVING],
)
def test_a_misbehaving_program_gets_a_clear_word(name: str, tmp_path: Path) -> None:
    code, words = MISBEHAVING[name]
    seconds = "15" if name == "bad_hangs" else "60"  # what ends by itself may take its time on a busy machine
    answer = triage(copied(TARGETS, tmp_path), f"python {name}.py", seconds)
    assert words in answer.output
    assert code is None or answer.code == code, answer.output + answer.errors
    assert "fault of trainsleuth" not in answer.errors


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    answer = triage(tmp_path, "no-such-trainer train.py")
    assert answer.code == 2
    assert "no-such-trainer" in answer.output


def test_an_interpreter_without_torch(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n", encoding="utf-8")
    isolated = tmp_path / "bare"
    import venv

    venv.create(isolated, with_pip=False)
    answer = triage(tmp_path, f"{isolated / 'bin' / 'python'} train.py")
    assert answer.code in (1, 2)
    assert "torch" in answer.output


def hostile(folder: Path) -> None:
    """Binaries, a symlink loop, a link out of the tree, Python 2, an unreadable file, a name that is not UTF-8."""
    (folder / "model.bin").write_bytes(bytes(range(256)) * 64)
    (folder / "loop").symlink_to(folder)
    (folder / "out.py").symlink_to("/etc/hostname")
    (folder / "old.py").write_text("print 'python two'\nexec 'x'\n", encoding="utf-8")
    (folder / "latin.py").write_bytes("# caf\xe9\n".encode("latin-1"))
    (folder / "locked.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "locked.py").chmod(0)
    Path(str(folder).encode().decode() + "/odd\udce9.py").write_text("x = 1\n", encoding="utf-8")


@pytest.mark.parametrize("verb", ["check", "map"])
def test_a_hostile_folder(verb: str, tmp_path: Path) -> None:
    hostile(tmp_path)
    answer = trainsleuth(verb, str(tmp_path), cwd=tmp_path)
    assert answer.code in (0, 2), answer.errors
    assert "fault of trainsleuth" not in answer.errors


@pytest.mark.parametrize("verb", ["check", "map"])
def test_an_empty_folder(verb: str, tmp_path: Path) -> None:
    answer = trainsleuth(verb, str(tmp_path), cwd=tmp_path)
    assert answer.code in (0, 2)
    assert answer.output or answer.errors


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")
def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    answer = trainsleuth("check", str(tmp_path / "nowhere"), cwd=tmp_path)
    assert answer.code == 2
    assert "nowhere" in answer.errors + answer.output
