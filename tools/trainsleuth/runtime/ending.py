"""Leaving a training program at once without stranding its workers or its fellow ranks."""

import os
import sys
import time


def wait_for_ranks(folder, seconds=5.0):
    """Leave a mark, and return when every rank of this machine has left its own, or after `seconds`.

    The mark also tells the supervisor that the rest of the run has no long future.
    """
    world = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE") or "1"
    rank = os.environ.get("LOCAL_RANK") or os.environ.get("RANK")
    generation = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    here = "finished-%s-" % generation
    mark = "finished-pid-%d" % os.getpid() if rank is None else here + rank
    open(os.path.join(folder, mark), "w").close()
    if rank is None or not world.isdigit():
        return
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if sum(name.startswith(here) for name in os.listdir(folder)) >= int(world):
            return
        time.sleep(0.01)


def end_children():
    """Stop loader workers and other children of multiprocessing, politely and then not."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None:
        return
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    until = time.monotonic() + 1.0
    for child in children:
        child.join(max(0.0, until - time.monotonic()))
        if child.is_alive():
            child.kill()


def flush():
    """Bring what was printed out of Python's buffers, whatever became of the streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed, replaced or None: nothing to save there
            continue
