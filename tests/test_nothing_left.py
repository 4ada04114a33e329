"""Whatever the command starts, and whoever is killed first, nothing of a run lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launching import Project
from trainsleuth.launcher import processes

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        open({mark!r}, "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists({mark!r}):
    time.sleep(0.01)
"""

SOON = 1.5 + 2.0  # seconds: all is to be gone in 1.5, and a busy machine starts us late

STUBBORN = "import signal\nfor n in (1, 2, 15):\n    signal.signal(n, signal.SIG_IGN)\n"

LAUNCH = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it as ignored
import sys
from pathlib import Path
from trainsleuth.launcher import Limits, launch
launch([sys.executable, "train.py"], {{}}, cwd=Path({folder!r}), limits=Limits(seconds=120))
"""

pytestmark = pytest.mark.skipif(not processes.is_supported(), reason="needs /proc to look for processes")


def is_alive(pid: int) -> bool:
    return any(each.pid == pid and not each.is_zombie for each in processes.processes())


def wait_for(path: Path) -> int:
    """The number that somebody writes into this file."""
    until = time.monotonic() + 30
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < until, f"{path} was never written"
        time.sleep(0.02)
    return int(path.read_text())


@pytest.mark.parametrize("how", ["ends", "hangs", "hangs and ignores signals"])
def test_a_daemon_is_ended_with_its_run(project: Project, tmp_path: Path, how: str) -> None:
    mark = tmp_path / "daemon"
    text = (STUBBORN if "ignores" in how else "") + DAEMON.format(mark=str(mark))
    began = time.monotonic()
    run = project.run(text + ("time.sleep(600)" if "hangs" in how else ""), seconds=2)
    assert time.monotonic() - began < 2 + SOON
    assert run.ended == ("timeout" if "hangs" in how else "not_probed"), run.why
    assert ("outlived the command" in run.why) == (how == "ends")
    assert not is_alive(int(mark.read_text()))
    assert project.left_alive(0) == []


def test_a_training_in_the_background_is_named(project: Project) -> None:
    project.write("import time\ntime.sleep(600)", "background.py")
    run = project.run(None, "bash", "-c", f"{sys.executable} background.py & echo started")
    assert run.output == "started\n"
    assert "background.py" in run.why and "outlived" in run.why
    assert project.left_alive(0) == []


def test_a_tree_that_keeps_forking(project: Project) -> None:
    text = (
        "import os, time\n"
        "for _ in range(40):\n    os.fork() or time.sleep(600)\n"
        "while True:\n    os.fork() or os._exit(0)\n    os.wait()\n"
    )
    began = time.monotonic()
    run = project.run(text, seconds=1)
    assert run.ended == "timeout"
    assert time.monotonic() - began < 1 + SOON
    assert project.left_alive(0) == []


def start_launcher(project: Project, mark: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A launcher in a process of its own, once its command runs; and the pid of a daemon of that command."""
    project.write(STUBBORN + DAEMON.format(mark=str(mark)) + "time.sleep(600)")
    script = LAUNCH.format(folder=str(project.folder))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    launcher = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.DEVNULL)
    return launcher, wait_for(mark)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_launcher_leaves_nothing(project: Project, tmp_path: Path, number: signal.Signals) -> None:
    launcher, daemon = start_launcher(project, tmp_path / "daemon")
    launcher.send_signal(number)
    assert launcher.wait(timeout=20) != 0
    assert project.left_alive(within=2) == []
    assert not is_alive(daemon)
    assert not (project.folder / "anything").exists()


def test_launcher_and_supervisor_killed_together(project: Project, tmp_path: Path) -> None:
    """Then nobody walks the tree any more, and each probed process dies by its own lifeline."""
    launcher, daemon = start_launcher(project, tmp_path / "daemon")
    (supervisor,) = (each for each in processes.processes() if each.parent == launcher.pid)
    launcher.kill()
    os.kill(supervisor.pid, signal.SIGKILL)
    launcher.wait(timeout=20)
    until = time.monotonic() + 2
    while is_alive(daemon) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(daemon)
    assert project.left_alive(within=1) == []


def test_a_killed_supervisor_is_reported(project: Project, tmp_path: Path) -> None:
    mark = tmp_path / "parent"
    run = project.run(
        "import os, signal, time\n"
        f"open({str(mark)!r}, 'w').write('1')\n"
        "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)\n"
    )
    assert run.ended == "crashed" and "supervisor" in run.why and "SIGKILL" in run.why
    assert mark.exists()
    assert project.left_alive() == []


def test_no_thread_is_added_to_the_users_process(project: Project) -> None:
    """A second thread would make `os.fork` warn from Python 3.12 on."""
    run = project.run("import os\nprint(len(os.listdir('/proc/self/task')))")
    assert run.output == "1\n"
