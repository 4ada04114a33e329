"""Under which name an option sets its value: that of its dest, whatever the command or a document call it."""

from __future__ import annotations

from pathlib import Path

import pytest
from map_depth import STEP
from trainsleuth.map import expand_component

TRAIN = """import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--bs", dest="batch_size", type=int, default=1)
parser.add_argument("--nw", dest="num_workers", type=int, default=0)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
loader = torch.utils.data.DataLoader(range(9), batch_size=args.batch_size, num_workers=args.num_workers)
net = torch.nn.Linear(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=args.lr)
"""


def _sheet(root: Path, command: str, train: str = TRAIN, readme: str = "") -> str:
    (root / "train.py").write_text(train + STEP)
    (root / "README.md").write_text(readme)
    return expand_component(root, "run", recipe=command, budget=3000).text


def test_an_option_that_a_document_writes_too_sets_what_its_dest_says(tmp_path: Path) -> None:
    readme = "```\npython train.py --bs $SIZE --nw $WORKERS \\\n  --lr $LR\n```\n"
    sheet = _sheet(tmp_path, "python train.py --bs 4 --nw 2 --lr 0.3", readme=readme)
    assert "batch_size=4, num_workers=2 the command" in sheet
    assert " bs=" not in sheet and " nw=" not in sheet


LONG = """import argparse

import torch

parser = argparse.ArgumentParser(FORM)
parser.add_argument("-frames", "--number-of-frames", type=int, default=81)
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--lr-decay", type=float, default=0.9)
args = parser.READ()
net = torch.nn.Linear(args.number_of_frames, args.batch_size)
opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=args.lr_decay)
"""
BEGINNINGS = "python train.py -f 27 --bat=4 --lr 0.3 --l 7"


def test_the_beginning_of_one_option_alone_is_that_option(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path, BEGINNINGS, LONG.replace("FORM", "").replace("READ", "parse_args"))
    assert "number_of_frames=27" in sheet and "batch_size=4" in sheet and "lr=0.3" in sheet
    assert "lr_decay=0.9 default" in sheet and " f=" not in sheet


@pytest.mark.parametrize(("form", "read"), [("allow_abbrev=False", "parse_args"), ("", "parse_known_args")])
def test_a_beginning_is_no_option_where_others_may_be_meant(tmp_path: Path, form: str, read: str) -> None:
    sheet = _sheet(tmp_path, BEGINNINGS, LONG.replace("FORM", form).replace("READ", read))
    assert "number_of_frames=27" not in sheet and "batch_size=4" not in sheet


NODES = """import argparse

import torch
from yacs.config import CfgNode as CN

_C = CN()
_C.OUTPUT_DIR = "."
_C.SOLVER = CN()
_C.SOLVER.BASE_LR = 0.1
parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument(REST, nargs=argparse.REMAINDER)
args = parser.parse_args()
_C.merge_from_list(args.opts)
net = torch.nn.Linear(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=_C.SOLVER.BASE_LR)
torch.save(net.state_dict(), _C.OUTPUT_DIR)
"""


@pytest.mark.parametrize(("rest", "option"), [("'opts'", ""), ("'--opts'", "--opts ")])
def test_a_key_without_a_dot_is_set_as_one_with_a_dot_is(tmp_path: Path, rest: str, option: str) -> None:
    command = f"python train.py --resume {option}OUTPUT_DIR out/small SOLVER.BASE_LR 0.3"
    sheet = _sheet(tmp_path, command, NODES.replace("REST", rest))
    assert "OUTPUT_DIR=out/small the command" in sheet and "BASE_LR=0.3 the command" in sheet


OF_A_LIBRARY = """import torch
from graphlib_of_others import cfg, load_cfg, parse_args

load_cfg(cfg, parse_args())
net = torch.nn.Linear(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=cfg.optim.lr, weight_decay=cfg.optim.decay)
"""


@pytest.mark.parametrize("rest", ["optim.lr 0.3", "optim.lr 0.3 optim.decay 0.4", "optim.decay 0.4 optim.lr 0.3"])
def test_pairs_behind_an_option_of_a_parser_that_is_not_seen(tmp_path: Path, rest: str) -> None:
    (tmp_path / "small.yaml").write_text("optim:\n  lr: 0.1\n")
    sheet = _sheet(tmp_path, f"python train.py --cfg small.yaml {rest}", OF_A_LIBRARY)
    assert "lr=0.3" in sheet and "cfg=small.yaml the command" in sheet
    assert ("decay=0.4" in sheet) is ("decay" in rest)


def test_a_file_behind_an_option_of_a_parser_that_is_not_seen_is_no_key(tmp_path: Path) -> None:
    for name in ("small.yaml", "optim.yaml"):
        (tmp_path / name).write_text("optim:\n  lr: 0.1\n")
    sheet = _sheet(tmp_path, "python train.py --cfg small.yaml optim.yaml 5", OF_A_LIBRARY)
    assert "optim.yaml=5" not in sheet
