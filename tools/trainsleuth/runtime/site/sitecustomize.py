"""First code of ours in the user's interpreter: make way, start the runtime, hand over to whom it shadows.

The launcher puts this folder, which holds nothing else, on PYTHONPATH. It parses on every Python: where
one is too old to be probed, tools run on and only torch is refused.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def start():
    """Load the runtime by its place, not by a name that the user's path could answer for."""
    import importlib.util

    name = "_trainsleuth_runtime"
    folder = os.path.dirname(HERE)
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    sys.modules[name] = runtime = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runtime)
    runtime.start()


class TooOld:
    """An interpreter that we cannot enter may run tools, but it must not train, unless it is only watched."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            stop("Python %d.%d is older than 3.8, the oldest that can be probed" % sys.version_info[:2])
        return


def stop(what):
    import traceback

    if sys.exc_info()[0]:
        traceback.print_exc()
    is_watched = '"watch_only": true' in os.environ.get("TRAINSLEUTH_CONFIG", "")
    end = "it runs on unwatched" if is_watched else "so this process was stopped"
    sys.stderr.write("trainsleuth: %s, %s\n" % (what, end))
    sys.stderr.flush()
    if not is_watched:
        os._exit(70)


def chain():
    """Run the sitecustomize that would have run without us."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != HERE]
if sys.version_info >= (3, 4):  # an older one may run tools; it is never taken for a probed process
    if os.environ.get("TRAINSLEUTH_CONFIG"):
        if sys.version_info < (3, 8):
            sys.meta_path.insert(0, TooOld)
        else:
            try:
                start()
            except BaseException:
                stop("the runtime could not start")
    chain()
