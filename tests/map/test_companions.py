"""A statement of an answer brings the line right above it that makes what it uses."""

from __future__ import annotations

from pathlib import Path

import map_depth
from trainsleuth.map import expand_component

TRAIN = """import random

import torch


def segment(wave, length, limit):
    start = random.randint(0, limit)
    piece = wave[start : start + length]
    if length > 9:
        piece = wave.flip(0)
    if length > 10:
        piece = wave.roll(1)
    if length > 11:
        piece = wave.sort().values
    if length > 12:
        piece = wave.neg() + wave
    if length > 13:
        piece = wave.abs() - wave
    if length > 14:
        piece = wave.exp() * wave
    if length > 15:
        piece = wave.log() / wave
    if length > 16:
        piece = wave.cos() % wave
    if length > 17:
        piece = wave.sin() @ wave
    return piece


def main():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for wave in torch.ones(8, 16):
        loss = net(segment(wave, 4, 8)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def test_a_line_that_calls_for_what_the_next_one_uses_comes_with_it(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": TRAIN}, tmp_path)
    told = expand_component(root, "ask piece of the wave", scope="train.py", budget=200).text
    assert "piece = wave[start : start + length]" in told and "more do not fit" in told
    assert "start = random.randint(0, limit)" in told


STOPPING = """import torch


def main():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    worse, halving = 0, False
    for epoch in range(50):
        loss = net(torch.ones(8, 4)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        worse += 1
        if worse == 5:
            halving = True
        elif worse >= 10:
            print("enough")
            break
        if halving:
            halving = False
            optimizer.param_groups[0]["halving"] = 0.5


if __name__ == "__main__":
    main()
"""


def test_another_arm_that_ends_the_loop_comes_with_an_answer(tmp_path: Path) -> None:
    root = map_depth.write({"train.py": STOPPING}, tmp_path)
    told = expand_component(root, "ask halving true", scope="train.py", budget=200).text
    assert "halving = True" in told
    assert "elif worse >= 10:" in told and " break\n" in told
