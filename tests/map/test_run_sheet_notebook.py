"""The sheet of a notebook tells what stands in its cells, by their lines among all cells."""

from __future__ import annotations

import json
from pathlib import Path

from trainsleuth.map import expand_component

CELLS = (
    "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader",
    "model = nn.Linear(4, 2)\noptimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)",
    "loader = DataLoader(list(torch.zeros(40, 4)), batch_size=8, shuffle=True)",
    "for epoch in range(7):\n    for x in loader:\n        optimizer.zero_grad()\n"
    "        loss = model(x).pow(2).mean()\n        loss.backward()\n        optimizer.step()\n"
    "torch.save(model.state_dict(), 'model.pt')",
)


def _notebook(folder: Path) -> None:
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in CELLS]
    (folder / "train.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8"
    )


def test_its_cells_are_on_the_sheet(tmp_path: Path) -> None:
    _notebook(tmp_path)
    told = expand_component(tmp_path, "run", scope="train.ipynb", budget=1500).text
    joined = "\n".join(CELLS).split("\n")
    for said in ("optimizer = torch.optim.AdamW(", "loader = DataLoader(", "for epoch in range(7)", "torch.save("):
        number = next(place for place, line in enumerate(joined, 1) if said in line)
        assert f"train.ipynb:{number} {said}" in told, (said, told)


def test_it_may_be_named_as_the_recipe(tmp_path: Path) -> None:
    _notebook(tmp_path)
    named = expand_component(tmp_path, "run", recipe="train.ipynb", budget=1500).text
    assert named == expand_component(tmp_path, "run", scope="train.ipynb", budget=1500).text
