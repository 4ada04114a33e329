"""What the ranks of one machine tell each other while they look for the same thing: votes, as small files.

No collective is used: the program's own ones must stay in step.
"""

import os
import time


def count():
    """Ranks on this machine, 1 outside of distributed runs."""
    world = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE") or "1"
    rank = os.environ.get("LOCAL_RANK") or os.environ.get("RANK")
    return int(world) if rank is not None and world.isdigit() else 1


def any_found(folder, vote, found, seconds=10.0):
    """Votes and waits for the others, at most `seconds`; whether any rank has found it."""
    rank = os.environ.get("LOCAL_RANK") or os.environ.get("RANK")
    start = "vote-%s-%s-" % (os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), vote)
    with open(os.path.join(folder, start + rank + ("-found" if found else "-searching")), "w"):
        pass
    until = time.monotonic() + seconds
    while True:
        votes = [name for name in os.listdir(folder) if name.startswith(start)]
        if len(votes) >= count() or time.monotonic() >= until:
            return any(name.endswith("-found") for name in votes)
        time.sleep(0.01)
