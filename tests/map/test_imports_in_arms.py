"""A name that several imports bind, each in an arm of an if: what settings choose among them, and what functions see."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.facts import Class, build_index
from trainsleuth.map import Map, expand_component, map_repository
from trainsleuth.repository import Repository

MAIN = (
    "import json\nimport sys\n\nimport torch\n\nfrom models.select import define_net\nfrom data.select import define_data\n\n\n"
    "def main():\n    with open(sys.argv[1]) as file:\n        opt = json.load(file)\n    net = define_net(opt)\n"
    "    for phase, dataset_opt in opt['datasets'].items():\n        found = define_data(dataset_opt)\n"
    "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + STEP.replace("\n", "\n    ")
    + "\n\n\nif __name__ == '__main__':\n    main()\n"
)
NET = "import torch\n\n\nclass {0}(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
DATA = "import torch\n\n\nclass {0}(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return i\n"
FILES = {
    "main.py": MAIN,
    "options/first.json": '{"net": {"kind": "wide", "width": 3}, "datasets": {"train": {"dataset_type": "pairs"}, '
    '"test": {"dataset_type": "pairs"}}}',
    "models/select.py": "def define_net(opt):\n    part = opt['net']\n    kind = part['kind']\n"
    "    if kind == 'plain':\n        from models.plain import Plain as chosen\n\n        net = chosen()\n"
    "    elif kind == 'wide':\n        from models.wide import Wide as chosen\n\n        net = chosen()\n"
    "    else:\n        from models.deep import Deep as chosen\n\n        net = chosen()\n    return net\n\n\n"
    "def define_other():\n    from models.plain import Plain as chosen\n\n    return chosen()\n",
    "data/select.py": "def define_data(dataset_opt):\n    dataset_type = dataset_opt['dataset_type'].lower()\n"
    "    if dataset_type in ['single', 'one']:\n        from data.single import Single as D\n"
    "    elif dataset_type in ['pairs', 'two']:\n        from data.pairs import Pairs as D\n"
    "    else:\n        raise NotImplementedError(dataset_type)\n    return D()\n",
    **{f"models/{name}.py": NET.format(name.title()) for name in ("plain", "wide", "deep")},
    **{f"data/{name}.py": DATA.format(name.title()) for name in ("single", "pairs")},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def _files(made: Map, part: str) -> set[str]:
    return {place.path for place in made.components[part].places}


def test_the_import_of_the_arm_that_settings_choose_is_meant(root: Path) -> None:
    made = map_repository(root, recipe="options/first.json")
    assert "models/wide.py" in _files(made, "model")
    assert not {"models/plain.py", "models/deep.py"} & _files(made, "model")


def test_what_each_section_says_alike_decides(root: Path) -> None:
    made = map_repository(root, recipe="options/first.json")
    assert "data/pairs.py" in _files(made, "data") and "data/single.py" not in _files(made, "data")
    other = (
        (root / "options/first.json")
        .read_text()
        .replace('"test": {"dataset_type": "pairs"', '"test": {"dataset_type": "one"')
    )
    (root / "options/first.json").write_text(other)
    assert {"data/pairs.py", "data/single.py"} <= _files(map_repository(root, recipe="options/first.json"), "data")


def test_a_section_under_a_local_name_is_read_where_it_stands(root: Path) -> None:
    said = expand_component(root, "lines chosen", recipe="options/first.json", budget=600).text
    kept = {line.strip() for line in said.split("\n") if "net = chosen()" in line}
    assert any("# off" in line for line in kept) and any("# off" not in line for line in kept)


def test_a_function_means_what_it_imports_itself(root: Path) -> None:
    index = build_index(Repository(root))
    functions = index.files["models/select.py"].functions
    other = index.resolve(functions["define_other"], "chosen")
    assert isinstance(other, Class) and other.path == "models/plain.py"
    assert index.resolve(functions["define_net"], "chosen") is None


ALIASED = {
    "main.py": "import sys\n\nimport torch\n\n\ndef main():\n    if 'llama' in sys.argv[1]:\n        from nets import Llama\n        Model = Llama\n"
    "    else:\n        from nets import Model\n    net = Model.from_pretrained(sys.argv[1])\n"
    "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP.replace("\n", "\n    ") + "\n\n\nmain()\n",
    "nets.py": "from library import Base\n\n\nclass Opt(Base):\n    def forward(self, x):\n        return x\n\n\nModel = Opt\n\n\n"
    "class Llama(Base):\n    def forward(self, x):\n        return x\n",
}
OF_BODY = {
    "main.py": "from entry import Entry\n\n\nclass Runner:\n    @property\n    def entry(self) -> Entry:\n        return Entry()\n\n"
    "    def run(self):\n        trainer = self.entry.trainer()\n        trainer.fit()\n\n\nif __name__ == '__main__':\n    Runner().run()\n",
    "entry.py": "from trainers import Fast\n\n\nclass Entry:\n    name = 'fast'\n    trainer = Fast\n",
    "trainers.py": "import torch\n\n\nclass Fast:\n    def fit(self):\n        net = torch.nn.Linear(2, 1)\n"
    "        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP.replace("\n", "\n        ") + "\n",
}


def test_a_name_may_be_imported_in_one_arm_and_bound_in_the_other(tmp_path: Path) -> None:
    write(ALIASED, tmp_path)
    places = map_repository(tmp_path, "main.py").components["model"].places
    assert {4, 12} <= {place.line for place in places if place.path == "nets.py"}  # both classes: no setting decides


def test_what_the_body_of_a_class_holds_may_be_called(tmp_path: Path) -> None:
    write(OF_BODY, tmp_path)
    found = map_repository(tmp_path, "main.py")
    assert any(place.path == "trainers.py" for place in found.components["training_loop"].places)
    assert "not read" not in found.text
