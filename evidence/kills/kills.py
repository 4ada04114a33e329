"""Kills at random moments: of the server, of the launcher and of the run, by SIGKILL, SIGTERM and SIGINT.

    python evidence/kills/kills.py [--rounds 200] [--seed 1]

In each round a program that would train for ever is probed, and one process is hit at a moment that is drawn
from the time such a probe takes. Afterwards no process of the round may live, the program's folder must be as
it was, and what was answered must be a whole answer or none: one that calls the run fine only if all steps
that were asked for were seen. Prints what was hit, what was answered and what went wrong; exit code 1 if anything did.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from faces import STEPS, CommandLine, Said, Server, environment

HERE = Path(__file__).parent
SHAPES = {
    "plain": ["python", "victim.py"],
    "workers": ["python", "victim.py", "workers"],
    "daemon": ["python", "victim.py", "daemon"],
    "ranks": ["torchrun", "--nproc-per-node", "2", "victim.py", "ranks"],
}
FACES = {"server": Server, "launcher": CommandLine}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SOON = 10.0  # seconds within which all must be gone, on a busy machine


@dataclass(frozen=True)
class Round:
    """One probe of a program and whom to hit: the face itself, its supervisor, or a process of the run."""

    shape: str
    face: str
    victim: str
    number: signal.Signals
    moment: float  # as a share of the time that a probe of this shape takes


@dataclass(frozen=True)
class Outcome:
    hit: str  # whom, in words; "" when all was over before
    answered: str
    wrong: tuple[str, ...]
    seconds: float  # until nothing was left


def rounds(count: int, seed: int) -> Iterator[Round]:
    rng = random.Random(seed)
    for _ in range(count):
        face = rng.choice(list(FACES))
        victim = rng.choice((face, "run", "run", "supervisor"))
        shape = rng.choices(list(SHAPES), weights=(4, 3, 3, 1))[0]
        yield Round(shape, face, victim, rng.choice(SIGNALS), rng.random())


def marked(mark: str) -> dict[int, str]:
    """Living processes of this round: pid and command line."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            folder = Path("/proc") / name
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if mark.encode() in (folder / "environ").read_bytes() and state not in (b"Z", b"X"):
                found[int(name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def tree_hash(folder: Path) -> str:
    digest = hashlib.blake2b()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path.relative_to(folder)}\0{path.lstat().st_mode}\0".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def prepared(folder: Path) -> Path:
    (folder / "project").mkdir()
    (folder / "project" / "victim.py").write_text((HERE / "victim.py").read_text())
    (folder / "project" / "notes.txt").write_text("what was there before\n")
    return folder / "project"


def candidates(one: Round, own: int, mark: str) -> list[int]:
    found = marked(mark)
    if one.victim == one.face:
        return [own]
    supervisors = [pid for pid, line in found.items() if "launcher.supervisor" in line]
    if one.victim == "supervisor":
        return supervisors
    return [pid for pid in found if pid != own and pid not in supervisors]


def play(one: Round, lasts: float, rng: random.Random) -> Outcome:
    """One round. `lasts` is how many seconds a probe of this shape takes when nobody is hit."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))
        before = tree_hash(folder)
        face = FACES[one.face](SHAPES[one.shape], folder, environment(Path(name) / "home", mark))
        time.sleep(one.moment * lasts)
        hit = ""
        for pid in rng.sample(there := candidates(one, face.process.pid, mark), min(1, len(there))):
            with suppress(ProcessLookupError):
                os.kill(pid, one.number)
                hit = one.victim
        wrong = []
        try:
            said = face.end(120)
        except subprocess.TimeoutExpired:
            face.process.kill()
            said, wrong = Said("", None), ["the face hung"]
        started = time.monotonic()
        while (left := marked(mark)) and time.monotonic() - started < SOON:
            time.sleep(0.05)
        wrong += [f"orphan: {line[:100]}" for line in left.values()]
        wrong += ["the folder changed"] if tree_hash(folder) != before else []
        answered, doubts = judged(said)
        return Outcome(hit, answered, (*wrong, *doubts), time.monotonic() - started)


def judged(said: Said) -> tuple[str, list[str]]:
    """What was answered in a word, and what is wrong with it."""
    answer = said.answer
    if answer is None:
        return "no answer", ["half an answer with exit code 0"] if said.code == 0 and said.text.startswith("{") else []
    steps = answer["examined"].get("steps", 0)
    told = [f for f in answer["findings"] if f["by"] == "probe:run"]
    if not told and steps < STEPS:
        return "fine", [f"called fine after {steps} of {STEPS} steps"]
    accused = [f for f in answer["findings"] if f["outcome"] == "fail" and f["by"] != "probe:run"]
    wrong = [f"an alarm on a healthy program: {f['by']}: {f['message'][:200]}" for f in accused]
    return (f"the end is told ({told[0]['outcome']})" if told else "fine"), wrong


def length(shape: str, face: str) -> float:
    """Seconds of an undisturbed probe, which must be answered in full."""
    started = time.monotonic()
    outcome = play(Round(shape, face, "supervisor", signal.SIGCONT, 0.0), 0.0, random.Random(0))
    assert (outcome.answered, outcome.wrong) == ("fine", ()), outcome
    return time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    lasts = {(shape, face): length(shape, face) for shape in SHAPES for face in FACES}
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    broken, longest, rng = [], 0.0, random.Random(given.seed)
    for number, one in enumerate(rounds(given.rounds, given.seed)):
        outcome = play(one, lasts[one.shape, one.face], rng)
        counts[outcome.hit or "nobody (all was over)", one.number.name, outcome.answered] += 1
        longest = max(longest, outcome.seconds)
        if outcome.wrong:
            broken.append((number, one, outcome))
            print(number, one, outcome, flush=True)
    print(f"{'hit':24}{'by':10}{'answered':28}{'rounds':>6}")
    for (hit, by, answered), count in sorted(counts.items()):
        print(f"{hit:24}{by:10}{answered:28}{count:>6}")
    print(f"{given.rounds} rounds, seed {given.seed}: {len(broken)} went wrong; all gone after at most {longest:.1f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
