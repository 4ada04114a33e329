"""A repository that is imported as a whole under a name none of its folders has."""

from __future__ import annotations

from pathlib import Path

from trainsleuth.facts import Class, External, build_index
from trainsleuth.repository import Repository

HERE = {"layers/blocks.py": "class Block:\n    pass\nclass Head:\n    pass\n", "data.py": "class Frames:\n    pass\n"}
IMPORTS = "from clips.layers.blocks import Block, Head\nfrom clips.data import Frames\n"


def _meaning(root: Path, files: dict[str, str], name: str) -> object:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    index = build_index(Repository(root))
    return index.resolve(index.files["train.py"].body, name)


def test_what_is_defined_at_the_root_is_meant(tmp_path: Path) -> None:
    found = _meaning(tmp_path, {**HERE, "train.py": IMPORTS}, "Head")
    assert isinstance(found, Class)
    assert found.path == "layers/blocks.py"


def test_a_library_with_modules_of_the_same_names_stays_outside(tmp_path: Path) -> None:
    others = "from clips.layers.blocks import Tail\nfrom clips.optim import build\n"
    found = _meaning(tmp_path, {**HERE, "train.py": IMPORTS + others}, "Head")
    assert found == External("clips.layers.blocks.Head")


def test_one_module_that_fits_is_no_evidence(tmp_path: Path) -> None:
    text = "from clips.layers.blocks import Block, Head\nimport clips.layers.blocks\n"
    assert _meaning(tmp_path, {**HERE, "train.py": text}, "Head") == External("clips.layers.blocks.Head")


INNER = {
    "kit/torch/models/__init__.py": "class Points:\n    pass\n",
    "kit/torch/loops.py": "class Loop:\n    pass\n",
    "kit/data/__init__.py": "class Clouds:\n    pass\n",
}
INNER_IMPORTS = (
    "import solid\nimport solid.own.torch as own\nfrom solid.own.torch.models import Points\n"
    "from solid.own.torch.loops import Loop\nfrom solid.own.data import Clouds\nfrom solid.own.compiled import knn\n"
)


def test_a_folder_that_a_library_loads_under_its_own_name_is_meant(tmp_path: Path) -> None:
    files = {**INNER, "train.py": INNER_IMPORTS}
    found = _meaning(tmp_path, files, "own.models.Points")
    assert isinstance(found, Class)
    assert found.path == "kit/torch/models/__init__.py"
    assert _meaning(tmp_path, files, "knn") == External("solid.own.compiled.knn")
    assert _meaning(tmp_path, files, "solid.io") == External("solid.io")


def test_a_folder_that_lacks_what_is_imported_is_not_meant(tmp_path: Path) -> None:
    other = "from solid.own.data import Meshes\n"
    found = _meaning(tmp_path, {**INNER, "train.py": INNER_IMPORTS + other}, "Points")
    assert found == External("solid.own.torch.models.Points")


def test_a_checkout_that_is_the_package_gives_what_its_init_takes_in(tmp_path: Path) -> None:
    files = {
        "__init__.py": "from .models.net import Net, Head, Tail\n",
        "models/net.py": "class Net:\n    pass\nclass Head:\n    pass\nclass Tail:\n    pass\n",
        "train.py": "from clips import Net, Head, Tail\n",
    }
    found = _meaning(tmp_path / "a", files, "Head")
    assert isinstance(found, Class)
    assert found.path == "models/net.py"
    lacking = {**files, "train.py": "from clips import Net, Head, Tail, Other\n"}
    assert _meaning(tmp_path / "b", lacking, "Head") == External("clips.Head")
