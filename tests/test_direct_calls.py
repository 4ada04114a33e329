"""`model.forward(x)` is seen as `model(x)` is, and stays what it was for the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import HERE, Host, edited
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.trace import Trace

LETTERS = HERE / "targets" / "questions" / "letters.py"
TABLE = HERE / "targets" / "questions" / "table.py"
OBSERVE = dict(probes.EXPERIMENTS["observe"])
UNMASKED = ("tril() == 0", "tril() < 0")
BY_ITSELF = ("logits = model(x)", "logits = model.forward(x)")
THROUGH_A_METHOD = (
    ("    def forward(self, idx):\n        x = ", "    def forward(self, idx):\n        return self.head(self.encode(idx))\n\n    def encode(self, idx):\n        x = "),
    ("        return self.head(x)\n", "        return x\n"),
)  # fmt: skip
OWN_CALL = (
    "    def forward(self, idx):\n",
    "    def __call__(self, idx):\n        return self.forward(idx)\n\n    def forward(self, idx):\n",
)
INHERITED = (
    ("torch.manual_seed(0)\n", "class Child(Model):\n    def forward(self, idx):\n        return super().forward(idx)\n\n\ntorch.manual_seed(0)\n"),
    ("model = Model()", "model = Child()"),
)  # fmt: skip
HELD = (
    ("for step in range(80):", "call = model.forward\nfor step in range(80):"),
    ("logits = model(x)", "logits = call(x)"),
)

Edits = tuple[tuple[str, str], ...]
WAYS: dict[str, Edits] = {
    "forward": (BY_ITSELF,),
    "forward with methods": (BY_ITSELF, *THROUGH_A_METHOD),
    "a __call__ of its own": (OWN_CALL,),
    "an inherited forward": (BY_ITSELF, *INHERITED),
    "a wrapper": (
        BY_ITSELF,
        ("model = Model()", "class Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.model = Model()\n\n"
         "    def forward(self, x):\n        return self.model.forward(x)\n\n\nmodel = Outer()"),
    ),
}  # fmt: skip


def run(host: Host, folder: Path, program: Path, edits: Edits) -> tuple[Trace, str]:
    trace, ended = host.run(edited(program, edits, folder / "program"), folder, OBSERVE)
    assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
    return trace, ended["output"]


@pytest.mark.parametrize("way", one_in(4, WAYS))
@pytest.mark.parametrize(("edits", "outcomes"), [((), ["pass", "pass"]), ((UNMASKED,), ["pass", "fail"])])
def test_a_model_without_its_mask_is_found_however_it_is_called(
    host: Host, tmp_path: Path, way: str, edits: Edits, outcomes: list[str]
) -> None:
    trace, output = run(host, tmp_path, LETTERS, (*WAYS[way], *edits))
    assert [event["cls"] for event in trace.events("root")] == [
        "Outer" if way == "a wrapper" else "Child" if "inherited" in way else "Model"
    ]
    told = list(probes.judge("observe", trace, frozenset({"independence"})))
    assert [one.outcome for one in told] == outcomes, (told, output)


@pytest.mark.parametrize("way", one_in(2, WAYS))
def test_all_probes_stay_silent_on_a_healthy_program(host: Host, tmp_path: Path, way: str) -> None:
    trace, output = run(host, tmp_path, LETTERS, WAYS[way])
    assert not [one for one in probes.judge("observe", trace) if one.outcome == "fail"], output


def test_a_forward_that_was_taken_before_leaves_its_parts_as_they_were_seen(host: Host, tmp_path: Path) -> None:
    trace, _ = run(host, tmp_path, LETTERS, HELD)
    assert {"Embedding", "Linear"} <= {event["cls"] for event in trace.events("root")}


USED = """
import copy, inspect, io, pickle
assert inspect.getfullargspec(model.forward).args == ["self", "idx"], inspect.getfullargspec(model.forward)
assert list(inspect.signature(model.forward).parameters) == ["idx"] and type(model).forward.__code__.co_argcount == 2
assert model.forward == model.forward and model.forward.__self__ is model and model.forward.__name__ == "forward"
twin = copy.deepcopy(model)
assert twin.forward.__self__ is twin and torch.equal(twin.forward(x), model(x))
pickle.loads(pickle.dumps(model.forward))
torch.save(model, io.BytesIO())
held = type("Copy", (Model,), dict(vars(Model)))()
held.load_state_dict(model.state_dict())
assert torch.equal(held.forward(x), model(x))
assert type(vars(Model)["forward"]).__reduce__(vars(Model)["forward"])[0](*vars(Model)["forward"].__reduce__()[1]) is Model.forward
scripted = torch.jit.trace(model, x)
assert torch.allclose(scripted(x), model(x), atol=1e-5)
model.forward = lambda idx: idx
assert model(x) is x
print("as it was")
"""


def test_the_program_uses_its_forward_as_it_was(host: Host, tmp_path: Path) -> None:
    _, output = run(host, tmp_path, LETTERS, (BY_ITSELF, ("print(loss.item())\n", USED)))
    assert "as it was" in output


SCRIPTED = """import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 1)

    def forward(self, x):
        return F.relu(self.layer(x)) + self.layer(x)


model = Net()
"""


@pytest.mark.parametrize("way", ["model(x)", "model.forward(x)"])
def test_a_model_can_still_be_scripted(host: Host, tmp_path: Path, way: str) -> None:
    sequential = next(line for line in TABLE.read_text().splitlines() if line.startswith("model ="))
    edits = (
        (f"{sequential}\n", SCRIPTED),
        ("loss = criterion(model(x), y)", f"loss = criterion({way}, y)"),
        (
            "    print(epoch, error)\n",
            "    print(epoch, error)\nassert torch.equal(torch.jit.script(model)(x), model(x))\n",
        ),
    )
    run(host, tmp_path, TABLE, edits)
