"""Small training programs and the processes that they leave, for tests of the faces."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable

HEALTHY = """\
import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(256, 8)
labels = (inputs[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(200):
    batch = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    loss = criterion(model(inputs[batch]), labels[batch])
    loss.backward()
    optimizer.step()
"""
SOFTMAX = HEALTHY.replace("nn.Linear(16, 2))", "nn.Linear(16, 2), nn.Softmax(dim=1))")
NONFINITE = HEALTHY.replace("labels[batch])\n", "labels[batch]) + torch.log(0 * model(inputs[batch])).mean()\n")
PICTURES = """\
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(400, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    loss = nn.functional.cross_entropy(model(torch.rand(8, 3, 12, 12)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NO_TRAINING = "import torch\nprint(torch.ones(3).sum())\n"
# trains slowly, and leaves a child in a session of its own behind
ENDLESS = HEALTHY.replace(
    "for step in range(200):",
    "import subprocess, time\n"
    "subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    "for step in range(100_000):\n    time.sleep(0.1)",
)
# leaves the same behind, without the start of torch: for what does not depend on it
WAITING = "import subprocess, time\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\ntime.sleep(600)\n"


def environment(home: Path, **more: str) -> dict[str, str]:
    """Ours for a test: the sources of this checkout, and a home for runs and answers of its own."""
    return {
        "PATH": f"{Path(PYTHON).parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": f"{ROOT / 'tools'}{os.pathsep}{ROOT / 'server'}",
        "TRAINSLEUTH_HOME": str(home),
        "OMP_NUM_THREADS": "1",
        **more,
    }


def marked(word: str) -> dict[int, str]:
    """Living processes whose environment holds `word`: pid and command line."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                folder = Path("/proc") / name
                if os.fsencode(word) in (folder / "environ").read_bytes() and not _is_zombie(folder):
                    found[int(name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def _is_zombie(folder: Path) -> bool:
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")


def wait_for(word: str, part: str, seconds: float = 60.0) -> dict[int, str]:
    """The marked processes, as soon as one of them has `part` in its command line."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = marked(word)
        if any(part in line for line in found.values()):
            return found
        time.sleep(0.05)
    raise AssertionError(f"no process with {part!r} in {marked(word)}")


def gone_after(word: str, spared: str = "\0", seconds: float = 10.0) -> float:
    """Seconds until no marked process is left but those with `spared` in their command line."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        if not [line for line in marked(word).values() if spared not in line]:
            return time.monotonic() - started
        time.sleep(0.02)
    raise AssertionError(f"still alive: {marked(word)}")
