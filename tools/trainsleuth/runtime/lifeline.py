"""The end of this process when its supervisor is gone, even if that was killed without a word."""

import fcntl
import os
import signal

from .emit import open_high

_descriptor = None


def attach(path):
    """Tie this process and its later forks to the writer of the FIFO at `path`.

    A run repeated by hand has no FIFO, and then there is nothing to hold on to.
    """
    if path and _hold(path):
        os.register_at_fork(after_in_child=lambda: _hold(path))


def _hold(path):
    global _descriptor
    if _descriptor is not None:  # a fork: what it inherited still names the parent
        os.close(_descriptor)
        _descriptor = None
    try:
        _descriptor = open_high(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    _kill_at_end_of_file(_descriptor)
    try:
        writer_is_gone = os.read(_descriptor, 1) == b""
    except BlockingIOError:
        writer_is_gone = False
    if writer_is_gone:
        _kill()
    return True


def _kill_at_end_of_file(descriptor):
    """On Linux the kernel sends the signal itself. A thread would make `os.fork` warn from Python 3.12 on."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | fcntl.FASYNC)
    except AttributeError:  # no F_SETSIG on this system
        import threading

        threading.Thread(target=_wait, args=(descriptor,), daemon=True).start()


def _wait(descriptor):
    import select

    select.select([descriptor], [], [])  # nobody ever writes: readable means end of file
    _kill()


def _kill():
    os.kill(os.getpid(), signal.SIGKILL)
