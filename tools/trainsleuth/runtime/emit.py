"""Events: one JSON line per fact, one file per process, readable while the program still runs."""

import fcntl
import json
import math
import numbers
import os
import time

FIRST_DESCRIPTOR = 200  # above what programs that close or count the low ones touch
ALWAYS = frozenset(["hello", "hooks", "failed", "crash", "finish", "exit"])  # also past the byte cap


class Events:
    """Calling it writes one event: `events("loss", value=2.3)`.

    Each line is one `os.write` to a descriptor opened with O_APPEND, so threads need no lock and a
    killed process leaves whole lines. `t` is seconds since the launch. After `cap` bytes one
    "truncated" event is written and only a few kinds pass. A forked child is silent until `reopen`.
    Raises OSError when the line cannot be written, unless it `may_be_lost`: a probe that cannot speak must not go on.
    """

    def __init__(self, path, launched_at=0.0, cap=64_000_000, may_be_lost=False):
        self.path = path
        self.may_be_lost = may_be_lost
        self.launched_at = launched_at
        self.cap = cap
        self._open()

    def __call__(self, kind, **fields):
        if os.getpid() != self.pid:
            return
        line = encode(dict(fields, kind=kind, t=round(time.monotonic() - self.launched_at, 6)))
        if self.written + len(line) > self.cap and kind not in ALWAYS:
            if self.truncated:
                return
            self.truncated = True
            line = encode({"kind": "truncated", "t": time.monotonic() - self.launched_at, "cap": self.cap})
        self.written += len(line)
        try:
            self._write(line)
        except OSError:  # a full disk: a run that is only watched is worth more than our log of it
            if not self.may_be_lost:
                raise

    def reopen(self):
        """Give a forked child its own file. False, and nothing done, in the process that opened this one."""
        if os.getpid() == self.pid:
            return False
        folder = os.path.dirname(self.path)
        self.path = os.path.join(folder, "events-%d.jsonl" % os.getpid())
        self._open()
        return True

    def _open(self):
        self.pid = os.getpid()
        self.written = 0
        self.truncated = False
        self._descriptor = open_high(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def _write(self, line):
        try:
            os.write(self._descriptor, line)
        except OSError:  # a daemon closed every descriptor it had
            self._descriptor = open_high(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(self._descriptor, line)


def open_high(path, flags):
    """A close-on-exec descriptor with a number that programs do not expect to be free."""
    low = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    except OSError:  # the limit of open files is lower than that
        return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(low)


def encode(event):
    """One line of strict JSON in ASCII: no NaN, no infinity, no lone surrogate, whatever came in."""
    try:
        text = json.dumps(event, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        text = json.dumps(plain(event), separators=(",", ":"))
    if "\\ud" in text:  # half of a pair, or a whole one: rare enough to look closely
        text = json.dumps(plain(event), separators=(",", ":"))
    return text.encode("ascii") + b"\n"


def plain(value, depth=0):
    """`value` in JSON's types. Non-finite numbers become "nan", "inf", "-inf"; unknown objects their type."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        value = float(value)
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value))
    if depth < 20 and isinstance(value, dict):
        return {str(plain(key)): plain(item, depth + 1) for key, item in value.items()}
    if depth < 20 and isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in value]
    return "<%s>" % type(value).__name__
