"""A run that is cut short tells where it stood."""

from __future__ import annotations

from pathlib import Path

import pytest
from training_python import TRAINING_PYTHON
from trainsleuth.launcher.environment import RUNTIME
from trainsleuth.launcher.last_stack import stood
from trainsleuth.launcher.record import Stand
from twins import trainsleuth

STEPS = """import queue
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def feed(step):
    if step == 5:
        queue.Queue().get()
    return torch.randn(8, 4)


for step in range(10):
    loss = net(feed(step)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.twins
def test_a_program_that_waits_for_good_is_told_with_its_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(STEPS)
    command = ("probe", "--time", "12", "--contain", "none", "--", TRAINING_PYTHON, "train.py")
    output = trainsleuth(*command, cwd=tmp_path).output
    assert "the run was cut short" in output.partition("\n")[0]
    assert "was stopped at train.py:10 (in wait of threading.py): " in output
    assert "(5 steps were seen before that)" in output


DUMP = """/home/me/project
/home/me/project/sub
Thread 0x0000000000000002 (most recent call first):
  File "/home/me/project/other.py", line 3 in feed
Current thread 0x0000000000000001 (most recent call first):
  File "/usr/lib/python3/queue.py", line 171 in get
  File "/home/me/project/.venv/lib/site-packages/lib.py", line 5 in wait
  File "/home/me/project/sub/loader.py", line 40 in batches
  File "/home/me/project/train.py", line 9 in <module>
"""


@pytest.mark.parametrize(
    ("dump", "expected"),
    [
        (DUMP, Stand("loader.py", 40, "get of queue.py")),
        (
            DUMP.replace('"/usr/lib/python3/queue.py", line 171', '"/home/me/project/train.py", line 7'),
            Stand("../train.py", 7, ""),
        ),
        (
            DUMP.replace("/home/me/project/sub\n", "/home/me/project\n", 1),
            Stand("sub/loader.py", 40, "get of queue.py"),
        ),
        (
            DUMP.replace('"/usr/lib/python3/queue.py", line 171 in get', f'"{RUNTIME}/hooks.py", line 9 in tell'),
            Stand("loader.py", 40, "tell of hooks.py", by_probe=True),
        ),
        (
            DUMP.replace('"/usr/lib/python3/queue.py", line 171 in get', f'"{RUNTIME}/patches.py", line 9 in wrapper'),
            Stand("loader.py", 40, "wrapper of patches.py"),
        ),
        (DUMP.partition("Current")[0], None),  # it was killed before it came to write
        ("", None),
        ("/home/me/project", None),
    ],
)
def test_the_line_is_the_users_own_of_the_thread_that_got_the_signal(
    dump: str, expected: Stand | None, tmp_path: Path
) -> None:
    (tmp_path / "stack-7.txt").write_text(dump)
    assert stood(tmp_path, [{"kind": "hooks", "pid": 7}, {"kind": "op", "pid": 7}]) == expected


def test_a_process_that_never_trained_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "stack-7.txt").write_text(DUMP)
    assert stood(tmp_path, [{"kind": "hello", "pid": 7}, {"kind": "wrote_more", "pid": None}]) is None
