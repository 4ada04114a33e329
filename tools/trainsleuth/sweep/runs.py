"""The runs of a sweep, from a table."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev


class SweepError(ValueError):
    """The table cannot be compared; the message says what it needs."""


@dataclass(frozen=True)
class Group:
    """The runs of one variant. `spread` is the standard deviation, nan for a single run."""

    name: str
    scores: Mapping[str, float]  # seed -> score

    @property
    def mean(self) -> float:
        return fmean(self.scores.values())

    @property
    def spread(self) -> float:
        return stdev(self.scores.values()) if len(self.scores) > 1 else math.nan


def read_runs(file: Path, *, group: str, metric: str, seed: str | None) -> list[Group]:
    """The runs of a CSV file with a header; without a seed column the runs of a variant are numbered.

    Raises SweepError for a column that is missing, a score that is no finite number, or a seed used twice.
    """
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text)
        columns = [name for name in (rows.fieldnames or ()) if name]
        for wanted in (group, metric, *([seed] if seed else [])):
            if wanted not in columns:
                raise SweepError(f"{file} has no column {wanted!r}; it has {', '.join(columns) or 'none'}")
        runs: dict[str, dict[str, float]] = defaultdict(dict)
        for line, row in enumerate(rows, 2):
            scores = runs[str(row[group])]
            name = str(row[seed]) if seed else str(len(scores))
            if name in scores:
                raise SweepError(f"{file}:{line}: seed {name} of {row[group]} is there twice; keep one run of each")
            scores[name] = _score(row[metric], f"{file}:{line}")
    if not runs:
        raise SweepError(f"{file} holds no runs below its header")
    return [Group(name, scores) for name, scores in runs.items()]


def repeated(groups: Sequence[Group]) -> Iterator[str]:
    """What looks wrong in the table itself, one sentence each."""
    for one in groups:
        values, count = Counter(one.scores.values()).most_common(1)[0]
        if count > 1 and len(one.scores) > 2:
            yield f"{one.name}: {count} runs have the same score {values:g}; were they really separate runs?"
    sizes = {len(one.scores) for one in groups}
    if len(sizes) > 1:
        yield f"the variants have {min(sizes)} to {max(sizes)} runs: the best of more runs looks better by chance"


def _score(text: str | None, where: str) -> float:
    try:
        score = float(text or "")
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise SweepError(f"{where}: {text!r} is no finite number; a run that failed has to be counted, not left out")
    return score
