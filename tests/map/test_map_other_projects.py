"""Two projects in one repository, the second made from the first: each has its own registry of the same names."""

from __future__ import annotations

from pathlib import Path

from map_depth import STEP
from trainsleuth.map import read_anatomy

BY_KEY = "\n\ndef made(cfg):\n    return KINDS[cfg['type']](width=2)\n"  # what the first has, and the second has not
FILES = {
    "tools/train.py": "import importlib\nimport json\nimport sys\n\nimport torch\n\nsys.path.insert(0, '..')\n"
    "from src.core import create\n\nimportlib.import_module('src.nets')\ncfg = json.load(open(sys.argv[2]))\n"
    "net = create(*cfg['net'].values(), width=2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + STEP,
    "src/__init__.py": "",
    "src/core.py": "KINDS = {}\n\n\ndef register(kind):\n    KINDS[kind.__name__] = kind\n    return kind\n"
    "\n\ndef create(kind, **given):\n    return KINDS[kind](**given)\n",
    "src/nets.py": "import torch\n\nfrom src.core import register\n\n\n@register\nclass Wide(torch.nn.Linear):\n"
    "    def __init__(self, width):\n        super().__init__(width, width)\n",
    "config.json": '{"net": {"type": "Wide"}}\n',
}


def test_a_recipe_chooses_classes_of_its_own_project(tmp_path: Path) -> None:
    for project in ("first", "second"):
        for name, text in FILES.items():
            place = tmp_path / project / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text + (BY_KEY if (project, name) == ("first", "src/core.py") else ""))
    for project in ("first", "second"):
        command = f"cd {project} && python tools/train.py -c {project}/config.json"
        anatomy = read_anatomy(tmp_path, f"{project}/tools/train.py", command, 2000)
        assert anatomy.program is not None
        targets = {getattr(choice.target, "path", "") for choice in anatomy.program.choices if choice.value == "Wide"}
        assert targets == {f"{project}/src/nets.py"}
        assert not anatomy.program.is_loaded("second/src/nets.py" if project == "first" else "first/src/nets.py")
