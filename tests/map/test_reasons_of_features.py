"""Which setting a feature is said to be off by, and what else is off with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainsleuth.map import map_repository
from trainsleuth.map.records import Part

TRAIN = """\
import argparse

import torch


def restored(path, net, opt, weights_only):
    held = torch.load(path)
    net.load_state_dict(held["net"])
    if not weights_only:
        opt.load_state_dict(held["opt"])


def spread(args, net):
    if args.many:
        net = torch.nn.DataParallel(net)
    return net


def fitted(args, net, opt):
    for place, batch in enumerate(torch.ones(8, 4, 2)):
        loss = net(batch).mean()
        loss.backward()
        if (place + 1) % args.accum_steps == 0:
            if args.bound > 0:
                torch.nn.utils.clip_grad_norm_(net.parameters(), args.bound)
            opt.step()
            opt.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", default=None)
    parser.add_argument("--before", default="")
    parser.add_argument("--many", action="store_true")
    parser.add_argument("--bound", type=float, default=1.0)
    parser.add_argument("--accum-steps", type=int, default=1)
    parser.add_argument("--weights-only", type=bool, default=True)
    args = parser.parse_args()
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    restored("last.pt", net, opt, args.weights_only)
    if args.before:
        if args.many:
            net = torch.nn.DataParallel(net)
    else:
        net = spread(args, net)
    if args.source is not None:
        fitted(args, net, opt)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def features(tmp_path: Path) -> dict[str, Part]:
    (tmp_path / "train.py").write_text(TRAIN)
    return dict(map_repository(tmp_path).features)


def test_what_the_whole_training_waits_for_is_no_reason(features: dict[str, Part]) -> None:
    assert features["clipping"].status == "found"


def test_the_reason_is_the_innermost_test(features: dict[str, Part]) -> None:
    assert features["distribution"].why == "off: many = False (train.py:34)"


def test_steps_of_one_accumulate_nothing(features: dict[str, Part]) -> None:
    assert features["accumulation"].why == "off: accum_steps = 1 (default, train.py:36)"


def test_weights_that_are_loaded_without_the_optimizer(features: dict[str, Part]) -> None:
    said = "in part: weights at train.py:8, no state of the optimizer: weights_only = True (train.py:37)"
    assert (features["resume"].status, features["resume"].why) == ("unresolved", said)
