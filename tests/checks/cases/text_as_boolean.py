"""Programs for text-as-boolean."""

from ._programs import mutant

_ARGS = """
import argparse
import torch
from torch import nn

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--pretrained", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    model = nn.Linear(4, 2)
    if args.pretrained:
        model.load_state_dict(torch.load("model.pt"))
    torch.optim.SGD(model.parameters(), lr=args.lr)
"""
SILENT = {
    "nothing reads it": """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--use_gpu", type=bool, default=True)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=args.lr)
""",
    "an action": _ARGS,
    "a reader of words": mutant(_ARGS, ("action=argparse.BooleanOptionalAction", "type=lambda text: text == 'True'")),
    "off by default": mutant(
        _ARGS, ("action=argparse.BooleanOptionalAction, default=True", "type=bool, default=False")
    ),
    "a parser that knows bool": mutant(
        _ARGS,
        ("import argparse\n", "from jsonargparse import ArgumentParser\n"),
        ("argparse.ArgumentParser()", "ArgumentParser()"),
        ("action=argparse.BooleanOptionalAction", "type=bool"),
    ),
    "a parser of Lightning": mutant(
        _ARGS,
        ("import argparse\n", "import argparse\nfrom lightning.pytorch.cli import LightningCLI\n"),
        ("action=argparse.BooleanOptionalAction", "type=bool"),
    ),
    "a reader that is registered": mutant(
        _ARGS,
        (
            "argparse.ArgumentParser()",
            "argparse.ArgumentParser()\n    parser.register('type', bool, lambda text: text == 'True')",
        ),
        ("action=argparse.BooleanOptionalAction", "type=bool"),
    ),
}
_OFF_AS_TEXT = mutant(_ARGS, ("action=argparse.BooleanOptionalAction, default=True", "type=bool, default=False"))
SILENT["off by default, and a document says to write so into the parser"] = (
    f"# file: train.py\n{_OFF_AS_TEXT}\n# file: README.md\n"
    "First `python train.py --lr 0.1`. Then switch it off (`--pretrained=False`) in the parser of `train.py` and run it.\n"
)
_AS_TEXT = mutant(_ARGS, ("action=argparse.BooleanOptionalAction", "type=bool"))
SILENT["off by default, and said to be off for the program of another folder"] = (
    f"# file: b/train.py\n{_OFF_AS_TEXT}\n# file: a/train.py\n{_ARGS}\n# file: a/README.md\n`python train.py --pretrained False`\n"
)


def _started(command: str, program: str = _AS_TEXT, path: str = "train.py") -> str:
    return f"# file: {path}\n{program}\n# file: run.sh\n{command}\n"


FAILS = {
    "on by default": _AS_TEXT,
    "given as False": _started("python train.py --lr 0.1 --pretrained False"),
    "given with a sign": _started("torchrun --nproc_per_node 2 train.py --pretrained='false' --lr 0.1"),
    "off by default, and said to be off": _started("python -m train --pretrained 0", _OFF_AS_TEXT),
    "said to be off in another folder": (
        f"# file: a/train.py\n{_OFF_AS_TEXT}\n# file: docs/run.md\n`python a/train.py --pretrained False`\n"
    ),
    "a short name": mutant(_AS_TEXT, ('"--pretrained"', '"-p", "--pretrained"')),
}
