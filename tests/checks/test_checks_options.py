"""Settings that decide whether a fault is reached: fields, tables, parameters and switches that are off by default."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from test_checks_said import written_to
from trainsleuth.checks import run_checks

pytestmark = pytest.mark.usefixtures("right_so_far")

LOOP = dedent(
    """
    import torch
    from settings import Settings, LoudSettings, table

    def train(model, loader, settings: Settings, clip: float = 0.0):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            optimizer.zero_grad()
            if TEST:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            model(x).mean().backward()
            optimizer.step()
    """
)
SETTINGS = dedent(
    """
    from dataclasses import dataclass, field

    @dataclass
    class Settings:
        clip: float = field(default=None, metadata={"help": "1.0 is good"})
        ema: bool = True
        amp = False

    class LoudSettings:
        clip: float = 1.0

    table = {"warm": 5, "mode": "plain"}
    """
)


SECTIONED = dedent(
    """
    import argparse
    import configparser
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    args = parser.parse_args()
    sections = configparser.ConfigParser()
    sections.read(args.config)
    args.norm = sections.getfloat("train", "norm")
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load("data.pt"):
        optimizer.zero_grad()
        if args.norm != 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.norm)
        model(x).mean().backward()
        optimizer.step()
    """
)


LAUNCHED = dedent(
    """
    import argparse
    from settings import Settings
    from train import train

    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", default="none")
    args, settings = parser.parse_args(), Settings()
    if args.launcher == "none":
        settings.amp = False
    else:
        settings.amp = True
    train(None, None, settings)
    """
)


@pytest.mark.parametrize(
    ("test", "files", "severity"),
    [
        ("settings.clip", {}, "note"),
        ("settings.clip is not None", {}, "note"),
        ("settings.clip is None", {}, "error"),
        ("settings.amp", {}, "note"),
        ("not settings.ema", {}, "note"),
        ("settings.ema", {}, "error"),
        (
            "not settings.ema",
            {
                "run.py": "from settings import Settings\nfrom train import train\n\ntrain(None, None, Settings(ema=False))\n"
            },
            "error",
        ),
        (
            "settings.clip",
            {
                "run.py": "from settings import Settings\nfrom train import train\n\ntrain(None, None, Settings(clip=5.0))\n"
            },
            "error",
        ),
        ("settings.clip", {"run.py": "def start(args):\n    return dict(clip=args.clip)\n"}, "note"),
        (
            "settings.amp",
            {
                "other.py": "from settings import Settings\n\nif __name__ == '__main__':\n    one = Settings()\n    one.amp = True\n"
            },
            "note",
        ),
        (
            "settings.amp",
            {
                "other.py": "from settings import Settings\n\nif __name__ == '__main__':\n    one = Settings()\n    one.amp = True\n".replace(
                    "__main__", "other"
                )
                + "import train\n\ntrain.train(None, None, None)\n"
            },
            "error",
        ),
        (
            "settings.amp",
            {
                "other.py": "import train\n"
                + "from settings import Settings\n\nif __name__ == '__main__':\n    one = Settings()\n    one.amp = True\n    train.train(None, None, one)\n"
            },
            "error",
        ),
        ("settings.amp", {"run.py": LAUNCHED}, "note"),
        ("settings.amp", {"run.py": LAUNCHED, "run.sh": "python run.py --launcher slurm\n"}, "error"),
        ("settings.clip", {"conf/big.yaml": "clip: 0.5\n"}, "error"),
        ("args.norm != 0", {"train.py": SECTIONED, "conf/small.ini": "[train]\nnorm = 0\n"}, "note"),
        ("args.norm != 0", {"train.py": SECTIONED, "conf/small.ini": "[train]\nnorm = 0.5\n"}, "error"),
        ("table['warm'] > 2", {}, "error"),
        ("table['warm'] > 9", {}, "note"),
        ("table['mode'] == 'clipped'", {}, "note"),
        ("table['many']", {"run.py": "from train import train\n\nmany = False\nmore = {'many': many}\n"}, "note"),
        ("table['many']", {"run.py": "from train import train\n\nmany = ask()\nmore = {'many': many}\n"}, "error"),
        ("table.get('mode') == 'plain'", {}, "error"),
        ("getattr(settings, 'amp', False)", {}, "note"),
        ("clip > 0", {}, "note"),
        ("clip > 0", {"run.py": "from train import train\n\ntrain(None, None, None, 1.0)\n"}, "error"),
        ("clip > 0", {"run.py": "from train import train\n\ntrain(None, None, None, clip=2)\n"}, "error"),
        ("clip > 0", {"run.py": "from train import train\n\ntrain(None, None, None)\n"}, "note"),
        (
            "clip > 0",
            {"run.py": "from options import given\nfrom train import train\n\ntrain(None, None, **given)\n"},
            "error",
        ),
    ],
)
def test_what_is_off_where_nothing_is_given_asks(
    test: str, files: dict[str, str], severity: str, tmp_path: Path
) -> None:
    written = {"train.py": LOOP.replace("TEST", test), "settings.py": SETTINGS, **files}
    report = run_checks(written_to(tmp_path, written), only=["misplaced-clipping"])
    assert report.findings[0].severity == severity
    assert ("not so by default" in report.findings[0].message) is (severity == "note")


PROGRAM = dedent(
    """
    import torch
    from parsing import parsed

    args = parsed()
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load(args.data):
        optimizer.zero_grad()
        if args.clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        model(x).mean().backward()
        optimizer.step()
    """
)
PARSER = dedent(
    """
    import argparse

    def parsed():
        parser = argparse.ArgumentParser()
        parser.add_argument("--data")
        parser.add_argument("--clip", type=float, default=0.)
        return parser.parse_args()
    """
)


@pytest.mark.parametrize(
    ("readme", "severity"),
    [
        ("python old.py --data x --clip 5", "error"),
        ("python new.py --data x \\\n  --clip 5", "note"),
        ("Write --clip 5 to clip.", "error"),
        ("python -m tools.elsewhere --clip 5", "error"),
        ("python old.py --data x\n\npython new.py --clip 5", "note"),
    ],
)
def test_a_command_gives_an_option_to_the_program_that_it_starts(readme: str, severity: str, tmp_path: Path) -> None:
    other = PARSER.replace("0.", "5.")
    new = PROGRAM.replace("parsing", "later").replace("        if args", "        ahead = 1\n        if args")
    new = new.replace("model(x).mean().backward()\n    optimizer", "optimizer")
    written = {"old.py": PROGRAM, "parsing.py": PARSER, "new.py": new, "later.py": other, "README.md": readme}
    report = run_checks(written_to(tmp_path, written), only=["misplaced-clipping"])
    (finding,) = (one for one in report.findings if one.outcome == "fail" and one.path == "old.py")
    assert finding.severity == severity


SCALED = dedent(
    """
    import argparse
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--no-amp", action="store_true")
    args = parser.parse_args()

    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        dtype = "bfloat16"
        scaler = SCALER
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    """
)


@pytest.mark.parametrize(
    ("scaler", "severity"),
    [
        ("torch.cuda.amp.GradScaler()", "error"),
        ("torch.cuda.amp.GradScaler(enabled=args.amp)", "note"),
        ("torch.cuda.amp.GradScaler(enabled=not args.no_amp)", "error"),
        ("torch.amp.GradScaler('cuda', enabled=not args.no_amp)", "error"),
        ("torch.cuda.amp.GradScaler(enabled=(dtype == 'float16'))", "note"),
        ("torch.cuda.amp.GradScaler(enabled=(dtype == 'bfloat16'))", "error"),
        ("torch.cuda.amp.GradScaler() if args.amp else None", "note"),
    ],
)
def test_a_scaler_that_is_switched_off_by_default_asks(scaler: str, severity: str, tmp_path: Path) -> None:
    written = {"train.py": SCALED.replace("SCALER", scaler)}
    report = run_checks(written_to(tmp_path, written), only=["clip-without-unscale"])
    assert report.findings[0].severity == severity


ROUNDS = """
import torch
HEAD

def fit(model, loader, SIGNATURE):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        if ASKED: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        model(x).mean().backward()
        optimizer.step()

TAIL
"""
FORMS = {
    "class of constants": {"HEAD": "class CFG:\n    clip = OFF", "ASKED": "CFG.clip"},
    "table of another file": {"HEAD": "from tables import config", "ASKED": "config['clip']"},
    "module of constants": {"HEAD": "import constants", "ASKED": "constants.CLIP"},
    "absl": {"HEAD": "from absl import flags\nflags.DEFINE_float('clip', OFF, '')", "ASKED": "flags.FLAGS.clip"},
    "click": {
        "HEAD": "import click\n@click.command()\n@click.option('--clip', default=OFF)",
        "SIGNATURE": "clip",
        "ASKED": "clip",
    },
    "sacred": {
        "HEAD": "import sacred\nex = sacred.Experiment('clip')\n@ex.config\ndef config():\n    clip = OFF\n\n@ex.automain",
        "SIGNATURE": "clip",
        "ASKED": "clip",
    },
    "yacs": {"HEAD": "from yacs.config import CfgNode\ncfg = CfgNode()\ncfg.CLIP = OFF", "ASKED": "cfg.CLIP"},
    "hydra": {"SIGNATURE": "cfg", "ASKED": "cfg.train.clip"},
    "under another name": {
        "HEAD": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--clip', default=OFF)\n"
        "args = parser.parse_args()\nlimit = args.clip",
        "ASKED": "limit",
    },
    "given to all calls": {"SIGNATURE": "clip", "ASKED": "clip", "TAIL": "fit(None, [], OFF)\nfit(None, [], clip=OFF)"},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", ["0", "0.5"])
def test_settings_of_many_forms_are_off_or_on(form: str, value: str, tmp_path: Path) -> None:
    parts = {"HEAD": "", "SIGNATURE": "*rest", "TAIL": "", **FORMS[form]}
    program = ROUNDS
    if form == "sacred":
        program = program.replace("HEAD\n\ndef fit", "HEAD\ndef fit")
    for word, text in parts.items():
        program = program.replace(word, text)
    if form == "click":
        head = parts["HEAD"].replace("import click\n", "")
        program = (
            program.replace(head, "")
            .replace("def fit", f"{head}\ndef fit")
            .replace("import torch", "import torch, click")
        )
    written = {
        "train.py": program,
        "tables.py": "config = {'rate': 1, 'clip': OFF}\n" if "table" in form else "",
        "constants.py": "CLIP = OFF\n" if "module" in form else "",
        "conf/train.yaml": "train:\n  clip: OFF\n" if form == "hydra" else "",
    }
    repository = written_to(tmp_path, {name: text.replace("OFF", value) for name, text in written.items()})
    report = run_checks(repository, only=["misplaced-clipping"])
    assert report.findings[0].severity == ("note" if value == "0" else "error")


KINDS = """
import torch
from enum import Enum

class Kind(Enum):
    PLAIN = "plain"
    CUT = "cut"

def fit(model, loader, kind: Kind = Kind.PLAIN):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        if kind == Kind.CUT:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        model(x).mean().backward()
        optimizer.step()

"""


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("fit(1, [])", "note"),
        ("fit(1, [], Kind.PLAIN)", "note"),
        ("fit(1, [])\nfit(1, [], kind=Kind.CUT)", "error"),
        ("for kind in Kind:\n    fit(1, [], kind)", "error"),
        ("fit(1, [], Kind(input()))", "error"),
        ("from data import given\nfit(1, [], **given)", "error"),
    ],
)
def test_a_member_of_an_enumeration_that_no_call_gives(call: str, severity: str, tmp_path: Path) -> None:
    report = run_checks(written_to(tmp_path, {"train.py": f"{KINDS}{call}\n"}), only=["misplaced-clipping"])
    assert report.findings[0].severity == severity, report.findings[0].message


SQUASHED = """
import argparse
import torch
from torch import nn
from losses import Plain, Squashed

class Net(nn.Module):
    def __init__(self, kind="plain"):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        if kind == "squashed":
            self.loss = Squashed()
        else:
            self.loss = Plain()

    def forward(self, x):
        return torch.sigmoid(self.layer(x))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="DEFAULT")
    args = parser.parse_args()
    net = Net(kind=args.kind)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in []:
        optimizer.zero_grad()
        net.loss(net(x), y).backward()
        optimizer.step()
"""
LOSSES = """
from torch import nn

class Squashed(nn.Module):
    def __init__(self):
        super(Squashed, self).__init__()

    def forward(self, x, y):
        return nn.functional.cross_entropy(x, y)

class Plain(nn.Module):
    def forward(self, x, y):
        return nn.functional.binary_cross_entropy(x, y)
"""


@pytest.mark.parametrize(
    ("default", "more", "severity"),
    [
        ("plain", {}, "note"),
        ("squashed", {}, "error"),
        ("plain", {"run.sh": "python train.py --kind squashed\n"}, "error"),
        ("plain", {"table.py": "from losses import Squashed\n\nBY_NAME = {'squashed': Squashed}\n"}, "error"),
    ],
)
def test_a_class_that_only_an_option_makes_which_nobody_gives(
    default: str, more: dict[str, str], severity: str, tmp_path: Path
) -> None:
    files = {"train.py": SQUASHED.replace("DEFAULT", default), "losses.py": LOSSES, **more}
    report = run_checks(written_to(tmp_path, files), only=["double-softmax"])
    assert report.findings[0].severity == severity, report.findings[0].message


CHOSEN = """
import argparse
import torch
from fitting import fit_all, fit_one

def fitted(model, data, how="all"):
    if how == "all":
        fit = fit_all
    else:
        fit = fit_one
    return fit(model, data)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", action="store_true")
    args = parser.parse_args()
    model, data = torch.nn.Linear(2, 2), torch.ones(4, 2)
    if args.one:
        fit_one(model, data)
    else:
        fitted(model, data)
"""
FITTING = """
import torch

def fit_all(model, data):
    return model

def fit_one(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in data:
        model(x).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("edit", "readme", "severity"),
    [
        (("", ""), "python train.py\n", "note"),
        (("", ""), "python train.py --one\n", "error"),
        (('how="all"', 'how="one"'), "python train.py\n", "error"),
        (("fitted(model, data)\n", "fitted(model, data, 'one')\n"), "python train.py\n", "error"),
        (("if args.one", "table = {'one': fit_one}\n    if args.one"), "python train.py\n", "error"),
    ],
)
def test_a_function_that_only_an_option_uses_which_nobody_gives(
    edit: tuple[str, str], readme: str, severity: str, tmp_path: Path
) -> None:
    files = {"train.py": CHOSEN.replace(*edit) if edit[0] else CHOSEN, "fitting.py": FITTING, "README.md": readme}
    report = run_checks(written_to(tmp_path, files), only=["missing-zero-grad"])
    assert report.findings[0].severity == severity, report.findings[0].message


LISTED = """
from torch import nn

class Net(nn.Module):
    def __init__(self, params):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.is_normed = params["norm"]
        self.norms = []
        if self.is_normed:
            for layer in self.layers:
                self.norms.append(nn.LayerNorm(2))

    def forward(self, x):
        for place, layer in enumerate(self.layers):
            if self.is_normed:
                x = self.norms[place](x)
            x = layer(x)
        return x
"""
STARTED = """
import torch
from models import Net

net = Net({"norm": NORM})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in []:
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
"""


@pytest.mark.usefixtures("right_so_far")
def test_a_table_of_another_program_gives_nothing(tmp_path: Path) -> None:
    files = {f"{name}/models.py": LISTED for name in ("on", "off")}
    files |= {"on/main.py": STARTED.replace("NORM", "True"), "off/main.py": STARTED.replace("NORM", "False")}
    report = run_checks(written_to(tmp_path, files), only=["plain-list-submodules"])
    said = {finding.path: finding.severity for finding in report.findings if finding.outcome == "fail"}
    assert said == {"on/models.py": "error", "off/models.py": "note"}


PICKED = dedent(
    """
    import argparse
    import torch
    from torch import nn

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return self.layer(x).softmax(dim=1)

        def loss(self, x, y):
            return nn.functional.cross_entropy(self(x), y)

    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="wide", choices=["wide", "plain"])
    args = parser.parse_args()
    if args.kind == "plain":
        net = Plain()
    else:
        net = later.Wide()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in later.loader:
        optimizer.zero_grad()
        net.loss(x, y).backward()
        optimizer.step()
    """
)
OTHER_PROGRAM = "class Graph:\n    def __init__(self, kind):\n        self.kind = kind.lower()\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"graph.py": OTHER_PROGRAM}, "note"),
        ({"graph.py": OTHER_PROGRAM, "run.sh": "python train.py --kind plain\n"}, "error"),
        ({"graph.py": OTHER_PROGRAM, "both.py": "import graph\nimport train\n"}, "error"),
    ],
)
def test_what_another_program_sets_gives_no_option_here(files: dict[str, str], severity: str, tmp_path: Path) -> None:
    source = PICKED.replace("import torch\n", "import later\nimport torch\n", 1)
    report = run_checks(written_to(tmp_path, {"train.py": source, **files}), only=["double-softmax"])
    [found] = [one for one in report.findings if one.outcome == "fail"]
    assert found.severity == severity, found.message
