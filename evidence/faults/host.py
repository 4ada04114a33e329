"""Runs one program after the other, each in a fork of a process that has torch, with the runtime inside.

Usage: python host.py [MODULE ...], modules that are imported before the fork, to save the time of each run.

Reads one JSON line per run on standard input: {"folder", "command", "events", "run_folder", "experiment"}.
Answers one per run: {"code", "output", "cpu"}.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import runpy
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNTIME = Path(__file__).parents[2] / "tools" / "trainsleuth" / "runtime"
NAME = "_trainsleuth_runtime"
SECONDS = 120  # for one program


def load() -> Any:
    spec = importlib.util.spec_from_file_location(
        NAME, RUNTIME / "__init__.py", submodule_search_locations=[str(RUNTIME)]
    )
    assert spec is not None and spec.loader is not None
    runtime = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = runtime
    spec.loader.exec_module(runtime)
    return runtime


def run(order: dict[str, Any]) -> None:
    """In the child: the program, from hooks to its end."""
    runtime = load()
    import torch

    emit, hooks = importlib.import_module(NAME + ".emit"), importlib.import_module(NAME + ".hooks")
    folder, words = order["folder"], order["command"]
    os.chdir(folder)
    runtime.config.update(run_folder=order["run_folder"], root=folder, experiment=order["experiment"])
    runtime.events = emit.Events(order["events"])
    hooks.install(torch, runtime.config, runtime.events)
    sys.path.insert(0, folder)
    is_module = words[0] == "-m"
    sys.argv = list(words[1:] if is_module else words)
    try:
        if is_module:
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code:
            sys.last_value = error  # what the interpreter itself does before it ends
            runtime.events("crash", type=type(error).__name__, message=str(error)[:300], traceback="")
    runtime.bus.close("exit")
    os._exit(0)


def forked(order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                run(order)
            finally:
                os._exit(99)
        _, status, used = os.wait4(child, 0)
        output.seek(0)
        code = os.waitstatus_to_exitcode(status)
        return {"code": code, "output": output.read()[-2000:], "cpu": used.ru_utime + used.ru_stime}


def main() -> None:
    import torch
    import torch._dynamo  # optimizers import it at their first step; here once for all

    for name in sys.argv[1:]:
        importlib.import_module(name)
    torch.set_num_threads(1)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(forked(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
