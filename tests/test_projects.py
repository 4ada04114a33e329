"""Several projects below one root: told apart by what they import, and searched each by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from trainsleuth import projects as parting
from trainsleuth.checks import CheckReport, run_checks
from trainsleuth.finding import Finding
from trainsleuth.probing import Request
from trainsleuth.projects import projects
from trainsleuth.repository import Repository
from trainsleuth.triage import triage

TWICE = """
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return F.softmax(self.head(x), dim=1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.randn(4, 8), torch.zeros(4, dtype=torch.long))] * 3:
    loss = nn.CrossEntropyLoss()(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of code are many, and one fills a part: what is asked of thousands is asked of a few."""
    monkeypatch.setattr(parting, "MANY", 2)
    monkeypatch.setattr(parting, "FEW", 1)
    monkeypatch.setenv("TRAINSLEUTH_CACHE", "off")


def _parts(root: Path, files: dict[str, str]) -> list[set[str]]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return [set(part.files) for part in projects(Repository(root))]


def _failures(report: CheckReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.outcome == "fail"]


def test_what_imports_nothing_of_another_is_a_project(tmp_path: Path) -> None:
    parts = _parts(
        tmp_path,
        {
            "a/train.py": "import torch\nfrom models import net\n",
            "a/models/net.py": "import torch\n",
            "b/train.py": "import torch\nfrom models import net\n",
            "b/models/net.py": "import torch\n",
        },
    )
    assert parts == [{"a/train.py", "a/models/net.py"}, {"b/train.py", "b/models/net.py"}]


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("import shared", "shared.py"),
        ("from b.nets import Net", "b/nets.py"),
        ("from b import nets", "b/nets.py"),
        ("import nets  # of a path that is searched", "b/nets.py"),
        ('    "from b import nets\\n",', "b/nets.py"),
    ],
    ids=["beside", "package", "of package", "searched", "notebook"],
)
def test_what_imports_another_is_one_project_with_it(line: str, there: str, tmp_path: Path) -> None:
    files = {"a/train.py": f"import torch\n{line}\n", there: "import torch\n", "c/train.py": "import torch\n"}
    assert _parts(tmp_path, files) == [{"a/train.py", there}, {"c/train.py"}]


def test_libraries_are_no_projects_of_that_name(tmp_path: Path) -> None:
    """A folder that is called like a library, or holds one that is, is not what others import."""
    files = {
        "a/train.py": "import torch\nimport logging\n",
        "b/torch/train.py": "import torch\n",
        "c/logging.py": "import torch\n",
    }
    assert len(_parts(tmp_path, files)) == 3


def test_what_uses_no_library_of_learning_goes_with_the_largest_project(tmp_path: Path) -> None:
    files = {
        "a/train.py": "import torch\n",
        "b/train.py": "import torch\n",
        "b/net.py": "import torch\n",
        "configs/base.py": "model = dict(type='Net')\n",
        "docs/conf.py": "import sphinx\n",
        "README.md": "python b/train.py",
        "settings/large.yaml": "lr: 0.1",
    }
    assert _parts(tmp_path, files) == [{"a/train.py"}, {*files} - {"a/train.py"}]


def test_projects_may_lie_in_a_folder_of_the_root_but_not_in_a_package(tmp_path: Path) -> None:
    files = {f"papers/{name}/train.py": "import torch\n" for name in "abc"}
    assert len(_parts(tmp_path, files)) == 3
    assert len(_parts(tmp_path, {"papers/__init__.py": ""})) == 1


def test_a_root_that_is_a_package_is_one_project(tmp_path: Path) -> None:
    files = {f"{name}/train.py": "import torch\nfrom ..net import Net\n" for name in "abc"}
    assert len(_parts(tmp_path, {**files, "__init__.py": "", "net/__init__.py": "import torch\n"})) == 1


def test_a_part_of_many_files_is_looked_at_again(tmp_path: Path) -> None:
    deep = {f"papers/{name}/{file}.py": "import torch\n" for name in "abc" for file in ("train", "net")}
    assert len(_parts(tmp_path, {**deep, "x/train.py": "import torch\n", "y/train.py": "import torch\n"})) == 5


def test_a_few_files_are_one_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "MANY", 3)
    assert len(_parts(tmp_path, {f"{name}/train.py": "import torch\n" for name in "abc"})) == 1


def test_small_projects_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "FEW", 2)
    assert [len(part) for part in _parts(tmp_path, {f"{name}/train.py": "import torch\n" for name in "abc"})] == [2, 1]


def test_each_project_is_searched(tmp_path: Path) -> None:
    _parts(tmp_path, {f"{name}/train.py": TWICE for name in "abc"})
    report = run_checks(Repository(tmp_path))
    found = [(finding.by, finding.path) for finding in _failures(report)]
    assert found == [("check:double-softmax", f"{name}/train.py") for name in "abc"]
    assert report.examined["double-softmax"]["sites"] == 3
    assert len([one for one in report.findings if one.by == "check:missing-zero-grad"]) == 1  # a summary of all
    assert report.unsearched == 0


def test_only_projects_that_were_asked_for_are_searched(tmp_path: Path) -> None:
    _parts(tmp_path, {f"{name}/train.py": TWICE for name in "abc"})
    for report in (
        run_checks(Repository(tmp_path), paths=["b"]),
        run_checks(Repository(tmp_path), started=["python", "b/train.py"]),
    ):
        assert [finding.path for finding in _failures(report)] == ["b/train.py"]
        assert report.unsearched == 2
    assert run_checks(Repository(tmp_path), started=["python"]).unsearched == 0


@pytest.mark.twins
def test_triage_searches_the_project_that_its_command_names(tmp_path: Path) -> None:
    _parts(tmp_path, {"a/train.py": TWICE, "b/net.py": TWICE, "b/run.py": "import torch\nprint(1)\n"})
    (tmp_path / "run.sh").write_text(f"cd . && {sys.executable} -m b.run\n")
    case = triage(Request(("sh", "run.sh"), root=tmp_path, cwd=tmp_path, seconds=60))
    found = [finding.path for finding in case.findings if finding.by == "check:double-softmax"]
    assert found == ["b/net.py"]
    assert [line for line in case.unobserved if line.startswith("1 files of code of other projects")]
