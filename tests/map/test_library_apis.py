"""A function of an installed library that holds the loop: mmseg.apis.train_segmentor(model, datasets, cfg)."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository

TRAIN = """
import nets
from mmseg.apis import set_random_seed, {name}
from mmseg.models import build_segmentor


def main():
    set_random_seed(1)
    model = build_segmentor(dict(type="Wide"))
    {name}(model, [], {{}})


if __name__ == "__main__":
    main()
"""
NETS = """
from mmseg.models.builder import SEGMENTORS
from mmseg.models.segmentors import BaseSegmentor


@SEGMENTORS.register_module()
class Wide(BaseSegmentor):
    def forward_train(self, img, gt):
        return {"loss": (img - gt).mean()}
"""


@pytest.mark.parametrize(("name", "trains"), [("train_segmentor", True), ("inference_segmentor", False)])
def test_the_loop_is_inside_the_library_that_trains(tmp_path: Path, name: str, trains: bool) -> None:
    (tmp_path / "train.py").write_text(TRAIN.format(name=name))
    (tmp_path / "nets.py").write_text(NETS)
    text = map_repository(tmp_path, scope="train.py").text
    assert ("inside mmseg" in text) is trains
    assert ("TRAINS NOTHING" in text) is not trains


def test_an_own_function_of_that_name_is_followed(tmp_path: Path) -> None:
    apis = tmp_path / "mmwide" / "apis"
    apis.mkdir(parents=True)
    (tmp_path / "mmwide" / "__init__.py").write_text("")
    (apis / "__init__.py").write_text(
        "import torch\n\n\ndef train_wide(model):\n    opt = torch.optim.SGD(model.parameters(), lr=1.0)\n"
        "    for _ in range(3):\n        opt.zero_grad()\n        model(torch.ones(1, 2)).sum().backward()\n        opt.step()\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom mmwide.apis import train_wide\n\ntrain_wide(torch.nn.Linear(2, 2))\n"
    )
    assert "mmwide" not in map_repository(tmp_path, scope="train.py").text.split("\n")[0]


SAMPLES = "import tensorflow as tf\n\n\ndef sample(x):\n    return tf.nn.softmax(x)\n\n\nif __name__ == '__main__':\n    print(sample([1.0]))\n"
TRAINS = "import tensorflow as tf\n\nmodel = tf.keras.Sequential()\nmodel.fit([1.0], [1.0])\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (SAMPLES, "TensorFlow · TRAINS NOTHING"),
        (TRAINS, "TensorFlow · NOT READ"),
        ("import tensorflow as tf\nfrom library import train_model\n\ntrain_model(tf)\n", "TensorFlow · NOT READ"),
    ],
)
def test_code_of_another_library_that_only_samples_is_told_apart(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "main.py").write_text(source)
    assert map_repository(tmp_path).text.startswith(said)
