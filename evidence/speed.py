"""What map and checks cost, as multiples of a bare tree-sitter parse of the same files, in CPU time of one run.

    python evidence/speed.py FOLDER [FOLDER ...] [--repeat 3]

cold: nothing is cached. warm: the same question again. one file changed: a line was added to one file since (in a copy
of the folder). Each is the least of its repetitions, with a bare parse before each, so that a busy machine counts less.
Each measurement is a process of its own; its peak memory is that of the whole process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "tools"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--measure", choices=["map", "check"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(_measure(asked.measure, asked.folders[0])))
        return 0
    print("| folder | files | MB | what | cold | warm | one file changed | peak memory, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for folder in asked.folders:
        for what in ("map", "check"):
            print(_row(folder, what, [_started(what, folder) for _ in range(asked.repeat)]), flush=True)
    return 0


def _row(folder: Path, what: str, runs: list[dict[str, float]]) -> str:
    parse = min(run["parse"] for run in runs)
    ratios = [min(run[name] for run in runs) / parse for name in ("cold", "warm", "changed")]
    size = f"{folder.name} | {runs[0]['files']:.0f} | {runs[0]['megabytes']:.1f}"
    return f"| {size} | {what} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} | {runs[0]['peak']:.0f} |"


def _started(what: str, folder: Path) -> dict[str, float]:
    """One measurement, in a copy of the folder and with a cache of its own."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        told = subprocess.run(
            [sys.executable, str(HERE), str(copy), "--measure", what],
            env={**os.environ, "TRAINSLEUTH_CACHE": f"{place}/cache"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, float] = json.loads(told.stdout)
    return found


def _measure(what: str, root: Path) -> dict[str, float]:
    from trainsleuth.checks import run_checks
    from trainsleuth.facts.grammar import parse
    from trainsleuth.map import map_repository
    from trainsleuth.repository import Repository

    repository = Repository(root)
    paths = repository.select((".py",))
    sources = [text.encode() for path in paths if (text := repository.read(path)) is not None]

    def bare() -> None:
        for source in sources:
            parse(source)

    def ask() -> object:
        return map_repository(root) if what == "map" else run_checks(Repository(root))

    found = {"files": float(len(sources)), "megabytes": sum(map(len, sources)) / 1e6}
    times = [_seconds(bare)]
    found["cold"] = _seconds(ask)
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times.append(_seconds(bare))
    found["warm"] = min(_seconds(ask) for _ in range(3))
    middle = root / paths[len(paths) // 2]
    middle.write_bytes(middle.read_bytes() + b"\n# one more line\n")
    found["changed"] = _seconds(ask)
    return {**found, "parse": min(*times, _seconds(bare))}


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
