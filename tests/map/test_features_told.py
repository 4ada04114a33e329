"""What is said of a feature of the training step: found, off by a setting, or set and not seen to be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import expand_component, map_repository

TIMM = """import argparse

import torch
from apex import amp
from timm.utils import NativeScaler

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true", default=False)
parser.add_argument("--apex-amp", action="store_true", default=False)
parser.add_argument("--native-amp", action="store_true", default=False)
parser.add_argument("--clip-grad", type=float, default=None)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
if args.amp:
    args.native_amp = True
use_amp = None
if args.apex_amp:
    use_amp = "apex"
elif args.native_amp:
    use_amp = "native"
if args.seed != 0:
    torch.manual_seed(args.seed)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = None
if use_amp == "apex":
    net, opt = amp.initialize(net, opt, opt_level="O1")
elif use_amp == "native":
    scaler = NativeScaler()
for step in range(10):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    if scaler is not None:
        scaler(loss, opt, clip_grad=args.clip_grad, parameters=net.parameters())
    else:
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("given", "feature", "status", "said"),
    [
        ("", "mixed_precision", "absent", "off: "),
        ("--apex-amp", "mixed_precision", "found", ""),
        ("--amp", "mixed_precision", "found", ""),
        ("", "clipping", "absent", "off: clip_grad = None"),
        ("--native-amp --clip-grad 1.0", "clipping", "found", "on: clip_grad = 1.0"),
        ("", "seeds", "absent", "off: seed = 0 (train.py:12)"),
        ("--seed 3", "seeds", "found", ""),
    ],
)
def test_what_a_command_says(tmp_path: Path, given: str, feature: str, status: str, said: str) -> None:
    root = write({"train.py": TIMM}, tmp_path)
    part = map_repository(root, recipe=f"python train.py {given}".strip()).features[feature]
    assert (part.status, part.why.startswith(said)) == (status, True), part.why


def test_a_seed_that_nothing_sets(tmp_path: Path) -> None:
    text = TIMM.replace("if args.seed != 0:\n    torch.manual_seed(args.seed)\n", "print(args.seed)\n")
    part = map_repository(write({"train.py": text}, tmp_path), recipe="python train.py --seed 3").features["seeds"]
    said = "set: seed = 3 (given command); no call that does it is found in the code that the entry reaches"
    assert (part.status, part.why) == ("unresolved", said)


OPTIONS = "import argparse\nimport torch\n\n\ndef load():\n    return torch.load('a.pt')\n\n\n" + (
    "if __name__ == '__main__':\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--multi-gpu', action='store_true')\n    parser.add_argument('--output-dir', default='out')\n"
    "    parser.add_argument('--steps', default=7)\n    args = parser.parse_args()\n    print(args.output_dir, args.steps)\n"
)


def test_options_of_a_program_that_this_one_imports(tmp_path: Path) -> None:
    train = "from infer import load\n" + TIMM + "print(load(), args.output_dir, args.steps)\n"
    root = write({"train.py": train, "infer.py": OPTIONS}, tmp_path)
    made = map_repository(root, recipe="python train.py --seed 3")
    assert made.features["distribution"].why == "none found in the code that the entry reaches"
    text = expand_component(root, "config", recipe="python train.py --seed 3").text
    assert "infer.py" not in text and "seed = 3" in text


def test_a_test_that_always_holds_is_no_condition(tmp_path: Path) -> None:
    text = TIMM.replace(
        "for step in range(10):\n    loss", "for step in range(10):\n    if True:  # autocast\n        loss"
    )
    sheet = expand_component(write({"train.py": text}, tmp_path), "run", recipe="python train.py").text
    assert "loss = net(torch.ones(1, 2)).sum()" in sheet and "when True" not in sheet


HANDED = {
    "train.py": """import lightning as L
import torch
import yaml
from model import Net

cfg = yaml.safe_load(open("config.yaml"))
trainer_args = {"max_epochs": 3, "gradient_clip_val": cfg["net"]["clipping"]}
L.Trainer(**trainer_args).fit(Net(cfg["net"]["dtype"]), torch.utils.data.DataLoader([1], batch_size=1))
""",
    "model.py": """import lightning as L
import torch
from tools import get_checkpoint


class Net(L.LightningModule):
    def __init__(self, dtype):
        super().__init__()
        self.dtype_of_net = dtype
        self.net = torch.nn.Linear(2, 1)

    def training_step(self, batch, step):
        checkpoint = get_checkpoint()
        return checkpoint(self.net, *batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
""",
    "tools.py": "import torch\n\n\ndef get_checkpoint():\n    return torch.utils.checkpoint.checkpoint\n",
    "config.yaml": "net:\n  clipping: 2.5\n  dtype: bf16\n",
}


def test_what_a_trainer_is_handed_in_a_table_and_what_only_runs_again(tmp_path: Path) -> None:
    root = write(HANDED, tmp_path)
    sheet = expand_component(root, "run", scope="train.py", recipe="python train.py", budget=3000).text
    topics = {part.partition("\n")[0]: part for part in sheet.split("# ")}
    assert "gradient_clip_val" in topics["clipping"]
    assert "dtype=bf16" in topics["precision"]
    assert "checkpoint(self.net" not in topics.get("saved", "")


MOVED = """import torch

net, slow = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for q, k in zip({pairs}):
        {moves}
"""


@pytest.mark.parametrize(
    ("pairs", "moves", "status"),
    [
        ("net.parameters(), slow.parameters()", "k.data.mul_(0.9).add_(0.1 * q.detach().data)", "found"),
        ("net.parameters(), slow.parameters()", "k.data = 0.9 * k.data + 0.1 * q.data", "found"),
        ("net.parameters(), slow.parameters()", "k.data.copy_(0.9 * k.data + 0.1 * q.data)", "found"),
        ("net.parameters(), slow.parameters()", "k.data.copy_(q.data)", "absent"),
        ("gradients, averages", "k.mul_(0.9).add_(q, alpha=0.1)", "absent"),
    ],
)
def test_weights_averaged_in_the_loop_itself(tmp_path: Path, pairs: str, moves: str, status: str) -> None:
    write({"train.py": MOVED.format(pairs=pairs, moves=moves)}, tmp_path)
    ema = map_repository(tmp_path).features["ema"]
    assert (ema.status, [place.line for place in ema.places]) == (status, [11] if status == "found" else [])


SEEDED = """import random

import numpy as np
import torch

{seeds}
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("seeds", "lines"),
    [
        ("np.random.seed(1)\nrandom.seed(1)", [6, 7]),
        ("np.random.seed()", []),
        ("np.random.seed(np.random.get_state()[1][0] + 1)", []),
        ("own = torch.initial_seed() % 2**32\nrandom.seed(own)", []),
        ("rng = np.random.RandomState(1)\nrng.seed(1)", []),
        ("torch.Generator().manual_seed(1)", []),
    ],
)
def test_the_seeds_of_the_generators_of_the_program(tmp_path: Path, seeds: str, lines: list[int]) -> None:
    write({"train.py": SEEDED.format(seeds=seeds)}, tmp_path)
    assert [place.line for place in map_repository(tmp_path).features["seeds"].places] == lines


def test_what_a_module_loaded_by_a_name_seeds_when_it_is_imported(tmp_path: Path) -> None:
    way = SEEDED.format(seeds="torch.manual_seed(0)\n\n\ndef run():").replace("\n", "\n    ").rstrip(" ")
    way = (
        way.replace("    import", "import")
        .replace("    torch.manual_seed", "torch.manual_seed")
        .replace("    def", "def")
    )
    files = {
        "main.py": "from importlib import import_module\n\nname = open('which').read()\n"
        "import_module(f'ways.{name}').run()\n",
        "ways/first.py": way,
        "ways/second.py": f"{way}\n\nif __name__ == '__main__':\n    torch.cuda.manual_seed_all(0)\n",
        "README.md": "```\npython main.py\n```\n",
    }
    write(files, tmp_path)
    seeds = map_repository(tmp_path).features["seeds"].places
    assert [(place.path, place.line) for place in seeds] == [("ways/first.py", 6), ("ways/second.py", 6)]


SWITCHED = """import argparse

import torch
from torch.cuda import amp

parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true")
parser.add_argument("--again", action="store_true")
args = parser.parse_args()
net, net_ema = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def resume_from(path):
    if args.again:
        net.load_state_dict(torch.load(path)["net"])
        opt.load_state_dict(torch.load(path)["opt"])
    else:
        print("from the beginning")


SCALER
resume_from("a.pt")
net_ema.eval()
for step in range(10):
    with CONTEXT:
        loss = net(torch.ones(1, 2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("scaler", "context"),
    [
        ("scaler = amp.GradScaler(enabled=args.half)", "amp.autocast(args.half)"),
        ("scaler = None", "torch.autocast('cuda', enabled=args.half)"),
        (
            "scaler = None\nif args.half:\n    scaler = amp.GradScaler()",
            "torch.cuda.amp.autocast(enabled=scaler is not None)",
        ),
    ],
)
def test_what_is_called_and_does_nothing_is_off(tmp_path: Path, scaler: str, context: str) -> None:
    text = SWITCHED.replace("SCALER", scaler).replace("CONTEXT", context)
    root = write({"train.py": text}, tmp_path)
    off = map_repository(root, recipe="python train.py").features
    assert off["mixed_precision"].why.startswith("off: half = False")
    assert off["resume"].why.startswith("off: again = False")
    assert off["ema"].why == "none found in the code that the entry reaches"
    on = map_repository(root, recipe="python train.py --half --again").features
    assert on["mixed_precision"].status == on["resume"].status == "found"


def test_autocast_that_is_told_only_the_device_is_on(tmp_path: Path) -> None:
    text = SWITCHED.replace("SCALER", "scaler = None").replace("CONTEXT", "torch.autocast('cuda')")
    root = write({"train.py": text}, tmp_path)
    assert map_repository(root, recipe="python train.py").features["mixed_precision"].status == "found"


def test_a_seed_of_a_recipe_that_nothing_reads(tmp_path: Path) -> None:
    keys = ("rate", "width", "steps", "decay", "momentum", "damping", "nesterov", "best")
    reads = "".join(f"    {key} = config.{key}\n" for key in keys)
    program = (
        "import sys\n\nimport torch\nimport yaml\nfrom easydict import EasyDict\n\n\ndef main():\n"
        f"    config = EasyDict(yaml.safe_load(open(sys.argv[1])))\n{reads}    net = torch.nn.Linear(2, width)\n"
        "    opt = torch.optim.SGD(net.parameters(), lr=rate)\n"
        "    for step in range(steps):\n        loss = net(torch.ones(1, 2)).sum()\n        opt.zero_grad()\n"
        "        loss.backward()\n        opt.step()\n\n\nmain()\n"
    )
    (tmp_path / "small.yaml").write_text("seed: 7\n" + "".join(f"{key}: 1\n" for key in keys))
    (tmp_path / "train.py").write_text(program)
    seeds = map_repository(tmp_path, recipe="python train.py small.yaml").features["seeds"]
    assert not seeds.places and "seed = 7" in seeds.why and "no call that does it" in seeds.why
    (tmp_path / "train.py").write_text(program.replace("    net =", "    start(config.seed)\n    net ="))
    assert map_repository(tmp_path, recipe="python train.py small.yaml").features["seeds"].places


SHARDED = """import re

import torch
from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard

update_frequency = 8
pattern = re.compile("w.*")
net = torch.nn.Sequential(torch.nn.Linear(2, 1))
for block in net:
    COMPILED
    fully_shard(block, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100):
    opt.zero_grad()
    net(torch.ones(4, 2)).mean().backward()
    opt.step()
    if step % update_frequency == 0:
        print(step)
"""


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("block.compile(fullgraph=True)", "compile: train.py:10"),
        ("block.compile()", "compile: train.py:10"),
        ("pattern = pattern", "none found: accumulation, clipping, compile"),
    ],
)
def test_modules_compiled_in_place_and_the_precision_of_shards(tmp_path: Path, made: str, told: str) -> None:
    write({"train.py": SHARDED.replace("COMPILED", made)}, tmp_path)
    text = map_repository(tmp_path).text
    assert told in text and "mixed_precision: train.py:11" in text and "accumulation: " not in text, text


AT_ONCE = """import torch

net, slow = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(8, 4, 2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    ours, theirs = list(net.parameters()), list(slow.parameters())
    grads = [one.grad for one in ours]
    MOVES
"""


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        ("torch._foreach_mul_(theirs, 0.9); torch._foreach_add_(theirs, ours, alpha=0.1)", "ema: train.py:11"),
        ("torch._foreach_lerp_(theirs, ours, 0.1)", "ema: train.py:11"),
        ("torch._foreach_add_(theirs, ours, alpha=0.1)", "compile, ema, seeds"),
        ("torch._foreach_lerp_(theirs, grads, 0.1)", "compile, ema, seeds"),
    ],
)
def test_averages_that_are_moved_all_at_once(tmp_path: Path, moves: str, told: str) -> None:
    write({"train.py": AT_ONCE.replace("MOVES", moves)}, tmp_path)
    assert told in map_repository(tmp_path).text


SCALED = """import torch
from elsewhere.misc import NativeScaler

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_scaler = NativeScaler()
for x in torch.ones(8, 4, 2):
    optimizer.zero_grad()
    loss_scaler(net(x).mean(), GIVEN)
"""


@pytest.mark.parametrize(("given", "is_missed"), [("optimizer, parameters=net.parameters()", False), ("1.0", True)])
def test_what_goes_backward_and_is_given_the_optimizer_steps(tmp_path: Path, given: str, is_missed: bool) -> None:
    write({"train.py": SCALED.replace("GIVEN", given)}, tmp_path)
    assert ("no optimizer step was found" in map_repository(tmp_path).text) is is_missed


SPAWNED = """import torch
import torch.multiprocessing as mp


def init_seeds(seed):
    torch.manual_seed(seed)


def worker(rank):
    INSIDE
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.ones(8, 4, 2):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def main(alone=False):
    BEFORE
    if alone:
        torch.manual_seed(1)
        worker(0)
    else:
        mp.spawn(worker, nprocs=2)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("inside", "before", "is_told"),
    [
        ("print(rank)", "torch.manual_seed(0)", True),
        ("init_seeds(rank)", "torch.manual_seed(0)", False),
        ("print(rank)", "print('seeds are set in the other arm')", False),
    ],
)
def test_seeds_before_a_spawn(tmp_path: Path, inside: str, before: str, is_told: bool) -> None:
    write({"train.py": SPAWNED.replace("INSIDE", inside).replace("BEFORE", before)}, tmp_path)
    assert ("seeds are set before spawn" in map_repository(tmp_path).text) is is_told


LIGHTNING = (
    "import lightning as L\nimport torch\n\n\nclass Patience:\n    def __init__(self, strategy):\n        self.strategy = strategy\n\n\n"
    "class Net(L.LightningModule):\n    def __init__(self):\n        super().__init__()\n"
    "        self.head = torch.nn.Linear(2, 1)\n        self.patience = Patience(strategy='maximize')\n\n"
    "    def training_step(self, batch, at):\n        return self.head(batch).sum()\n\n"
    "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), lr=0.1)\n\n\n"
    "options = {'devices': torch.cuda.device_count()}\nGIVEN\nL.Trainer(**options).fit(Net())\n"
)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("", "absent"),
        ("if options['devices'] > 1:\n    options['strategy'] = 'ddp'", "found"),
        ("options.update({'strategy': 'fsdp'})", "found"),
        ("options.update({'strategy': 'minimize'})", "absent"),
    ],
)
def test_a_strategy_that_shares_no_work_is_no_distribution(tmp_path: Path, given: str, status: str) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING.replace("GIVEN", given))
    assert map_repository(tmp_path).features["distribution"].status == status


def test_weights_of_the_last_checkpoint_go_on_and_a_path_of_the_model_does_not_say_otherwise(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/run.yaml").write_text("model:\n  ckpt_path: null\n  width: 1\n")
    given = "import yaml\n\ncfg = yaml.safe_load(open('conf/run.yaml'))\nnet = Net()\n"
    (tmp_path / "train.py").write_text(LIGHTNING.replace("GIVEN", given))
    assert map_repository(tmp_path, recipe="conf/run.yaml").features["resume"].why.startswith("none found")
    last = "last = find_last_checkpoint('runs')\nif last is not None:\n    net = Net.load_from_checkpoint(last.as_posix())\n"
    (tmp_path / "train.py").write_text(LIGHTNING.replace("GIVEN", given + last))
    assert map_repository(tmp_path, recipe="conf/run.yaml").features["resume"].status == "found"


MOMENTUM = """import torch


class Turned(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    def step(self):
        for group in self.param_groups:
            grads = [one.grad for one in group["params"]]
            held = [self.state[one].setdefault("held", torch.zeros_like(one)) for one in group["params"]]
            g, buf = grads, held
            torch._foreach_lerp_(buf, g, 0.1)
            torch._foreach_add_(group["params"], buf, alpha=-0.1)


net = torch.nn.Linear(2, 1)
opt = Turned(net.parameters())
for x in torch.ones(8, 4, 2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
"""


def test_momentum_that_an_optimizer_moves_all_at_once_is_no_average_of_weights(tmp_path: Path) -> None:
    write({"train.py": MOMENTUM}, tmp_path)
    assert map_repository(tmp_path).features["ema"].status == "absent"
