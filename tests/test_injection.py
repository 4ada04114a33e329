"""Every way to start Python brings our runtime in, and where it cannot come in nothing is called probed."""

from __future__ import annotations

import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from typing import Any

import pytest
from launching import TRAIN, Project, first, kinds
from trainsleuth.launcher import environment
from trainsleuth.launcher.python_call import parse_python


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real interpreter with a package named torch that imports in no time: only the ways in matter here."""
    place = tmp_path_factory.mktemp("light")
    venv.create(place, with_pip=False, symlinks=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "torch").mkdir()
    (packages / "torch/__init__.py").write_text("__version__ = '0'\n")
    return str(place / "bin/python")


PROBED = "import sys, torch\nprint(torch.is_probed, sys.argv, __name__, __spec__ is None)\n"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (("train.py", "a"), "True ['train.py', 'a'] __main__ True"),
        (("-I", "train.py", "a"), "True ['train.py', 'a'] __main__ True"),
        (("-sE", "-W", "ignore", "train.py"), "True ['train.py'] __main__ True"),
        (("-m", "package.train", "a"), "True ['{folder}/package/train.py', 'a'] __main__ False"),
        (("-E", "-m", "package.train"), "True ['{folder}/package/train.py'] __main__ False"),
        (("-c", PROBED, "a"), "True ['-c', 'a'] __main__ True"),
        (("-Ic", PROBED, "a"), "True ['-c', 'a'] __main__ True"),
        (("-I", "package"), "True ['package'] __main__ False"),
    ],
)
def test_ways_to_start_python(project: Project, light: str, command: Sequence[str], output: str) -> None:
    for name in ("train.py", "package/__init__.py", "package/train.py", "package/__main__.py"):
        project.write(PROBED if "init" not in name else "", name)
    run = project.run(None, light, *command)
    assert run.ended == "finished", run.why
    assert run.output == output.format(folder=project.folder) + "\n"


@pytest.mark.parametrize("flags", ["", " -I", " -sE"])
def test_a_console_script(project: Project, light: str, flags: str) -> None:
    project.write(f"#!{light}{flags}\n{PROBED}", "bin/train").chmod(0o755)
    run = project.run(None, "bin/train", "--epochs", "1")
    assert run.ended == "finished", run.why
    assert run.output == "True ['bin/train', '--epochs', '1'] __main__ True\n"


@pytest.mark.parametrize(
    "command",
    [
        ("bash", "-c", "{python} train.py"),
        ("env", "A=1", "{python}", "-I", "train.py"),
        ("env", "-u", "HOST", "A=1", "PYTHONPATH=lib", "{python}", "train.py"),
        ("nice", "-n", "1", "env", "PYTHONPATH=", "{python}", "train.py"),
        ("env", "PYTHONPATH=lib", "bash", "-c", "{python} train.py"),
        ("{python}", "-c", "import subprocess, sys; subprocess.check_call([sys.executable, 'train.py'])"),
    ],
)
def test_through_other_programs(project: Project, light: str, command: Sequence[str]) -> None:
    project.write(PROBED)
    run = project.run(None, *(word.format(python=light) for word in command))
    assert run.ended == "finished", run.why
    assert run.output.startswith("True ")


def test_the_named_interpreter_is_used(project: Project, light: str) -> None:
    run = project.run(PROBED, "python-that-is-not-here", "train.py", python=light)
    assert run.ended == "not_started" and "not found" in run.why
    for command in (("python3", "train.py"), ("bash", "-c", "python3 train.py")):
        run = project.run(PROBED, *command, python=light)
        assert run.ended == "finished", run.why


def test_an_interpreter_without_torch(project: Project) -> None:
    place = project.folder.parent / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    run = project.run(TRAIN.format(steps=1), str(place / "bin/python"), "train.py")
    assert run.ended == "not_probed"
    assert str(place / "bin/python") in run.why and "--python" in run.why


@pytest.mark.parametrize("fault", ["crash.py", "hooks.py", "broken hook", "no config"])
def test_a_broken_runtime_trains_nothing(project: Project, light: str, fault: str) -> None:
    experiment: dict[str, Any] = {"break": True} if fault == "broken hook" else {}
    if fault.endswith(".py"):
        (environment.RUNTIME / fault).write_text("def (")
    if fault == "no config":
        experiment = {"env": {}}
        (environment.RUNTIME / "__init__.py").write_text("raise OSError('disk gone')\n")
    program = "print('before')\nimport torch\nprint('trained unprobed')"
    run = project.run(program, light, "train.py", experiment=experiment)
    assert (run.ended, run.exit_code) == ("not_probed", 70), run.why
    assert "trained unprobed" not in run.output and "trainsleuth: " in run.output
    assert "nothing was trained unprobed" in run.why
    if fault == "crash.py":  # the other way in
        run = project.run(None, light, "-I", "train.py")
        assert (run.ended, run.exit_code) == ("not_probed", 70), run.why
        assert "before" not in run.output


def test_torch_that_is_never_imported(project: Project) -> None:
    run = project.run("print('no torch here')")
    assert run.ended == "not_probed" and "never imported torch" in run.why
    run = project.run(None, "true")
    assert run.ended == "not_probed" and "no Python process" in run.why


def test_a_python_that_hides_from_us_is_seen(project: Project) -> None:
    project.write("import torch, time\ntime.sleep(1.5)\n", "hidden.py")
    run = project.run("import subprocess, sys; subprocess.check_call([sys.executable, '-I', 'hidden.py'])")
    assert run.ended == "not_probed", run.why
    assert "could not be probed" in run.why and "-I hidden.py" in run.why


def test_torch_loaded_by_hand_reloaded_and_from_its_submodule(project: Project) -> None:
    (environment.RUNTIME / "hooks.py").write_text(
        "def install(torch, config, events):\n    torch.hooked = getattr(torch, 'hooked', 0) + 1\n    return {}\n"
    )
    project.write("first = True", "torch/__init__.py")
    project.write("", "torch/nn.py")
    run = project.run(
        "import importlib, importlib.util, sys\n"
        "import torch.nn\nassert torch.hooked == 1\n"
        "importlib.reload(torch)\nassert torch.hooked == 2\n"
        "spec = importlib.util.find_spec('torch')\nassert type(spec.loader).__name__ == 'SourceFileLoader'\n"
        "assert importlib.util.find_spec('torch.none') is None and importlib.util.find_spec('none') is None\n"
        "del sys.modules['torch']\nspec = importlib.util.find_spec('torch')\n"
        "module = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(module)\n"
        "assert module.hooked == 1\n"
    )
    assert run.ended == "finished", run.output
    assert kinds(run).count("hooks") == 3


def test_the_users_own_sitecustomize_still_runs(project: Project, light: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("import builtins\nbuiltins.SITE = __file__", "site/sitecustomize.py")
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "site"))
    run = project.run("import sitecustomize, torch\nprint(SITE == sitecustomize.__file__)", light, "train.py")
    assert (run.ended, run.output) == ("finished", "True\n"), run.why


def test_forked_loader_workers_are_silent(project: Project) -> None:
    run = project.run(
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "class Data(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 8\n"
        "    def __getitem__(self, i):\n"
        "        open('/dev/null', 'w').close()\n        return torch.tensor(i)\n"
        "print(sum(len(b) for b in DataLoader(Data(), batch_size=2, num_workers=2)))\n"
    )
    assert (run.ended, run.output) == ("finished", "8\n"), run.why
    assert len(list(run.folder.glob("events-*.jsonl"))) == 1
    assert "unprobed" not in kinds(run)


def test_stopping_with_workers_alive_leaves_none(project: Project) -> None:
    text = TRAIN.format(steps=10**9).replace(
        "for step",
        "data = torch.utils.data.TensorDataset(torch.randn(10**5, 4))\n"
        "workers = iter(torch.utils.data.DataLoader(data, num_workers=2))\nnext(workers)\nfor step",
    )
    run = project.run(text, experiment={"steps": 2})
    assert (run.ended, run.exit_code) == ("stopped", 0), run.why
    assert "outlived" not in run.why
    assert project.left_alive(0) == []


def test_a_forked_child_that_trains_speaks_and_the_rest_ends_soon(project: Project) -> None:
    project.write(
        "import torch, os, time\nchild = os.fork()\nif child == 0:\n    exec(open('loop.py').read())\ntime.sleep(600)\n"
    )
    project.write(TRAIN.format(steps=10**9), "loop.py")
    run = project.run(experiment={"steps": 2})
    assert (run.ended, run.exit_code) == ("stopped", -15), run.why
    parent, child = (event["pid"] for event in run.events if event["kind"] == "hello")
    assert [event["pid"] for event in run.events if event["kind"] == "step"] == [child, child]
    assert first(run, "hooks")["pid"] == parent
    assert run.seconds < 40
    assert project.left_alive(0) == []


@pytest.mark.twins
def test_two_ranks_end_together(project: Project) -> None:
    project.write(
        "import torch, torch.distributed as dist\ndist.init_process_group('gloo')\n"
        + TRAIN.format(steps=10**9).replace(
            "optimizer = ", "model = torch.nn.parallel.DistributedDataParallel(model)\noptimizer = "
        )
    )
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    began = time.monotonic()
    run = project.run(None, sys.executable, *launcher, "train.py", experiment={"steps": 3}, seconds=120)
    assert (run.ended, run.exit_code) == ("stopped", 0), run.why + run.output
    assert sorted(event["rank"] for event in run.events if event["kind"] == "finish") == [0, 1]
    assert {event["rank"] for event in run.events if event["kind"] == "step"} == {0, 1}
    assert time.monotonic() - began < 110
    assert first(run, "finish")["reason"] == "step budget reached"


@pytest.mark.parametrize(
    ("line", "flags", "what"),
    [
        ("python -Werror -X dev a.py -I", "-Werror -X dev", "a.py -I"),
        ("python -W error -ImB mod x", "-W error -I", "-m B mod x"),
        ("python -Im mod x", "-I", "-m mod x"),
        ("python -uc code x", "-u", "-c code x"),
        ("python -m mod -I", "", "-m mod -I"),
        ("python --check-hash-based-pycs always -I a.py", "--check-hash-based-pycs always -I", "a.py"),
        ("python -", "", ""),
        ("python", "", ""),
    ],
)
def test_python_command_lines(line: str, flags: str, what: str) -> None:
    call = parse_python(line.split())
    assert (list(call.flags), list(call.what)) == (flags.split(), what.split())
    assert call.is_blind == ("I" in flags and bool(what))
