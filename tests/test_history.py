"""The latest commits of a repository, read without its settings, which may name programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from small_programs import HEALTHY
from trainsleuth.history import head_of, read_history
from trainsleuth.map import map_repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(root: Path, *words: str) -> str:
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=one", "-c", "user.email=one@example.org"]
    return subprocess.run(["git", *who, *words], cwd=root, env=quiet, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """train.py in three commits, odd name.py in two, all else in one."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    for count, names in enumerate((["train.py", "once.py", "odd näme.py"], ["train.py", "odd näme.py"], ["train.py"])):
        for name in names:
            (root / name).write_text(HEALTHY + f"# {count}\n" if name == "train.py" else f"x = {count}\n")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "change")
    return root


def test_each_commit_counts_once_for_each_file_that_it_changed(repo: Path) -> None:
    history = read_history(repo)
    assert history is not None and history.commits == 3
    assert history.changes == {"train.py": 3, "odd näme.py": 2, "once.py": 1}
    git(repo, "pack-refs", "--all")
    git(repo, "gc", "--quiet")
    assert read_history(repo) == history


def test_the_map_names_the_most_changed_files_anew_after_a_commit(repo: Path) -> None:
    assert "most changed in 3 commits train.py 3, odd näme.py 2\n" in map_repository(repo).text
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    (repo / "once.py").write_text("x = 5\n")
    git(repo, "commit", "--quiet", "--all", "--message", "again")
    text = map_repository(repo).text
    assert "most changed in 5 commits train.py 3, odd näme.py 2, once.py 2" in text


def test_no_setting_of_the_repository_is_obeyed(repo: Path, tmp_path: Path) -> None:
    trap, ran = tmp_path / "trap.sh", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "gpg.program", "core.pager", "diff.external", "core.sshCommand"):
        git(repo, "config", key, str(trap))
    git(repo, "config", "log.showSignature", "true")
    signed = git(repo, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repo, input=signed, text=True, capture_output=True, check=True,
    ).stdout.strip()  # fmt: skip
    git(repo, "update-ref", "HEAD", made)
    subprocess.run(["git", "log", "-1"], cwd=repo, capture_output=True)
    assert ran.exists(), "this trap catches nobody"
    ran.unlink()
    assert read_history(repo) is not None
    assert not ran.exists()


def test_a_shallow_copy_tells_what_it_holds(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth", "2", f"file://{repo}", "shallow")
    history = read_history(tmp_path / "shallow")
    assert history is not None and history.commits == 2 and history.changes["train.py"] == 2


def test_what_lies_outside_of_the_root_is_not_read(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    git(tmp_path, "clone", "--quiet", "--shared", str(repo), "borrowed")
    (tmp_path / "pointed").mkdir()
    (tmp_path / "pointed" / ".git").symlink_to(repo / ".git")
    for name in ("linked", "borrowed", "pointed"):
        assert read_history(tmp_path / name) is None, name
    secret = tmp_path / "secret"
    secret.write_text("a" * 40)
    branch = repo / ".git" / "refs" / "heads" / "sly"
    branch.symlink_to(secret)
    (repo / ".git" / "HEAD").write_text("ref: refs/heads/sly\n")
    assert head_of(repo) is None
    (repo / ".git" / "HEAD").write_text("ref: refs/../../../secret\n")
    assert head_of(repo) is None


def test_without_git_or_commits_there_is_no_history(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_history(tmp_path) is None
    git(tmp_path, "init", "--quiet", "new")
    assert read_history(tmp_path / "new") is None
    (repo / ".git" / "HEAD").write_text("f" * 40)
    assert read_history(repo) is None
    monkeypatch.setenv("PATH", "")
    assert read_history(repo) is None
