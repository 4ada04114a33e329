"""What watching costs: the step of a small transformer with the runtime's hooks on, against the plain step.

Hooks are taken off and put back every BLOCK steps inside one process, so that both kinds of steps share its
caches and the machine's mood; plain steps run torch as it came. On the CPU the process's own CPU time
is counted, on CUDA wall time up to a synchronisation. A ratio compares one block with the plain blocks around it.

    python evidence/overhead.py [--device cuda] [--rounds 25]

The last rows are what a search for the origin of a NaN costs, once, in plain steps: the step in which the model
makes one, less one plain step.

Goals, on the mid size: trace at most 1.03, nonfinite 1.05, both 1.06, watch 1.02, a search 2.5 steps.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trainsleuth.probes import EXPERIMENTS
from trainsleuth.watched import PATCHES

RUNTIME = Path(__file__).parents[1] / "tools" / "trainsleuth" / "runtime"
NAME = "_trainsleuth_runtime"
BLOCK = 6  # steps
WARM_UP = 40  # steps with hooks: past what is told in detail only at the start
SIZES = {"tiny": (2, 64, 4, 32), "mid": (4, 256, 8, 64)}  # layers, width, batch, tokens
OBSERVED = tuple(EXPERIMENTS["observe"]["listeners"])
BOTH = ("trace", "losses", "parameters", "nonfinite")
WATCHES = {
    "trace": BOTH[:3],
    "nonfinite": BOTH[3:],
    "both": BOTH,
    "questions": tuple(one for one in OBSERVED if one not in (*BOTH, "origins")),
    "watch": ("vigil",),
    "all": OBSERVED,
}


def patched_owners(torch: Any) -> list[Any]:
    """Every object that a patch may change."""
    from torch.utils.data import dataloader

    schedulers = [c for c in vars(torch.optim.lr_scheduler).values() if isinstance(c, type)]
    return [
        torch.nn.Module, torch.autograd, torch.nn.functional, torch.nn.utils, torch.nn.utils.clip_grad,
        torch, torch.random, torch.serialization, torch.optim.Optimizer, dataloader.DataLoader, dataloader._BaseDataLoaderIter, torch.amp.GradScaler, *schedulers,
    ]  # fmt: skip


class Hooks:
    """The runtime in this process, with a switch."""

    def __init__(self, torch: Any, listeners: tuple[str, ...], folder: str) -> None:
        owners = patched_owners(torch)
        before = [dict(vars(owner)) for owner in owners]
        self._install(torch, listeners, folder)
        self.changes = [
            (owner, name, old[name], value)
            for owner, old in zip(owners, before, strict=True)
            for name, value in vars(owner).items()
            if name in old and old[name] is not value
        ]
        hooks = importlib.import_module("torch.optim.optimizer")
        self.tables = [hooks._global_optimizer_pre_hooks, hooks._global_optimizer_post_hooks]
        self.entries = [dict(table) for table in self.tables]

    def _install(self, torch: Any, listeners: tuple[str, ...], folder: str) -> None:
        path = str(RUNTIME / "__init__.py")
        spec = importlib.util.spec_from_file_location(NAME, path, submodule_search_locations=[str(RUNTIME)])
        assert spec is not None and spec.loader is not None
        runtime = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = runtime
        spec.loader.exec_module(runtime)
        patches = PATCHES if listeners == ("vigil",) else None
        runtime.config.update(run_folder=folder, root=folder, experiment={"listeners": listeners, "patches": patches})
        runtime.events = importlib.import_module(NAME + ".emit").Events(f"{folder}/events.jsonl")
        importlib.import_module(NAME + ".hooks").install(torch, runtime.config, runtime.events)

    def switch(self, on: bool) -> None:
        for owner, name, plain, hooked in self.changes:
            setattr(owner, name, hooked if on else plain)
        for table, entries in zip(self.tables, self.entries, strict=True):
            table.clear()
            table.update(entries if on else {})


def training(torch: Any, size: str, device: str) -> Callable[..., None]:
    """One step of an ordinary loop: loader, forward, loss, backward, clipping, optimizer, schedule; a `bad` one has NaNs."""
    layers, width, batch, tokens = SIZES[size]
    nn = torch.nn
    torch.manual_seed(0)

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(256, width)
            layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
            self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = nn.Linear(width, 256)
            self.is_bad = False

        def forward(self, x: Any) -> Any:
            hidden = self.blocks(self.embed(x))
            return self.head(torch.log(-1 - hidden**2) if self.is_bad else hidden)

    model = Model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    data = torch.utils.data.TensorDataset(torch.randint(256, (64 * batch, tokens + 1)))
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)

    def batches() -> Iterator[Any]:
        while True:
            yield from loader

    source = batches()

    def step(bad: bool = False) -> None:
        model.is_bad = bad
        (rows,) = next(source)
        rows = rows.to(device)
        logits = model(rows[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

    return step


def measure(size: str, watch: str, device: str, rounds: int) -> dict[str, float]:
    """Milliseconds of a plain step, and the ratio of a watched one to it: median and quartiles over rounds."""
    import torch

    torch.set_num_threads(1)
    clock = time.perf_counter if device == "cuda" else time.process_time
    with tempfile.TemporaryDirectory() as folder:
        hooks = Hooks(torch, WATCHES[watch], folder)
        step = training(torch, size, device)

        def block(on: bool) -> float:
            hooks.switch(on)
            started = clock()
            for _ in range(BLOCK):
                step()
            if device == "cuda":
                torch.cuda.synchronize()
            return (clock() - started) / BLOCK

        hooks.switch(True)
        for _ in range(WARM_UP):
            step()
        plain = [block(False)]
        ratios = []
        for _ in range(rounds):
            watched = block(True)
            plain.append(block(False))
            ratios.append(2 * watched / (plain[-2] + plain[-1]))
        hooks.switch(False)
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"plain_ms": 1e3 * statistics.median(plain), "low": low, "ratio": middle, "high": high}


def search(size: str, device: str) -> dict[str, float]:
    """Milliseconds of a plain step, and how many of them the search for one NaN takes."""
    import torch

    torch.set_num_threads(1)
    clock = time.perf_counter if device == "cuda" else time.process_time
    with tempfile.TemporaryDirectory() as folder:
        hooks = Hooks(torch, WATCHES["nonfinite"], folder)
        step = training(torch, size, device)

        def timed(bad: bool) -> float:
            started = clock()
            step(bad)
            if device == "cuda":
                torch.cuda.synchronize()
            return clock() - started

        hooks.switch(True)
        for _ in range(5):
            step()
        plain = statistics.median(timed(False) for _ in range(8))
        bad = timed(True)
        told = Path(folder, "events.jsonl").read_text()
    assert '"found_by":"replay"' in told.replace(" ", ""), told[-2000:]
    return {"plain_ms": 1e3 * plain, "steps": bad / plain - 1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--search", metavar="SIZE", help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, metavar=("SIZE", "WATCH"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(*given.one, given.device, given.rounds)))
        return
    if given.search:
        print(json.dumps(search(given.search, given.device)))
        return
    print(f"{'size':6}{'watch':12}{'plain step':>12}{'ratio':>8}   quartiles")
    for size in SIZES:
        for watch in WATCHES:
            found = alone("--one", size, watch, "--device", given.device, "--rounds", str(given.rounds))
            quartiles = f"{found['low']:.3f} to {found['high']:.3f}"
            print(f"{size:6}{watch:12}{found['plain_ms']:>9.2f} ms{found['ratio']:>8.3f}   {quartiles}", flush=True)
    for size in SIZES:
        found = [alone("--search", size, "--device", given.device) for _ in range(3)]
        steps = statistics.median(one["steps"] for one in found)
        print(f"{size:6}{'search':12}{found[0]['plain_ms']:>9.2f} ms{steps:>8.2f} steps, once", flush=True)


def alone(*words: str) -> Any:
    """What this file prints in a process of its own: hooks are put into torch once in a process."""
    told = subprocess.run([sys.executable, __file__, *words], check=True, capture_output=True, text=True).stdout
    return json.loads(told.splitlines()[-1])


if __name__ == "__main__":
    main()
