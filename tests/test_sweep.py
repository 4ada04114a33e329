"""Comparisons of runs: the right test for the table, and honest words about what it cannot show."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from trainsleuth.cli import main
from trainsleuth.sweep import Comparison, Group, SweepError, compare, read_runs, repeated

pytest.importorskip("scipy")


def group(name: str, scores: Sequence[float]) -> Group:
    return Group(name, {str(seed): score for seed, score in enumerate(scores)})


def only(*groups: Group, **asked: Any) -> Comparison:
    (one,) = compare(groups, **asked)
    return one


BASE = [0.71, 0.78, 0.74, 0.82, 0.69, 0.77]


def test_pairs_see_what_separate_groups_do_not() -> None:
    better = [score + gain for score, gain in zip(BASE, (0.011, 0.009, 0.010, 0.012, 0.010, 0.008), strict=True)]
    one = only(group("main", BASE), group("wide", better))
    assert one.verdict == "better"
    assert one.paired_p < 0.001 < 0.5 < one.cross_p
    assert one.correlation > 0.99
    assert one.low < 0.01 < one.high
    assert one.credible < 0.003


def test_figures_are_those_of_a_hand_computation() -> None:
    # two groups without common seeds: means 3 and 5, variances 2.5 each, n 5: t = 2 at 8 degrees of freedom, p = 0.0805
    one = only(group("a", [1, 2, 3, 4, 5]), Group("b", {f"x{k}": k + 3.0 for k in range(5)}))
    assert one.pairs == 0
    assert math.isnan(one.paired_p)
    assert one.gain == 2
    assert one.cross_p == pytest.approx(0.0805, abs=5e-5)
    assert one.credible == pytest.approx(2.306, abs=1e-3)  # the 97.5% point of t at 8 degrees, standard error 1
    assert one.verdict == "not separable"
    assert one.needed == 11  # d = 1.265 at a power of 80%, as printed in tables of sample sizes


def test_a_loss_is_better_when_it_is_lower() -> None:
    lower = [score - 0.05 - 0.001 * place for place, score in enumerate(BASE)]
    assert only(group("main", BASE), group("new", lower), lower_is_better=True).verdict == "better"
    assert only(group("main", BASE), group("new", lower)).verdict == "worse"


@pytest.mark.parametrize(
    ("scores", "verdict"), [([0.9], "too few runs"), ([0.74, 0.75], "not separable"), (BASE, "too few runs")]
)
def test_what_cannot_be_said_is_not_said(scores: list[float], verdict: str) -> None:
    one = only(group("main", BASE), group("new", scores))
    if scores == BASE:  # no difference at all: neither test applies to the pairs, and the groups are equal
        assert one.verdict == "not separable"
        assert one.gain == 0
        assert one.needed is None
    else:
        assert one.verdict == verdict


@pytest.mark.twins
def test_chance_is_found_credible_about_as_often_as_promised() -> None:
    draw, alarms = random.Random(5), 0
    for _ in range(200):
        one, two = (group(name, [draw.gauss(0.8, 0.01) for _ in range(5)]) for name in ("a", "b"))
        alarms += only(one, two).verdict != "not separable"
    assert 2 <= alarms <= 20  # 10 expected at 5%


def test_many_variants_cost_each_of_them() -> None:
    small = [score + gain for score, gain in zip(BASE, (0.02, 0.001, 0.03, 0.0, 0.025, 0.01), strict=True)]
    alone = only(group("main", BASE), group("new", small))
    among = compare([group("main", BASE), group("new", small), *(group(f"x{k}", BASE[::-1]) for k in range(4))])
    assert alone.p < 0.05 < among[0].p
    assert among[0].p == pytest.approx(5 * alone.p)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["variant,seed,acc"], "no runs below its header"),
        (["variant,acc", "a,1"], "no column 'seed'; it has variant, acc"),
        (["variant,seed,acc", "a,0,0.1", "a,0,0.2"], r":3: seed 0 of a is there twice"),
        (["variant,seed,acc", "a,0,nan"], r":2: 'nan' is no finite number; a run that failed has to be counted"),
        (["variant,seed,acc", "a,0,"], "is no finite number"),
        (["variant,seed,acc", "a,0"], "is no finite number"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_it_needs(tmp_path: Path, lines: list[str], told: str) -> None:
    with pytest.raises(SweepError, match=told):
        read_runs(write(tmp_path / "runs.csv", *lines), group="variant", metric="acc", seed="seed")


def test_a_baseline_has_to_be_there() -> None:
    with pytest.raises(SweepError, match="no variant is called 'best'; there are main"):
        compare([group("main", BASE)], "best")
    with pytest.raises(SweepError, match="only one variant"):
        compare([group("main", BASE)])


def test_doubts_about_the_table_itself() -> None:
    assert not list(repeated([group("a", BASE), group("b", BASE)]))
    told = list(repeated([group("a", [0.5, 0.5, 0.5]), group("b", BASE)]))
    assert "a: 3 runs have the same score 0.5" in told[0]
    assert "3 to 6 runs" in told[1]


def test_the_command_reads_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"main,{k},{score}" for k, score in enumerate(BASE)]
    rows += [f"wide,{k},{score + 0.01 + 0.0005 * (k % 2)}" for k, score in enumerate(BASE)]
    file = write(tmp_path / "runs.csv", "variant,seed,acc", *rows)
    words = ["sweep", str(file), "--group", "variant", "--metric", "acc"]
    assert main([*words, "--seed", "seed"]) == 0
    said = capsys.readouterr().out
    assert "wide: a credible gain; gain 0.0102" in said
    assert "6 same-seed pairs" in said
    assert main([*words, "--format", "json"]) == 0
    plain = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert plain["comparisons"][0]["verdict"] == "better"
    assert main([*words[:-1], "accuracy"]) == 2
    assert "it has variant, seed, acc" in capsys.readouterr().err
