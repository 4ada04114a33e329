"""Places that the map shows: constants of settings, lines of a command, what maps data, what a loss is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from map_depth import STEP, write
from trainsleuth.map import Map, map_repository


def _map(root: Path, files: Mapping[str, str], recipe: str | None = None) -> Map:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return map_repository(root, recipe=recipe)


def _files(made: Map, part: str) -> set[str]:
    return {place.path for place in made.components[part].places}


STEPPED = STEP.replace("\n", "\n    ")
TRAINS = f"def run(args=None):\n    net = torch.nn.Linear(2, 1)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1){STEPPED}\n"
GUARD = "\n\nif __name__ == '__main__':\n    main()\n"


def test_constants_of_a_file_of_settings_that_the_program_imports_are_its_configuration(tmp_path: Path) -> None:
    names = ("DATA_DIR = 'data'", "SEED = 3", "WIDTH = 4", "T1_EPOCHS = 30", "T1_LR = 0.5", "DEPTH = 2")
    train = TRAINS.replace("run(args=None)", "main(args=None)").replace("lr=0.1", "lr=config.T1_LR")
    files = {
        "train.py": f"import config\nimport torch\n\n\n{train}{GUARD}",
        "config.py": "import os\n\n" + "\n".join(names) + "\n",
        "old/config.py": "import os\n\n" + "\n".join(names) + "\n",
    }
    made = _map(tmp_path, files)
    shown = {(place.path, place.line) for place in made.components["config"].places}
    assert {("config.py", 3), ("config.py", 7)} <= shown and "old/config.py" not in _files(made, "config")


def test_of_modules_that_arms_import_under_one_name_each_may_be_meant(tmp_path: Path) -> None:
    trainer = TRAINS.replace("def run(args=None):", "class Trainer:\n    def train(self):").replace(
        "\n    ", "\n        "
    )
    files = {
        "train.py": "import argparse\n\nfrom jobs.pick import get\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--job', default='fast')\n    get(parser.parse_args().job).train()\n" + GUARD,
        "jobs/__init__.py": "",
        **{f"jobs/{name}.py": f"import torch\n\n\n{trainer}" for name in ("fast", "slow")},
        "jobs/pick.py": "def get(name):\n    if name == 'fast':\n        import jobs.fast as job\n    elif name == 'slow':\n"
        "        import jobs.slow as job\n    else:\n        import jobs.gone as job\n    return job.Trainer()\n",
    }
    made = _map(tmp_path, files, "python train.py --job slow")
    assert made.framework == "PyTorch" and _files(made, "training_loop") >= {"jobs/slow.py"}
    assert "jobs/fast.py" not in _files(made, "training_loop")


HANDED = {
    "kit/__init__.py": "",
    "kit/train.py": "from functools import partial\n\nfrom datasets import load_dataset\n"
    "from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments\n\n\n"
    "def encode(examples, args):\n    return {'labels': examples['text']}\n\n\ndef main():\n"
    "    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
    "    data = load_dataset('json')\n\n\n\n\n\n\n    data = data.map(function=partial(encode, args=args), batched=True)\n"
    "    Trainer(AutoModelForCausalLM.from_pretrained('a'), args, train_dataset=data).train()\n" + GUARD,
    "README.md": "# Kit\n\n```\npython -m kit.train \\\n  --learning_rate $RATE \\\n  --logging_steps 1 \\\n"
    "  --num_train_epochs 2 \\\n  --save_steps 5\n```\n",
}


def test_options_of_a_library_stand_where_a_document_has_the_command(tmp_path: Path) -> None:
    command = "python -m kit.train --learning_rate 5e-5 --logging_steps 1 --num_train_epochs 2 --save_steps 5"
    made = _map(tmp_path, HANDED, command)
    for part, line in (("optimizer_scheduler", 5), ("logging", 6), ("training_loop", 7), ("checkpointing", 8)):
        assert ("README.md", line) in {(place.path, place.line) for place in made.components[part].places}, part


def test_what_maps_a_data_set_is_its_data(tmp_path: Path) -> None:
    made = _map(tmp_path, HANDED)
    assert {("kit/train.py", 7), ("kit/train.py", 20)} <= {
        (place.path, place.line) for place in made.components["data"].places
    }


TARGETED = """import torch

net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def learn(states, rewards, gamma):
    expected = net(states)
    best = net(states).detach().max(1).values



    targets = rewards + gamma * best


    names = sorted(["a", "b"])


    loss = torch.nn.functional.mse_loss(expected, targets)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return names
"""


def test_what_a_loss_is_compared_with_stands_beside_it(tmp_path: Path) -> None:
    files = {"agent.py": TARGETED, "main.py": f"import torch\n\nfrom agent import learn\n\n\ndef main():\n"
             f"    for _ in range(9):\n        learn(torch.ones(1, 2), torch.ones(1), 0.9)\n{GUARD}"}  # fmt: skip
    lines = {place.line for place in _map(tmp_path, files).components["loss"].places if place.path == "agent.py"}
    assert {13, 19} <= lines and 16 not in lines


MEASURED = {
    "train.py": """import numpy as np
import torch

from scores import topks_correct

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def test(model, loader):
    model.eval()
    with torch.no_grad():
        out = torch.cat([model(x) for x in loader])
    names = list(map(str, out))
    pearson = np.corrcoef(out[:, 0], out[:, 0])
    return pearson, topks_correct(out, 1), names


for epoch in range(3):
    net.train()
    for x in [torch.ones(1, 2)]:
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
    print(test(net, [torch.ones(1, 2)]))
""",
    "scores.py": "def topks_correct(out, k):\n    return (out > k).sum()\n",
    "eval.py": "from passes import valid_one_epoch\n\n\ndef main():\n    valid_one_epoch(None, [])\n\n\n"
    'if __name__ == "__main__":\n    main()\n',
    "passes.py": "import torch\n\n\ndef valid_one_epoch(model, loader):\n    model.eval()\n    with torch.no_grad():\n"
    "        return [model(x) for x in loader]\n",
}


def test_what_an_evaluation_measures_and_what_a_program_beside_runs(tmp_path: Path) -> None:
    found = map_repository(write(MEASURED, tmp_path), scope="train.py", budget=4000)
    places = {(place.path, place.line) for place in found.components["evaluation"].places}
    assert {("train.py", 15), ("train.py", 16), ("scores.py", 1), ("passes.py", 4)} <= places
    assert ("train.py", 14) not in places  # map() is no mean average precision


GATHERED = """import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loss = model(torch.randn(4, 2)).sum()
    loss.backward()
    optimizer.step()
    if epoch % 2 == 0:
        kept = dict(
            model=model.state_dict(),
        )
        print(epoch)
        kept.update({"optimizer": optimizer.state_dict()})
        print(loss)
        torch.save(kept, "last.pt")
"""


def test_what_a_checkpoint_will_hold_is_shown_where_it_is_gathered(tmp_path: Path) -> None:
    made = _map(tmp_path, {"train.py": GATHERED})
    assert {11, 15, 17} <= {place.line for place in made.components["checkpointing"].places}
