"""Edits that a model proposes: where they fit, what is refused, and a diff that git applies."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from trainsleuth.agent.edits import Edit, edited
from trainsleuth.agent.tool import RefusedError
from trainsleuth.repository import Repository

TEXTS = {
    "train.py": b"a = 1\nb = 2\nb = 2\nc = 3\n",
    "windows.py": b"a = 1\r\nb = 2\r\nc = 3\r\n",
    "old/latin.py": b"# caf\xe9\nrate = 1e-3",  # no line end at the end
    "feed.py": b"a = 1\n\x0c\nb = 2\n\x0cc = 3\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for path, text in TEXTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text)
    (tmp_path / "outside.py").write_text("KEY = 1\n")
    (root / ".gitignore").write_text("secrets.py\n")
    for hidden in (".env", "secrets.py"):
        (root / hidden).write_text("KEY = 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    (root / "inner.py").symlink_to("train.py")
    (root / "large.py").write_text("x = 1\n" * 200_000)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.mark.parametrize(
    ("path", "old", "new", "after"),
    [
        ("train.py", "a = 1", "a = 4", b"a = 4\nb = 2\nb = 2\nc = 3\n"),
        ("./old/../train.py", "b = 2\nc = 3\n", "", b"a = 1\nb = 2\n"),
        ("windows.py", "a = 1\nb = 2\n", "b = 4\na = 1\n", b"b = 4\r\na = 1\r\nc = 3\r\n"),
        ("old/latin.py", "1e-3", "1e-4", b"# caf\xe9\nrate = 1e-4"),
        ("feed.py", "c = 3", "c = 4", b"a = 1\n\x0c\nb = 2\n\x0cc = 4\n"),
    ],
)
def test_the_diff_makes_exactly_the_edit(repo: Path, path: str, old: str, new: str, after: bytes) -> None:
    made = edited(Repository(repo), [Edit(path, old, new)])
    (name,) = made.after
    assert made.after[name].encode("utf-8", "surrogateescape") == after
    assert (repo / name).read_bytes() == TEXTS[name]
    diff = made.diff.encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "-"], cwd=repo, input=diff, check=True)
    assert (repo / name).read_bytes() == after


def test_edits_of_one_file_build_on_each_other(repo: Path) -> None:
    made = edited(Repository(repo), [Edit("train.py", "a = 1", "a = 5"), Edit("train.py", "a = 5\nb", "b = 0\nb")])
    assert made.after["train.py"].startswith("b = 0\nb = 2\n")


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit("train.py", "b = 2", "b = 3"), "2 times, expected once"),
        (Edit("train.py", "z", "b"), "0 times, expected once"),
        (Edit("train.py", "", "b"), "0 times, expected once"),
        (Edit("train.py", "a = 1", "a = 1"), "stays the same"),
        (Edit("../outside.py", "KEY", "b"), "not inside"),
        (Edit("/etc/hostname", "a", "b"), "not inside"),
        (Edit("link.py", "KEY", "b"), "can be changed"),
        (Edit("inner.py", "a = 1", "b"), "can be changed"),
        (Edit("old", "a", "b"), "can be changed"),
        (Edit(".env", "KEY", "b"), "can be changed"),
        (Edit("secrets.py", "KEY", "b"), "can be changed"),
        (Edit(".git/config", "core", "b"), "can be changed"),
        (Edit("large.py", "x", "b"), "larger than"),
    ],
)
def test_what_does_not_fit_is_refused(repo: Path, edit: Edit, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        edited(Repository(repo), [edit])


def test_a_file_that_became_a_link_is_refused(repo: Path, tmp_path: Path) -> None:
    repository = Repository(repo)
    assert "train.py" in repository.files
    (repo / "train.py").unlink()
    (repo / "train.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(RefusedError, match="can be changed"):
        edited(repository, [Edit("train.py", "KEY", "b")])
