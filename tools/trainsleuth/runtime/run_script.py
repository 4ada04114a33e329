"""Start the user's program where PYTHONPATH is ignored (-I, -E, -S): as `python` itself would, but probed.

Usage: python FLAGS run_script.py script.py ARGUMENTS | -m module ARGUMENTS | -c code ARGUMENTS
"""

import os
import sys

SAFE = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
if not SAFE:
    sys.path.pop(0)  # the folder of this file: nothing in it may answer for a name


def load_runtime():
    """The runtime, started, by its place next to this file."""
    import importlib.util

    folder = os.path.dirname(os.path.abspath(__file__))
    name = "_trainsleuth_runtime"
    place = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, place, submodule_search_locations=[folder])
    sys.modules[name] = runtime = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runtime)
    runtime.start()
    return runtime


def pose_as(arguments):
    """Set argv and path as `python FLAGS arguments` would; return what to run: (kind, subject)."""
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[len(sys.orig_argv) - len(arguments) - 1 :] = arguments
    kind = arguments[0] if arguments[0] in ("-m", "-c") else "script"
    sys.argv[:] = {"-m": arguments[1:], "-c": ["-c", *arguments[2:]], "script": arguments}[kind]
    subject = arguments[0] if kind == "script" else arguments[1]
    if kind == "script" and is_application(subject):
        sys.path.insert(0, subject)
        return "application", subject
    if not SAFE:
        folders = {"-m": os.getcwd(), "-c": "", "script": os.path.dirname(os.path.realpath(subject))}
        sys.path.insert(0, folders[kind])
    return kind, subject


def is_application(path):
    """Whether Python runs the `__main__.py` inside: a folder or a zip file."""
    if os.path.isdir(path):
        return True
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)


def code_of(kind, subject):
    """The compiled program and what `__main__` knows about it."""
    if kind == "-c":
        from importlib.machinery import BuiltinImporter

        return compile(subject, "<string>", "exec"), {"__loader__": BuiltinImporter}
    from importlib.machinery import SourceFileLoader

    path = os.path.abspath(subject) if sys.version_info >= (3, 9) else subject
    try:
        with open(subject, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write(
            "%s: can't open file %r: [Errno %d] %s\n" % (sys.executable, path, error.errno, error.strerror)
        )
        sys.exit(2)
    about = {"__file__": path, "__cached__": None, "__loader__": SourceFileLoader("__main__", path)}
    return compile(source, path, "exec"), about


def main():
    import runpy

    try:
        runtime = load_runtime()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        is_watched = '"watch_only": true' in os.environ.get("TRAINSLEUTH_CONFIG", "")
        end = "it runs on unwatched" if is_watched else "so this process was stopped"
        sys.stderr.write("trainsleuth: the runtime could not start, %s\n" % end)
        sys.stderr.flush()
        if not is_watched:
            os._exit(70)
    else:
        runtime.crash.hide_leading(__file__)
    kind, subject = pose_as(sys.argv[1:])
    if kind in ("-m", "application"):
        runpy._run_module_as_main(subject if kind == "-m" else "__main__", alter_argv=kind == "-m")
        return
    code, about = code_of(kind, subject)
    namespace = sys.modules["__main__"].__dict__
    for name in [name for name in namespace if name not in ("__builtins__", "__name__", "__annotations__")]:
        del namespace[name]
    namespace.update({"__doc__": None, "__package__": None, "__spec__": None}, **about)
    exec(code, namespace)


main()
