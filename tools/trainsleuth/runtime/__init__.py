"""What runs inside the user's interpreter. Standard library and torch only, from Python 3.8 on.

It is loaded by file location under the name `_trainsleuth_runtime`, so nothing on the user's path can
shadow it and it shadows nothing. `start` says hello, ties the process to its supervisor and waits for
torch: as soon as torch's own body has run, `hooks.install(torch, config, events)` is called, before the
import returns to whoever asked for it.
"""

import json
import os
import sys
import time
import traceback

CONFIG = "TRAINSLEUTH_CONFIG"
FAILED = 70  # the exit code of a process that could not be probed and therefore was not run on

config = {}
"""What the launcher asked for: run_folder, root, original_root, told_from, cwd, lifeline, launched_at, experiment."""

events = None
"""The `emit.Events` of this process, None before `start`."""

_torch_is_hooked = False


def start():
    """Make this process a probed one. Without the launcher's configuration it stays as it is."""
    global events
    if events is not None or not os.environ.get(CONFIG):
        return
    from . import crash, emit, importhook, lifeline, writes

    config.update(json.loads(os.environ[CONFIG]))
    lifeline.attach(config.get("lifeline"))
    path = os.path.join(config["run_folder"], "events-%d.jsonl" % os.getpid())
    events = emit.Events(path, config.get("launched_at", 0.0), may_be_lost=bool(config.get("watch_only")))
    events("hello", **_self())
    crash.watch(events, config)
    if not config.get("watch_only"):
        writes.watch(events, config)
    importhook.after_import("torch", _on_torch)


def adopt_fork():
    """Let a forked child speak that turned out to train: call it where only training gets, as in a step.

    Forked children are silent at first, since most of them are loader workers.
    """
    if events.reopen():
        events("hello", forked=True, **_self())


def finish(reason, code=0, **fields):
    """End this process on purpose and now: no `finally`, no atexit, no saving.

    Ranks on one machine wait up to five seconds for each other, so that none loses a peer in a collective; not where
    this one fails, which the others are to see.
    """
    events("finish", reason=reason, **fields)
    from . import ending

    if not code:
        ending.wait_for_ranks(config["run_folder"])
    ending.end_children()
    events("exit", code=code)
    ending.flush()
    os._exit(code)


def fail(what):
    """End this process because it cannot be probed: nothing trains unwatched under a probe's name.

    A run that is only watched goes on: it is the user's own, and is worth more than our eyes on it.
    """
    cause = traceback.format_exc() if sys.exc_info()[0] else ""
    try:
        if events is not None:
            events("failed", what=what, traceback=cause)
        end = "it runs on unwatched" if config.get("watch_only") else "so this process was stopped"
        sys.stderr.write("trainsleuth: %s, %s\n%s" % (what, end, cause))
        sys.stderr.flush()
    finally:
        if not config.get("watch_only"):
            os._exit(FAILED)


def _on_torch(torch):
    global _torch_is_hooked
    began = time.perf_counter()
    try:
        from . import hooks, last_stack

        if not config.get("watch_only"):
            last_stack.keep(config)
        installed = hooks.install(torch, config, events)
        spent = round(time.perf_counter() - began, 4)
        events(
            "hooks",
            torch=str(getattr(torch, "__version__", "?")),
            hooks=installed,
            seconds=spent,
            rank=rank(),
        )
    except BaseException:
        fail("the probe could not be put into torch %s" % getattr(torch, "__version__", "?"))
    _torch_is_hooked = True


def is_hooked():
    """Whether torch was imported under our eyes and its hooks were installed."""
    return _torch_is_hooked


def rank():
    """This process's rank, or None outside a distributed run."""
    return _number("RANK", "LOCAL_RANK")


def _self():
    return {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "rank": rank(),
        "world_size": _number("WORLD_SIZE"),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable,
        "argv": list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", [])),
    }


def _number(*names):
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None
