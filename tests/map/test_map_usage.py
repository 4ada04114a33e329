"""A README with several examples: each that stands by itself is a program of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository
from trainsleuth.map.launching.usage import usage

FIRST = "```python\nimport torch\nfrom sounds import Net\n\nmodel = Net()\nmodel(torch.ones(2)).sum().backward()\n```\n"
TRAINER = (
    "```python\nfrom sounds import Net, Trainer\n\nmodel = Net()\ntrainer = Trainer(model)\ntrainer.train()\n```\n"
)
OTHER = (
    "```python\nfrom sounds import Net1D, Trainer\n\nmodel = Net1D()\ntrainer = Trainer(model)\ntrainer.train()\n```\n"
)
GOES_ON = "```python\nimport torch\ntorch.save(model.state_dict(), 'model.pt')\n```\n"
LOOKS = "```py\nfrom sounds import Net\n\nmodel = Net()\nmodel.train()\n```\n"


def _lines(text: str) -> set[int]:
    return {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}


@pytest.mark.parametrize(
    ("page", "first", "others"),
    [
        (FIRST + TRAINER + OTHER, 9, (2, 16)),  # what steps, before what only makes a gradient
        (FIRST + OTHER.replace("trainer.train()", "print(trainer)"), 2, ()),
        (LOOKS + FIRST, 8, ()),  # model.train() trains nothing
        (LOOKS, 2, ()),
    ],
)
def test_the_one_that_trains_is_read(page: str, first: int, others: tuple[int, ...]) -> None:
    code, left_out = usage(page)
    assert min(_lines(code)) == first
    assert left_out == others


def test_a_block_that_goes_on_with_names_belongs_to_the_one_before() -> None:
    page = TRAINER + "and then\n" + GOES_ON + OTHER
    code, left_out = usage(page)
    assert _lines(code) == {2, 4, 5, 6, 10, 11}
    assert left_out == (14,)


def test_what_is_no_python_stays_with_the_block_before() -> None:
    page = TRAINER + "```python\n$ accelerate launch train.py\n```\n```bash\npython train.py\n```\n"
    assert _lines(usage(page)[0]) == {2, 4, 5, 6, 9}


def test_a_fence_that_is_never_closed_is_read_to_the_end() -> None:
    assert _lines(usage(FIRST.rpartition("```")[0])[0]) == {2, 3, 5, 6}


NETS = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
NETS += "class Net1D(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
NETS += (
    "class Trainer:\n    def __init__(self, model):\n        self.model = model\n"
    "        self.opt = torch.optim.SGD(model.parameters(), lr=1)\n\n"
    "    def train(self):\n        for x in range(9):\n            loss = self.model(x)\n"
    "            loss.backward()\n            self.opt.step()\n            self.opt.zero_grad()\n"
)


def test_the_objects_of_one_example_are_not_those_of_the_next(tmp_path: Path) -> None:
    (tmp_path / "sounds").mkdir()
    (tmp_path / "sounds" / "__init__.py").write_text("import torch\n" + NETS)
    (tmp_path / "README.md").write_text(TRAINER + OTHER)
    made = map_repository(tmp_path, "README.md")
    shown = expand_component(tmp_path, "model", "README.md").text
    assert "class Net(" in made.text
    assert "Net.forward" in shown and "Net1D" not in shown
    assert "README.md has other examples that train, left out: line 9" in made.text
