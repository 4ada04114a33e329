"""Broken source against the engine: mutated, truncated and random files, deep nesting, lines of 10 MB.

    python evidence/fuzz.py FOLDER [FOLDER ...] [--files 100000] [--seed 0] [--batch 100]

Each batch is a project of its own: mutants of the .py files of the folders, and one program with a known bug, which
must be found among them whatever the rest is. Every check runs over every batch, and the map over every tenth; every
tenth also holds extremes, such as a line of 10 MB. A crash ends the run and names the seed. A file that takes more
than LIMIT seconds of CPU time to read whole, a batch whose checks take longer than that for all its files together,
and a batch whose bug was not found are printed and counted.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
os.environ["TRAINSLEUTH_CACHE"] = "off"

LIMIT = 2.0  # seconds
BUG = """import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
"""
TOKENS = (
    b"( ) [ ] { } : , = == := . ... def class if else for while with try except match case lambda return yield await "
)
TOKENS += (
    b"async import from as global del @ * ** -> # \\ ' \" ''' f\" b' \t \r \x0c \x00 \xff \xef\xbb\xbf 0x 1e9 not is in"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seeds = [path.read_bytes() for folder in asked.folders for path in sorted(folder.rglob("*.py")) if path.is_file()]
    started, slowest, longest, failed, read = time.process_time(), 0.0, 0.0, 0, 0
    for number in range(0, asked.files, asked.batch):
        seed, is_tenth = asked.seed + number, number // asked.batch % 10 == 0
        try:
            batch = run_batch(seeds, min(asked.batch, asked.files - number), seed, is_tenth, is_tenth)
        except BaseException:
            print(f"seed {seed} failed", file=sys.stderr)
            raise
        slowest, longest = max(slowest, batch.slowest), max(longest, batch.checks)
        read = min(asked.files, number + asked.batch)
        if read % (50 * asked.batch) == 0:
            print(f"{read:,} files so far, {time.process_time() - started:,.0f} s, {_peak():,.0f} MB", flush=True)
        if max(batch.slowest, batch.checks) > LIMIT or not batch.is_found:
            failed += 1
            print(f"seed {seed}: {batch}", flush=True)
    spent = time.process_time() - started
    print(
        f"{read:,} files, {failed} batches failed; slowest file to read {slowest:.2f} s, slowest checks of a batch "
        f"{longest:.2f} s; {spent:,.0f} s in all; peak {_peak():,.0f} MB"
    )
    return 1 if failed else 0


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Batch(NamedTuple):
    """CPU seconds that the slowest file took to read and that all checks took together; was the known bug found?"""

    slowest: float
    checks: float
    is_found: bool


def run_batch(seeds: list[bytes], files: int, seed: int, with_map: bool = False, with_extremes: bool = True) -> Batch:
    from trainsleuth.checks import run_checks
    from trainsleuth.map import map_repository
    from trainsleuth.repository import Repository

    with tempfile.TemporaryDirectory() as place:
        for number, content in enumerate(mutants(seeds, files, random.Random(seed), with_extremes)):
            Path(place, f"m{number}.py").write_bytes(content)
        Path(place, "known.py").write_text(BUG)
        slowest = max(_reading(Repository(place)))
        started = time.process_time()
        report = run_checks(Repository(place))
        checks = time.process_time() - started
        if with_map:
            map_repository(place)
    places = {finding.place for finding in report.findings if finding.outcome == "fail"}
    gc.collect()  # a thousand projects follow each other in this process
    return Batch(slowest, checks, "known.py:7" in places)


def _reading(repository: object) -> Iterator[float]:
    """CPU seconds of each file, read whole as the index reads it: without the garbage collector."""
    from trainsleuth.facts import no_collection
    from trainsleuth.facts.reading.source import read_source
    from trainsleuth.repository import Repository

    assert isinstance(repository, Repository)
    with no_collection():
        for path in repository.select((".py",)):
            started = time.process_time()
            text = repository.read(path)
            for function in read_source(path, text).functions.values() if text is not None else ():
                function.events  # noqa: B018
            yield time.process_time() - started


def mutants(seeds: list[bytes], count: int, chance: random.Random, with_extremes: bool) -> Iterator[bytes]:
    for _ in range(count):
        content = chance.choice(seeds)
        if chance.random() < 0.98:  # mostly a piece of some lines: many files, not much text
            start = content.rfind(b"\n", 0, chance.randint(0, len(content))) + 1
            content = content[start : start + chance.randint(0, 3000)]
        for _ in range(chance.randint(1, 4)):
            content = chance.choice(_WAYS)(content, chance)
        yield content
    if with_extremes:
        yield from (way(chance) for way in chance.sample(_EXTREMES, 2))


def _truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randint(0, len(content))]


def _cut_out(content: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(content))
    return content[:start] + content[start + chance.randint(1, 200) :]


def _inserted(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 8)):
        place = chance.randint(0, len(content))
        content = content[:place] + chance.choice(TOKENS.split(b" ")) + content[place:]
    return content


def _flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(min(len(changed), chance.randint(1, 20))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _shuffled_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    start = chance.randrange(len(lines))
    part = lines[start : start + 30]
    chance.shuffle(part)
    return b"\n".join(lines[:start] + part + lines[start + 30 :])


def _indented_anew(content: bytes, chance: random.Random) -> bytes:
    return b"\n".join(b" " * chance.choice((0, 0, 0, 1, 4)) + line for line in content.split(b"\n"))


def _repeated(content: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(content))
    return content[:start] + content[start : start + 300] * chance.randint(2, 20) + content[start:]


def _noise(content: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.randint(0, 4000))


_WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _truncated, _cut_out, _inserted, _flipped, _shuffled_lines, _indented_anew, _repeated, _noise,
)  # fmt: skip
_EXTREMES: list[Callable[[random.Random], bytes]] = [
    lambda chance: b"x = " + chance.choice((b"(", b"[", b"{", b"f(", b"-", b"not ", b"lambda: ")) * 40_000,
    lambda chance: b"x = " + b"(" * 20_000 + b"1" + b")" * 20_000,
    lambda chance: b"x = a" + b".b(1)" * 100_000,
    lambda chance: b"x = " + b"1 + " * 200_000 + b"1",
    lambda chance: b"x = [" + b"1, " * 300_000 + b"]",
    lambda chance: b"x = '" + b"a" * 900_000 + b"'",
    lambda chance: b"x = 0 #" + b"a" * 10_000_000,
    lambda chance: b"".join(b" " * n + b"if a:\n" for n in range(1000)) + b" " * 1000 + b"f()\n",
    lambda chance: b"".join(b" " * n + b"def f():\n" for n in range(800)),
    lambda chance: b"".join(b" " * n + b"class A:\n" for n in range(800)),
    lambda chance: b"a = " * 50_000 + b"1",
    lambda chance: b"if a: b\n" + b"elif a: b\n" * 20_000,
    lambda chance: b"@d\n" * 20_000 + b"def f(): ...\n",
    lambda chance: b"from a import " + b", ".join(b"n%d" % n for n in range(50_000)),
    lambda chance: b"def f(" + b", ".join(b"n%d=%d" % (n, n) for n in range(30_000)) + b"): ...\n",
    lambda chance: b"x = f'" + b'{f"' * 3_000,
]


if __name__ == "__main__":
    sys.exit(main())
