"""which variant of a sweep is credibly better, from a CSV of runs"""

from __future__ import annotations

import argparse
from pathlib import Path

from trainsleuth.cli import output
from trainsleuth.cli.options import Command, add_format


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="CSV", type=Path, help="one row per run, with a header")
    add("--group", metavar="COLUMN", required=True, help="the column that names the variant")
    add("--metric", metavar="COLUMN", required=True, help="the column with the score")
    add("--seed", metavar="COLUMN", help="the column with the seed: runs of one seed are paired")
    add("--baseline", metavar="NAME", help="the variant to compare with (default: the first)")
    add("--lower-is-better", action="store_true", help="for a loss or an error")
    add_format(parser)


def run(asked: argparse.Namespace, command: Command) -> int:
    from trainsleuth.answers.sweep import sweep_answer
    from trainsleuth.sweep import compare, read_runs

    groups = read_runs(asked.file, group=asked.group, metric=asked.metric, seed=asked.seed)
    comparisons = compare(groups, asked.baseline, lower_is_better=asked.lower_is_better)
    answer = sweep_answer(groups, comparisons, asked.baseline or groups[0].name)
    output.show(answer, asked.format)
    return answer.code
