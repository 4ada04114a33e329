"""Where this process stands when it is told to end: faulthandler writes the stack of every thread as SIGTERM comes.

It is written in C before whatever else the signal does, so a program that waits for good tells it as well. A handler
of the user's own takes its place, and then nothing is told.
"""

import faulthandler
import os
import signal

from .emit import open_high


def keep(config):
    """Two lines first: the user's root, and the folder that paths are told from."""
    path = os.path.join(config["run_folder"], "stack-%d.txt" % os.getpid())
    descriptor = open_high(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    told_from = os.path.join(config["root"], config.get("told_from", ""))
    os.write(descriptor, ("%s\n%s\n" % (config["root"], told_from)).encode("utf-8", "surrogateescape"))
    faulthandler.register(signal.SIGTERM, file=descriptor, all_threads=True, chain=True)
    os.register_at_fork(after_in_child=lambda: faulthandler.unregister(signal.SIGTERM))
