"""Runs the experiments, two at a time, and writes results.json, RESULTS.md and the figures.

python -m lab [NAME ...]     exit code 1 when an expectation that held before does not hold any more
python -m lab --other-seeds  the same with seeds that nobody has looked at; only what held is kept, in other_seeds.json
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from lab import draw, experiment, page, store
from lab.experiment import Result

OTHER_SEEDS = 1_000


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab", description="Run the experiments behind the claims.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to run (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--other-seeds", action="store_true", help=f"begin with seed {OTHER_SEEDS}, keep what held")
    asked = parser.parse_args(given)
    unknown = set(asked.names) - set(experiment.names())
    if unknown:
        parser.error(f"no experiment is called {', '.join(sorted(unknown))}; there are {', '.join(experiment.names())}")
    before = store.read()
    fresh = dict(_run(asked.names or experiment.names(), asked.jobs, OTHER_SEEDS if asked.other_seeds else 0))
    if asked.other_seeds:
        store.write_held(fresh.values())
        _write(before, {})
        return 0
    _write(before, fresh)
    worse = list(_worse(before, fresh))
    print(*worse, sep="\n")
    return 1 if worse else 0


def _run(names: Sequence[str], jobs: int, first_seed: int) -> Iterator[tuple[str, Result]]:
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(experiment.run, name, first_seed): name for name in names}
        for done in as_completed(running):
            result = done.result()
            print(f"{result.name}: {'held' if result.holds else 'DID NOT HOLD'}, {result.seconds:.1f} s", flush=True)
            yield result.name, result


def _write(before: Mapping[str, Result], fresh: Mapping[str, Result]) -> None:
    import torch

    kept = {name: one for name, one in before.items() if name in experiment.names()}
    results = dict(sorted({**kept, **fresh}.items()))
    store.write(results.values(), torch.__version__)
    if importlib.util.find_spec("matplotlib"):
        for name in fresh:
            draw.draw(name)
    else:
        print("matplotlib is not installed: the figures stay as they are", file=sys.stderr)
    page.PAGE.write_text(page.page(results, torch.__version__), encoding="utf-8")


def _worse(before: Mapping[str, Result], fresh: Mapping[str, Result]) -> Iterator[str]:
    for name, result in fresh.items():
        for text, count in result.held.items():
            held = name in before and before[name].held.get(text) == before[name].seeds
            if held and count < result.seeds:
                yield f"{name}: held before and not now ({count} of {result.seeds} seeds): {text}"


if __name__ == "__main__":
    sys.exit(main())
