"""An alarm in a program that surely ends in an error first asks: options no parser knows, tuples as tensors, odd batches."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks

pytestmark = pytest.mark.usefixtures("right_so_far")

PROGRAM = dedent(
    """
    import argparse
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
    from torch.utils.data.distributed import DistributedSampler

    class Points(Dataset):
        def __init__(self, size=64):
            self.x = torch.randn(size, 4)

        def __len__(self):
            return len(self.x)

        def __getitem__(self, place):
            return self.x[place], self.x[place].sum(), place

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = nn.Linear(4, 2), nn.Linear(2, 1)

        def forward(self, x):
            code = self.encoder(x)
            return self.decoder(code), code

    def options():
        parser = argparse.ArgumentParser()
        parser.add_argument("--weight-decay", type=float, default=0.0)
        parser.add_argument("--epochs", type=int, default=3)
        return parser.parse_args()

    def distance(output, target):
        criterion = nn.MSELoss()
        return criterion(output, target)

    def train(net, loader, args):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=args.weight_decay)
        for epoch in range(args.epochs):
            for step, (x, y, _) in enumerate(loader):
                output, code = net(x)
                loss = distance(output[:, 0], y)
                loss.backward()
                optimizer.step()

    def main():
        args = options()
        loader = DataLoader(Points(), batch_size=8, shuffle=True)
        train(Net(), loader, args)

    if __name__ == "__main__":
        main()
    """
)
WEIGHTED = "range(args.epochs)", "range(args.rounds)"
WHOLE = "output, code = net(x)", "output = net(x)"
STOPPED = {
    "an option that no parser knows": ([WEIGHTED], "no parser has an option rounds"),
    "an option that a test reads": (
        [("    for epoch in", "    if args.rounds:\n        print(args.epochs)\n    for epoch in")],
        "no parser has an option rounds",
    ),
    "an attribute of a tuple": ([WHOLE, ("output[:, 0], y", "output.view(-1), y")], "output is a tuple of 2"),
    "a loss of a tuple, in another function": (
        [WHOLE, ("output[:, 0], y", "output, y")],
        "and criterion() takes a tensor",
    ),
    "a batch of other parts": ([("(x, y, _) in", "(x, y) in")], "an example of Points has 3 parts, not 2"),
    "a sampler beside shuffle=True": (
        [("shuffle=True", "shuffle=True, sampler=DistributedSampler(Points())")],
        "takes no sampler beside shuffle=True",
    ),
}
RUNNING: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "an option that is set": [WEIGHTED, ("    args = options()", "    args = options()\n    args.rounds = args.epochs")],
    "an option of another way": [WEIGHTED, ("return parser.", "parser.set_defaults(**LATER)\n    return parser.")],
    "an option with a default that a text names": [WEIGHTED, ("range(args", "hasattr(args, 'rounds') and range(args")],
    "a library that is handed the parser": [WEIGHTED, ("    return parser.", "    later.add_options(parser)\n    return parser.")],
    "options that are computed": [
        WEIGHTED,
        ("    return parser.", "    for name in LATER:\n        parser.add_argument(name)\n    return parser."),
    ],
    "what was laid below the options": [WEIGHTED, (".parse_args()", ".parse_args(namespace=LATER)")],
    "options of something else": [WEIGHTED, ("args = options()", "args = later.options()")],
    "a tuple that may be one tensor": [
        WHOLE,
        ("output[:, 0], y", "output.view(-1), y"),
        ("        code = self", "        if x is None:\n            return x\n        code = self"),
    ],
    "a tuple whose part is taken": [WHOLE, ("output[:, 0], y", "output[0][:, 0], y")],
    "a tuple that is counted": [WHOLE, ("output[:, 0], y", "output[0][:, 0] * output.count(0), y")],
    "a batch that is put together otherwise": [("(x, y, _) in", "(x, y) in"), ("batch_size=8", "8, collate_fn=later.pair")],
    "a batch of what a library wraps": [("(x, y, _) in", "(x, y) in"), ("Points(), batch", "later.wrap(Points()), batch")],
    "a batch with a star": [("(x, y, _) in", "(x, *y) in"), ("output[:, 0], y", "output[:, 0], y[0]")],
    "a sampler that may be none": [("shuffle=True", "shuffle=True, sampler=None")],
}  # fmt: skip


def _severity(root: Path, changes: list[tuple[str, str]]) -> tuple[str, str]:
    source = PROGRAM.replace("import torch\n", "import later\nimport torch\nfrom later import LATER\n", 1)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    compile(source, "train.py", "exec")
    report = run_checks(written_to(root, {"train.py": source}), only=["missing-zero-grad"])
    [finding] = [one for one in report.findings if one.outcome == "fail"]
    return finding.severity, finding.message


@pytest.mark.parametrize("name", STOPPED)
def test_a_program_that_surely_fails_accuses_nobody(name: str, tmp_path: Path) -> None:
    changes, said = STOPPED[name]
    severity, message = _severity(tmp_path, changes)
    assert (severity, said in message) == ("note", True), message


@pytest.mark.parametrize("name", RUNNING)
def test_a_program_that_may_well_run_does(name: str, tmp_path: Path) -> None:
    severity, message = _severity(tmp_path, RUNNING[name])
    assert severity == "error", message


LOSS = dedent(
    """
    import torch
    from torch import nn

    class Loss(nn.Module):
        def __init__(self, classes):
            super(Loss, self).__init__()
            self.entropy = nn.CrossEntropyLoss()

        def forward(self, scores, labels):
            chances = torch.softmax(scores, dim=1)
            return self.entropy(chances, labels)

    class Wide(Loss):
        def __init__(self, classes, width=2):
            super().__init__(classes, width=width)

    def train(net, loader, loss):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            loss(net(x), y).backward()
            optimizer.step()

    if __name__ == "__main__":
        net, loader = nn.Linear(2, 2), later.loader()
        loss = Loss(2).cuda()
        print(len(loader))
        train(net, loader, loss)
    """
)
USED = "    train(net, loader, loss)"
UNMADE = {
    "the first that has the object raises": (USED, "    train(net, loader, 2, loss)", "note"),
    "what makes it raises": ("loss = Loss(2)", "loss = Wide(2)", "note"),
    "another has it first": (USED, "    loss(net(1), 1)\n    train(net, loss)", "error"),
    "it is made elsewhere too": (USED, "    train(net, loss)\n\ndef score(x):\n    return Loss(3)(x, x)", "error"),
    "a table makes it": (USED, "    train(net, loss)\n\nLOSSES = {'plain': Loss}", "error"),
    "as it is": (USED, USED, "error"),
}


@pytest.mark.parametrize("name", UNMADE)
def test_an_object_that_nobody_gets_to_use_accuses_nobody(name: str, tmp_path: Path) -> None:
    old, new, severity = UNMADE[name]
    assert old in LOSS
    source = LOSS.replace(old, new).replace("import torch\n", "import later\nimport torch\n", 1)
    report = run_checks(written_to(tmp_path, {"train.py": source}), only=["double-softmax"])
    [found] = [one for one in report.findings if one.outcome == "fail"]
    assert found.severity == severity, found.message
