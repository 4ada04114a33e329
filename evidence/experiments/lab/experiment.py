"""One experiment: a script with a docstring, CLAIMS, EXPECT and measure(seed)."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parents[1]
DEFAULT_SEEDS = 3
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Result:
    """What one experiment gave.

    `figures` holds for each number its mean, standard deviation (0 for one seed), least and greatest value over
    the seeds; `held` for each expectation the number of seeds in which it came true; `says` for each claim the
    sentence with the numbers filled in. `seconds` are of one core.
    """

    name: str
    title: str
    seeds: int
    seconds: float
    figures: Mapping[str, Mapping[str, float]]
    held: Mapping[str, int]
    says: Mapping[str, str]

    @property
    def holds(self) -> bool:
        """Every expectation came true with every seed."""
        return all(count == self.seeds for count in self.held.values())


def names() -> list[str]:
    """The experiments of this folder, by file name."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def run(name: str, first_seed: int = 0) -> Result:
    """Measures with every seed from `first_seed` on, on one thread."""
    import torch

    torch.set_num_threads(1)
    script = load(name)
    seeds: int = getattr(script, "SEEDS", DEFAULT_SEEDS)
    start = time.process_time()
    runs: list[Numbers] = [script.measure(seed) for seed in range(first_seed, first_seed + seeds)]
    seconds = time.process_time() - start
    expect: Mapping[str, Callable[[Numbers], bool]] = script.EXPECT
    figures = {key: _spread([one[key] for one in runs]) for key in runs[0]}
    return Result(
        name=name,
        title=(script.__doc__ or "").strip().splitlines()[0],
        seeds=seeds,
        seconds=round(seconds, 1),
        figures=figures,
        held={text: sum(bool(came_true(one)) for one in runs) for text, came_true in expect.items()},
        says={claim: sentence.format(**_fields(figures)) for claim, sentence in script.CLAIMS.items()},
    )


def _spread(values: list[float]) -> Mapping[str, float]:
    finite = all(map(math.isfinite, values))
    spread = stdev(values) if len(values) > 1 and finite else 0.0
    whole = {"mean": fmean(values), "std": spread, "min": min(values), "max": max(values)}
    return {key: value if not math.isfinite(value) else float(f"{value:.6g}") for key, value in whole.items()}


def _fields(figures: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """{loss} is the mean; {loss_std}, {loss_min} and {loss_max} the others."""
    means: dict[str, Any] = {key: one["mean"] for key, one in figures.items()}
    return means | {f"{key}_{kind}": one[kind] for key, one in figures.items() for kind in ("std", "min", "max")}
