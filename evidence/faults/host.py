"""Runs one program after the other, each in a fork of a process that has torch, with the runtime and a fault inside.

Reads one JSON line per cell on standard input, answers one per cell: {"code", "output", "fired"}.
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

HERE = Path(__file__).parent
RUNTIME = HERE.parents[1] / "tools" / "trainsleuth" / "runtime"
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


def plant(torch: Any, fault: str | None, fired: Path) -> None:
    """Patches above the hooks. Their code has no file, so no line of it is taken for the user's."""
    if fault is None:
        return
    source = (HERE / "faults.py").read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "faults"}
    exec(compile(source, "<fault>", "exec"), scope)
    scope["FAULTS"][fault][0](torch, fired.touch)


def run(order: dict[str, Any], fired: Path) -> None:
    """In the child: the program, from hooks to its end."""
    runtime = load()
    import torch

    emit, hooks = importlib.import_module(NAME + ".emit"), importlib.import_module(NAME + ".hooks")
    folder = order["folder"]
    os.chdir(folder)
    runtime.config.update(run_folder=order["run_folder"], root=folder, experiment=order["experiment"])
    runtime.events = emit.Events(order["events"])
    hooks.install(torch, runtime.config, runtime.events)
    plant(torch, order["fault"], fired)
    sys.path.insert(0, folder)
    sys.argv = [order["program"], *order["arguments"]]
    try:
        if order["program"].endswith(".py"):
            runpy.run_path(order["program"], run_name="__main__")
        else:
            runpy.run_module(order["program"], run_name="__main__", alter_sys=True)
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code:
            sys.last_value = error  # what the interpreter itself does before it ends
            runtime.events("crash", type=type(error).__name__, message=str(error)[:300], traceback="")
    runtime.bus.close("exit")
    os._exit(0)


def main() -> None:
    import torch
    import torch._dynamo  # optimizers import it at their first step; here once for all

    torch.set_num_threads(1)
    for line in sys.stdin:
        order = json.loads(line)
        fired = Path(order["run_folder"], "fired")
        with tempfile.TemporaryFile("w+") as output:
            child = os.fork()
            if child == 0:
                signal.alarm(SECONDS)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                try:
                    run(order, fired)
                finally:
                    os._exit(99)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            told = {"code": code, "output": output.read()[-2000:], "fired": fired.exists()}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
