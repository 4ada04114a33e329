"""An alarm in code that no program of the project comes to, or whose program cannot be loaded, accuses nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

pytestmark = pytest.mark.usefixtures("right_so_far")

LOOP = (
    "import torch\n\ndef train(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n"
)
CALLS = "from engine import train\n\nif __name__ == '__main__':\n    train(1, [])\n"
OTHER = "if __name__ == '__main__':\n    print(1)\n"


def _alarm(root: Path, files: dict[str, str]) -> Finding:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    found = run_checks(Repository(root), ["missing-zero-grad"]).findings
    return next(one for one in found if one.outcome == "fail" and (one.path or "").startswith("a/"))


PLUGGED = {
    "a/plugs/own.py": "from engine import train\n\nTRAINED = train(1, [])\n",
    "a/main.py": "import plugs\n\nif __name__ == '__main__':\n    print(plugs)\n",
}
REACHED = {
    "it is imported and called": {"a/main.py": CALLS},
    "through another function": {
        "a/main.py": "from engine import train\n\ndef run():\n    train(1, [])\n\nif __name__ == '__main__':\n    run()\n"
    },
    "by a table": {
        "a/main.py": "import engine\n\nKINDS = {'plain': engine.train}\n\nif __name__ == '__main__':\n    KINDS[input()](1, [])\n"
    },
    "by a method of an object": {
        "a/main.py": "from runner import Runner\n\nif __name__ == '__main__':\n    Runner().go()\n",
        "a/runner.py": "import engine\n\nclass Runner:\n    def go(self):\n        engine.train(1, [])\n",
    },
    "by a class that a registry finds": {
        "a/main.py": "import runner\nfrom kit import RUNNERS\n\nif __name__ == '__main__':\n    RUNNERS[input()]().go()\n",
        "a/runner.py": "import engine\nfrom kit import register\n\n@register\nclass Runner:\n"
        "    def go(self):\n        engine.train(1, [])\n",
        "a/kit.py": "RUNNERS = {}\n\ndef register(cls):\n    RUNNERS[cls.__name__] = cls\n    return cls\n",
    },
    "by a file that loads what lies beside it": {
        "a/plugs/__init__.py": "import os\nfrom importlib import import_module\n\n"
        "for name in os.listdir('plugs'):\n    import_module('plugs.' + name)\n",
        **PLUGGED,
    },
    "by a package that loads all its modules": {
        "a/plugs/__init__.py": "import pkgutil\n\nfor loader, name, _ in pkgutil.walk_packages(__path__):\n"
        "    globals()[name] = loader.find_module(name).load_module(name)\n",
        **PLUGGED,
    },
    "by a package that lists its modules for a star": {
        "a/plugs/__init__.py": "import glob\nfrom os.path import basename, dirname\n\n"
        "__all__ = [basename(one)[:-3] for one in glob.glob(dirname(__file__) + '/*.py')]\n",
        **PLUGGED,
        "a/main.py": "from plugs import *\n\nif __name__ == '__main__':\n    print(1)\n",
    },
    "by a configuration": {"a/main.py": OTHER, "a/run.yaml": "target: engine.train\n"},
    "by the hook of a library": {
        "a/main.py": "import lightning\nfrom hooks import Module\n\nlightning.Trainer().fit(Module())\n",
        "a/hooks.py": "import lightning\nimport engine\n\nclass Module(lightning.LightningModule):\n"
        "    def training_step(self, batch):\n        engine.train(1, batch)\n",
    },
}
UNREACHED = {
    "nothing imports the file": {"a/main.py": OTHER},
    "a namesake in another folder is called": {"a/main.py": OTHER, "b/engine.py": LOOP, "b/main.py": CALLS},
    "its own folder imports the file and calls another of it": {
        "a/main.py": "from engine import torch\n\nif __name__ == '__main__':\n    print(torch)\n",
        "b/engine.py": LOOP,
        "b/main.py": CALLS,
    },
    "only what nothing calls calls it": {
        "a/main.py": "from engine import train\n\ndef run():\n    train(1, [])\n\nif __name__ == '__main__':\n    print(1)\n"
    },
    "only a comment calls it": {
        "a/main.py": "import engine\n\nif __name__ == '__main__':\n    print(1)  # engine.train()\n"
    },
}
KIT = {"a/kit/__init__.py": "", "a/kit/narrow.py": "Net = None\n"}
STOPPED = {
    "a program asks for a module of its own": {"a/main.py": f"from models.wide import Net\n{CALLS}"},
    "what it imports does": {"a/main.py": f"import nets\n{CALLS}", "a/nets.py": "import networks\n"},
    "a package has no such module": {"a/main.py": f"from kit.wide import Net\n{CALLS}", **KIT},
    "nor has its own folder": {"a/main.py": f"from .kit.wide import Net\n{CALLS}", **KIT},
    "nor the folder above": {
        "a/main.py": f"import kit.own\n{CALLS}",
        **KIT,
        "a/kit/own.py": "from ..wide import Net\n",
    },
}
NOT_STOPPED = {
    "an unknown library": {"a/main.py": f"import widenets\n{CALLS}"},
    "it may fail": {"a/main.py": f"try:\n    import networks\nexcept ImportError:\n    networks = None\n{CALLS}"},
    "it is not needed at once": {"a/main.py": f"{CALLS}\ndef more():\n    import networks\n"},
    "a submodule may hold it": {"a/main.py": f"import networks\n{CALLS}", ".gitmodules": "[submodule]\n"},
    "another folder may": {"a/main.py": f"import sys\nsys.path.append('..')\nimport networks\n{CALLS}"},
    "it is to be installed": {"a/main.py": f"import networks\n{CALLS}", "requirements.txt": "torch\nnetworks>=1\n"},
    "so says a list of another name": {"a/main.py": f"import networks\n{CALLS}", "requirement.txt": "networks>=1\n"},
    "git ignores it": {
        "a/main.py": f"import networks\n{CALLS}",
        "a/networks/wide.py": "Net = None\n",
        ".gitignore": "networks\n",
    },
    "a build makes it beside it": {"a/main.py": f"from .kit.wide_ext import Net\n{CALLS}", **KIT},
    "no name at all": {"a/main.py": CALLS, "a/broken.py": "from .kit.**wide import Net\n", **KIT},
    "it lies outside": {"a/main.py": f"from ...kit import Net\n{CALLS}"},
    "what is compiled lies beside it": {"a/main.py": f"from .fast import Net\n{CALLS}", "a/fast.pyx": "Net = None\n"},
    "a build makes it": {"a/main.py": f"from kit._C import wide\n{CALLS}", **KIT},
}


@pytest.mark.parametrize("name", REACHED)
def test_what_a_program_comes_to_accuses(name: str, tmp_path: Path) -> None:
    found = _alarm(tmp_path, {"a/engine.py": LOOP, "c/tool.py": OTHER, **REACHED[name]})
    assert found.severity == "error", found.message


@pytest.mark.parametrize("name", UNREACHED)
def test_what_no_program_comes_to_asks(name: str, tmp_path: Path) -> None:
    found = _alarm(tmp_path, {"a/engine.py": LOOP, **UNREACHED[name]})
    assert (found.severity, "nothing that is started here" in found.message) == ("note", True), found.message


PACKAGE = {"setup.py": "import setuptools\n\nsetuptools.setup(name='a')\n", "a/__init__.py": ""}
USES = "from a.engine import train\n\nif __name__ == '__main__':\n    train(1, [])\n"
INSTALLED = {
    "its own programs load another file of it": ({"a/other.py": "train = print\n", "run.py": USES.replace("engine", "other")}, "note"),
    "its own programs load it": ({"run.py": USES}, "error"),
    "its own programs call another function of the file": ({"run.py": USES.replace("train", "torch")}, "error"),
    "a package that is called src": ({"src/__init__.py": "", "src/engine.py": LOOP, "a/engine.py": LOOP, "run.py": USES}, "error"),
    "its own programs use nothing of it": ({"run.py": OTHER}, "error"),
    "a README names it": ({"a/other.py": "train = print\n", "run.py": USES.replace("engine", "other"), "README.md": "`a.engine.train`\n"}, "error"),
}  # fmt: skip


@pytest.mark.parametrize("name", INSTALLED)
def test_a_file_of_a_package_may_be_used_by_others_unless_its_own_programs_load_the_rest(
    name: str, tmp_path: Path
) -> None:
    files, severity = INSTALLED[name]
    found = _alarm(tmp_path, {**PACKAGE, "a/engine.py": LOOP, **files})
    assert found.severity == severity, found.message


FIVE = {f"c/tool{number}.py": OTHER for number in range(5)}


@pytest.mark.parametrize("name", STOPPED)
def test_a_program_that_cannot_be_loaded_comes_to_nothing(name: str, tmp_path: Path) -> None:
    found = _alarm(tmp_path, {"a/engine.py": LOOP, **FIVE, **STOPPED[name]})
    assert found.severity == "note", found.message


@pytest.mark.parametrize("name", NOT_STOPPED)
def test_what_may_be_there_stops_nothing(name: str, tmp_path: Path) -> None:
    found = _alarm(tmp_path, {"a/engine.py": LOOP, **FIVE, **NOT_STOPPED[name]})
    assert found.severity == "error", found.message


def test_why_a_program_stops_is_said(tmp_path: Path) -> None:
    found = _alarm(tmp_path, {"a/engine.py": f"import networks\n{LOOP}", "a/main.py": CALLS, **FIVE})
    assert "But a/engine.py:1 imports networks, which is not here." in found.message


def test_a_few_files_may_be_a_part_of_a_project(tmp_path: Path) -> None:
    assert _alarm(tmp_path, {"a/engine.py": f"import networks\n{LOOP}", "a/main.py": CALLS}).severity == "error"


SWITCHED = (
    "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--amp', type=bool, default=False)\n"
    "print(parser.parse_args().amp)\n"
)
GIVING = {
    "a script": ("run.sh", "python train.py --amp False\n"),
    "a document": ("README.md", "```\npython train.py --amp False\n```\nor `python train.py --amp=False`\n"),
}


@pytest.mark.parametrize("name", GIVING)
def test_a_command_is_no_file_that_a_program_has_to_import(name: str, tmp_path: Path) -> None:
    path, text = GIVING[name]
    for file, written in {"train.py": SWITCHED, "tool.py": OTHER, path: text}.items():
        (tmp_path / file).write_text(written)
    found = run_checks(Repository(tmp_path), ["text-as-boolean"]).findings[0]
    assert (found.severity, "imports" in found.message) == ("error", False), found.message


@pytest.mark.parametrize(("main", "is_told"), [(OTHER, True), (CALLS, False)], ids=["not reached", "reached"])
def test_what_is_only_asked_says_so_too(main: str, is_told: bool, tmp_path: Path) -> None:
    """A sum that begins anew in each epoch is asked about because of its record."""
    (tmp_path / "engine.py").write_text(
        "import torch\n\ndef train(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    for epoch in range(9):\n        total = 0\n        for x in loader:\n            optimizer.zero_grad()\n"
        "            loss = model(x).mean()\n            loss.backward()\n            optimizer.step()\n            total += loss\n"
    )
    (tmp_path / "main.py").write_text(main)
    found = run_checks(Repository(tmp_path), ["loss-kept-with-graph"]).findings
    [asked] = [one for one in found if one.outcome == "fail"]
    assert asked.severity == "note" and asked.grounds
    assert ("But nothing that is started here imports engine.py" in asked.message) == is_told, asked
