"""What loads weights and resumes nothing: the best ones when training is over, and a method that no option asks for."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import expand_component, map_repository

BEST = (
    "import copy\n\nimport torch\n\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n\n\n"
    "def train():\n    best = None\n    for epoch in range(9):\n        "
    + STEP.replace("\n", "\n        ").rstrip()
    + "\n        if loss < 1:\n            best = copy.deepcopy(net.state_dict())\n"
    "    net.load_state_dict(best)\n    torch.save(best, 'best.pt')\n\n\ntrain()\n"
)
FIRST = BEST.replace("    best = None\n", "    net.load_state_dict(torch.load('last_state.pt'))\n")
FITTED = (
    "import lightning as L\nimport torch\n\n\nclass Net(L.LightningModule):\n    def __init__(self):\n"
    "        super().__init__()\n        self.head = torch.nn.Linear(2, 1)\n\n    def training_step(self, batch, at):\n"
    "        return self.head(batch).sum()\n\n    def configure_optimizers(self):\n"
    "        return torch.optim.SGD(self.parameters(), lr=0.1)\n\n\ndef main():\n    net = Net()\n"
    "    kept = L.pytorch.callbacks.ModelCheckpoint()\n    trainer = L.Trainer(callbacks=[kept])\n    trainer.fit(net)\n"
    "    state = torch.load(kept.best_model_path)\n    net.load_state_dict(state['state_dict'])\n\n\nmain()\n"
)


def _resumed(tmp_path: Path, code: str) -> str:
    (tmp_path / "train.py").write_text(code)
    sheet = expand_component(tmp_path, "run", budget=3000).text
    return sheet.partition("# resumed\n")[2].partition("\n# ")[0]


def test_what_loads_the_best_weights_after_training_is_not_resumed(tmp_path: Path) -> None:
    assert "load_state_dict" not in _resumed(tmp_path, BEST)
    assert "last_state.pt" in _resumed(tmp_path, FIRST)


def test_nor_is_what_loads_them_when_a_trainer_has_fitted(tmp_path: Path) -> None:
    assert "load" not in _resumed(tmp_path, FITTED)


PHASE = "    " + STEP.replace("\n", "\n    ").rstrip()
PHASES = (
    "import torch\n\n\ndef first(net, opt):\n"
    + PHASE
    + "\n    torch.save(net.state_dict(), 'first_state.pt')\n\n\ndef second(net, opt):\n"
    "    net.load_state_dict(torch.load('first_state.pt'))\n"
    + PHASE
    + "\n\n\ndef main():\n    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    first(net, opt)\n    second(net, opt)\n\n\nif __name__ == '__main__':\n    main()\n"
)


def test_a_second_phase_goes_on_from_the_first(tmp_path: Path) -> None:
    assert "first_state.pt" in _resumed(tmp_path, PHASES)


OPTION = (
    "import argparse\n\nimport torch\n\n\nclass Learner:\n    def __init__(self, args):\n"
    "        self.net = torch.nn.Linear(2, 1)\n        self.opt = torch.optim.SGD(self.net.parameters(), lr=args.lr)\n"
    "        if args.resume is not None:\n            self._resume(args.resume)\n\n    def _resume(self, path):\n"
    "        state = torch.load(path)\n        self.opt.load_state_dict(state['opt'])\n\n    def fit(self):\n"
    "        net, opt = self.net, self.opt\n        "
    + STEP.replace("\n", "\n        ").rstrip()
    + "\n\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default=0.1)\n"
    "parser.add_argument('--resume', type=str)\nLearner(parser.parse_args()).fit()\n"
)


def test_a_method_that_only_an_option_asks_for_which_the_command_does_not_give(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OPTION)
    assert map_repository(tmp_path, recipe="python train.py --lr 0.2").features["resume"].status == "absent"
    given = map_repository(tmp_path, recipe="python train.py --resume last.pt")
    assert given.features["resume"].status == "found"
