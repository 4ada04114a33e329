"""Runs small programs with the runtime inside, each in a process of its own forked from one that has torch.

Usage: python runtime_host.py RUNTIME_FOLDER, then one JSON line per program on standard input:
{"program", "events", "run_folder", "experiment", "variables"}, or {"job"}, what the launcher hands to its supervisor.
Answers one JSON line: {"code", "output", "pid"}.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import signal
import sys
import tempfile
import types
from contextlib import suppress
from pathlib import Path
from typing import Any

NAME = "_trainsleuth_runtime"
SECONDS = 60  # for one program


def load(folder: str) -> Any:
    path = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(NAME, path, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    runtime = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = runtime
    spec.loader.exec_module(runtime)
    return runtime


def run(folder: str, order: dict[str, Any]) -> None:
    """In the child: the program, from hooks to its end."""
    os.environ.update(order["variables"])
    runtime = load(folder)
    import torch

    emit, hooks = importlib.import_module(NAME + ".emit"), importlib.import_module(NAME + ".hooks")
    program = Path(order["program"])
    runtime.config.update(run_folder=order["run_folder"], root=str(program.parent), experiment=order["experiment"])
    runtime.events = emit.Events(order["events"])
    hooks.install(torch, runtime.config, runtime.events)
    sys.path.insert(0, str(program.parent))
    sys.argv = [str(program)]
    try:
        runpy.run_path(str(program), run_name="__main__")
    except Exception as error:
        sys.last_value = error  # what the interpreter itself does before it ends
        sys.excepthook(type(error), error, error.__traceback__)
        runtime.bus.close("exit")
        os._exit(1)
    runtime.bus.close("exit")
    sys.stdout.flush()
    os._exit(0)


def do(folder: str, job: dict[str, Any]) -> None:
    """In the child: the command `python script.py ARGUMENTS` or `python -m module ARGUMENTS`, as the launcher's way in
    starts it where PYTHONPATH is ignored; returns to the end of this program, and with it the interpreter.
    """
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    runner = os.path.join(folder, "run_script.py")
    sys.argv = [runner, *job["command"][1:]]
    sys.path[0] = folder
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__["__file__"] = runner
    code = compile(Path(runner).read_text(encoding="utf-8"), runner, "exec")
    try:
        exec(code, main.__dict__)
    except Exception as error:
        assert error.__traceback__ is not None
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
        sys.exit(1)
    sys.exit(0)


def forked(folder: str, order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.alarm(SECONDS)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            if "job" in order:
                do(folder, order["job"])
            try:
                run(folder, order)
            finally:
                os._exit(99)
        status = os.waitpid(child, 0)[1]
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the program left
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        output.seek(0)
        return {"code": code, "output": output.read()[-4000:], "pid": child}


def main() -> None:
    import torch
    import torch._dynamo  # optimizers import it at their first step; here once for all

    torch.set_num_threads(1)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(forked(sys.argv[1], json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
