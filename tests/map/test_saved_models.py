"""What says the sizes of networks that are not trained: a configuration beside saved weights, a constant beside a class."""

from __future__ import annotations

import json
from pathlib import Path

import map_depth
from trainsleuth.map import expand_component, map_repository

SAVED = {
    "architectures": ["Video"],
    "auto_map": {"AutoModel": "modeling.Video"},
    "model_cls": "Video",
    "seed": 42,
    "transformers_version": "4.37.2",
}
FILES = {
    "train.py": """import os

import torch
from nets.modeling import Video
from nets.tower import Tower


def main(wide=False):
    net = Tower() if wide else Video()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.load("batches.pt"):
        loss = net(x).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.config.to_json_file(os.path.join("out", "config.json"))


if __name__ == "__main__":
    main()
""",
    "nets/modeling.py": "import torch\n\n\nclass Video(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
    "nets/tower.py": "import torch\nfrom transformers import CLIPVisionConfig, CLIPVisionModel\n\n"
    "SIZES = CLIPVisionConfig(hidden_size=1024, num_hidden_layers=24, image_size=336)\n\n\n"
    "class Tower(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.inner = CLIPVisionModel(SIZES)\n\n    def forward(self, x):\n        return self.inner(x)\n",
    "nets/config.json": json.dumps(SAVED, indent=2),
}


def test_the_configuration_of_a_saved_model_is_no_recipe(tmp_path: Path) -> None:
    made = map_repository(map_depth.write(FILES, tmp_path))
    assert not made.recipes
    assert not made.features["seeds"].places
    assert "nets/config.json" not in {one.path for part in made.components.values() for one in part.places}


def test_sizes_beside_a_network_are_not_those_of_the_run(tmp_path: Path) -> None:
    map_depth.write(FILES, tmp_path)
    shown = expand_component(tmp_path, "run", recipe="python train.py", budget=2000).text
    assert "num_hidden_layers" not in shown
    assert "image_size" not in shown
