"""What a section hands to something that takes any keyword and looks at none is no setting of the run."""

from __future__ import annotations

from pathlib import Path

import map_depth
import pytest
from trainsleuth.map import expand_component

FILES = {
    "conf/train.yaml": "loader:\n  _target_: data.make_loader\n  batch_size: 4\n  random_crop:\n    crop_size: 77\nlr: 0.1\n",
    "train.py": "import hydra\nimport torch\n\n\n@hydra.main(config_path='conf', config_name='train')\ndef main(cfg):\n"
    "    loader = hydra.utils.instantiate(cfg.loader)\n    net = torch.nn.Linear(4, 1)\n"
    "    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr)\n    for x in loader:\n        loss = net(x).sum()\n"
    "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n\n\nif __name__ == '__main__':\n    main()\n",
}
MAKES = (
    "import torch\n\n\ndef make_loader(batch_size, **{rest}):\n    data = torch.ones(32, 4){used}\n"
    "    return torch.utils.data.DataLoader(data, batch_size=batch_size)\n"
)


@pytest.mark.parametrize(("rest", "used", "told"), [("ignored", "", False), ("more", "\n    print(more)", True)])
def test_what_is_taken_and_not_looked_at(tmp_path: Path, rest: str, used: str, told: bool) -> None:
    files = {**FILES, "data.py": MAKES.format(rest=rest, used=used)}
    sheet = expand_component(map_depth.write(files, tmp_path), "run", budget=2000).text
    assert "batch_size=4" in sheet
    assert ("crop_size=77" in sheet) is told
