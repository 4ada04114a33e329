"""Listing, reading and searching: what is left out is named, and what was seen is remembered."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from trainsleuth import repository as repositories
from trainsleuth.repository import Hit, Repository, RepositoryError, Skipped, is_under


def _reasons(repository: Repository) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in repository.skipped}


def test_lists_what_is_not_ignored_in_order(tmp_path: Path) -> None:
    for name in ("b.py", "a/x.py", "a/data.bin", ".hidden.py", "ignored.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".ignore").write_text("ignored.py\n")
    repository = Repository(tmp_path)
    assert repository.files == ("a/data.bin", "a/x.py", "b.py")
    assert repository.select((".py",)) == ("a/x.py", "b.py")
    assert repository.select((".py",), ["a"]) == ("a/x.py",)


@pytest.mark.parametrize(
    ("mark", "folder"),
    [
        ("env/pyvenv.cfg", "env"),
        ("tools/my_env/pyvenv.cfg", "tools/my_env"),
        ("conda/conda-meta/history", "conda"),
        ("pyvenv.cfg", "lib/python3.11/site-packages"),
    ],
)
def test_what_is_installed_is_no_part_of_the_project(mark: str, folder: str, tmp_path: Path) -> None:
    installed = f"{'' if folder.startswith('lib/') else folder + '/'}lib/python3.11/site-packages/torch/optim.py"
    for name in ("train.py", "environment/agents.py", mark, installed):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import torch\n")
    repository = Repository(tmp_path)
    assert repository.sources() == ("environment/agents.py", "train.py")
    assert [(one.path, one.reason.partition(":")[0]) for one in repository.skipped] == [
        (folder, "an environment of Python")
    ]


def test_what_a_build_left_behind_is_no_part_of_the_project(tmp_path: Path) -> None:
    for name in ("kit/net.py", "build/lib/kit/net.py", "tools/build/lib/own.py", "tools/build/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import torch\n")
    repository = Repository(tmp_path)
    assert repository.sources() == ("kit/net.py", "tools/build/__init__.py", "tools/build/lib/own.py")
    assert [one.path for one in repository.skipped] == ["build/lib"]


def test_one_file_is_a_repository_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("loss.backward()\n")
    (tmp_path / "other.py").write_text("loss.backward()\n")
    repository = Repository(tmp_path / "train.py")
    assert repository.files == ("train.py",)
    assert repository.search("backward") == [Hit("train.py", 1, "loss.backward()")]


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="give the folder that holds the training code"):
        Repository(tmp_path / "nothing")


def test_links_are_not_followed_and_each_is_explained(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "pkg").mkdir(parents=True)
    (root / "real.py").write_text("x = 1\n")
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (root / "again.py").symlink_to("real.py")
    (root / "gone.py").symlink_to("nowhere.py")
    (root / "out.py").symlink_to(tmp_path / "outside.py")
    (root / "pkg" / "loop").symlink_to(root)
    (root / "pkg" / "own.py").write_text("")
    repository = Repository(root)
    assert repository.files == ("pkg/own.py", "real.py")
    assert _reasons(repository) == {
        "again.py": "a symbolic link; its target real.py is read at its own place",
        "gone.py": "a symbolic link that leads nowhere",
        "out.py": "a symbolic link out of the root",
        "pkg/loop": "a symbolic link back to a folder above it: a loop",
    }


def test_a_name_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    Path(str(tmp_path) + "/bad\udcff.py").write_text("")
    (tmp_path / "naïve.py").write_text("")
    repository = Repository(tmp_path)
    assert repository.files == ("naïve.py",)
    assert repository.skipped == (Skipped("bad\\udcff.py", "its name is not UTF-8"),)


@pytest.mark.parametrize(
    ("content", "text", "reason"),
    [
        (b"x = 1\r\ny = 2\rz = 3\x0c\n", "x = 1\ny = 2\nz = 3 \n", None),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", None),
        (
            b"a = 1\nname = '\xe9'\n",
            "a = 1\nname = '\ufffd'\n",
            "read in part: not UTF-8 at line 2, such bytes were replaced",
        ),
        (b"MZ\x00\x01", None, "binary: it holds zero bytes"),
        (b"x = 1\n" * 200, None, "too large: 1,200 bytes, the limit is 1,000"),
    ],
    ids=["line ends", "byte order mark", "latin 1", "binary", "too large"],
)
def test_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, text: str | None, reason: str | None
) -> None:
    monkeypatch.setattr(repositories, "MAX_BYTES", 1000)
    (tmp_path / "a.py").write_bytes(content)
    repository = Repository(tmp_path)
    assert repository.read("a.py") == text
    assert _reasons(repository).get("a.py") == reason


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    repository = Repository(tmp_path)
    assert repository.files == ("a.py",)
    (tmp_path / "a.py").unlink()
    assert repository.read("a.py") is None
    assert _reasons(repository) == {"a.py": "unreadable: No such file or directory"}


def test_bytes_in_all_are_bounded_and_a_file_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MAX_TOTAL_BYTES", 10)
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("x=1\n")
    repository = Repository(tmp_path)
    assert [repository.read(path) for path in ("a.py", "a.py", "b.py", "c.py")] == ["x=1\n", "x=1\n", "x=1\n", None]
    assert _reasons(repository) == {"c.py": "more than 10 bytes in all: narrow the root"}


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MAX_FILES", 2)
    for name in ("a.py", "b.yaml", "c.py", "z.txt"):
        (tmp_path / name).write_text("")
    repository = Repository(tmp_path)
    assert repository.files == ("a.py", "c.py", "z.txt")  # sources before settings: thousands of results hide no code
    said = "left out, there are more than 2 files of code and settings; narrow the root"
    assert _reasons(repository) == {"b.yaml": said}


def test_what_lies_nearest_to_the_root_is_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "MAX_FILES", 2)
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/b/deep.py", "a/b/deeper.py", "a/near.py", "train.py"):
        (tmp_path / name).write_text("")
    repository = Repository(tmp_path)
    assert repository.files == ("a/near.py", "train.py")
    assert "and 1 more" in _reasons(repository)["a/b/deep.py"] and len(_reasons(repository)) == 1


def test_search_tells_a_pattern_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="not a regular expression"):
        Repository(tmp_path).search("(")


def test_paths_from_the_root(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    assert repository.relative("a/../b.py") == "b.py"
    assert repository.relative(tmp_path / "c") == "c"
    with pytest.raises(RepositoryError, match="is not inside"):
        repository.relative("../outside")
    assert is_under("a/b.py", "a/")
    assert not is_under("ab.py", "a")


def test_what_was_seen_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("y = 1\n")
    first = Repository(tmp_path)
    first.read("a.py")
    seen = first.seen()
    (tmp_path / "b.py").write_text("y = 2\n")  # nobody has read it
    assert Repository(tmp_path).is_as_seen(seen)
    (tmp_path / "a.py").write_text("x = 2\n")
    assert not Repository(tmp_path).is_as_seen(seen)


def test_a_program_without_an_ending_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("#!/usr/bin/env python3\nimport torch\n")
    (tmp_path / "download").write_text("#!/bin/sh\necho\n")
    (tmp_path / "LICENSE").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe")
    repository = Repository(tmp_path)
    assert repository.sources() == ("train",)
    seen = repository.seen()
    (tmp_path / "download").write_text("#!/usr/bin/python\nprint()\n")
    assert not Repository(tmp_path).is_as_seen(seen)


def _git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, env={**os.environ, "HOME": str(root)}
    )


@pytest.fixture
def tracked(tmp_path: Path) -> Path:
    """A repository whose configurations are ignored, and some of them tracked all the same."""
    files = (
        "train.py",
        "runs/first/config.yaml",
        "runs/second/config.yaml",
        "runs/.kept.yaml",
        "long/" + "name" * 20 + ".py",
    )
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("rate: 1\n")
    (tmp_path / ".gitignore").write_text("runs\nlong\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-f", "train.py", "runs/first/config.yaml", "runs/.kept.yaml", files[-1])
    return tmp_path


def test_what_git_tracks_is_not_ignored(tracked: Path) -> None:
    repository = Repository(tracked)
    assert repository.files == (f"long/{'name' * 20}.py", "runs/first/config.yaml", "train.py")
    assert {hit.path for hit in repository.search("rate")} == set(repository.files)


def test_an_index_that_is_broken_or_points_elsewhere_adds_nothing(tracked: Path) -> None:
    index = tracked / ".git" / "index"
    read = index.read_bytes()
    outside = tracked.parent / "outside.yaml"
    outside.write_text("rate: 2\n")
    (tracked / "runs" / "first" / "config.yaml").unlink()
    (tracked / "runs" / "first" / "config.yaml").symlink_to(outside)
    index.write_bytes(read.replace(b"long/namename", b"../../outside"))
    assert Repository(tracked).files == ("train.py",)
    for cut in (0, 3, 11, 12, 40, 90, len(read) // 2):
        index.write_bytes(read[:cut])
        assert "train.py" in Repository(tracked).files


def test_a_tracked_file_behind_a_link_to_elsewhere_is_not_read(
    tracked: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (tracked / "runs" / "first").rename(other / "first")
    (tracked / "runs" / "first").symlink_to(other / "first")
    assert "runs/first/config.yaml" not in Repository(tracked).files


def test_of_very_many_settings_the_nearest_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainsleuth.facts import build_index
    from trainsleuth.facts.reading import config

    monkeypatch.setattr(config, "MAX_FILES", 2)
    for name in ("a/b/deep.yaml", "a/b/deeper.yaml", "base.yaml", "a/own.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("train:\n  lr: 0.1\n")
    index = build_index(Repository(tmp_path))
    assert [value.value for value in index.configured("train.lr")] == ["0.1", "0.1"]
    assert not list(index.configured("rain.lr"))
    assert sorted(index.configs) == ["a/own.yaml", "base.yaml"]
    assert _reasons(index.repository) == {"a/b/deep.yaml": "and 1 more: left out, more than 2 files look like settings"}
