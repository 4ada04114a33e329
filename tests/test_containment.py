"""The user's folder is the same before and after, and what a run wrote is told."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

import pytest
from launching import TRAIN, Project, kinds
from trainsleuth.launcher import LaunchError, Run, containment, launch

WRITER = """
import os, shutil, sys
root = {root!r}
open("new.txt", "w").write("new")
open("kept.txt", "a").write("more")
os.remove("doomed.txt")
os.rename("old.txt", "renamed.txt")
os.makedirs("out/deep/empty")
open("out/checkpoint.pt", "wb").write(bytes(2_000_000))
shutil.rmtree("folder")
os.mkdir("folder")
open("folder/other.txt", "w").write("x")
os.chmod("kept.txt", 0o600)
open(os.path.join(root, "absolute.txt"), "w").write("x")
open(b"caf\\xe9-\\xff", "w").close()
with open("big.bin", "r+b") as big:
    big.write(b"changed")
print(sorted(os.listdir(".")), open("new.txt").read())
"""


@pytest.fixture
def filled(project: Project) -> Project:
    for name in ("kept.txt", "doomed.txt", "old.txt", "folder/inner.txt", ".git/HEAD", ".venv/cfg"):
        project.write(name, name)
    (project.folder / "big.bin").write_bytes(bytes(3_000_000))
    os.symlink("kept.txt", project.folder / "link")
    return project


def fingerprint(folder: Path) -> str:
    """A hash of every name, kind, mode, time, link and byte."""
    digest = hashlib.sha256()
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        digest.update(f"{os.fsencode(path)!r} {status.st_mode} {status.st_mtime_ns} {status.st_uid}".encode())
        if path.is_symlink():
            digest.update(os.fsencode(os.readlink(path)))
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def contained(run: Run, how: str) -> Run:
    if how == "overlay" and run.ended == "not_started":
        pytest.skip(run.why)
    assert run.contained == how
    return run


def test_an_overlay_holds_everything_back(filled: Project) -> None:
    filled.write(WRITER.format(root=str(filled.folder)))
    before = fingerprint(filled.folder)
    run = contained(filled.run(contain="overlay"), "overlay")
    assert run.exit_code == 0, run.output
    assert fingerprint(filled.folder) == before
    assert set(run.wrote) == {
        "absolute.txt",
        "big.bin",
        "caf\\xe9-\\xff",
        "folder/other.txt",
        "kept.txt",
        "new.txt",
        "out/checkpoint.pt",
        "out/deep/empty/",
        "renamed.txt",
    }
    assert set(run.deleted) == {"doomed.txt", "old.txt", "folder/inner.txt"}
    assert not (run.folder / "layer").exists()


def test_a_copy_holds_everything_back(filled: Project) -> None:
    """A large file is a link into the real folder there: it is shielded by the kernel, or told."""
    text = WRITER.format(root=".").partition("with open")[0]
    filled.write(text + "print(open('big.bin', 'rb').read(1), os.getcwd())")
    before = fingerprint(filled.folder)
    run = contained(filled.run(contain="copy"), "copy")
    assert run.exit_code == 0, run.output
    assert str(filled.folder) not in run.output
    assert fingerprint(filled.folder) == before
    assert {"new.txt", "kept.txt", "renamed.txt", "out/checkpoint.pt", "folder/other.txt"} <= set(run.wrote)
    assert set(run.deleted) == {"doomed.txt", "old.txt", "folder/inner.txt"}
    assert not (run.folder / "copy").exists()
    assert "big.bin" in run.why and "linked" in run.why


@pytest.mark.parametrize("how", ["overlay", "copy"])
def test_a_file_may_be_found_with_another_text(filled: Project, how: Literal["overlay", "copy"]) -> None:
    filled.write("print('as it was')\n")
    filled.write("FLAG = 1\r\n", "pkg/flag.py")
    before = fingerprint(filled.folder)
    texts = {"train.py": "print(open('pkg/flag.py', 'rb').read(), 'replaced')\n", "pkg/flag.py": "caf\udce9\r\n"}
    run = contained(filled.run(contain=how, instead=texts), how)
    assert r"b'caf\xe9\r\n' replaced" in run.output, run.why
    assert run.wrote == ()
    assert fingerprint(filled.folder) == before


def test_a_file_is_not_replaced_where_it_would_be_the_users(filled: Project) -> None:
    with pytest.raises(LaunchError, match="must not be none"):
        filled.run("print()", contain="none", instead={"train.py": ""})
    before = fingerprint(filled.folder)
    linked = filled.run(contain="copy", instead={"big.bin": ""})
    through = filled.run(contain="overlay", instead={"link": ""})
    assert (linked.ended, through.ended) == ("not_started", "not_started")
    assert "too large to be copied" in linked.why
    assert fingerprint(filled.folder) == before


def test_a_write_through_a_link_in_a_copy_is_told(filled: Project) -> None:
    filled.write("open('big.bin', 'r+b').write(b'changed')")
    run = contained(filled.run(contain="copy"), "copy")
    assert str(filled.folder / "big.bin") in run.wrote


def test_the_kernel_shields_what_a_copy_links_to(
    filled: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    before = fingerprint(filled.folder)
    text = "import os, tempfile\ntempfile.TemporaryFile().write(b'x')\nopen('new.txt', 'w').close()\n"
    text += "os.makedirs('a/b')\nos.rename('new.txt', 'a/b/new.txt')\nopen('/dev/null', 'w').write('x')\n"
    filled.write(text + "open('big.bin', 'r+b').write(b'changed')", "../train.py")
    (tmp_path / "train.py").rename(filled.folder / "train.py")
    before = fingerprint(filled.folder)
    run = contained(filled.run(contain="copy"), "copy")
    if "could be written through" in run.why:
        pytest.skip("no Landlock on this machine")
    assert run.ended == "crashed" and "PermissionError at train.py:7" in run.why, run.output
    assert "read-only" in run.why
    assert fingerprint(filled.folder) == before
    assert run.wrote == ("a/b/new.txt",)


def test_the_command_line_of_a_copy_names_the_copy(filled: Project) -> None:
    filled.write("import sys\nprint(sys.argv[1:], __file__)", "sub/show.py")
    root = str(filled.folder)
    words = (f"{root}/sub/show.py", f"--out={root}/out", f"{root}-other/x", "/elsewhere", f"{root}/.venv/cfg")
    run = filled.run(None, sys.executable, *words, contain="copy")
    copy = run.folder / "copy"
    shown = [f"--out={copy}/out", f"{root}-other/x", "/elsewhere", f"{root}/.venv/cfg"]
    assert run.output == f"{shown} {copy}/sub/show.py\n"


def test_without_containment_what_changed_is_told(filled: Project) -> None:
    run = filled.run("import os\nopen('new.txt', 'w')\nos.remove('doomed.txt')", contain="none")
    assert (run.contained, run.wrote, run.deleted) == ("none", ("new.txt",), ("doomed.txt",))
    assert (filled.folder / "new.txt").exists()


def test_writes_outside_the_root_are_told_once(filled: Project, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff"
    outside, temporary = tmp_path / "outside.txt", tmp_path / "temporary.txt"
    run = filled.run(
        f"import os\nopen({odd!r}, 'w').close()\n"
        f"for _ in range(3): open({str(outside)!r}, 'a').write('x')\n"
        f"open({str(temporary)!r}, 'w').close()\nos.remove({str(temporary)!r})\n"
        f"for i in range(300): open({str(tmp_path)!r} + f'/many-{{i}}', 'w').close()\n"
        f"os.makedirs({str(tmp_path)!r} + '/.triton/cache')\n"
    )
    assert run.exit_code == 0, run.output
    assert {str(outside), f"{tmp_path}/\\udcff"} <= set(run.wrote) and str(temporary) not in run.wrote
    assert kinds(run).count("wrote") == 200
    more = next(event for event in run.events if event["kind"] == "wrote_more")
    assert more["untold"] == 103 and more["caches"] == 2
    assert outside.read_text() == "xxx"


def test_a_real_checkpoint_stays_in_the_layer(filled: Project) -> None:
    text = TRAIN.format(steps=1) + "torch.save(model.state_dict(), 'big.bin')\n"
    before = fingerprint(filled.folder)
    filled.write(text, "../train.py").rename(filled.folder / "train.py")
    before = fingerprint(filled.folder)
    run = contained(filled.run(contain="overlay", keep=True), "overlay")
    assert run.ended == "finished", run.output
    assert run.wrote == ("big.bin",)
    assert fingerprint(filled.folder) == before
    (saved,) = (run.folder / "layer").rglob("big.bin")
    assert 0 < saved.stat().st_size < 10_000


def test_a_folder_mounted_inside_the_root_is_held_back_too(filled: Project) -> None:
    """As in a container with the data on a volume of its own."""
    (filled.folder / "data").mkdir()
    filled.write("print(open('data/in.txt').read())\nopen('data/out.txt', 'w').close()")
    after = f"cat {filled.folder}/data/in.txt; ls {filled.folder}/data"
    script = (
        f"mount -t tmpfs tmpfs {filled.folder}/data && echo -n seen > {filled.folder}/data/in.txt && "
        f"{sys.executable} -c '{launching_script(filled)}' && {after}"
    )
    ran = subprocess.run(["unshare", "-rm", "bash", "-c", script], capture_output=True, text=True)
    if "unshare" in ran.stderr:
        pytest.skip(ran.stderr)
    assert ran.stdout == "crashed_0 overlay ('data/out.txt',) seen\nseenin.txt\n".replace("crashed", "not_probed")


def test_where_only_memory_can_hold_what_is_written(filled: Project, tmp_path: Path) -> None:
    """As in a container, whose own root is an overlay that cannot be the upper layer of another."""
    for name in ("upper", "work", "home"):
        (tmp_path / name).mkdir(exist_ok=True)
    script = (
        f"mount -t overlay o -o lowerdir={filled.home},upperdir={tmp_path}/upper,workdir={tmp_path}/work "
        f"{filled.home} && {sys.executable} -c '{launching_script(filled)}'"
    )
    filled.write("import os\nos.remove('doomed.txt')\nopen('new.txt', 'w').close()")
    before = fingerprint(filled.folder)
    ran = subprocess.run(["unshare", "-rm", "bash", "-c", script], capture_output=True, text=True)
    if "unshare" in ran.stderr or "mount:" in ran.stderr:
        pytest.skip(ran.stderr)
    assert ran.stdout == "not_probed_0 overlay ('new.txt',) "
    assert fingerprint(filled.folder) == before


def launching_script(project: Project) -> str:
    return (
        f"import sys; sys.path[:0] = {sys.path!r}; from pathlib import Path\n"
        "from trainsleuth.launcher import launch\n"
        f'run = launch([sys.executable, "train.py"], dict(), cwd=Path("{project.folder}"))\n'
        'print(f"{run.ended}_{run.exit_code} {run.contained} {run.wrote} {run.output}", end="")'
    ).replace("'", '"')


@pytest.mark.parametrize(
    ("forbid", "contained_by"),
    [
        ("exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin", "overlay"),
        (
            "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin",
            "copy",
        ),
    ],
    ids=["no admin right: user namespace", "nothing allowed: copy"],
)
def test_with_fewer_rights(filled: Project, forbid: str, contained_by: str) -> None:
    filled.write("open('new.txt', 'w').close()")
    before = fingerprint(filled.folder)
    script = f"{forbid} {sys.executable} -c '{launching_script(filled)}'"
    wrapper = ["unshare", "-r", "bash", "-c"] if "max_user" in forbid else ["bash", "-c"]
    ran = subprocess.run([*wrapper, script], capture_output=True, text=True)
    if "unshare" in ran.stderr or "setpriv" in ran.stderr:
        pytest.skip(ran.stderr)
    assert ran.stdout == f"not_probed_0 {contained_by} ('new.txt',) ", ran.stderr
    assert fingerprint(filled.folder) == before


def test_what_cannot_be_contained_is_not_started(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containment, "TOTAL_FILES", 2)
    run = filled.run("open('new.txt', 'w')", contain="copy")
    assert run.ended == "not_started" and "--contain none" in run.why and "2 small files" in run.why
    assert not (filled.folder / "new.txt").exists()


def test_the_home_folder_is_never_a_root(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(filled.folder))
    run = filled.run("open('new.txt', 'w')")
    assert run.ended == "not_started" and "far more than one project" in run.why
    (filled.folder / "inner").mkdir()
    filled.write("pass", "inner/train.py")
    inner = launch([sys.executable, "train.py"], {}, cwd=filled.folder / "inner")
    assert inner.contained == "overlay" and inner.exit_code == 0, inner.why


def test_a_run_from_below_the_root(filled: Project) -> None:
    filled.write("import os\nopen('../up.txt', 'w').close()\nprint(os.getcwd())", "sub/train.py")
    run = launch([sys.executable, "train.py"], {}, cwd=filled.folder / "sub")
    assert run.wrote == ("up.txt",) and run.output == f"{filled.folder}/sub\n"
    assert not (filled.folder / "up.txt").exists()


def test_a_home_for_runs_inside_the_root(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSLEUTH_HOME", str(filled.folder / "runs-of-ours"))
    for how in ("overlay", "copy"):
        run = contained(filled.run("open('new.txt', 'w')", contain=how), how)
        assert run.wrote == ("new.txt",), run.why
        assert kinds(run) == ["hello", "exit"]
