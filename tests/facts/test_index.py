"""Names, classes and calls across files."""

from __future__ import annotations

import gc
from pathlib import Path
from textwrap import dedent

import pytest
from trainsleuth.checks import run_checks
from trainsleuth.facts import (
    Class,
    External,
    Function,
    Index,
    Instance,
    Site,
    Spot,
    Unknown,
    build_index,
    collection,
    is_test,
    keep_facts,
)
from trainsleuth.repository import Repository

FILES = {
    "pkg/__init__.py": "from .nets import Net as Model\n",
    "pkg/nets.py": """
        import torch.nn as nn
        from .base import *

        class Net(Base):
            def __init__(self, width=8):
                super().__init__()
                self.fc = nn.Linear(width, 2)
                self.hooks = []

            def forward(self, x):
                return self.fc(x)

        class Deep(Net):
            pass
        """,
    "pkg/base.py": """
        from torch import nn

        class Base(nn.Module):
            def save(self, path): ...
        """,
    "train.py": """
        import torch.nn.functional as F
        from pkg import Model
        from pkg import nets
        from missing.library import thing

        counter = 0

        def step(model, optimizer, batch):
            global counter
            counter = counter + 1
            model(batch).backward()
            optimizer.step()

        def main(name):
            model = Model(width=4)
            models = {"a": model, "b": nets.Deep()}
            chosen = models[name]
            run = step
            run(model, None, None)
            chosen.save("x")
            model.extra = 1

        main("a")
        """,
    "tests/test_train.py": "from train import step\nstep(None, None, None)\n",
    "broken.py": "def f(:\n",
    "notes.ipynb": "{",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = tmp_path_factory.mktemp("project")
    write(root, {name: dedent(source) for name, source in FILES.items()})
    return build_index(Repository(root))


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _function(index: Index, path: str, name: str) -> Function:
    return index.files[path].functions[name]


@pytest.mark.parametrize(
    ("dotted", "meaning"),
    [
        ("F.cross_entropy", External("torch.nn.functional.cross_entropy")),
        ("thing.part", External("missing.library.thing.part")),
        ("len", External("builtins.len")),
        ("nowhere", None),
    ],
)
def test_external_names(index: Index, dotted: str, meaning: object) -> None:
    assert index.resolve(_function(index, "train.py", "main"), dotted) == meaning


def test_names_of_the_project_through_packages(index: Index) -> None:
    main = _function(index, "train.py", "main")
    net = index.files["pkg/nets.py"].classes["Net"]
    assert index.resolve(main, "Model") is net
    assert index.resolve(main, "nets.Deep") is index.files["pkg/nets.py"].classes["Deep"]
    assert index.resolve(main, "nets.Net.forward") is net.methods["forward"]
    assert index.resolve(main, "nets.Base") is index.files["pkg/base.py"].classes["Base"]


def test_classes_know_their_lines(index: Index) -> None:
    classes = {cls.name: cls for cls in index.classes()}
    assert index.lineage(classes["Deep"]) == (classes["Deep"], classes["Net"], classes["Base"])
    assert index.external_bases(classes["Deep"]) == ("torch.nn.Module",)
    assert set(index.subclasses(classes["Base"])) == {classes["Net"], classes["Deep"]}
    assert index.method(classes["Deep"], "save") is classes["Base"].methods["save"]
    assert index.hierarchy.attribute_names(classes["Net"]) == ("fc", "hooks")


def test_calls_by_last_name_in_order(index: Index) -> None:
    assert [(site.function.qualname, site.call.line) for site in index.calls("backward", "step")] == [
        ("step", 12),
        ("<module>", 2),
        ("step", 13),
    ]
    assert list(index.calls("never_called")) == []


def test_a_call_that_is_asked_for_reads_only_who_may_make_it(index: Index) -> None:
    fresh = build_index(index.repository)
    assert [site.function.name for site in fresh.calls("Linear")] == ["__init__"]
    read = {function.qualname for function in fresh.functions() if function.is_read}
    assert read == {"Net.__init__"}


def test_things_that_an_expression_may_stand_for(index: Index) -> None:
    main = _function(index, "train.py", "main")
    position, event = next((n, e) for n, e in enumerate(main.events) if e.calls and e.calls[0].last == "save")
    receiver = event.calls[0].receiver
    assert receiver is not None
    things = index.objects.of(receiver, Spot(main, position))
    assert {thing.name for thing in things if isinstance(thing, Instance)} <= {"Net", "Deep"}
    assert things
    assert all(isinstance(thing, Instance | Unknown) for thing in things)


def test_callers_are_proved_and_tests_do_not_count(index: Index) -> None:
    step = _function(index, "train.py", "step")
    assert {caller.spot.function.name for caller in index.callers(step)} == {"main"}


def test_variables_set_from_elsewhere(index: Index) -> None:
    assert [binding.kind for _, binding in index.global_bindings("train.py", "counter")] == ["assign"]
    assert [(function.name, line) for function, line in index.set_from_outside("extra")] == [("main", 22)]
    assert index.set_from_outside("fc") == ()


def test_connected_files_are_one_part(index: Index) -> None:
    assert index.part("train.py") == index.part("pkg/nets.py") == index.part("tests/test_train.py")
    assert index.part("broken.py") != index.part("train.py")


def test_what_could_not_be_read_is_named(index: Index) -> None:
    reasons = {skipped.path: skipped.reason for skipped in index.repository.skipped}
    assert reasons["broken.py"].startswith("read in part: line 1")
    assert reasons["notes.ipynb"].startswith("not a notebook")


def test_tests_are_read_only_where_other_code_imports_them(tmp_path: Path) -> None:
    sources = {
        "train.py": "from tests.shared import fit\nfit()\n",
        "tests/__init__.py": "",
        "tests/shared.py": "from .made import data\n\ndef fit(): data()\n",
        "tests/made.py": "def data(): ...\n",
        "tests/test_fit.py": "def test_fit(): ...\n",
        "net.py": "class Net: ...\n",
        "tests/net.py": "class Net: ...\n",
        "lib/deep/use.py": "import missing.net\n",
    }
    write(tmp_path, sources)
    whole, trimmed = build_index(Repository(tmp_path)), build_index(Repository(tmp_path), tests=False)
    assert list(trimmed.files) == list(whole.files)
    own = {path: sorted(facts.functions) for path, facts in trimmed.files.items()}
    assert own["tests/shared.py"] == ["<module>", "fit"] and own["tests/made.py"] == ["<module>", "data"]
    assert own["tests/test_fit.py"] == own["tests/net.py"] == ["<module>"]
    assert own["net.py"] == ["<module>", "Net.<class>"]
    keep_facts(trimmed)  # a file that was not read is not stored as empty
    assert "test_fit" in build_index(Repository(tmp_path)).files["tests/test_fit.py"].functions


def test_configuration_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("lr: 0.1\n")
    (tmp_path / "bad.yaml").write_text("lr: [0.1\n")
    index = build_index(Repository(tmp_path))
    assert not index.repository.skipped
    assert "bad.yaml" in index.configs and index.configs["good.yaml"]["lr"].value == "0.1"
    assert not index.repository.skipped  # one that nobody asked for is not read
    assert index.configs["bad.yaml"] == {}
    assert [one.path for one in index.repository.skipped] == ["bad.yaml"]


def test_a_name_that_stands_for_two_files_is_not_resolved(tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place / "lib").mkdir(parents=True)
        (tmp_path / place / "lib" / "util.py").write_text("def go(): ...\n")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "main.py").write_text("from lib.util import go\n")
    index = build_index(Repository(tmp_path))
    found = index.resolve(index.files["c/main.py"].body, "go")
    assert not isinstance(found, Function | Class)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"main/settings.py": "import sys\n\nsys.path.insert(0, root.folder)\n"}, "common/base.py"),
        ({}, None),
        ({"main/settings.py": "import sys\n\nsys.path.append(root.folder)\n", "common/__init__.py": ""}, None),
        ({"main/settings.py": "import sys\n\nsys.path += [root.folder]\n", "demo/base.py": ""}, None),
    ],
)
def test_a_project_that_adds_folders_to_the_search_finds_the_one_file(
    more: dict[str, str], found: str | None, tmp_path: Path
) -> None:
    for name, text in {"main/train.py": "from base import Trainer\n", "common/base.py": "", **more}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    module = build_index(Repository(tmp_path)).names.module("main/train.py", "base")
    assert (module.path if module is not None else None) == found


def test_circles_of_imports_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import x\n")
    (tmp_path / "b.py").write_text("from a import x\n")
    index = build_index(Repository(tmp_path))
    assert index.resolve(index.files["a.py"].body, "x") is None


def test_a_part_of_a_package_is_not_the_library_it_is_called_like(tmp_path: Path) -> None:
    files = {
        "kit/__init__.py": "",
        "kit/torch/__init__.py": "",
        "kit/torch/core.py": "import torch.nn as nn\nfrom kit.torch.nets import Net\n\nclass Deep(Net): ...\n",
        "kit/torch/nets.py": "from torch import nn\n\nclass Net(nn.Module): ...\n",
    }
    write(tmp_path, files)
    index = build_index(Repository(tmp_path))
    core = index.files["kit/torch/core.py"]
    assert index.resolve(core.body, "nn.Linear") == External("torch.nn.Linear")
    assert index.external_bases(core.classes["Deep"]) == ("torch.nn.Module",)
    assert index.resolve(core.body, "Net") is index.files["kit/torch/nets.py"].classes["Net"]


def test_a_collection_made_from_itself_ends(tmp_path: Path) -> None:
    source = """
        import torch.nn as nn

        def build(blocks):
            for _ in range(2):
                blocks = nn.ModuleList(blocks)
            return nn.Sequential(*blocks)
        """
    (tmp_path / "a.py").write_text(dedent(source))
    index = build_index(Repository(tmp_path))
    site = next(iter(index.calls("Sequential")))
    things = index.objects.of(site.call, Spot(site.function, site.position))
    assert [list(index.members.of_thing(thing)) for thing in things] == [[]]


FOLLOWED = """
    from torch import nn

    class Base:
        def sample(self):
            return self.make()

        def make(self):
            return nn.Linear(1, 1)

    class Deep(Base):
        def sample(self):
            return super().sample()

        def make(self):
            return nn.Conv2d(1, 1, 1)

    def unused(size, kind):
        return nn.ReLU()

    def picked(size, kind):
        return kind()

    def again(kind, times):
        return again(kind, times - 1) if times else kind()

    deep = Deep().sample()
    plain = unused(1, nn.Linear), unused(2, nn.Conv2d)
    chosen = picked(1, nn.GELU), picked(2, nn.SiLU)
    ended = again(nn.Tanh, 3)
"""


CIRCLE = """
    import torch.nn as nn

    class Turned:
        def __init__(self):
            self.a, self.b = nn.Linear(1, 1), nn.Conv2d(1, 1, 1)

        def turn(self):
            self.a, self.d = self.b, self.b

        def turn_back(self):
            self.b = self.a

        def end(self):
            self.c = self.b

        def shown(self, first):
            show(self.c if first else self.d)
            show(self.d)
    """


def test_what_a_circle_cut_short_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(dedent(CIRCLE))
    index = build_index(Repository(tmp_path))
    either, alone = index.calls("show")

    def asked(index: Index, site: Site) -> set[str]:
        things = index.objects.of(site.call.arguments[0], Spot(site.function, site.position))
        return {thing.name for thing in things if isinstance(thing, Instance)}

    assert asked(index, either) == asked(index, alone) == asked(build_index(index.repository), alone)
    assert len(asked(index, alone)) == 2


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = tmp_path_factory.mktemp("followed")
    (root / "train.py").write_text(dedent(FOLLOWED))
    return build_index(Repository(root))


def _made(index: Index, name: str) -> list[Instance]:
    """The objects behind a variable of train.py, or behind the members of its tuple."""
    body = index.files["train.py"].body
    event = next(event for event in body.events if event.targets and event.targets[0].text == name)
    assert event.value is not None
    parts = event.value.parts if event.value.kind == "tuple" else (event.value,)
    things = [thing for part in parts for thing in index.objects.of(part, Spot(body, len(body.events)))]
    assert all(isinstance(thing, Instance) for thing in things), things
    return [thing for thing in things if isinstance(thing, Instance)]


def test_super_is_the_class_above_on_the_same_object(followed: Index) -> None:
    assert [one.name for one in _made(followed, "deep")] == ["torch.nn.Conv2d"]


def test_calls_that_an_expression_cannot_tell_apart_are_one(followed: Index) -> None:
    one, other = _made(followed, "plain")
    assert one == other and one.name == "torch.nn.ReLU"
    assert [one.name for one in _made(followed, "chosen")] == ["torch.nn.GELU", "torch.nn.SiLU"]


def test_recursion_ends_with_what_it_ends_in(followed: Index) -> None:
    assert {one.name for one in _made(followed, "ended")} == {"torch.nn.Tanh"}


def test_what_was_searched_before_does_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MUCH", 0)
    (tmp_path / "a.py").write_text("def f(loss, opt):\n    loss.backward()\n    opt.step()\n")
    for only in ("missing-zero-grad", "double-softmax", "detached-loss", "cut-loss-term"):
        run_checks(Repository(tmp_path), [only])
    assert sum(isinstance(one, Index) and one.repository.root == tmp_path for one in gc.get_objects()) <= 1


def test_what_was_searched_is_gone_without_a_search_for_garbage(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text("import torch\n\ndef f(loss, opt):\n    loss.backward()\n    opt.step()\n")
    gc.collect()
    gc.disable()
    try:
        run_checks(Repository(tmp_path))
        with collection.no_collection():  # as the next search begins
            pass
        kept = [one for one in gc.get_objects() if isinstance(one, Function | Index) and vars(one)]
        assert not [one for one in kept if "gone.py" in (one.files if isinstance(one, Index) else one.path)]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/run.py", True),
        ("net/test_net.py", True),
        ("net/unit_test.py", True),
        ("net/heads_unittest.py", True),
        ("unit_tests/run.py", True),
        ("net/test.py", False),
        ("latest_test/run.py", False),
        ("net/unit_testing_ground/train.py", False),
    ],
)
def test_what_is_a_file_of_tests(path: str, expected: bool) -> None:
    assert is_test(path) is expected
