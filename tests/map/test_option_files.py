"""Options that stand in a text file which the command names are those of the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP, write
from trainsleuth.map import expand_component, map_repository

TRAIN = "import torch\n\n\ndef train(args):\n    net = torch.nn.Linear(2, 1)\n" + (
    "    opt = torch.optim.SGD(net.parameters(), lr=args.lr)\n" + STEP.replace("\n", "\n    ").rstrip() + "\n"
)
FILES = {
    "main.py": "import argparse\n\nimport far\nimport near\n\n\ndef main():\n"
    "    parser = argparse.ArgumentParser(fromfile_prefix_chars='@')\n"
    "    parser.add_argument('--args_file', '--flagfile')\n"
    "    parser.add_argument('--kind', default='far')\n    parser.add_argument('--lr', type=float, default=0.7)\n"
    "    args = parser.parse_args()\n    if args.kind == 'near':\n        near.train(args)\n    else:\n"
    "        far.train(args)\n\n\nif __name__ == '__main__':\n    main()\n",
    "near.py": TRAIN,
    "far.py": TRAIN,
    "args/small.txt": "# of a small run\n--kind near\n\n--lr 0.3\n",
    "args/lines.flags": "--kind=near\n--lr\n0.3\n",
}


@pytest.mark.parametrize(
    ("words", "step", "rate"),
    [
        ("--args_file args/small.txt", "near.py", "lr=0.3"),
        ("@args/small.txt", "near.py", "lr=0.3"),
        ("--flagfile=args/lines.flags", "near.py", "lr=0.3"),
        ("--lr 0.5 --args_file args/small.txt", "near.py", "lr=0.5"),
    ],
)
def test_a_file_of_options_sets_what_the_command_does_not(tmp_path: Path, words: str, step: str, rate: str) -> None:
    write(FILES, tmp_path)
    command = f"python main.py {words}"
    loop = map_repository(tmp_path, "main.py", command).components["training_loop"].places
    assert {place.path for place in loop if place.role == "backward"} == {step}
    assert rate in expand_component(tmp_path, "run", "main.py", command).text
