"""Files that this process changes outside the contained root: reported, since nothing holds them back.

It sees what goes through Python. A file opened by native code (`torch.save` to a path, safetensors) is
seen only where the hooks call `saw`; a file written by a forked child is not seen.
"""

import os
import sys

CAP = 200  # paths named per process
UNTOLD = ("/dev/", "/proc/", "/sys/")
CACHES = (  # of torch and its relatives: counted, not named
    "/torchelastic_",
    "/torchinductor_",
    "/.triton/",
    "/.cache/torch/",
    "/.nv/",
    "/__pycache__/",
    "/pymp-",
    "/.cache/matplotlib",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_saw = None


def watch(events, config):
    """Emit "wrote" {path, before} once per path, `CAP` of them; "wrote_more" {caches, untold} at exit.

    `before` is [modification time in ns, size in bytes] or None: only afterwards it can be seen whether the
    call changed anything, and whether the file was a temporary one.
    """
    global _saw
    import atexit

    seen = _Seen(events, config)
    _saw = seen.add
    handlers = dict.fromkeys(("os.mkdir", "os.truncate", "os.rmdir", "os.remove", "os.chmod"), seen.add)
    handlers.update({"open": seen.opened, "os.rename": seen.add_second, "os.link": seen.add_second})
    handlers["os.symlink"] = seen.add_second

    def audit(event, arguments):
        handler = handlers.get(event)
        if handler is not None:
            handler(*arguments)

    sys.addaudithook(audit)
    atexit.register(seen.tell_rest)


def saw(path):
    """For hooks around native code: this path is about to be written."""
    if _saw is not None:
        _saw(path)


def stamp(path):
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


class _Seen:
    def __init__(self, events, config):
        self.events = events
        inside = [config.get("root"), config.get("run_folder")]
        self.inside = tuple(os.path.realpath(folder) + os.sep for folder in inside if folder)
        self.paths = set()
        self.caches = 0
        self.untold = 0

    def opened(self, path, mode, flags):
        if flags is not None and flags & WRITING and not isinstance(path, int):
            self.add(path)

    def add_second(self, _source, target, *_rest):
        self.add(target)

    def add(self, path, *_rest):
        if isinstance(path, int) or path in self.paths or os.getpid() != self.events.pid:
            return
        try:
            absolute = os.path.realpath(os.fsdecode(path))
        except (TypeError, ValueError, OSError):  # the call itself will say what is wrong with it
            return
        if absolute.startswith(self.inside) or absolute.startswith(UNTOLD) or absolute in self.paths:
            return
        if any(cache in absolute + "/" for cache in CACHES):
            self.caches += 1
        elif len(self.paths) >= CAP:
            self.untold += 1
        else:
            self.paths.add(absolute)
            self.events("wrote", path=absolute, before=stamp(absolute))

    def tell_rest(self):
        if self.caches or self.untold:
            self.events("wrote_more", caches=self.caches, untold=self.untold)
