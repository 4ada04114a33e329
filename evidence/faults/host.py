"""Runs one program after the other, each in a fork of a process that has torch, with the runtime inside.

Usage: python host.py [MODULE ...], modules that are imported before the fork, to save the time of each run.

Reads one JSON line per run on standard input: {"folder", "command", "events", "run_folder", "experiment",
"ranks"}. The events of each rank go to a file of its own, "events" with -RANK. Answers one per run: {"code", "output", "cpu"}.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import runpy
import signal
import socket
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
    """One child per rank, with what torchrun would put into its environment; a single one with nothing."""
    port = free_port()
    with tempfile.TemporaryFile("w+") as output:
        children = []
        for rank in range(order["ranks"]):
            children.append(os.fork())
            if children[-1] == 0:
                signal.alarm(SECONDS)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                try:
                    run(as_rank(order, rank, port))
                finally:
                    os._exit(99)
        ended = [os.wait4(child, 0) for child in children]
        output.seek(0)
        codes = [os.waitstatus_to_exitcode(status) for _, status, _ in ended]
        cpu = sum(used.ru_utime + used.ru_stime for _, _, used in ended)
        return {"code": next((code for code in codes if code), 0), "output": output.read()[-2000:], "cpu": cpu}


def as_rank(order: dict[str, Any], rank: int, port: int) -> dict[str, Any]:
    if order["ranks"] > 1:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(order["ranks"]),
                          LOCAL_WORLD_SIZE=str(order["ranks"]), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))  # fmt: skip
    return {**order, "events": f"{order['events']}-{rank}"}


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


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
