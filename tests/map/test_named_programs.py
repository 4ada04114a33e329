"""A launcher whose recipe names the program by a class in it, and what this program takes for keys that it does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import expand_component, map_repository

COMMAND = "kit runs/small.yaml --nproc 4"

RECIPE = """import torch
from torch import nn

from kit.config import Typed, load


class Finetune:
    def __init__(self, cfg):
        self.cfg = Typed(cfg)

    def setup(self):
        torch.manual_seed(self.cfg.get("seed", 42))
        self.net = nn.Linear(self.cfg.get("model.width", 8), 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=self.cfg.get("optim.lr"))
        self.plan = self.cfg.plan
        if self.cfg.get("clip.max_norm", None) is not None:
            self.most = float(self.cfg.get("clip.max_norm", None))
        else:
            self.most = 0.75
        self.saving = self.cfg.saving.build()

    def fit(self):
        for batch in self.cfg.get("data.items"):
            loss = self.loss(self.net(batch))
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), self.most)
            self.opt.step()
            self.opt.zero_grad()
            if self.plan is not None:
                self.plan.step()
            if self.saving.is_due:
                torch.save(self.net.state_dict(), "net.pt")

    def loss(self, out):
        return out.abs().mean()


def main(cfg=None):
    run = Finetune(load(cfg))
    run.setup()
    run.fit()


if __name__ == "__main__":
    main()
"""

FILES = {
    "pyproject.toml": '[project]\nname = "kit"\n[project.scripts]\nkit = "kit.app:main"\n',
    "kit/__init__.py": "",
    "kit/app.py": "import sys\n\nimport yaml\n\nfrom kit.names import resolve\nfrom kit.starter import start\n\n\n"
    'def main():\n    config = yaml.safe_load(open(sys.argv[1]))\n    section = config.get("recipe")\n'
    "    target = resolve(section)\n    return start(target, sys.argv[1])\n\n\nif __name__ == '__main__':\n    main()\n",
    "kit/names.py": "import re\nfrom pathlib import Path\n\n\ndef resolve(name):\n"
    "    for path in Path(__file__).parent.glob('recipes/*.py'):\n        if re.search(rf'class {name}', path.read_text()):\n"
    "            return path\n",
    "kit/starter.py": "from torch.distributed.run import get_args_parser, run\n\n\ndef start(path, config):\n"
    "    args, _ = get_args_parser().parse_known_args()\n    args.training_script = str(path)\n"
    "    args.training_script_args = ['-c', config]\n    return run(args)\n",
    "kit/config.py": "from functools import cached_property\n\nimport yaml\n\nfrom kit.plans import PlanConfig, SavingConfig\n\n\n"
    "def load(path):\n    return yaml.safe_load(open(path))\n\n\nclass Typed:\n    def __init__(self, raw):\n        self._raw = raw\n\n"
    "    @cached_property\n    def plan(self):\n        node = self._raw.get('plan', None)\n        self._raw.get('optim')\n"
    "        self._raw.get('model')\n        self._raw.get('data')\n        return PlanConfig(**node).build() if node else None\n\n"
    "    @cached_property\n    def saving(self):\n        return SavingConfig(self._raw.get('saving'))\n\n"
    "    def get(self, key, default=None):\n        return self._raw.get(key, default)\n",
    "kit/plans.py": "from dataclasses import dataclass\n\nimport torch\n\n\n@dataclass\nclass PlanConfig:\n"
    "    decay_style: str = 'cosine'\n\n    def build(self):\n        return torch.optim.lr_scheduler.StepLR(None, 3, self.decay_style)\n\n\n"
    "class Saving:\n    def __init__(self, every):\n        self.every = every\n\n    @property\n    def is_due(self):\n"
    "        return self.every % 5 == 4\n\n\n@dataclass\nclass SavingConfig:\n    every: int = 5\n\n    def build(self):\n"
    "        return Saving(self.every)\n",
    "kit/rng.py": "class Random:\n    def __init__(self, seed):\n        self.seed = seed\n",
    "kit/recipes/__init__.py": "",
    "kit/recipes/finetune.py": RECIPE,
    "kit/recipes/pretrain.py": RECIPE.replace("Finetune", "Pretrain").replace("SGD", "Adam"),
    "runs/small.yaml": "recipe: Finetune\nrng:\n  _target_: kit.rng.Random\n  seed: 1111\nmodel:\n  width: 16\n"
    "optim:\n  lr: 0.5\ndata:\n  items: [1]\nsaving: 5\n",
}


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("kit")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def sheet(kit: Path) -> str:
    return expand_component(kit, "run", recipe=COMMAND, budget=3000).text


def test_the_program_is_the_file_of_the_class_that_the_recipe_names(kit: Path, sheet: str) -> None:
    assert sheet.startswith("# run of kit/recipes/finetune.py\n") and "SGD" in sheet and "Adam" not in sheet
    other = kit / "runs/other.yaml"
    other.write_text(FILES["runs/small.yaml"].replace("Finetune", "Pretrain"))
    text = map_repository(kit, recipe=COMMAND.replace("small", "other")).text
    assert "kit/recipes/pretrain.py" in text and "Adam" in text


def test_the_sheet_says_how_the_launcher_comes_to_it(sheet: str) -> None:
    line = next(line for line in sheet.split("\n") if "recipe=Finetune" in line)
    assert "target = resolve(section)" in line and "args.training_script = str(path)" in line
    assert "args.training_script_args = ['-c', config]" in line


def test_a_name_that_two_programs_have_chooses_none(kit: Path) -> None:
    (kit / "kit/recipes/again.py").write_text(RECIPE)
    found = map_repository(kit, recipe=COMMAND).text
    (kit / "kit/recipes/again.py").unlink()
    assert "recipes/again.py" not in found.split("\n")[0]


def test_a_key_that_the_recipe_does_not_have_is_told_with_what_counts_then(sheet: str) -> None:
    assert "seed=42 (not in the recipe)" in sheet
    assert "max_norm=None (not in the recipe)" in sheet


def test_a_section_that_nobody_asks_for_is_read_by_nobody(sheet: str) -> None:
    assert "seed=1111" in sheet and sheet.index("seed=42") < sheet.index("seed=1111")
    assert "(no reader seen)" in sheet.partition("1111")[2].split("\n")[0]


def test_a_missing_section_keeps_code_from_running(sheet: str) -> None:
    assert "cosine" not in sheet and "self.plan.step()" not in sheet


def test_a_property_of_what_a_name_holds_runs(kit: Path) -> None:
    opened = expand_component(kit, "open Saving.is_due", recipe=COMMAND, budget=400).text
    assert "called at" in opened and "finetune.py" in opened


BELOW = RECIPE.replace("class Finetune:", "class Base:").split("def main")[0]
DERIVED = """from kit.config import load
from kit.recipes.base import Base


class Finetune(Base):
    def loss(self, out):
        return out.square().mean()


OLD = {"Net": ("runs/old_a.yaml", "runs/old_b.yaml"), "Wide": ("runs/old_c.yaml", "runs/old_d.yaml")}


def main(cfg=None):
    run = Finetune(load(cfg))
    run.setup()
    run.fit()


if __name__ == "__main__":
    main()
"""


def test_a_method_that_the_only_class_replaces_is_not_told_and_no_file_of_a_table_is_read(kit: Path) -> None:
    (kit / "kit/recipes/base.py").write_text(BELOW)
    (kit / "kit/recipes/finetune.py").write_text(DERIVED)
    for name in "abcd":
        (kit / f"runs/old_{name}.yaml").write_text(f"optim:\n  lr: 0.00{ord(name)}\nmomentum: 0.9\n")
    sheet = expand_component(kit, "run", recipe=COMMAND, budget=3000).text
    asked = expand_component(kit, "ask how is the loss computed", recipe=COMMAND, budget=600).text
    (kit / "kit/recipes/finetune.py").write_text(RECIPE)
    assert "lr=0.5" in sheet and "momentum" not in sheet and "0.0097" not in sheet
    assert "out.square().mean()" in asked and "out.abs().mean()" not in asked


def test_an_attribute_is_worth_what_the_arm_that_runs_gives_it(kit: Path) -> None:
    opened = expand_component(kit, "open Finetune.fit", recipe=COMMAND, budget=600).text
    assert "self.most = 0.75" in opened


def test_a_method_that_a_package_hands_on_when_it_is_asked_is_found(kit: Path) -> None:
    (kit / "kit/lazy.py").write_text("class Wide:\n    @classmethod\n    def make(cls, width):\n        return cls()\n")
    recipe = FILES["runs/small.yaml"] + "net:\n  _target_: kit.Wide.make\n  width: 3\n"
    (kit / "runs/lazy.yaml").write_text(recipe)
    command = COMMAND.replace("small", "lazy")
    sheet = expand_component(kit, "run", recipe=command, budget=3000).text
    assert "_target_=kit.Wide.make" in sheet and "(lazy.py:3)" in sheet
    assert "which is not there" not in map_repository(kit, recipe=command).text
