"""What comes beside the sequences and is not used: lengths may be meant for other models, other whole numbers are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host

pytest.importorskip("torch")

from trainsleuth import probes

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.gru = nn.Embedding(30, 16), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        tokens, _ = x
        y, _ = self.gru(self.embed(tokens))
        return self.head(y.amax(1))


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(20):
    tokens = torch.randint(1, 30, (16, 12))
    beside = torch.randint(1, MOST, (16,))
    loss = F.cross_entropy(model((tokens, beside)), tokens[:, 3] % 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("most", "outcome"), [("13", "pass"), ("500", "fail")])
def test_of_what_is_thrown_away_lengths_are_not_told(host: Host, tmp_path: Path, most: str, outcome: str) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("MOST", most))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert told.outcome == outcome, (told, ended)
    assert outcome == "pass" or "exchanging 'x.1' alone" in told.message


def test_an_argument_keeps_its_name_behind_a_wrapper(host: Host, tmp_path: Path) -> None:
    program = tmp_path / "reader.py"
    program.write_text(PROGRAM.replace("MOST", "500").replace("model = Reader()", "model = nn.DataParallel(Reader())"))
    trace, _ = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert "exchanging 'x.1' alone" in told.message


RATED = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(50, 8), nn.Embedding(40, 8)

    def forward(self, user_indices, item_indices):
        return (self.users(user_indices) * self.items(ITEMS)).sum(1)


users, items = torch.randint(50, (640,)), torch.randint(40, (640,))
model = Factors()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for u, i, y in DataLoader(TensorDataset(users, items, (users + items) % 3 * 1.0), batch_size=16, shuffle=True):
    loss = F.mse_loss(model(u, i), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("read", "outcome"), [("item_indices", "pass"), ("user_indices % 40", "fail")])
def test_indices_alone_are_examples(host: Host, tmp_path: Path, read: str, outcome: str) -> None:
    program = tmp_path / "factors.py"
    program.write_text(RATED.replace("ITEMS", read))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert told.outcome == outcome, (told, ended)
    assert outcome == "pass" or "exchanging 'item_indices' alone" in told.message


EVALUATED = """
held = TensorDataset(users[:HELD], items[:HELD], (users + items)[:HELD] % 3 * 1.0)
rest = TensorDataset(users[160:], items[160:], (users + items)[160:] % 3 * 1.0)
for epoch in range(3):
    for u, i, y in DataLoader(rest, batch_size=16, shuffle=True):
        loss = F.mse_loss(model(u, i), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for u, i, y in DataLoader(held, batch_size=16):
            model(u, i)
    model.train()
"""


@pytest.mark.parametrize(("held", "leaks"), [("160", False), ("320", True)])
def test_a_rating_is_of_a_user_and_of_an_item(host: Host, tmp_path: Path, held: str, leaks: bool) -> None:
    """Each user is met in training; none of the pairs is, or half of them are."""
    numbered = "pairs = torch.randperm(50 * 40)[:640]\nusers, items = pairs % 50, pairs // 50"
    text = RATED.replace("ITEMS", "item_indices").replace(
        "users, items = torch.randint(50, (640,)), torch.randint(40, (640,))", numbered
    )
    program = tmp_path / "factors.py"
    program.write_text(text[: text.index("for u, i, y")] + EVALUATED.replace("HELD", held))
    trace, ended = host.run(program, tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = [one for one in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if one.outcome == "fail"]
    assert {"160 of 320 evaluation examples" in one.message for one in told} == {True} & {leaks}, (told, ended)


def test_a_price_beside_the_user_makes_another_example(host: Host, tmp_path: Path) -> None:
    priced = RATED.replace("ITEMS", "item_indices").replace(
        "def forward(self, user_indices, item_indices):", "def forward(self, user_indices, item_indices, price):"
    )
    priced = priced.replace(".sum(1)", ".sum(1) * price").replace("model(u, i)", "model(u, i, torch.rand(16))")
    text = priced[: priced.index("for u, i, y")] + EVALUATED.replace("HELD", "320").replace(
        "model(u, i)", "model(u, i, torch.rand(len(u)))"
    )
    (tmp_path / "factors.py").write_text(text)
    trace, ended = host.run(tmp_path / "factors.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    told = [one for one in probes.judge("observe", trace, frozenset({"batch_as_seen"})) if one.outcome == "fail"]
    assert not told, (told, ended)


ORDERED = """
import torch
import torch.nn as nn

torch.manual_seed(0)


class Undoing(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4)

    def forward(self, x, order):
        return self.head(x[order])[order.argsort()]


model = Undoing()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(20):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x, torch.randperm(16)), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_order_that_is_undone_is_no_example(host: Host, tmp_path: Path) -> None:
    (tmp_path / "undoing.py").write_text(ORDERED)
    trace, ended = host.run(tmp_path / "undoing.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    (told,) = probes.judge("observe", trace, frozenset({"input_matters"}))
    assert told.outcome == "pass", (told, ended)


MAPPED = """
import torch
from torch.func import functional_call, grad, vmap

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss(weights, x, y):
    return (functional_call(model, weights, (x,)) - y).square().mean()


for _ in range(12):
    x = torch.randn(16, 8)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    gradients = vmap(grad(loss), (None, 0, 0))(weights, x, x[:, :1])
    for name, value in model.named_parameters():
        value.grad = gradients[name].mean(0)
    optimizer.step()
"""


def test_listeners_go_on_where_one_call_stands_for_many(host: Host, tmp_path: Path) -> None:
    (tmp_path / "mapped.py").write_text(MAPPED)
    trace, ended = host.run(tmp_path / "mapped.py", tmp_path, dict(probes.EXPERIMENTS["observe"]))
    assert ended["code"] == 0 and not trace.hooks_missing, (ended, trace.hooks_missing)
