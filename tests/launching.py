"""What tests of the launcher share: a project of one file, a runtime with small hooks, a look around."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainsleuth.launcher import Limits, Run, environment, launch, processes

HOOKS = """
def install(torch, config, events):
    from . import adopt_fork, finish
    experiment = config["experiment"]
    if experiment.get("break"):
        raise RuntimeError("cannot hook this one")
    torch.is_probed = True
    if experiment.get("steps"):
        done = []
        def after(optimizer, args, kwargs):
            adopt_fork()
            done.append(1)
            events("step", number=len(done))
            if len(done) == experiment["steps"]:
                finish("step budget reached", steps=len(done))
        from torch.optim.optimizer import register_optimizer_step_post_hook
        register_optimizer_step_post_hook(after)
    return {"all": "ok"}
"""

TRAIN = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range({steps}):
    loss = model(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained to the end")
"""


@dataclass(frozen=True)
class Project:
    """A folder with a program, started by this test's own interpreter unless a command says otherwise."""

    folder: Path
    home: Path

    def write(self, text: str, name: str = "train.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(
        self,
        text: str | None = None,
        *command: str,
        seconds: float = 60.0,
        experiment: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Run:
        if text is not None:
            self.write(text)
        limits = options.pop("limits", Limits(seconds=seconds))
        words = command or (sys.executable, "train.py")
        return launch(words, experiment or {}, cwd=self.folder, limits=limits, **options)

    def left_alive(self, within: float = 2.0) -> list[list[str]]:
        """Command lines of processes of any run that still live after so many seconds."""
        until = time.monotonic() + within
        while True:
            alive = [each for each in processes.marked(str(self.home)) if not each.is_zombie]
            if not alive or time.monotonic() > until:
                return [processes.arguments(each.pid) for each in alive]
            time.sleep(0.02)


def runtime_with_hooks(folder: Path, hooks: str = HOOKS) -> Path:
    """A copy of the runtime with these hooks, so that tests need none of the real ones."""
    copy = folder / "runtime"
    shutil.copytree(environment.RUNTIME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "hooks.py").write_text(hooks)
    return copy


def kinds(run: Run) -> list[str]:
    return [event["kind"] for event in run.events]


def first(run: Run, kind: str) -> Mapping[str, Any]:
    return next(event for event in run.events if event["kind"] == kind)
