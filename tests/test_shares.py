"""Each rank walks all of the same data set: told under DDP; ranks that split it, by whatever means, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed import Host, with_edits
from twins import one_in, trainsleuth

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.finding import Finding
from trainsleuth.trace import Trace

PROGRAM = """
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, Subset, TensorDataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
x, y = torch.randn(64, 8, generator=torch.Generator().manual_seed(1)), torch.arange(64.0).view(-1, 1) / 64
torch.manual_seed(rank)


class Noisy(Dataset):
    def __init__(self, paths):
        self.paths, self.jitter = paths, lambda row: row + 0.1 * torch.randn(8)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.jitter(x[self.paths[index][1]]), y[self.paths[index][1]]


class Own(Noisy):
    def __len__(self):
        return len(self.paths) // dist.get_world_size()

    def __getitem__(self, index):
        return super().__getitem__(index * dist.get_world_size() + dist.get_rank())


paths = [("picture%d" % i, i) for i in range(64)]
LOADER
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for number, (a, b) in enumerate(loader):
        LEAVES
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
"""
PLAIN = "loader = DataLoader({}, batch_size=8, {})"
TENSORS = "TensorDataset(x, y)"


def said(host: Host, folder: Path, loader: str, leaves: str = "pass") -> list[Finding]:
    """By what two processes tell that take themselves for ranks; that they exchange gradients is written into it."""
    text = PROGRAM.replace(
        'init_process_group("gloo")', "init_process_group('gloo', init_method='file://store', rank=0, world_size=1)"
    )
    text = text.replace("dist.get_rank(), dist.get_world_size()", "int(__import__('os').environ['RANK']), 2")
    text = text.replace("dist.get_rank()", "rank").replace("dist.get_world_size()", "world")
    traces = []
    for rank in range(2):
        (own := folder / str(rank)).mkdir()
        program = own / "shares.py"
        program.write_text(
            with_edits(text, [("LOADER", loader), ("LEAVES", leaves), ("file://store", f"file://{own}/store")])
        )
        trace, ended = host.run(program, own, dict(probes.EXPERIMENTS["observe"]), RANK=str(rank))
        assert ended["code"] == 0 and not trace.hooks_missing, (ended["output"], trace.hooks_missing)
        told = tuple(
            {**event, "world": 2} if event["kind"] == "share" else {**event, "parameters": event["n"]}
            for kind in ("share", "checksum")
            for event in trace.events(kind)
        )
        traces.append(Trace(rank, rank, told))
    return [one for one in probes.judge_together("observe", traces) if one.outcome == "fail"]


FAULTS = {
    "augmented": PLAIN.format("Noisy(paths)", "shuffle=True"),
    "tensors": PLAIN.format(TENSORS, "shuffle=True, drop_last=True"),
}
HEALTHY = {
    "a distributed sampler": (PLAIN.format(TENSORS, f"sampler=DistributedSampler({TENSORS}, world, rank)"), "pass"),
    "as it speaks of ranks": (PLAIN.format("Own(paths)", "shuffle=True"), "pass"),
    "a part of the list": (PLAIN.format("Noisy(paths[rank::world])", "shuffle=True"), "pass"),
    "a subset": (PLAIN.format(f"Subset({TENSORS}, range(rank, 64, world))", "shuffle=True"), "pass"),
    "as many draws as its share": (PLAIN.format(TENSORS, "sampler=torch.utils.data.RandomSampler(x, num_samples=32)"), "pass"),
    "left after its share": (PLAIN.format(TENSORS, "shuffle=True"), "if number == len(loader) // world: break"),
    "one order, of which each takes its part": (
        "torch.manual_seed(3)\n" + PLAIN.format(TENSORS, "shuffle=True"), "a, b = a.chunk(world)[rank], b.chunk(world)[rank]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("loader", one_in(2, FAULTS.values()), ids=FAULTS)
def test_ranks_that_walk_all_of_it_are_told(host: Host, tmp_path: Path, loader: str) -> None:
    (told,) = said(host, tmp_path, loader)
    assert told.severity == "warning" and "each of 2 ranks walks all 64 examples" in told.message, told
    assert (tmp_path / "0" / "shares.py").read_text().splitlines()[(told.line or 0) - 1].startswith("loader = "), told


@pytest.mark.parametrize(("loader", "leaves"), one_in(4, HEALTHY.values()), ids=HEALTHY)
def test_ranks_that_split_it_are_not_told(host: Host, tmp_path: Path, loader: str, leaves: str) -> None:
    assert not said(host, tmp_path, loader, leaves)


@pytest.mark.twins
@pytest.mark.parametrize(
    ("loader", "is_told"),
    [
        (FAULTS["augmented"], True),
        (HEALTHY["a distributed sampler"][0], False),
        (HEALTHY["as it speaks of ranks"][0], False),
    ],
)
def test_under_torchrun(tmp_path: Path, loader: str, is_told: bool) -> None:
    (tmp_path / "shares.py").write_text(with_edits(PROGRAM, [("LOADER", loader), ("LEAVES", "pass")]))
    command = ("torchrun", "--standalone", "--nproc-per-node", "2", "shares.py")
    answer = trainsleuth("probe", "--only", "ranks_agree", "--", *command, cwd=tmp_path)
    assert ("walks all 64 examples" in answer.output, " warning " in answer.output) == (is_told, is_told), answer
