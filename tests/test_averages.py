"""An average of the weights that never moves is told where it is evaluated or saved; what is meant to stay is no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding

PROGRAM = """
import copy
import io
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)


class Shadow:
    def __init__(self, model):
        self.model = model
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 0.1)

    def apply(self):
        self.backup = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        for name, p in self.model.named_parameters():
            p.data.copy_(self.shadow[name])

    def restore(self):
        for name, p in self.model.named_parameters():
            p.data.copy_(self.backup[name])


def evaluate(model):
    model.eval()
    with torch.no_grad():
        right = (model(inputs).argmax(1) == labels).float().mean()
    model.train()
    return right


inputs = torch.randn(64, 8)
labels = inputs[:, :4].argmax(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
MADE
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(STEPS):
    loss = F.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    EACH
    if step % 20 == 19:
        OFTEN
END
"""
AVERAGE, SHADOW = "average = AveragedModel(model)", "shadow = Shadow(model)"
SWAPS = "shadow.apply()\n        evaluate(model)\n        shadow.restore()"
LATER = "if step > {}:\n        average.update_parameters(model)"


def said(host: Host, folder: Path, made: str, each: str, often: str, end: str, steps: int = 60) -> list[Finding]:
    parts = {"MADE": made, "STEPS": str(steps), "EACH": each, "OFTEN": often, "END": end}
    text = PROGRAM
    for name, part in parts.items():
        text = text.replace(name, part or "pass")
    (folder / "averaged.py").write_text(text)
    trace, ended = host.run(folder / "averaged.py", folder, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    asked = frozenset({"modes", "parameter_table"})
    return [one for one in probes.judge("observe", trace, asked) if one.outcome == "fail"]


FAULTS = {
    "an average that is never updated": (AVERAGE, "", "evaluate(model)\n        evaluate(average)", "", "was never updated: it counts 0 calls"),
    "only evaluated at the end": (AVERAGE, "", "", "evaluate(average)", "was never updated: it counts 0 calls"),
    "a shadow that is never updated": (SHADOW, "", SWAPS, "", "with exactly the 420 values that it had before the first step"),
    "a shadow that the model is left with": (SHADOW, "", SWAPS, "shadow.apply()\nevaluate(model)", "and is left with them"),
    "a shadow, swapped in at the end": (SHADOW, "", "", SWAPS.replace("\n        ", "\n"), "with exactly the 420 values"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each", "often", "end", "words"), one_in(2, FAULTS.values()), ids=FAULTS)
def test_weights_from_before_the_training_are_not_to_be_evaluated(
    host: Host, tmp_path: Path, made: str, each: str, often: str, end: str, words: str
) -> None:
    (told,) = said(host, tmp_path, made, each, often, end)
    assert told.severity == "warning" and words in told.message and told.line, told


BEGUN = "begun = copy.deepcopy(model.state_dict())"
REWINDS = "model.load_state_dict(begun)\n        evaluate(model)"

HEALTHY = {
    "an average that is updated": (AVERAGE, "average.update_parameters(model)", "evaluate(average)", ""),
    "averaged late": (AVERAGE, LATER.format(50), "evaluate(model)", "evaluate(average)"),
    "averaged by hand": (AVERAGE, "for mine, its in zip(average.parameters(), model.parameters()):\n        mine.data.lerp_(its.data, 0.1)", "evaluate(average)", ""),
    "an average that nobody uses yet": (AVERAGE, "", "evaluate(model)", ""),
    "a shadow that is updated": (SHADOW, "shadow.update()", SWAPS, ""),
    "a shadow that is updated late": (SHADOW, "if step > 30:\n        shadow.update()", SWAPS, ""),
    "rewound, and trained again": (BEGUN, "", REWINDS, ""),
    "the first was the best": (BEGUN, "", "evaluate(model)", "model.load_state_dict(begun)\nevaluate(model)"),
    "evaluated before it trains": (f"{BEGUN}\nevaluate(model)", "", "evaluate(model)", ""),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each", "often", "end"), one_in(2, HEALTHY.values()), ids=HEALTHY)
def test_averages_that_move_and_weights_that_are_set_back_are_not_told(
    host: Host, tmp_path: Path, made: str, each: str, often: str, end: str
) -> None:
    assert not said(host, tmp_path, made, each, often, end)


BOTH = SWAPS + "\n        evaluate(model)"
DOUBTFUL = {
    "updated after what was watched": (AVERAGE, LATER.format(400), "evaluate(model)\n        evaluate(average)", "", 500, "later than what was watched"),
    "a shadow updated after what was watched": (SHADOW, "if step > 400:\n        shadow.update()", SWAPS, "", 500, "the steps that were watched"),
    "compared with the start": (SHADOW, "", BOTH, SWAPS.replace("\n        ", "\n"), 60, "so they may be compared"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each", "often", "end", "steps", "words"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_move_later_is_a_note(
    host: Host, tmp_path: Path, made: str, each: str, often: str, end: str, steps: int, words: str
) -> None:
    told = said(host, tmp_path, made, each, often, end, steps)
    assert any(words in one.message for one in told) and all(one.severity == "note" for one in told), told


SAVES = "torch.save({'model': model.state_dict(), KEPT}, io.BytesIO())"
SAVED = {
    "a shadow that is never updated": (SHADOW, "", "'ema': {'shadow': shadow.shadow}", "the part 'ema.shadow' of what is saved"),
    "an average that is never updated": (AVERAGE, "", "'ema': average.state_dict()", "the part 'ema' of what is saved"),
    "a shadow behind the model in one table": (
        SHADOW, "", "'both': {'online.' + k: v for k, v in model.state_dict().items()} | {'ema.' + k: v for k, v in shadow.shadow.items()}",
        "the part 'both' of what is saved",
    ),
    "the start, on purpose": (BEGUN, "", "'begun': begun", "weights that are kept from the start would not"),
    "a shadow that is updated": (SHADOW, "shadow.update()", "'ema': {'shadow': shadow.shadow}", ""),
    "a shadow that is updated late": (SHADOW, "if step > 100:\n        shadow.update()", "'ema': {'shadow': shadow.shadow}", ""),
    "nothing else": (SHADOW, "", "'step': step", ""),
}  # fmt: skip


@pytest.mark.parametrize(("made", "each", "kept", "words"), one_in(2, SAVED.values()), ids=SAVED)
def test_what_is_saved_with_the_values_of_the_start_is_a_note(
    host: Host, tmp_path: Path, made: str, each: str, kept: str, words: str
) -> None:
    saves = SAVES.replace("KEPT", kept)
    told = said(host, tmp_path, made, each, saves, saves, 130)
    assert all(words in one.message and one.severity == "note" and one.line for one in told), told
    assert bool(told) == bool(words), told


SAMPLED = """
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        noise = torch.randn_like(x)
        return (self.net(x + noise) - noise).square().mean()

    @torch.no_grad()
    def sample(self):
        made = torch.randn(4, 8)
        for _ in range(8):
            made = made - self.net(made) / 8
        return made.std()


def cycle(loader):
    while True:
        yield from loader


torch.manual_seed(0)
model = Denoiser()
average = copy.deepcopy(model).eval()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batches = cycle(DataLoader(TensorDataset(torch.randn(512, 8)), batch_size=16, shuffle=True))
for step in range(60):
    optimizer.zero_grad()
    model(next(batches)[0]).backward()
    optimizer.step()
    UPDATED
    if step % 6 == 0:
        average.sample()
"""


@pytest.mark.parametrize(
    ("update", "is_told"),
    [("pass", True), ("torch._foreach_lerp_([*average.parameters()], [p.detach() for p in model.parameters()], 0.1)", False)],
    ids=["never updated", "updated"],
)  # fmt: skip
def test_an_average_that_is_sampled_within_the_loop(host: Host, tmp_path: Path, update: str, is_told: bool) -> None:
    (tmp_path / "sampled.py").write_text(SAMPLED.replace("UPDATED", f"with torch.no_grad():\n        {update}"))
    trace, ended = host.run(tmp_path / "sampled.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = [one for one in probes.judge("observe", trace, frozenset({"modes"})) if one.outcome == "fail"]
    assert [one.severity for one in told] == ["note"] * is_told, (told, ended)
    assert all("is another Sequential" in one.message for one in told)
