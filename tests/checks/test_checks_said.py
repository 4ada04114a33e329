"""What the checks say and how loudly: causes, masks, options that nobody gives, forms that accuse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.repository import Repository


def written_to(root: Path, files: Mapping[str, str]) -> Repository:
    for name, source in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(source)
    return Repository(root)


UNMASKED = dedent(
    """
    import torch.nn.functional as F
    from torch import nn

    class Captioner(nn.Module):
        def __init__(self, words, width):
            super().__init__()
            self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
            self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, 4), 2)

        def forward(self, picture, caption):
            return self.out(self.decoder(self.embed(caption), picture))

    model = Captioner(100, 16)

    def loss_of(picture, caption):
        logits = model(picture, caption)
        return F.cross_entropy(logits.reshape(-1, 100), caption.reshape(-1))
    """
)


def test_a_decoder_without_a_mask_is_not_said_to_have_one(tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"train.py": UNMASKED}), only=["unshifted-decoder-input"])
    assert "masks nothing" in report.findings[0].chain[1].why


def test_a_mask_that_nothing_uses_hides_nothing(tmp_path: Path) -> None:
    unused = UNMASKED.replace(
        "    def forward",
        """    def future(self, size):
        return torch.triu(torch.ones(size, size), diagonal=1)

    def forward""",
    )
    files = {"model.py": "import torch\n" + unused}
    (finding,) = run_checks(written_to(tmp_path / "unused", files), only=["unshifted-decoder-input"]).findings
    assert "masks nothing" in finding.chain[1].why
    used = files | {
        "model.py": files["model.py"].replace(
            "self.embed(caption), picture", "self.embed(caption), picture, tgt_mask=self.future(9)"
        )
    }
    (finding,) = run_checks(written_to(tmp_path / "used", used), only=["unshifted-decoder-input"]).findings
    assert "masks the future only" in finding.chain[1].why


MEASURED = dedent(
    """
    import torch
    from torch import nn

    def load(path):
        pair = torch.load(str(path))
        return pair[0], pair[1]

    def measure(path):
        model = nn.Sequential(nn.Linear(8, 2), nn.Softmax(dim=1))
        x, y = load(path)
        with torch.no_grad():
            return nn.functional.cross_entropy(model(torch.tensor(x)), y)
    """
)


def test_a_message_names_what_gave_the_range_and_not_an_earlier_cut(tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"train.py": MEASURED}), only=["double-softmax"])
    assert "nn.Softmax gives probabilities" in report.findings[0].message


SCALED = dedent(
    """
    import argparse
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--clip", type=float, default=0)
    parser.add_argument("--use-amp", action="store_true")
    parser.add_argument("--do-train", action="store_true")
    parser.add_argument("--limits", type=str, default="none")
    args = parser.parse_args()

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.cuda.amp.GradScaler()
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            if CLIPS:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            scaler.step(optimizer)
            scaler.update()
    """
)


@pytest.mark.usefixtures("right_so_far")
@pytest.mark.parametrize(
    ("test", "files", "severity"),
    [
        ("True", {}, "error"),
        ("args.clip > 0", {}, "note"),
        ("args.use_amp and args.clip > 0", {}, "note"),
        ("args.clip > 0", {"setup.py": "from train import args\n\nargs.clip = 1.0\n"}, "error"),
        ("args.clip > 0", {"run.sh": "python train.py --clip 1"}, "error"),
        ("args.clip > 0", {"conf/a.yaml": "train:\n  clip: 0.5\n"}, "error"),
        ("args.use_amp and args.clip > 0", {"README.md": "Pass --use-amp for speed."}, "note"),
        ("args.do_train", {}, "error"),
        ("args.limits == 'train'", {}, "error"),
        ("args.limits == 'norm'", {}, "note"),
        ("args.limits == 'none'", {}, "error"),
        ("args.limits == 'norm'", {"run.sh": "python train.py --limits=norm"}, "error"),
        ("args.limits == 'norm'", {"run.sh": "python train.py --limits value"}, "note"),
        ("args.limits == 'norm'", {"conf/a.yaml": "limits: norm\n"}, "error"),
    ],
)
def test_behind_options_that_nobody_gives_a_fault_is_said_to_be_so(
    test: str, files: dict[str, str], severity: str, tmp_path: Path
) -> None:
    report = run_checks(
        written_to(tmp_path, {"train.py": SCALED.replace("CLIPS", test), **files}), only=["clip-without-unscale"]
    )
    finding = report.findings[0]
    assert finding.severity == severity
    assert ("which is not so by default" in finding.message) is (severity != "error")


LAYERS = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x

def train(x):
    Net()(x).mean().backward()
"""
DROPPED = dedent(
    """
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x):
            return F.dropout(self.fc(x), 0.5)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return self.block(x)

    def evaluate(x):
        net = Net()
        net.eval()
        return net(x)
    """
)


@pytest.mark.usefixtures("right_so_far")
@pytest.mark.parametrize(
    ("check_id", "source", "quieter"),
    [
        ("plain-list-submodules", LAYERS, LAYERS.replace(", nn.Linear(2, 2)]", "]")),
        (
            "plain-list-submodules",
            LAYERS,
            LAYERS.replace("self.parts = ", "parts = ").replace(
                "    def fo", "        self.parts = parts\n\n    def fo"
            ),
        ),
        ("dropout-without-training", DROPPED, DROPPED.replace("net.eval()", "net.train()")),
        (
            "dropout-without-training",
            DROPPED,
            DROPPED.replace("def forward(self, x):\n        return F", "def noisy(self, x):\n        return F"),
        ),
        (
            "dropout-without-training",
            DROPPED,
            DROPPED.replace(
                "    def forward", "    def train(self, mode=True):\n        return self\n\n    def forward"
            ),
        ),
    ],
)
def test_what_follows_from_what_is_written_accuses(check_id: str, source: str, quieter: str, tmp_path: Path) -> None:
    for name, text, accuses in (("loud", source, True), ("quiet", quieter, False)):
        report = run_checks(written_to(tmp_path / name, {"train.py": text}), only=[check_id])
        assert [finding.is_alarm for finding in report.findings if finding.outcome == "fail"] == [accuses]


CHOSEN_LOSS = """
import torch.nn.functional as F
from torch import nn

def train(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss() if model.n_classes > 1 else nn.BCEWithLogitsLoss()
    for x, y in loader:
        scores = model(x)
        if model.n_classes == 1:
            loss = criterion(scores.squeeze(1), y.float())
        else:
            loss = criterion(F.softmax(scores, dim=1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_of_two_losses_that_a_condition_chooses_both_are_named(tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"train.py": CHOSEN_LOSS}), only=["double-softmax"])
    (finding,) = [one for one in report.findings if one.outcome == "fail"]
    assert finding.message.startswith("CrossEntropyLoss or BCEWithLogitsLoss expects logits")
    assert finding.chain[-1].why == "CrossEntropyLoss or BCEWithLogitsLoss applies its own softmax or sigmoid"


STEPPED = """\
import torch

def fit(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.MADE
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
            schedule.step()
"""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("StepLR(optimizer, step_size=epochs // 3)", "decays each time that as many batches have passed"),
        ("CosineAnnealingLR(optimizer, T_max=epochs)", "rises and falls again"),
        ("PolynomialLR(optimizer, total_iters=epochs)", "is used up after as many batches"),
    ],
)
def test_only_a_schedule_that_ends_is_said_to_be_used_up(made: str, said: str, tmp_path: Path) -> None:
    program = STEPPED.replace("MADE", made)
    (finding,) = run_checks(written_to(tmp_path, {"train.py": program}), only=["scheduler-granularity"]).findings[:1]
    assert said in finding.message, finding.message


FORGOTTEN = """\
import torch

def learn(actor, optimizer, x):
    for part in x:
        optimizer.zero_grad()
        actor(part).mean().backward()
        optimizer.step()

def imitate(actor, loader):
    optimizer = torch.optim.Adam(actor.parameters())
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(actor(x), y)
        optimizer.zero_grad()
        optimizer.step()
        learn(actor, optimizer, x)
"""


def test_gradients_that_another_function_uses_itself_are_not_said_to_be_thrown_away(tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"train.py": FORGOTTEN}), only=["zero-grad-before-step"])
    [finding] = [one for one in report.findings if one.outcome == "fail"]
    assert (finding.line, finding.severity) == (13, "note")
    assert "No backward() is seen between" in finding.message


def test_the_backward_that_is_named_is_the_last_one(tmp_path: Path) -> None:
    source = FORGOTTEN.replace(
        "        optimizer.zero_grad()\n        optimizer.step()\n        learn(", "        learn("
    )
    source += "        loss.backward()\n        optimizer.zero_grad()\n        optimizer.step()\n"
    report = run_checks(written_to(tmp_path, {"train.py": source}), only=["zero-grad-before-step"])
    [finding] = [one for one in report.findings if one.outcome == "fail"]
    assert (finding.line, finding.chain[0].line) == (15, 14)
