"""where your loss has a slope, over a plane of synthetic predictions"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.interrupt import cancellable
from trainsleuth.cli.options import Command, add_format, count
from trainsleuth.cli.scope import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("loss", metavar="FILE:NAME", help="called as NAME(prediction, target); or MODULE:NAME")
    add("--shape", metavar="N,C", type=_places, default=(1, 2), help="of the prediction (default: 1,2)")
    add("--target", metavar="EXPR", default="torch.zeros_like(prediction)", help="a tensor expression")
    add("--axes", metavar="I,J", type=_places, default=(0, 1), help="which elements move (default: 0,1)")
    add("--range", metavar="LOW:HIGH", type=_span, default=(-5.0, 5.0), help="default: -5:5")
    add("--points", metavar="N", type=count, default=41, help="along each axis (default: 41)")
    add("--python", metavar="PY", help="the interpreter that has torch")
    add("-o", "--output", metavar="FILE", type=Path, help="also draw it: a .png or .svg file")
    add_format(parser)


def _places(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers like 1,2")
    return tuple(map(int, parts))


def _span(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise argparse.ArgumentTypeError(f"{text!r} is no range like -5:5")
    return low, high


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.loss_surface import surface_answer
    from trainsleuth.loss_surface import Ask, measure
    from trainsleuth.loss_surface.picture import draw

    size = math.prod(asked.shape)
    axes = tuple(place for place in asked.axes if place < size) if size < 2 else asked.axes
    if len(set(axes)) != len(axes) or not 1 <= len(axes) <= 2 or max(axes) >= size:
        raise UsageError(f"--axes {asked.axes}: one or two different places below {size}, the size of the prediction")
    low, high = asked.range
    ask = Ask(asked.loss, asked.shape, asked.target, axes, low, high, asked.points)
    with cancellable() as cancelled:
        surface = measure(ask, python=asked.python, cancelled=cancelled)
    if asked.output:
        draw(surface, asked.output)
    answer = surface_answer(surface)
    output.show(answer, asked.format)
    return answer.code
