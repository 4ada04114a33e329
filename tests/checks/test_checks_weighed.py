"""An alarm about code that the program as it stands never reaches, or never gets past, asks and says why."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks
from trainsleuth.finding import Finding
from trainsleuth.repository import Repository

pytestmark = pytest.mark.usefixtures("right_so_far")

LOOP = dedent(
    """
    import torch
    from torch import nn
    from data import train_loader, val_loader

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x, mask=None):
            return self.layer(x)

    def evaluate(net):
        with torch.no_grad():
            return sum(net(x).mean().item() for x in val_loader)

    def train(net, epochs, clips=CLIPS):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(epochs):
            for x in train_loader:
                BEFORE
                net(x).mean().backward()
                optimizer.step()
                AFTER
            evaluate(net)

    if __name__ == "__main__":
        train(Net(), 3)
    """
)
DATA = "train_loader = val_loader = []\n"
KEPT = dedent(
    """
    import torch

    class Trainer:
        def __init__(self, model, loader):
            self.model, self.loader = model, loader
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def epoch(self):
            total = 0
            for round in range(90):
                for x in self.loader:
                    self.optimizer.zero_grad()
                    loss = self.model(x).mean()
                    loss.backward()
                    self.optimizer.step()
                    total += loss
                    self.log(total)
            return total

        def log(self, total):
            print(float(total))
    """
)


def _program(before: str = "pass", after: str = "pass", clips: str = "True") -> str:
    return LOOP.replace("BEFORE", before).replace("AFTER", after).replace("CLIPS", clips)


def _only(root: Path, files: dict[str, str], check: str) -> Finding:
    report = run_checks(written_to(root, files), only=[check])
    [finding] = [one for one in report.findings if one.outcome == "fail"]
    return finding


SCORE = "def score(net):\n    if net is None:\n        return 0, 0, 0\n    return 1, 2, 3\n\n"
STOPPED = {
    "it fails before anything is called": (
        _program().replace("def evaluate", "device = DEVICES[0]\n\ndef evaluate"),
        "train.py:14 cannot run: DEVICES is bound nowhere",
    ),
    "a name that is bound nowhere": (_program("x = x.to(device)"), "train.py:22 cannot run: device is bound nowhere"),
    "an annotation that is bound nowhere, where names are only looked up": (
        _program(after="print('net' in globals())").replace(
            "def evaluate(", "def play(game: Game):\n    pass\n\ndef evaluate("
        ),
        "train.py:14 cannot run: Game is bound nowhere",
    ),
    "a local that is bound later": (
        _program("net.to(device)").replace("        evaluate(net)\n", "        evaluate(net)\n    device = 'cpu'\n"),
        "device is read before it is bound",
    ),
    "later in the round": (_program(after="print(losses)"), "losses is bound nowhere"),
    "a name that nothing binds, nor the file that all is imported from": (
        _program("x = x.to(device)").replace("from data import", "from data import *\nfrom data import"),
        "train.py:23 cannot run: device is bound nowhere",
    ),
    "a local that its own statement binds, in a loop": (
        _program("score = score(x)"),
        "score is read before it is bound",
    ),
    "a keyword that torch does not know": (
        _program(after="torch.nn.utils.clip_grad_norm_(net.parameters(), max_grad_norm=1.0)"),
        "clip_grad_norm_() takes no argument max_grad_norm",
    ),
    "a keyword that forward() does not take": (
        _program().replace(
            "    with torch.no_grad():\n", "    net(val_loader[0], labels=1)\n    with torch.no_grad():\n"
        ),
        "Net.forward() at train.py:11 takes no argument labels",
    ),
    "an argument too few": (_program(after="evaluate()"), "evaluate() at train.py:14 needs an argument net"),
    "an argument too many": (_program(after="evaluate(net, x)"), "evaluate() at train.py:14 takes 1 positional"),
    "a value too many for the names": (
        _program(after="right, count = score(net)").replace("def evaluate", SCORE + "def evaluate"),
        "score() at train.py:14 gives back 3 values, not 2",
    ),
    "a line that is indented in a way of its own": (
        _program().replace("def evaluate", "def unused():\n    a = 1\n      b = 2\n\ndef evaluate"),
        "train.py:16 cannot run: it is indented",
    ),
    "an attribute that no network has": (_program(after="print(net.depth)"), "net.depth is set nowhere"),
    "an attribute of a layer of the network": (
        _program(after="print(net.layers[0].width)").replace(
            "self.layer = nn.Linear(2, 2)", "self.layer = nn.Linear(2, 2); self.layers = nn.ModuleList([Part()])"
        )
        + "\nclass Part(nn.Module):\n    pass\n",
        ".width is set nowhere",
    ),
    "an import of what is not there": (
        _program().replace("import train_loader,", "import shuffled, train_loader,"),
        "train.py:4 cannot run: data.py has no shuffled",
    ),
}
RUNNING = {
    "as many values as names": _program(after="right, count, rest = score(net)").replace(
        "def evaluate", SCORE + "def evaluate"
    ),
    "a value for one name": _program(after="right = score(net)").replace("def evaluate", SCORE + "def evaluate"),
    "as many values as names where it matters": _program(after="right, count = score(net)").replace(
        "def evaluate", SCORE.replace("return 1, 2, 3", "return 1, 2") + "def evaluate"
    ),
    "a decorator may give back what it likes": _program(after="right, count = score(net)").replace(
        "def evaluate", "from functools import cache\n\n@cache\n" + SCORE + "def evaluate"
    ),
    "it fails when all is trained": _program() + "\nprint(history)\n",
    "as it is": _program(),
    "a global of another function": _program("x = x.to(device)").replace(
        "def evaluate", "def setup():\n    global device\n    device = 'cpu'\n\ndef evaluate"
    ),
    "an annotation that is not evaluated": "from __future__ import annotations\n"
    + _program().replace("def evaluate(", "def play(game: Game):\n    pass\n\ndef evaluate("),
    "a local that its own statement binds anew": _program(
        "score = 0 if x is None else 1\n            score = abs(score)"
    ),
    "everything imported": _program("x = x.to(device)").replace(
        "import torch\n", "import torch\nfrom env import *\n", 1
    ),
    "what may fail is caught": _program(
        "try:\n                x = x.to(device)\n            except NameError:\n                pass"
    ),
    "the message of an assert": _program("assert len(x) > 1, f'{device} gave {x}'"),
    "in an arm that may not be taken": _program("x = x.to(device) if len(x) > 9 else x"),
    "a name of a comprehension, an except and a with": _program(
        "y = [a for a in x]; z = (lambda b: b)(y)\n            with open(0) as handle:\n                print(handle, z)"
    ),
    "a local of the round before": _program("if len(x) > 3:\n                x = x + last\n            last = x"),
    "set by another file": _program("x = x.to(device)") + "\nimport train\ntrain.device = 'cpu'\n",
    "a keyword that forward() takes": _program(after="net(x, mask=x)"),
    "an attribute of torch's own": _program(after="print(net.training, net.layer, net.layer.weight, net._modules)"),
    "an attribute that is registered": _program(after="print(net.depth)").replace(
        "nn.Linear(2, 2)", "nn.Linear(2, 2); self.register_buffer('depth', torch.ones(1))"
    ),
    "an attribute that is registered over several lines": _program(after="print(net.depth)").replace(
        "nn.Linear(2, 2)", "nn.Linear(2, 2); self.register_buffer(\n            'depth', torch.ones(1),\n        )"
    ),
    "an attribute that another network sets on it": _program(after="print(net.depth)").replace(
        "def evaluate", "def widen(part):\n    part.depth = 2\n\ndef evaluate"
    ),
    "an attribute that only a test asks for": _program(
        after="if hasattr(net, 'depth'):\n                print(net.depth)"
    ),
    "an attribute of what may be another class": _program(after="print(net.depth)")
    .replace("Net(), 3", "build(), 3")
    .replace("import torch\n", "import torch\nfrom models import build\n", 1),
    "keywords of an object that a class of torch made": _program(
        "criterion = nn.CrossEntropyLoss(reduction='sum')", after="criterion(input=net(x), target=x.argmax(1))"
    ),
    "any keyword is taken": _program(after="net(x, labels=x)").replace("mask=None", "**more"),
    "a star hides what is given": _program(after="evaluate(*[net])"),
    "a parameter that somebody sets": _program("if not clips: continue"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_code_that_cannot_run_accuses_nobody(name: str, tmp_path: Path) -> None:
    source, said = STOPPED[name]
    finding = _only(tmp_path, {"train.py": source, "data.py": DATA}, "missing-zero-grad")
    assert (finding.severity, said in finding.message) == ("note", True), finding.message


@pytest.mark.parametrize("name", RUNNING)
def test_code_that_may_well_run_does(name: str, tmp_path: Path) -> None:
    files = {"train.py": RUNNING[name], "data.py": DATA, "env.py": "device = 'cpu'\n"}
    assert _only(tmp_path, files, "missing-zero-grad").severity == "error"


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (("self.log(total)", "self.log(total)"), "warning"),
        (("self.log(total)", "self.logger.log(total)"), "note"),
        (("self.log(total)", "self.write(total)"), "note"),
        (("class Trainer:", "class Trainer(Base):"), "warning"),
        (("def log(self", "def __getattr__(self"), "warning"),
        (("        self.model, self", "        self.logger = self.model, self"), "warning"),
    ],
)
def test_an_attribute_that_nothing_sets_stops_the_round(change: tuple[str, str], severity: str, tmp_path: Path) -> None:
    source = KEPT.replace(*change)
    if change[1].startswith(("class", "def", "   ")):
        source = source.replace("self.log(total)", "self.logger.log(total)").replace(
            "class Trainer(Base)", "from toolkit import Base\n\nclass Trainer(Base)"
        )
    assert _only(tmp_path, {"train.py": source}, "loss-kept-with-graph").severity == severity


def test_an_attribute_that_a_class_below_or_another_file_sets_is_there(tmp_path: Path) -> None:
    source = KEPT.replace("self.log(total)", "self.logger.log(total)")
    below = "from train import Trainer\n\nclass Loud(Trainer):\n    def start(self):\n        self.logger = print\n"
    beside = (
        "from train import Trainer\n\ndef make(model):\n    trainer = Trainer(model, [])\n    trainer.logger = print\n"
    )
    for name, other in (("below", below), ("beside", beside)):
        finding = _only(tmp_path / name, {"train.py": source, "other.py": other}, "loss-kept-with-graph")
        assert finding.severity == "warning", name


FORCED = dedent(
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return self.layer(x)

    def loss_of(net, x, y, smooth=SMOOTH):
        sharp = SHARP
        scores = net(x)
        if TEST:
            return nn.functional.cross_entropy(scores.softmax(1), y)
        else:
            return nn.functional.cross_entropy(scores, y)

    def train(net, loader):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(net, x, y).backward()
            optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("test", "severity", "said"),
    [
        ("sharp", "error", ""),
        ("not sharp", "note", "never finds so"),
        ("sharp is False", "note", "never finds so"),
        ("x.is_cuda and not sharp", "note", "never finds so"),
        ("x.is_cuda or not sharp", "error", ""),
        ("smooth", "note", "not so by default"),
        ("not smooth", "error", ""),
        ("x.is_cuda", "error", ""),
    ],
)
def test_what_constants_rule_out_accuses_nobody(test: str, severity: str, said: str, tmp_path: Path) -> None:
    source = FORCED.replace("TEST", test).replace("SHARP", "True").replace("SMOOTH", "False")
    finding = _only(tmp_path, {"train.py": source}, "double-softmax")
    assert (finding.severity, said in finding.message) == (severity, True), finding.message


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("METHOD = 'plain'\n\ndef loss_of(", "only where METHOD == 'soft', which is not so as the code stands."),
        ("def loss_of(METHOD='plain', ", "only where METHOD == 'soft', which is not so by default."),
    ],
)
def test_an_arm_that_a_text_rules_out_is_told_by_its_own_test(head: str, said: str, tmp_path: Path) -> None:
    arms = "if METHOD == 'plain':\n        return scores.mean()\n    elif METHOD == 'soft':"
    source = FORCED.replace("SHARP", "True").replace("SMOOTH", "False").replace("if TEST:", arms)
    source = source.replace("def loss_of(", head).replace("loss_of(net, x, y).", "loss_of(net=net, x=x, y=y).")
    source = source.replace("net, x, y, smooth", "net=None, x=None, y=None, smooth")
    finding = _only(tmp_path, {"train.py": source}, "double-softmax")
    assert finding.severity == "note"
    assert said in finding.message, finding.message


def test_a_constant_that_another_place_changes_rules_out_nothing(tmp_path: Path) -> None:
    source = FORCED.replace("TEST", "smooth").replace("SHARP", "True").replace("SMOOTH", "False")
    given = source.replace("loss_of(net, x, y).b", "loss_of(net, x, y, smooth=True).b")
    switched = source.replace("if smooth", "if SOFTER").replace("import torch\n", "import torch\nSOFTER = False\n", 1)
    switch = "import train\n\ntrain.SOFTER = True\n"
    assert _only(tmp_path / "given", {"train.py": given}, "double-softmax").severity == "error"
    assert _only(tmp_path / "constant", {"train.py": switched}, "double-softmax").severity == "note"
    assert _only(tmp_path / "set", {"train.py": switched, "run.py": switch}, "double-softmax").severity == "error"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"main.py": "if __name__ == '__main__':\n    print(1)\n"}, "note"),
        ({"main.py": "from train import train\n\nif __name__ == '__main__':\n    train(1, [])\n"}, "error"),
        ({"main.py": "import train\n\nif __name__ == '__main__':\n    getattr(train, input())()\n"}, "error"),
        ({"main.py": "if __name__ == '__main__':\n    print(1)\n", "pyproject.toml": ""}, "error"),
        ({"main.py": "if __name__ == '__main__':\n    print(1)\n", "run.yaml": "entry: learn.train\n"}, "error"),
        ({"main.py": "if __name__ == '__main__':\n    # train.train(1, [])\n    print(1)\n"}, "note"),
        ({"main.py": "def train(x):\n    return x\n\n\nif __name__ == '__main__':\n    train(1)\n"}, "note"),
        ({"main.py": "import train\n\nKINDS = {'one': train}\nKINDS[input()].train(None, [])\n"}, "error"),
        ({"main.py": "import train\n\nKINDS = {'one': train}\nKINDS[input()].fit(None, [])\n"}, "note"),
        (
            {
                "main.py": "import train as t\n\ndef train(x):\n    t.train(x, [])\n\nif __name__ == '__main__':\n    train(1)\n"
            },
            "error",
        ),
        ({}, "error"),
    ],
)
def test_what_nothing_in_a_program_names_accuses_nobody(files: dict[str, str], severity: str, tmp_path: Path) -> None:
    loop = "import torch\n\ndef train(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop += "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n"
    assert _only(tmp_path, {"train.py": loop, **files}, "missing-zero-grad").severity == severity


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ("def run(model):\n    train(model, [])\n", "note"),
        ("class Runner:\n    def run(self, model):\n        train(model, [])\n", "note"),
        ("def run(model):\n    train(model, [])\n\nrun(None)\n", "error"),
        ("def run(model):\n    train(model, [])\n    run(model)\n", "note"),
        ("def run(model):\n    train(model, [])\n\ndef start():\n    run(None)\n", "note"),
    ],
)
def test_what_only_an_unused_one_names_is_unused(more: str, severity: str, tmp_path: Path) -> None:
    loop = "import torch\n\ndef train(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop += "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n\n"
    files = {"train.py": loop + more, "main.py": "if __name__ == '__main__':\n    print(1)\n"}
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


NETWORK = dedent(
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4) for _ in range(3)]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    if __name__ == "__main__":
        print(Net().eval()(torch.ones(1, 4)))
    """
)
MAIN = (
    "import torch\nfrom models.MODULE import Net\n\nif __name__ == '__main__':\n    net = Net()\n"
    "    torch.optim.SGD(net.parameters(), lr=0.1)\n    net(torch.ones(4)).sum().backward()\n"
)
PLAIN_NET = "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize(("module", "severity"), [("wide", "error"), ("plain", "note")])
def test_a_network_that_only_its_own_file_tries_is_unused(module: str, severity: str, tmp_path: Path) -> None:
    files = {"models/__init__.py": "", "models/wide.py": NETWORK, "models/plain.py": PLAIN_NET, "README.md": "Net"}
    found = _only(tmp_path, {**files, "main.py": MAIN.replace("MODULE", module)}, "plain-list-submodules")
    assert found.severity == severity, found.message


OPTIONS = dedent(
    """
    import argparse
    import torch
    from torch import nn

    class Trainer:
        def __init__(self, net, config):
            self.net, self.optimizer = net, torch.optim.SGD(net.parameters(), lr=0.1)
            self.by_class = HANDED

        def epoch(self, loader):
            for x, y in loader:
                scores = self.net(x).softmax(1)
                self.optimizer.zero_grad()
                if self.by_class:
                    loss = nn.functional.cross_entropy(scores, y)
                else:
                    loss = (scores[:, 1] - y).square().mean()
                loss.backward()
                self.optimizer.step()

    parser = argparse.ArgumentParser()
    parser.add_argument("--by_class", type=int, default=0)
    args = parser.parse_args()
    config = {"by_class": args.by_class}
    Trainer(nn.Linear(2, 2), config).epoch([])
    """
)


@pytest.mark.parametrize(
    ("handed", "severity"),
    [
        ("config['by_class']", "note"),
        ("config.by_class  # 0 or 1", "note"),
        ("not config['by_class']", "error"),
        ("config['by_class'] or len(config) > 1", "error"),
        ("True", "error"),
    ],
)
def test_an_option_that_is_handed_on_is_not_given(handed: str, severity: str, tmp_path: Path) -> None:
    source = OPTIONS.replace("HANDED", handed)
    assert _only(tmp_path, {"train.py": source}, "double-softmax").severity == severity


def test_an_option_that_a_table_writes_out_is_given(tmp_path: Path) -> None:
    source = OPTIONS.replace("HANDED", "config['by_class']").replace("args.by_class}", "1}")
    assert _only(tmp_path, {"train.py": source}, "double-softmax").severity == "error"


OPTIONAL = dedent(
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, squash=None):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.squash = squash

        def loss(self, x, y):
            x = self.layer(x)
            if TEST:
                return nn.functional.cross_entropy(x.softmax(1), y)
            return nn.functional.cross_entropy(x, y)

    def train(loader):
        net = Net(GIVEN)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            net.loss(x, y).backward()
            optimizer.step()

    train([])
    """
)


@pytest.mark.parametrize(
    ("test", "given", "severity"),
    [
        ("self.squash is not None", "", "note"),
        ("self.squash is not None", "0", "error"),
        ("self.squash is not None", "squash=None", "note"),
        ("self.squash is None", "", "error"),
        ("self.squash is None", "True", "note"),
        ("self.squash", "0", "note"),
        ("self.squash", "1", "error"),
    ],
)
def test_what_a_constructor_leaves_out_decides_what_runs(test: str, given: str, severity: str, tmp_path: Path) -> None:
    source = OPTIONAL.replace("TEST", test).replace("GIVEN", given)
    assert _only(tmp_path, {"train.py": source}, "double-softmax").severity == severity


def test_a_loss_that_is_kept_is_one_alarm_for_two_backward_calls(tmp_path: Path) -> None:
    source = """
    import torch
    from data import loader

    def train(net, optimizer):
        total = 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), y)
            total += loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x + 0.1), y)
            loss.backward()
            optimizer.step()
        return total / len(loader)

    def main():
        net = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(3):
            print(train(net, optimizer))

    if __name__ == "__main__":
        main()
    """
    (tmp_path / "train.py").write_text(dedent(source))
    (tmp_path / "data.py").write_text("loader = []\n")
    found = run_checks(Repository(tmp_path), only=["loss-kept-with-graph"]).findings
    assert [one.line for one in found if one.outcome == "fail"] == [10]


PROBED = dedent(
    """
    import torch
    from torch import nn
    from data import train_loader, val_loader

    def accuracy(net):
        net.eval()
        with torch.no_grad():
            return sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader)

    class Probe:
        def __init__(self):
            self.net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))

        def freeze(self):
            for name, parameter in self.net.named_parameters():
                FROZEN

        def fit(self):
            optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, self.net.parameters()), lr=0.1)
            for epoch in range(9):
                for x, y in train_loader:
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(self.net(x), y).backward()
                    optimizer.step()
                accuracy(self.net)

        def run(self):
            self.freeze()
            RUN

    if __name__ == "__main__":
        Probe().run()
    """
)


@pytest.mark.parametrize(
    ("frozen", "run", "severity", "said"),
    [
        ("print(name)", "self.fit()", "error", ""),
        ("parameter.requires_grad = name.startswith('2')", "self.fit()", "error", ""),
        ("parameter.requires_grad = False", "self.fit()", "note", "is frozen"),
        ("print(name)", "# self.fit()", "note", "comes to accuracy"),
        ("print(name)", "getattr(self, input())()", "error", ""),
        ("print(name)", "map(self.fit, [])", "error", ""),
    ],
)
def test_a_part_that_is_frozen_and_a_method_that_nothing_calls_accuse_nobody(
    frozen: str, run: str, severity: str, said: str, tmp_path: Path
) -> None:
    program = PROBED.replace("FROZEN", frozen).replace("RUN", f"pass\n        {run}")
    main = {"main.py": "from probe import Probe\n\nif __name__ == '__main__':\n    Probe().run()\n"}
    found = _only(tmp_path, {"probe.py": program, "data.py": DATA, **main}, "eval-not-restored")
    assert found.severity == severity
    assert said in found.message


@pytest.mark.parametrize(
    ("looking", "severity"),
    [
        ("import builders\n\ndef make(name):\n    return getattr(builders, name)\n\nmake(input())\n", "note"),
        ("from makers import builder\n\ndef make(name):\n    return getattr(builder, name)\n\nmake(input())\n", "note"),
        ("import train\n\ndef make(name):\n    return getattr(train, name)\n\nmake(input())\n", "error"),
        ("import registry\n\ndef make(name):\n    return getattr(registry, name)\n\nmake(input())\n", "error"),
        ("def make(name):\n    return globals()[name]\n\nmake(input())\n", "note"),
        ("from train import *\n\ndef make(name):\n    return globals()[name]\n\nmake(input())\n", "error"),
        (
            "def make(name):\n    return getattr(importlib.import_module(name='builders.' + name), name)\n\nmake(input())\n",
            "note",
        ),
        ("def make(name):\n    return getattr(importlib.import_module('train'), name)\n\nmake(input())\n", "error"),
        ("def make(name):\n    return getattr(importlib.import_module(name), name)\n\nmake('train')\n", "error"),
        ("def make(name):\n    return getattr(importlib.import_module(name), name)\n\nmake(input())\n", "note"),
    ],
)
def test_what_is_looked_for_by_name_may_be_found_in_that_module_only(
    looking: str, severity: str, tmp_path: Path
) -> None:
    loop = "import torch\n\ndef train_it(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop += "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n"
    files = {
        "train.py": loop,
        "look.py": looking,
        "builders.py": "def other():\n    pass\n",
        "registry.py": "from train import *\n",
        "main.py": "if __name__ == '__main__':\n    print()\n",
    }
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


@pytest.mark.parametrize(
    ("folder", "is_aside"), [("legacy", True), ("code/ext-libs", True), ("_archive", True), ("golden", False)]
)
def test_what_is_kept_aside_asks(folder: str, is_aside: bool, tmp_path: Path) -> None:
    text = KEPT + "\nif __name__ == '__main__':\n    Trainer(torch.nn.Linear(2, 1), []).epoch()\n"
    found = _only(tmp_path, {f"{folder}/train.py": text}, "loss-kept-with-graph")
    assert (found.severity == "note") is is_aside
    assert (f"{folder}/ is kept aside" in found.message) is is_aside


FALLS = dedent(
    """
    import torch

    def train(model, loader, epochs, first=1):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.SCHEDULE
        for epoch in ROUNDS:
            scheduler.step()
            for x in loader:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()

    train(torch.nn.Linear(2, 1), [torch.ones(1, 2)], 3)
    """
)


@pytest.mark.parametrize(
    ("schedule", "rounds", "severity"),
    [
        ("MultiStepLR(optimizer, [20, 30])", "range(1, epochs)", "note"),
        ("StepLR(optimizer, 10)", "range(first, epochs + 1)", "note"),
        ("StepLR(optimizer, 10)", "range(epochs)", "warning"),
        ("ExponentialLR(optimizer, 0.9)", "range(1, epochs + 1)", "warning"),
    ],
)
def test_epochs_that_are_counted_from_one(schedule: str, rounds: str, severity: str, tmp_path: Path) -> None:
    text = FALLS.replace("SCHEDULE", schedule).replace("ROUNDS", rounds)
    assert _only(tmp_path, {"train.py": text}, "scheduler-before-optimizer").severity == severity


SQUASHED = dedent(
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, x):
            return torch.softmax(self.layer(x), dim=1)

    def loss_of(net, loader):
        total = 0.0
        WITH
            for x, y in loader:
                loss = nn.functional.cross_entropy(net(x), y)
                AFTER
                total += loss.item()
        return total

    if __name__ == "__main__":
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        print(loss_of(net, torch.load("data.pt")))
    """
)


@pytest.mark.parametrize(
    ("around", "after", "severity"),
    [
        ("with torch.no_grad():", "pass", "note"),
        (
            "if True:",
            "kept = torch.argsort(loss)[:2]; net(x)[kept].sum().backward()",
            "note",
        ),  # total takes a number of it
        ("if True:", "loss.backward(); optimizer.step()", "error"),
    ],
)
def test_a_loss_that_only_an_evaluation_computes_asks(around: str, after: str, severity: str, tmp_path: Path) -> None:
    program = SQUASHED.replace("WITH", around).replace("AFTER", after)
    assert _only(tmp_path, {"main.py": program}, "double-softmax").severity == severity


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("KINDS = ['train_it', 'test_it']\n", "note"),
        ("import loops\n\nKINDS = ['train_it', 'test_it']\n", "note"),
        ("import loops\n\nKINDS = [getattr(loops, one) for one in ('train_it', 'test_it')]\n", "error"),
        ("import loops\n\nKINDS = [getattr(loops, 'train_it')]\n", "error"),
        ("import loops\n\nKINDS = [eval('loops.' + one) for one in ('train_it', 'test_it')]\n", "error"),
        ("KINDS = ['train_it']\nSTARTED = 'python loops.py'\n", "note"),
        (
            "import importlib\n\ndef load(name):\n    path = 'steps.' + name\n    return importlib.import_module(path)\n",
            "note",
        ),
        (
            "import importlib\n\ndef load(name):\n    path = 'loo' + name\n    return importlib.import_module(path)\n",
            "error",
        ),
    ],
)
def test_a_name_means_nothing_of_a_file_that_nothing_loads(other: str, severity: str, tmp_path: Path) -> None:
    loop = "import torch\n\ndef train_it(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop += "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n"
    files = {
        "loops.py": loop,
        "other.py": other,
        "main.py": "import other\n\nif __name__ == '__main__':\n    print('train_it')\n",
    }
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


RANKED = dedent(
    """
    import argparse
    import torch
    from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    data = torch.ones(64, 4)
    sampler = RandomSampler(data) if args.local_rank == -1 else DistributedSampler(data)
    loader = DataLoader(data, sampler=sampler)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(5):
        for x in loader:
            optimizer.zero_grad()
            net(x).sum().backward()
            optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("readme", "severity"),
    [
        ("python train.py --lr 0.1\n", "note"),
        ("python -m torch.distributed.launch --nproc_per_node 4 train.py\n", "warning"),
        ("torchrun train.py\n", "warning"),
        ("torchrun --nproc_per_node 4 other.py\n", "note"),
        ("torchrun --nproc_per_node 4 \\\n    train.py\n", "warning"),
        ("torchrun $PROGRAM\n", "warning"),
        ("It is distributed where `--local_rank` is given.\n", "note"),
        ("python train.py --local_rank 0\n", "warning"),
    ],
)
def test_a_sampler_in_the_arm_that_nobody_takes_asks(readme: str, severity: str, tmp_path: Path) -> None:
    files = {"train.py": RANKED, "README.md": readme, "other.py": "if __name__ == '__main__':\n    print(1)\n"}
    assert _only(tmp_path, files, "missing-set-epoch").severity == severity


@pytest.mark.parametrize(
    ("readme", "spawned", "severity"),
    [
        ("", "", "warning"),
        ("A network.\n", "", "warning"),
        ("python train.py\n", "", "note"),
        ("torchrun train.py\n", "", "warning"),
        ("srun -N 2 python train.py\n", "", "warning"),
        ("python train.py; torchrun other.py\n", "", "note"),
        ("torchrun other.py\n", "", "note"),
        ("python train.py\n", "import torch.multiprocessing as mp\nif later.many:\n    mp.spawn(print)\n", "warning"),
    ],
)
def test_a_sampler_for_several_devices_in_what_is_started_on_one_asks(
    readme: str, spawned: str, severity: str, tmp_path: Path
) -> None:
    program = RANKED.replace("RandomSampler(data) if args.local_rank == -1 else ", "").replace(
        "import torch\n", f"import later\nimport torch\n{spawned}", 1
    )
    files = {"train.py": program, "README.md": readme, "other.py": "if __name__ == '__main__':\n    print(1)\n"}
    assert _only(tmp_path, files, "missing-set-epoch").severity == severity


HPARAMS = (
    RANKED.replace(
        'parser = argparse.ArgumentParser()\nparser.add_argument("--local_rank", type=int, default=-1)\n', ""
    )
    .replace(
        "args = parser.parse_args()\n", "import sys\nargs = HParams(local_rank=-1, lr=0.1)\nargs.parse(sys.argv[1])\n"
    )
    .replace("import torch\n", "import torch\nfrom text import HParams\n", 1)
)


@pytest.mark.parametrize(
    ("readme", "severity"),
    [("python train.py lr=0.2\n", "note"), ("python -m multiproc train.py lr=0.2,local_rank=0\n", "warning")],
)
def test_what_a_call_sets_by_name_is_an_option(readme: str, severity: str, tmp_path: Path) -> None:
    found = _only(tmp_path, {"train.py": HPARAMS, "README.md": readme}, "missing-set-epoch")
    assert found.severity == severity


DRAWN = dedent(
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.scores = [nn.Sequential(nn.Linear(4, 9), nn.Softmax(-1)) for _ in range(3)]

        def forward(self, x):
            for number in range(3):
                USED
            return self.layer(x)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    """
)


@pytest.mark.parametrize(
    ("used", "count"),
    [("print(torch.multinomial(self.scores[number](x) * 2, 3))", 0), ("x = x + self.scores[number](x).sum()", 1)],
)
def test_layers_whose_numbers_only_choose_get_no_gradient_anyway(used: str, count: int, tmp_path: Path) -> None:
    written_to(tmp_path, {"train.py": DRAWN.replace("USED", used)})
    report = run_checks(Repository(tmp_path), only=["plain-list-submodules"])
    assert sum(one.outcome == "fail" for one in report.findings) == count


@pytest.mark.parametrize(
    ("main", "severity"),
    [
        ("import other\n\nother.start()\n", "note"),  # a program without a guard that never comes to the loop
        ("X = 1\n", "error"),  # no program at all: who uses the file is not known
        ("from loops import train_it\n\ntrain_it(None, [])\n", "error"),
    ],
)
def test_a_file_that_does_its_work_at_its_top_is_a_program(main: str, severity: str, tmp_path: Path) -> None:
    loop = "import torch\n\ndef train_it(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop += "    for x in loader:\n        model(x).mean().backward()\n        optimizer.step()\n"
    files = {"loops.py": loop, "other.py": "def start():\n    pass\n", "main.py": main}
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


METHODS = dedent(
    """
    import torch

    class Framework:
        def train(self, model, loader, steps=3):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in loader:
                model(x).mean().backward()
                optimizer.step()

        def train_other(self, model):
            model.train()
            return model

    if __name__ == "__main__":
        framework = Framework()
        split = "train"
        CALL
    """
)


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("framework.train_other(torch.nn.Linear(1, 1))", "note"),  # model.train() gives too little for Framework.train
        ("framework.train(torch.nn.Linear(1, 1), [])", "error"),
        ("run = framework.train", "error"),
        ("getattr(framework, 'train')(None, [])", "error"),
    ],
)
def test_a_method_is_called_by_what_fits_it(call: str, severity: str, tmp_path: Path) -> None:
    found = _only(
        tmp_path,
        {"main.py": METHODS.replace("CALL", call), "go.py": "import main\n\nprint(main)\n"},
        "missing-zero-grad",
    )
    assert found.severity == severity


@pytest.mark.parametrize(("first", "severity"), [("data.shape", "note"), ("len(loader)", "error")])
def test_a_name_at_the_top_that_only_later_lines_bind_stops_the_program(
    first: str, severity: str, tmp_path: Path
) -> None:
    program = (
        "import torch\nfrom data import train_loader as loader\n\nnet = torch.nn.Linear(2, 1)\n"
        f"optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nsize = {first}\n"
        "for data in loader:\n    net(data).sum().backward()\n    optimizer.step()\n"
    )
    found = _only(tmp_path, {"main.py": program, "data.py": DATA}, "missing-zero-grad")
    assert found.severity == severity


TWO_FILES = {
    "engine.py": "import torch\nfrom nets import Net\n\ndef train(net, loader):\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    for x in loader:\n        net(x).mean().backward()\n        optimizer.step()\n",
    "nets.py": "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(2, 2)\n\n"
    "    def forward(self, x):\n        return self.layer(x)\n\ndef load():\n    return [FOLDER]\n",
}
STARTED = "from engine import train\nfrom nets import Net, load\n\nif __name__ == '__main__':\n    BEFORE\n    train(Net(), [])\n"


@pytest.mark.parametrize(
    ("before", "more", "severity", "said"),
    [
        ("pass", {}, "error", ""),
        ("data = load()", {}, "note", "FOLDER is bound nowhere"),
        ("print(size)", {}, "note", "size is bound nowhere"),
        ("from nets import Wide", {}, "note", "nets.py has no Wide"),
        ("while True:\n        print(1)", {}, "note", "never ends"),
        ("while True:\n        if input():\n            break", {}, "error", ""),
        ("if input():\n        data = load()", {}, "error", ""),
        ("try:\n        data = load()\n    except NameError:\n        pass", {}, "error", ""),
        ("data = load()", {"other.py": STARTED.replace("BEFORE", "pass")}, "error", ""),
        ("data = load()", {"other.py": STARTED.replace("BEFORE", "print(size)")}, "note", "is bound nowhere"),
        ("data = load()", {"setup.py": ""}, "error", ""),
        ("data = load()", {"hand.py": "from engine import train\nfrom pool import run\n\nrun(train)\n"}, "error", ""),
    ],
)
def test_what_every_call_stops_before_accuses_nobody(
    before: str, more: dict[str, str], severity: str, said: str, tmp_path: Path
) -> None:
    finding = _only(tmp_path, {**TWO_FILES, "main.py": STARTED.replace("BEFORE", before), **more}, "missing-zero-grad")
    assert (finding.severity, said in finding.message) == (severity, True), finding.message


@pytest.mark.parametrize(
    ("line", "severity"),
    [("from nets import area", "note"), ("from nets import Net", "warning"), ("from shapes import area", "warning")],
)
def test_an_import_in_a_function_that_stops_it(line: str, severity: str, tmp_path: Path) -> None:
    source = KEPT.replace("        total = 0", f"        {line}\n        total = 0")
    assert _only(tmp_path, {"train.py": source, **TWO_FILES}, "loss-kept-with-graph").severity == severity


TRIED = """\
import torch
from torch import nn
from torch.autograd import Variable

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sigmoid(self.layer(x))

if __name__ == "__main__":
    print(nn.functional.cross_entropy(Net()(torch.ones(2, 3)), torch.ones(2)))
"""


@pytest.mark.parametrize(
    ("last", "severity"), [("", "note"), ("    torch.autograd.grad(loss, net.parameters())\n", "error")]
)
def test_a_loss_that_a_file_only_tries_accuses_nobody(last: str, severity: str, tmp_path: Path) -> None:
    source = TRIED if not last else TRIED.replace("    print(nn", "    net = Net()\n    loss = (nn") + last
    found = _only(tmp_path, {"net.py": source, "a.py": "import net\n"}, "double-softmax")
    assert found.severity == severity, found.message


CELL = """\
for start in STARTS:
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        net(x).mean().backward()
        optimizer.step()
"""


def _notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": cell.splitlines(keepends=True), "metadata": {}, "outputs": []}
                for cell in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


@pytest.mark.parametrize(
    ("cells", "severity"),
    [
        ((CELL,), "note"),
        ((CELL, "STARTS = [1, 2]\n"), "error"),
        (("print(missing)\n", CELL.replace("STARTS", "range(2)")), "error"),
        ((CELL, "%store -r STARTS\n"), "error"),
        ((CELL, "%time STARTS = load()\n"), "error"),
        ((CELL, "from settings import *\n"), "error"),
        ((CELL, "rest = len(STARTS) %3\n"), "note"),
        (("def f():\n    a = 1\n      b = 2\n", CELL.replace("STARTS", "range(2)")), "note"),
        ((CELL.replace("STARTS", "range(2)"), "def f():\n    a = 1\n      b = 2\n"), "error"),
        (("    print(1)\n    print(2)\n", CELL.replace("STARTS", "range(2)")), "error"),
        (("for i in range(2):\n    %time print(i)\n", CELL.replace("STARTS", "range(2)")), "error"),
    ],
)
def test_a_cell_that_needs_a_name_which_no_cell_binds(cells: tuple[str, ...], severity: str, tmp_path: Path) -> None:
    files = {"train.ipynb": _notebook("import torch\nloader = [torch.ones(2)]\n", *cells)}
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


@pytest.mark.parametrize(
    ("made", "severity"),
    [("loader = [torch.ones(2)]\n", "error"), ("# loader = [torch.ones(2)]\n", "note")],
)
def test_a_function_of_a_notebook_whose_calls_need_names_that_nothing_binds(
    made: str, severity: str, tmp_path: Path
) -> None:
    fit = "def fit(net, optimizer, loader):\n    for x in loader:\n        net(x).mean().backward()\n        optimizer.step()\n"
    made_too = "net = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    run = "def run(loader):\n    fit(net, optimizer, loader)\n"
    cells = (fit, made_too + made, run, "run(\n    loader=loader,\n)\n")
    files = {"train.ipynb": _notebook("import torch\n", *cells)}
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


@pytest.mark.parametrize(("call", "severity"), [("fit", "error"), ("fit_other", "note")])
def test_a_function_of_a_notebook_that_none_of_its_cells_calls_accuses_nobody(
    call: str, severity: str, tmp_path: Path
) -> None:
    other = "def fit_other():\n    print(loader)\n"
    cells = (
        "import torch\nloader = [torch.ones(2)]\nSTARTS = [1, 2]\n",
        f"def fit():\n{indent(CELL, '    ')}    torch.save(net, 'net.pt')\n",
        other,
    )
    files = {
        "train.ipynb": _notebook(*cells, f"{call}()\n"),
        "more.ipynb": _notebook("def fit():\n    pass\n", "fit()\n"),
    }
    assert _only(tmp_path, files, "missing-zero-grad").severity == severity


HIDING = "from train.gan.nets import SIZE\n"


@pytest.mark.parametrize(
    ("name", "more", "severity"),
    [
        ("train/gan/train.py", {}, "note"),
        ("train/gan/fit.py", {"train/gan/train.py": "print(1)\n"}, "note"),
        ("train/gan/fit.py", {}, "error"),
        ("train/gan/train.py", {"README.md": "python -m train.gan.train\n"}, "error"),
        ("train/gan/train.py", {"run.py": "from train.gan import train\n"}, "error"),
    ],
)
def test_a_file_beside_a_script_that_hides_the_package_it_imports(
    name: str, more: dict[str, str], severity: str, tmp_path: Path
) -> None:
    program = HIDING + _program().replace("from data import", "from train.data import")
    files = {name: program, "train/gan/nets.py": "SIZE = 3\n", "train/data.py": DATA, "train/__init__.py": ""}
    files |= {f"other/part_{number}.py": "print(1)\n" for number in range(4)}
    assert _only(tmp_path, files | more, "missing-zero-grad").severity == severity


@pytest.mark.parametrize(("last", "severity"), [("print(loss)", "warning"), ("print(losses)", "note")])
def test_the_rounds_of_a_loop_stop_what_is_told_of_it(last: str, severity: str, tmp_path: Path) -> None:
    program = f"""
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler

    class Search:
        def __init__(self, model, data):
            torch.distributed.init_process_group("nccl")
            self.model = torch.nn.parallel.DistributedDataParallel(model)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))

        def main(self):
            for epoch in range(90):
                self.epoch(epoch)

        def epoch(self, epoch):
            for x, y in self.loader:
                loss = torch.nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                {last}

    if __name__ == "__main__":
        Search(torch.nn.Linear(2, 2), [(torch.zeros(2), 0)] * 64).main()
    """
    found = _only(tmp_path, {"train.py": dedent(program)}, "missing-set-epoch")
    assert found.severity == severity
    assert ("losses is bound nowhere" in found.message) == (severity == "note")


@pytest.mark.parametrize(
    ("returned", "kept", "severity"),
    [
        ("return total / 9", "self.losses.append(self.round())", "warning"),
        ("total = total / 9\n        return total, 1", "one, _ = self.round(); self.losses.append(one)", "warning"),
        ("total = total.item()\n        return total", "self.losses.append(self.round())", "note"),
        ("return total / 9", "one = self.round(); self.losses.append(one.item())", "note"),
        ("return total, 1", "_, one = self.round(); self.losses.append(one)", "note"),
        ("return total / 9", "losses = []; losses.append(self.round())", "note"),
    ],
)
def test_what_the_caller_keeps_lasts(returned: str, kept: str, severity: str, tmp_path: Path) -> None:
    program = """
    import torch

    class Trainer:
        def __init__(self, model, loader):
            self.model, self.loader, self.losses = model, loader, []
            self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def round(self):
            total = 0
            for x in self.loader:
                self.optimizer.zero_grad()
                loss = self.model(x).mean()
                loss.backward()
                self.optimizer.step()
                total += loss
            RETURNED

        def fit(self):
            for epoch in range(90):
                KEPT
    """
    text = dedent(program).replace("RETURNED", returned).replace("KEPT", kept)
    assert _only(tmp_path, {"train.py": text}, "loss-kept-with-graph").severity == severity


def test_files_that_import_everything_of_the_next_are_followed_to_a_bound(tmp_path: Path) -> None:
    files = {f"part{n}.py": f"from part{n + 1} import *\n" for n in range(400)}
    program = _program("x = x.to(device)").replace("from data import", "from part0 import *\nfrom data import")
    found = _only(tmp_path, {**files, "train.py": program, "data.py": DATA}, "missing-zero-grad")
    assert "cannot run" not in found.message
