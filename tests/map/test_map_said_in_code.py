"""Places that a reader of any training code looks for, marked in small programs: `#: part part` on a line says where it belongs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from map_depth import write
from trainsleuth.map import Map, map_repository

_MARK = re.compile(r"#:((?: \w+)+)$|<!--:((?: \w+)+) -->$")


def _marked(files: Mapping[str, str]) -> set[tuple[str, str, int]]:
    """(part, path, line) of every mark."""
    return {
        (part, path, number)
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if (mark := _MARK.search(line))
        for part in (mark[1] or mark[2]).split()
    }


def _shown(made: Map) -> set[tuple[str, str, int]]:
    return {(name, place.path, place.line) for name, part in made.components.items() for place in part.places}


def _check(files: dict[str, str], root: Path, recipe: str | None = None, scope: str | None = "train.py") -> Map:
    made = map_repository(write(files, root), scope=scope, recipe=recipe, budget=8000)
    assert _marked(files) - _shown(made) == set()
    return made


FACES = {
    "README.md": "# Faces\n\n    python train.py\n\n## Evaluation\n\n    python test_faces.py --weights w.pt <!--: evaluation -->\n"
    "    python train.py --split val --eval 1 <!--: evaluation -->\n",
    "net.py": "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.one = torch.nn.Linear(2, 1)\n\n"
    "    def forward(self, x):\n        return self.one(x)\n",
    "train.py": """import argparse
import torch
from net import Net


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--split', default='train')
    parser.add_argument('--eval', type=int, default=0)
    args = parser.parse_args()
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(10):
        loss = net(torch.ones(1, 2)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step() #: optimizer_scheduler training_loop


if __name__ == '__main__':
    main()
""",
    "test_faces.py": """import torch
from measures import compute_errors
from net import Net


def load_model(net, path):
    net.load_state_dict(torch.load(path)) #: evaluation
    return net


if __name__ == '__main__': #: evaluation
    net = load_model(Net(), 'w.pt')
    net.eval() #: evaluation
    for image in [torch.ones(1, 2)]: #: evaluation
        out = net(image) #: evaluation
        print(compute_errors(out)) #: evaluation
""",
    "measures.py": "def compute_errors(out): #: evaluation\n    return out.abs().mean()\n",
    "test_units.py": "import pytest\nimport torch\nfrom net import Net\n\n\ndef test_it():\n    net = Net()\n    net.eval()\n    assert net(torch.ones(1, 2)).shape\n",
}


def test_a_program_that_a_readme_starts_to_evaluate_is_shown_whatever_it_is_called(tmp_path: Path) -> None:
    made = _check(FACES, tmp_path)
    assert "test_units.py" not in {place.path for place in made.components["evaluation"].places}


PARTS = {
    "train.py": """import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.cuda.amp import GradScaler
from kit import Buffer, Corpus, Matcher, Net, Normalize, PSNR, Trainer, load_options


def work(rank, opt): #: entry_point
    dist.init_process_group('gloo', rank=rank) #: entry_point
    opt.lr = opt.lr * 2 #: config
    opt.merge_from_list(['a', 'b']) #: config
    opt.save_dir = os.path.join(opt.out, 'weights') #: checkpointing
    trainer = Trainer(opt, Corpus(Normalize()), Net(), Matcher(), Buffer(), PSNR()) #: entry_point
    trainer.fit()


if __name__ == '__main__':
    mp.spawn(work, args=(load_options(),), nprocs=2) #: entry_point
""",
    "kit.py": """import numpy as np
import matplotlib.pyplot as plt
import torch
from torch.cuda.amp import GradScaler


def load_options():
    return torch.load('options.pt')


class Normalize: #: data
    def __call__(self, x): #: data
        return x / 255


class Corpus(torch.utils.data.Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.transform(self.read_one(index))

    def read_one(self, index): #: data
        name = f'{index}.npy'
        found = np.load(name) #: data
        return found


class Buffer:
    def __init__(self):
        self.kept = []

    def push(self, one): #: data
        self.kept.append(one)


class Matcher(torch.nn.Module): #: loss
    def forward(self, out, target):
        return out, target


class PSNR(torch.nn.Module): #: evaluation
    def forward(self, out, target):
        return (out - target).square().mean().log10()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(2, 2)
        self.two = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.two(self.features(x))

    def features(self, x): #: model
        x = self.one(x)
        x = x.relu()
        x = x * 2
        return x

    def decide(self, x): #: model
        x = self(x)
        x = x.softmax(-1)
        return x.argmax(-1)


class Trainer:
    def __init__(self, opt, corpus, net, matcher, buffer, psnr):
        self.opt, self.corpus, self.net, self.matcher, self.buffer, self.psnr = opt, corpus, net, matcher, buffer, psnr
        self.scaler = GradScaler() #: optimizer_scheduler
        groups = [{'params': net.one.parameters(), 'lr': 0.1}, {'params': net.two.parameters()}] #: optimizer_scheduler
        self.optimizer = torch.optim.Adam(groups)
        self.losses = []

    def fit(self):
        for epoch in range(3):
            for x in torch.utils.data.DataLoader(self.corpus):
                self.optimizer.zero_grad()
                out, target = self.matcher(self.net(x), x)
                loss = torch.nn.functional.mse_loss(out, target)
                loss.backward()
                self.optimizer.step()
                self.losses.append(loss.item()) #: logging
            self.buffer.push(self.net.decide(x))
            self.validate(x) #: training_loop evaluation
            plt.savefig('losses.png') #: logging
            self.save()

    def validate(self, x):
        with torch.no_grad():
            return self.psnr(self.net(x), x)

    def save(self):
        torch.save(self.net.state_dict(), self.opt.save_dir)

    def load(self, path): #: checkpointing
        self.net.load_state_dict(torch.load(path))
""",
}


def test_what_is_made_handed_on_kept_and_measured_is_shown(tmp_path: Path) -> None:
    _check(PARTS, tmp_path)


KEPT = {
    "train.py": """import torch
from models.small import build
from data.faces import build as build_data


def load_checkpoint(path, net): #: checkpointing
    net.load_state_dict(torch.load(path)) #: checkpointing


class Trainer:
    def __init__(self, net, loader, coco_evaluator):
        self.net, self.loader, self.coco_evaluator, self.best_loss, self.losses = net, loader, coco_evaluator, 9.0, {}
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(self):
        for x, advantage in self.loader:
            ratio = torch.exp(advantage) #: loss
            output = self.net(x)
            surrogate = ratio * output #: loss
            loss = torch.nn.functional.mse_loss(surrogate, advantage)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.losses['mean'] = loss.item() #: logging
        found = self.evaluate()
        if found < self.best_loss: #: checkpointing
            self._snapshot() #: checkpointing

    def evaluate(self):
        self.net.eval()
        with torch.no_grad():
            for x, y in self.loader:
                self.coco_evaluator.update(self.net(x)) #: evaluation
        return 1.0

    def _snapshot(self): #: checkpointing
        torch.save(self.net.state_dict(), 'best.pt')


if __name__ == '__main__':
    Trainer(build(), build_data(), None).fit()
""",
    "models/small.py": """import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x


def build(): #: model
    return Net()
""",
    "data/faces.py": "def build(): #: data\n    return [(1, 2)]\n",
}


def test_what_is_best_and_what_is_gathered_is_shown(tmp_path: Path) -> None:
    _check(KEPT, tmp_path)


PRETRAINED = {
    "train.py": """import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


def main():
    tokenizer = AutoTokenizer.from_pretrained('small') #: model
    model = AutoModelForCausalLM.from_pretrained('small')
    model.resize_token_embeddings(len(tokenizer)) #: model
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in DataLoader([1, 2, 3]):
        loss = model(batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    main()
""",
}


def test_what_a_pretrained_model_comes_with_is_part_of_it(tmp_path: Path) -> None:
    _check(PRETRAINED, tmp_path)


def test_a_library_that_is_installed_from_a_copy_here_is_read_where_it_lies(tmp_path: Path) -> None:
    files = {
        "train.py": PRETRAINED["train.py"].replace(" #: model", "").replace("AutoModelForCausalLM", "MarkedModel"),
        "transformers/src/transformers/__init__.py": "from .marked import AutoTokenizer, MarkedModel\n",
        "transformers/src/transformers/marked.py": """import torch


class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, name):
        return cls()


class MarkedModel(torch.nn.Module): #: model
    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def forward(self, x): #: model
        return x
""",
    }
    _check(files, tmp_path)


DRIVEN = {
    "train.py": """from agent import Agent

if __name__ == '__main__':
    Agent().train()
""",
    "agent.py": """from algorithm import Algorithm
from driver import QuickDriver as Driver


class Agent:
    def train(self, algorithm_class=Algorithm, driver_class=Driver):
        trainer = algorithm_class()
        driver = driver_class(trainer)
        driver.run()
""",
    "driver.py": """class BaseDriver:
    def __init__(self, trainer):
        self.trainer = trainer

    def run(self):
        for episode in range(10): #: training_loop
            self.inner()


class QuickDriver(BaseDriver):
    def inner(self):
        self.trainer.train() #: training_loop
""",
    "algorithm.py": """import torch


class Algorithm:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)
        self.opt = torch.optim.Adam(self.net.parameters())
        self.parts = [self.update]

    def train(self):
        for part in self.parts:
            part()

    def update(self):
        loss = self.net(torch.ones(1, 2)).mean()
        self.opt.zero_grad()
        loss.backward() #: training_loop
        self.opt.step()
""",
}


def test_classes_that_parameters_have_by_default_and_methods_in_a_list_are_called(tmp_path: Path) -> None:
    _check(DRIVEN, tmp_path)


SELF_TAKEN = "\n".join(f"        batch['k{n}'] = batch['k{n}'].cuda()" for n in range(12))
MOVED = f"""import torch


def main(loader):
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in loader:
{SELF_TAKEN}
        loss = net(batch['k0'].flatten()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == '__main__':
    main([])
"""


def test_items_that_are_put_back_where_they_were_do_not_ask_each_other(tmp_path: Path) -> None:
    """Twelve of them would ask 12 ** 6 times: this ends, or never does."""
    assert map_repository(write({"train.py": MOVED}, tmp_path)).trains


SECTIONS = """import argparse
import importlib
import yaml


def make(section):
    module, _, name = section['path'].rpartition('.')
    return getattr(importlib.import_module(module), name)(**section.get('args', {}))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('-c', '--config')
    settings = yaml.safe_load(open(parser.parse_args().config))
    trainer = make(settings['trainer'])
    trainer.train()
"""
WORKER = """import torch


class Trainer:
    def train(self):
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3): #: training_loop
            loss = net(torch.ones(1, 2)).mean()
            opt.zero_grad()
            loss.backward() #: training_loop
            opt.step()
"""


def test_a_class_that_settings_name_is_found_beside_them(tmp_path: Path) -> None:
    files = {
        "app/train.py": SECTIONS,
        "app/work.py": WORKER,
        "app/small.yaml": "trainer:\n  path: work.Trainer\n",
        "other/work.py": WORKER.replace(" #: training_loop", ""),
    }
    _check(files, tmp_path, "python app/train.py -c app/small.yaml", scope="app/train.py")


TARGETS = """import hydra
import torch
from hydra.utils import instantiate


@hydra.main(config_path='../cfgs', config_name='small')
def main(cfg):
    net = instantiate(cfg.net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = net(torch.ones(1, 2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == '__main__':
    main()
"""


def test_a_target_is_found_in_the_folder_of_the_program(tmp_path: Path) -> None:
    files = {
        "app/train.py": TARGETS,
        "app/nets/__init__.py": "from .small import Net\n",
        "app/nets/small.py": "import torch\n\n\nclass Net(torch.nn.Module): #: model\n    def forward(self, x): #: model\n        return x\n",
        "cfgs/small.yaml": "net:\n  _target_: nets.Net #: model\n",
    }
    _check(files, tmp_path, "cd app && python train.py", scope="app/train.py")


OPTIONS = """import argparse
import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default='')
    parser.add_argument('--lr', type=float, default=0.1)
    args = parser.parse_args()
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr)
    for _ in range(3):
        opt.zero_grad()
        net(torch.ones(1, 2)).mean().backward()
        opt.step()


if __name__ == '__main__':
    main()
"""


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("python tool/train.py --config configs/Big_net.yaml", ("tools/train.py", "configs/Big-net.yaml")),
        ("python tools/Train.py", ("tools/train.py",)),
        ("python tools/train.py --config gone/other.yaml", ()),
        ("python tools/train.py --config configs/Big-net.yaml", ()),
    ],
)
def test_files_that_a_command_misspells_are_found_and_said(asked: str, taken: tuple[str, ...], tmp_path: Path) -> None:
    root = write({"tools/train.py": OPTIONS, "configs/Big-net.yaml": "lr: 0.2\n"}, tmp_path)
    made = map_repository(root, recipe=asked)
    assert made.entry == "tools/train.py"
    said = [one for one in made.unresolved if "is taken for it" in one]
    assert len(said) == len(taken) and all(path in one for path, one in zip(taken, said, strict=True))


def test_a_script_is_found_by_its_name_in_the_folder_that_has_it(tmp_path: Path) -> None:
    files = {"kit/train.py": OPTIONS, "kit/scripts/train_small.sh": "cd ..\npython train.py --lr 0.6\n"}
    made = map_repository(write(files, tmp_path), recipe="./train_small.sh")
    assert made.entry == "kit/train.py" and "--lr 0.6" in made.text


def test_a_launcher_that_fills_a_template_gives_the_options_of_the_program_it_starts(tmp_path: Path) -> None:
    launcher = (
        "import argparse\nimport os\n\n\ndef parse_args():\n    return argparse.ArgumentParser().parse_args()\n\n\n"
        'args = parse_args()\nos.system(f"python train.py \\\n--config small \\\n--lr 0.7 \\\n--rank {args.rank}")\n'
    )
    files = {"train.py": OPTIONS, "exps/small.py": launcher}
    made = map_repository(write(files, tmp_path), scope="train.py", recipe="python exps/small.py")
    assert "--lr 0.7" in made.text


@pytest.mark.parametrize("made", ["Maker", "make"])
def test_a_name_that_is_joined_for_eval_is_that_of_a_class_or_of_what_makes_it(made: str, tmp_path: Path) -> None:
    files = {
        "train.py": OPTIONS.replace("import torch\n", "import torch\nimport nets.big\nimport nets.tiny\n")
        .replace("'--config', default=''", "'--net', default='tiny'")
        .replace("torch.nn.Linear(2, 1)", f"eval('nets.' + args.net + '.{made}')()"),
        "nets/__init__.py": "",
        **{
            f"nets/{name}.py": f"import torch\n\n\nclass Maker(torch.nn.Module): #: {mark}\n    def forward(self, x):\n        return x\n"
            "\n\ndef make(width=2):\n    return Maker()\n"
            for name, mark in (("big", "model"), ("tiny", "none"))
        },
    }
    files["nets/tiny.py"] = files["nets/tiny.py"].replace(" #: none", "")
    _check(files, tmp_path, "python train.py --net big")
