"""make demo: triage a broken run and its healthy twin, as a user would, in copies of their folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
TRAINSLEUTH = Path(sys.executable).parent / "trainsleuth"
EXPECTED = {"broken": 1, "healthy": 0}  # exit codes: a cause was found, nothing was found


def triage(twin: str, folder: Path) -> int:
    """Runs the command a user would type and shows it; returns its exit code."""
    shutil.copytree(HERE / twin, folder)
    shutil.copy(HERE / "text.txt", folder.parent / "text.txt")
    command = [str(TRAINSLEUTH), "triage", "--time", "35", "--", "python", "train.py"]
    print(f"\n$ cd {twin} && trainsleuth {' '.join(command[1:])}\n", flush=True)
    # `python` must be the one with torch; one thread, as the programs are small
    env = dict(os.environ, PATH=f"{TRAINSLEUTH.parent}{os.pathsep}{os.environ['PATH']}", OMP_NUM_THREADS="1")
    return subprocess.run(command, cwd=folder, env=env).returncode


def main() -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trainsleuth-demo-") as temporary:
        codes = {twin: triage(twin, Path(temporary) / twin) for twin in EXPECTED}
        notes = (Path(temporary) / "broken" / "trainsleuth-notes.md").read_text(encoding="utf-8")
        print(f"\nthe notes of the broken case hold {len(notes.splitlines())} lines; the first of them:\n")
        print("\n".join(f"  {line}" for line in notes.splitlines()[:24]))
    print(f"\n{time.monotonic() - started:.0f} s, exit codes {codes} (expected {EXPECTED})")
    return 0 if codes == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())
