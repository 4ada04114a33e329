"""What map and checks cost, as multiples of a bare tree-sitter parse of the same files, in CPU time of one run.

    python evidence/speed.py FOLDER [FOLDER ...] [--what map] [--checkouts FOLDER] [--repeat 3] [--limit SECONDS] [--together]

map and check are the whole answers; expand is one part of a map (its warm question is another part).
--checkouts: every folder in that one is a repository. --limit: of one measurement, by the clock; what takes longer is said.
cold: nothing is cached. warm: the same question again. one file changed: a line was added to one file since (in a copy
of the folder). Each is the least of its repetitions, with a bare parse before each, so that a busy machine counts less.
Each measurement is a process of its own, but with --together; its peak memory is that of the whole process. The last column is the CPU time
of the cold answer for 100,000 lines of Python. Loading our own modules, once in each process, is told beside the
folder and not in the ratios.
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
from collections.abc import Callable, Iterator
from pathlib import Path

WHAT = ("map", "expand", "check")
HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "tools"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--checkouts", type=Path, help="a folder of repositories")
    parser.add_argument("--what", choices=WHAT, action="append", help="leave out the others")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument(
        "--together", action="store_true", help="all folders in one process, each once: prints their sum"
    )
    parser.add_argument("--measure", choices=WHAT, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(_measure(asked.measure, asked.folders[0])))
        return 0
    beside = sorted(path for path in asked.checkouts.iterdir() if path.is_dir()) if asked.checkouts else []
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}\n")
    print("| folder | files | kLOC | what | cold | warm | one file changed | peak memory, MB | s per 100 kLOC |")
    print("|---|---|---|---|---|---|---|---|---|")
    every: dict[str, list[dict[str, float]]] = {}
    if asked.together:
        for what in asked.what or WHAT:
            print(_all(what, [_copied(what, folder) for folder in (*asked.folders, *beside)]))
        print(f"\nload at the end {os.getloadavg()[0]:.1f}")
        return 0
    for folder in (*asked.folders, *beside):
        for what in asked.what or WHAT:
            runs = [_started(what, folder, asked.limit) for _ in range(asked.repeat)]
            measured = [run for run in runs if run is not None]
            print(_row(folder, what, measured), flush=True)
            every.setdefault(what, []).extend(_least(measured))
    for what, each in every.items():
        print(_all(what, each))
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")
    return 0


def _least(runs: list[dict[str, float]]) -> Iterator[dict[str, float]]:
    """The repetitions of one measurement as one; none of no run that ended."""
    if runs:
        yield {name: min(run[name] for run in runs) for name in runs[0]}


def _row(folder: Path, what: str, runs: list[dict[str, float]]) -> str:
    for least in _least(runs):
        return _told(f"{folder.name} (+{least['loading']:.2f} s)", what, least)
    return f"| {folder.name} | | | {what} | over the limit | | | | |"


def _all(what: str, each: list[dict[str, float]]) -> str:
    """All that was measured as one: sums of times, and the greatest of the peaks."""
    summed = {name: sum(one[name] for one in each) for name in each[0]}
    return _told(f"all {len(each)}", what, {**summed, "peak": max(one["peak"] for one in each)})


def _told(name: str, what: str, run: dict[str, float]) -> str:
    ratios = " | ".join(f"{run[one] / run['parse']:.2f}" for one in ("cold", "warm", "changed"))
    size = f"{name} | {run['files']:.0f} | {run['lines'] / 1000:.1f}"
    return f"| {size} | {what} | {ratios} | {run['peak']:.0f} | {run['cold'] / run['lines'] * 100_000:.1f} |"


def _started(what: str, folder: Path, limit: int) -> dict[str, float] | None:
    """One measurement, in a copy of the folder and with a cache of its own; None when it took more than `limit` s."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        try:
            told = subprocess.run(
                [sys.executable, str(HERE), str(copy), "--measure", what],
                env={**os.environ, "TRAINSLEUTH_CACHE": f"{place}/cache"},
                stdout=subprocess.PIPE,
                text=True,
                timeout=limit,  # RLIMIT_CPU makes the clock of CPU time coarse, 4 ms, where it is kept by a sandbox
                check=True,
            )
        except subprocess.TimeoutExpired:
            return None
    found: dict[str, float] = json.loads(told.stdout)
    return found


def _copied(what: str, folder: Path) -> dict[str, float]:
    """The same in this process."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        os.environ["TRAINSLEUTH_CACHE"] = f"{place}/cache"
        return _measure(what, copy)


def _measure(what: str, root: Path) -> dict[str, float]:
    started = time.process_time()
    import trainsleuth.map.build  # noqa: F401
    from trainsleuth.checks import check_ids, run_checks
    from trainsleuth.facts.reading.grammar import parse
    from trainsleuth.map import COMPONENTS, expand_component, map_repository
    from trainsleuth.map.components import places_of
    from trainsleuth.repository import Repository

    check_ids()
    for component in COMPONENTS:
        places_of(component)
    loading = time.process_time() - started
    repository = Repository(root)
    paths = repository.select((".py",))
    sources = [text.encode() for path in paths if (text := repository.read(path)) is not None]
    notebooks = [repository.read(path) for path in repository.select((".ipynb",))]
    sources += [cells.encode() for text in notebooks if text is not None for cells in _cells(text)]

    def bare() -> None:
        for source in sources:
            parse(source)

    def ask(part: str = "loss") -> object:
        if what == "expand":
            return expand_component(root, part)
        return map_repository(root) if what == "map" else run_checks(Repository(root))

    found = {
        "loading": loading,
        "files": float(len(sources)),
        "lines": float(sum(text.count(b"\n") for text in sources)),
    }
    times = [_seconds(bare)]
    found["cold"] = _seconds(ask)
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times.append(_seconds(bare))
    found["warm"] = min(_seconds(lambda: ask("data")) for _ in range(3))
    middle = root / paths[len(paths) // 2]
    middle.write_bytes(middle.read_bytes() + b"\n# one more line\n")
    found["changed"] = _seconds(ask)
    return {**found, "parse": min(*times, _seconds(bare))}


def _cells(notebook: str) -> Iterator[str]:
    """What is parsed of a notebook: its code cells as one text; nothing of one that is none."""
    from trainsleuth.facts.reading.notebook import join_cells

    try:
        yield join_cells(notebook)[0]
    except ValueError:
        return


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
