"""The run sheet tells what a table holds that a call unpacks: **settings, taken out of a table at the top of a file."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

DEFAULTS = 'DEFAULTS = {"optimizer": {"lr": 2e-3, "betas": (0.5, 0.75)}, "schedule": {"T_max": STEPS}}'


def _sheet(folder: Path, body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    files = {
        "train.py": "import torch\nfrom defaults import DEFAULTS, STEPS\n\n\ndef main():\n    net = torch.nn.Linear(2, 2)\n"
        f"{indented}" + map_depth.STEP.replace("\n", "\n    ") + "\n\n\nif __name__ == '__main__':\n    main()\n",
        "defaults.py": f"STEPS = 500\n{DEFAULTS}\n",
    }
    map_depth.write(files, folder)
    return expand_component(folder, "run", budget=2000).text


@pytest.mark.parametrize(
    "body",
    [
        'given = DEFAULTS["optimizer"]\nopt = torch.optim.Adam(net.parameters(), **given)',
        'given = DEFAULTS["optimizer"].copy()\nopt = torch.optim.Adam(net.parameters(), **given)',
        'given = dict(DEFAULTS["optimizer"])\nopt = torch.optim.Adam(net.parameters(), **given)',
    ],
)
def test_what_is_unpacked_stands_with_its_values(tmp_path: Path, body: str) -> None:
    assert "given: {'lr': 2e-3, 'betas': (0.5, 0.75)} (defaults.py:2)" in _sheet(tmp_path, body)


def test_a_key_that_is_set_afterwards_is_told(tmp_path: Path) -> None:
    body = 'given = DEFAULTS["optimizer"].copy()\ngiven["lr"] = rate\nopt = torch.optim.Adam(net.parameters(), **given)'
    assert "then given['lr'] = rate" in _sheet(tmp_path, body)


def test_a_table_that_is_bound_again_or_updated_is_not_told(tmp_path: Path) -> None:
    end = "opt = torch.optim.Adam(net.parameters(), **given)"
    for again in ('given = load("a.json")', "given.update(other)"):
        sheet = _sheet(tmp_path, f'given = DEFAULTS["optimizer"]\n{again}\n{end}')
        assert "given: {" not in sheet
