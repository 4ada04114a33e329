"""Go or no go before the time is spent: what lies behind an epoch is met in seconds, healthy programs are let go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from probed import Host, with_edits
from twins import Answer, one_in, trainsleuth

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(4096, 8)
labels = (inputs[:, 0] > 0).long()
train = DataLoader(TensorDataset(inputs[:3072], labels[:3072]), 8, shuffle=True)
valid = DataLoader(TensorDataset(inputs[3072:], labels[3072:]), 8)
mean = torch.cat([batch for batch, _ in train]).mean(0)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def evaluate():
    model.eval()
    right = 0
    with torch.no_grad():
        for batch, target in valid:
            right += (model(batch - mean).argmax(1) == target).sum().item()
    model.train()
    return right / len(valid.dataset)


best = 0.0
for epoch in range(300):
    for batch, target in train:
        loss = criterion(model(batch - mean), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = evaluate()
    if accuracy > best:
        best = accuracy
        torch.save(model.state_dict(), "best.pt")
"""
LOOP = "    for batch, target in train:\n        loss"
BY_HAND = (
    "    source = iter(train)\n    for place in range(len(train)):\n        batch, target = next(source)\n        loss"
)
ACCUMULATES = [("        optimizer.zero_grad()\n", ""), ("        optimizer.step()\n", "        counted = globals().get('counted', 0) + 1\n        if counted % 24 == 0:\n            optimizer.step()\n            optimizer.zero_grad()\n")]  # fmt: skip
REHEARSAL = {"listeners": ["trace", "rehearsal"], "steps": 4000, "seconds": 60}


def rehearsed(
    host: Host, folder: Path, program: str, **settings: object
) -> tuple[dict[str, int], list[dict[str, object]]]:
    (folder / "train.py").write_text(program.replace('"best.pt"', repr(str(folder / "best.pt"))))
    trace, ended = host.run(folder / "train.py", folder, {**REHEARSAL, **settings})
    assert "Traceback" not in ended["output"], ended["output"]
    (told,) = trace.events("rehearsed")
    return dict(told), [dict(event) for event in trace.events("cut")]


def test_evaluation_checkpoint_and_further_epochs_are_met_in_few_steps(host: Host, tmp_path: Path) -> None:
    told, cuts = rehearsed(host, tmp_path, PROGRAM)
    assert told["steps"] < 500 and told["epochs"] >= 2 and told["evaluations"] >= 2 and told["saves"] >= 1
    assert {cut["trains"] for cut in cuts} == {True, False}
    assert min(int(str(cut["n"])) for cut in cuts if cut["trains"]) == 384 + 4, "the first epoch was not left whole"
    assert {(cut["of"], cut["batches"]) for cut in cuts if not cut["trains"]} == {(128, 4)}


def test_an_evaluation_at_the_end_is_waited_for(host: Host, tmp_path: Path) -> None:
    """Epochs are cut short, so it comes soon."""
    last = [("    accuracy = evaluate()\n    if accuracy > best:\n        best = accuracy\n        torch.save", "    if epoch == 0:\n        torch.save"), ("[:3072]", "[:800]")]  # fmt: skip
    text = with_edits(PROGRAM, last) + "accuracies = [evaluate(), evaluate()]\n"
    told, _ = rehearsed(host, tmp_path, text.replace("range(300)", "range(60)"))
    assert told["evaluations"] >= 1 and told["epochs"] == 60


@pytest.mark.twins
def test_a_slow_program_is_cut_after_its_share_of_the_time(host: Host, tmp_path: Path) -> None:
    slow = PROGRAM.replace("        loss.backward()", "        __import__('time').sleep(0.1)\n        loss.backward()")
    _, cuts = rehearsed(host, tmp_path, slow, seconds=8)
    assert 12 <= int(str(cuts[0]["n"])) < 40


@pytest.mark.parametrize(
    ("edits", "settings"),
    [
        ([(LOOP, BY_HAND)], {"seconds": 8}),  # it counts on the number of batches
        ([], {"short_epochs": False}),
        ([("range(300)", "range(1)"), ("[:3072]", "[:640]")], {}),  # over before
    ],
)
def test_epochs_that_stay_whole(edits: list[tuple[str, str]], settings: dict[str, object], host: Host, tmp_path: Path) -> None:  # fmt: skip
    _, cuts = rehearsed(host, tmp_path, with_edits(PROGRAM, edits), **settings)
    assert not [cut for cut in cuts if cut["trains"]]


def test_an_epoch_shows_all_of_its_data(warm: Callable[..., Answer], tmp_path: Path) -> None:
    """One example in three thousand is not finite."""
    rare = [("labels = (inputs[:, 0] > 0).long()\n", "labels = (inputs[:, 0] > 0).long()\ninputs[1234, 5] = float('inf')\n"), ("mean(0)", "nanmean(0).nan_to_num(0, 0, 0)")]  # fmt: skip
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, rare))
    answer = warm("preflight", "--time", "60", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 1 and "first_nonfinite" in answer.output, answer.output


def test_an_epoch_that_accumulates_has_steps_left(host: Host, tmp_path: Path) -> None:
    told, cuts = rehearsed(host, tmp_path, with_edits(PROGRAM, ACCUMULATES), seconds=4, steps=120)
    assert told["steps"] > 12 and all(int(str(cut["batches"])) >= 64 for cut in cuts if cut["trains"])


@pytest.mark.parametrize("options", one_in(2, ["num_workers=2", "num_workers=2, persistent_workers=True"], first=1))
def test_workers_begin_their_next_epoch(options: str, host: Host, tmp_path: Path) -> None:
    small = with_edits(
        PROGRAM,
        [
            ("4096", "1100"),
            ("[:3072], labels[:3072]", "[:900], labels[:900]"),
            ("[3072:], labels[3072:]", "[900:], labels[900:]"),
        ],
    )
    told, cuts = rehearsed(host, tmp_path, small.replace("shuffle=True", f"shuffle=True, {options}"))
    assert cuts and told["epochs"] >= 2 and told["saves"]


GO = [
    [],
    [(LOOP, BY_HAND)],
    [("range(300)", "range(2)"), ("[:3072]", "[:64]")],  # it comes to its own end
]


@pytest.mark.parametrize("edits", one_in(3, GO))
def test_a_healthy_program_goes(edits: list[tuple[str, str]], warm: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, edits))
    answer = warm("preflight", "--time", "30", "--", "python", "train.py", cwd=tmp_path)
    (judged,) = [line for line in answer.output.splitlines() if "judged and found right" in line]
    assert {"loss_contract", "step_trace"} <= set(judged.partition(": ")[2].split(", "))
    assert answer.code == 0 and answer.output.startswith("GO  python train.py: "), answer.output
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".py", ".pt")) == ["train.py"]


NO_GO = {
    "a name that is none, behind the first epoch": ([("right / len(valid", "right / len(validation")], "name 'validation' is not defined"),
    "a folder that is not there": ([('"best.pt"', '"checkpoints/best.pt"')], "checkpoints"),
    "a module that is missing, before training": ([("import torch\n", "import torch\nimport no_such_module\n")], "no_such_module"),
    "probabilities for logits": ([("nn.Linear(64, 2))", "nn.Linear(64, 2), nn.Softmax(1))")], "holds probabilities"),
    "the training data held out, as the code says and the run shows": (
        [
            ("train = DataLoader(TensorDataset(inputs[:3072], labels[:3072]), 8", 'class PartDataset(TensorDataset):\n    def __init__(self, kind):\n        first = {"train": 0, "val": 256}[kind]\n        super().__init__(inputs[first : first + 256], labels[first : first + 256])\n\n\ntrain_dataset = PartDataset("train")\nval_dataset = PartDataset("train")\ntrain = DataLoader(train_dataset, 8'),
            ("valid = DataLoader(TensorDataset(inputs[3072:], labels[3072:])", "valid = DataLoader(val_dataset"),
            ("range(300)", "range(3)"),
        ],
        "also seen by: probe:batch_as_seen",
    ),
    "evaluation mode that stays on": ([("    model.train()\n    return", "    return")], "probe:modes"),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, NO_GO))
def test_a_program_with_a_fault_does_not_go(name: str, warm: Callable[..., Answer], tmp_path: Path) -> None:
    edits, words = NO_GO[name]
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, edits))
    answer = warm("preflight", "--time", "30", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 1 and answer.output.startswith("NO GO  python train.py: "), answer.output
    assert words in answer.output, answer.output


@pytest.mark.twins
def test_what_only_whole_epochs_can_show_is_tried_with_them(warm: Callable[..., Answer], tmp_path: Path) -> None:
    fails = [
        (
            "    return right / len(valid.dataset)",
            "    if right < 500:\n        raise ValueError('too little')\n    return 1.0",
        )
    ]
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, [*fails, ("[:3072]", "[:1024]")]))
    answer = warm("preflight", "--time", "30", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 0 and "its epochs had been cut short, which may be why" in answer.output, answer.output


def test_a_program_that_trains_nothing_gets_no_verdict(warm: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nprint(torch.ones(2))\n")
    answer = warm("preflight", "--time", "20", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 2 and answer.output.startswith("UNKNOWN  python train.py: no training step was seen"), (
        answer.output
    )


NUMBERED = ("    for batch, target in train:", "    for place, (batch, target) in enumerate(train):")
SLOW = ("        loss.backward()", "        __import__('time').sleep(0.03)\n        loss.backward()")
EVALUATES = "    accuracy = evaluate()"
WITHOUT_GO = {
    "an exit": ([NUMBERED, (EVALUATES, f"    if place < len(train) - 1:\n        raise SystemExit('batches are missing')\n{EVALUATES}")], (0, 2)),
    "a name that a whole epoch sets": ([NUMBERED, SLOW, (EVALUATES, f"    if place == len(train) - 1:\n        ended = epoch\n{EVALUATES} + 0 * ended")], (0, 2)),
    "a later epoch, which whole ones do not come to": ([SLOW, (EVALUATES, f"    if epoch == 1:\n        raise ValueError('never right')\n{EVALUATES}")], (2,)),
}  # fmt: skip


@pytest.mark.twins
@pytest.mark.parametrize("name", WITHOUT_GO)
def test_what_short_epochs_may_have_stopped_accuses_nobody(name: str, warm: Callable[..., Answer], tmp_path: Path) -> None:  # fmt: skip
    edits, codes = WITHOUT_GO[name]
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, edits))
    answer = warm("preflight", "--time", "25", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code in codes and "its epochs had been cut short, which may be why" in answer.output, answer.output


@pytest.mark.twins
def test_a_program_that_hangs_gets_no_verdict(tmp_path: Path) -> None:
    hangs = [
        (
            "        optimizer.step()\n",
            "        optimizer.step()\n        if best == 0.0 and optimizer.state[model[0].bias]['step'] == 5:\n            __import__('time').sleep(600)\n",
        )
    ]
    (tmp_path / "train.py").write_text(with_edits(PROGRAM, hangs))
    answer = trainsleuth("preflight", "--time", "30", "--", "python", "train.py", cwd=tmp_path)
    assert (
        answer.code == 2 and "it took 5 steps and then none for" in answer.output and "(at train.py:" in answer.output
    ), answer.output


UNUSED = PROGRAM.replace(
    "best = 0.0\n",
    "def other(logits, target):\n    return criterion(torch.softmax(logits, 1), target)\n\n\nbest = 0.0\n",
).replace("criterion(model(batch - mean), target)", "(other if CHOSEN else criterion)(model(batch - mean), target)")


@pytest.mark.twins
def test_an_alarm_about_lines_that_the_rehearsal_never_came_to_is_a_note(warm: Callable[..., Answer], tmp_path: Path) -> None:  # fmt: skip
    for chosen, code in (("epoch < 0", 0), ("epoch >= 0", 1)):
        (tmp_path / "train.py").write_text(
            with_edits(UNUSED, [("CHOSEN", chosen), ("range(300)", "range(2)"), ("[:3072]", "[:64]")])
        )
        answer = warm("preflight", "--time", "30", "--format", "json", "--", "python", "train.py", cwd=tmp_path)
        (found,) = (
            one for one in answer.json["findings"] if one["by"] == "check:double-softmax" and one["outcome"] == "fail"
        )
        assert answer.code == code, answer.output
        told = "came to its own end, but not to this line" if code == 0 else "this run came to these lines"
        assert told in found["message"] + found["grounds"]
        assert (found["severity"] == "note") == (code == 0)


@pytest.mark.twins
def test_a_line_that_a_cut_epoch_may_have_kept_from_it_is_not_called_missed(warm: Callable[..., Answer], tmp_path: Path) -> None:  # fmt: skip
    (tmp_path / "train.py").write_text(with_edits(UNUSED, [("CHOSEN", "epoch < 0"), ("range(300)", "range(2)")]))
    answer = warm("preflight", "--time", "60", "--format", "json", "--", "python", "train.py", cwd=tmp_path)
    course = answer.json["course"]
    assert course["ended_by_itself"] and course["cut_from"] is not None, course
    assert answer.code == 1 and "not to this line" not in answer.output, answer.output


@pytest.mark.twins
def test_a_line_that_only_workers_may_come_to_is_not_called_missed(warm: Callable[..., Answer], tmp_path: Path) -> None:
    ends = [
        ("CHOSEN", "epoch < 0"),
        ("range(300)", "range(2)"),
        ("[:3072]", "[:64]"),
        ("shuffle=True", "shuffle=True, num_workers=1"),
    ]
    (tmp_path / "train.py").write_text(with_edits(UNUSED, ends))
    answer = warm("preflight", "--time", "30", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 1 and "not to this line" not in answer.output, answer.output


@pytest.mark.twins
def test_a_doubt_goes_where_the_run_came_to_the_place(warm: Callable[..., Answer], tmp_path: Path) -> None:
    """The search takes an option that nothing gives for off; the run knows."""
    off = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--other', action='store_true')\nargs = parser.parse_args()\n"
    plain = "        loss = criterion(model(batch - mean), target)\n"
    other = "        if args.other:\n            loss = criterion(torch.softmax(model(batch - mean), 1), target)\n        else:\n    "
    (tmp_path / "train.py").write_text(off + with_edits(PROGRAM, [(plain, other + plain)]))
    said = {}
    for option in ((), ("--other",)):
        answer = warm(
            "preflight", "--time", "30", "--format", "json", "--", "python", "train.py", *option, cwd=tmp_path
        )
        (found,) = (
            one for one in answer.json["findings"] if one["by"] == "check:double-softmax" and one["outcome"] == "fail"
        )
        said[option] = (found["severity"], answer.json["verdict"])
    assert said == {(): ("note", "go"), ("--other",): ("error", "no go")}


@pytest.mark.twins
def test_then_run_becomes_the_command(tmp_path: Path) -> None:
    ends = PROGRAM.replace("range(300)", "range(1)").replace("[:3072]", "[:256]")
    (tmp_path / "train.py").write_text(
        f"{ends}print('trained')\nimport os\nraise SystemExit(0 if 'TRAINSLEUTH_CONFIG' in os.environ else 7)\n"
    )
    answer = trainsleuth("preflight", "--time", "20", "--then-run", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 7 and answer.output == "trained\n", answer
    assert answer.errors.startswith("GO  python train.py: ") and (tmp_path / "best.pt").exists()


@pytest.mark.twins
def test_then_run_does_not_start_what_is_no_go(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("criterion(model", "criterion(module"))
    answer = trainsleuth("preflight", "--time", "30", "--then-run", "--", "python", "train.py", cwd=tmp_path)
    assert answer.code == 1 and not answer.output and answer.errors.startswith("NO GO"), answer
