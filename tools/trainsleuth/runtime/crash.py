"""How a process ended by itself: the traceback with the user's own last line, then the exit."""

import atexit
import dis
import os
import re
import sys
import traceback as formatting  # now: the user's path may hold another one

TRACEBACK_CHARACTERS = 20_000

_reported = None
_leading_files = ()  # frames of ours below the user's script, shown to nobody


def watch(events, config):
    """Report an uncaught exception as "crash" and the end as "exit". The program's own hooks still run."""
    previous = sys.excepthook

    def excepthook(kind, error, traceback):
        shown = without_our_frames(error, traceback)
        report(events, config, kind, error, shown)
        previous(kind, error, shown)

    sys.excepthook = excepthook
    atexit.register(_at_exit, events, config)


def _at_exit(events, config):
    error = getattr(sys, "last_value", None)  # set even where the program replaced the hook
    if error is not None and _reported is None:
        report(events, config, type(error), error, error.__traceback__)
    if "torch" in sys.modules:
        from . import is_hooked

        if not is_hooked():
            events("unprobed", why="torch was imported past the import system, so no hook was installed")
    events("exit", code=None if _reported is None else 1)


def report(events, config, kind, error, traceback):
    global _reported
    _reported = error
    text = "".join(formatting.format_exception(kind, error, traceback))
    if len(text) > TRACEBACK_CHARACTERS:
        half = TRACEBACK_CHARACTERS // 2
        text = text[:half] + "\n[...]\n" + text[-half:]
    path, line = last_place(error, traceback, config)
    events(
        "crash",
        type=kind.__name__,
        message=str(error)[:2000],
        module=getattr(error, "name", None) if isinstance(error, ImportError) else None,
        unset=is_unset(error, traceback),
        traceback=text,
        path=path,
        line=line,
    )


def is_unset(error, traceback):
    """Is it about a name that the program gives a value somewhere, though it did not come to that?"""
    name = re.search(r"'(\w+)'", str(error))
    if not isinstance(error, NameError) or name is None or traceback is None:
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    if is_set(frame.f_code, name.group(1), ("STORE_FAST", "STORE_DEREF", "STORE_NAME")):
        return True
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and is_set(frame.f_code, name.group(1), ("STORE_NAME", "STORE_GLOBAL"))


def is_set(code, name, ways):
    """By one of these instructions, or in a function in it that declares the name global."""
    stores = (one for one in dis.get_instructions(code) if one.opname.startswith(ways))
    if any(
        name in (one.argval if isinstance(one.argval, tuple) else (one.argval,)) for one in stores
    ):  # two from 3.13 on
        return True
    return any(is_set(one, name, ("STORE_GLOBAL",)) for one in code.co_consts if isinstance(one, type(code)))


def last_place(error, traceback, config):
    """(path, line) of the innermost frame inside the user's root, relative to it; (None, None) if none is."""
    places = []
    while traceback is not None:
        places.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    for filename, line in reversed(places):
        inside = relative(filename, config)
        if inside is not None:
            return inside, line
    return None, None


def relative(filename, config):
    """`filename` as answers tell it, with forward slashes, or None when it is not the user's own code."""
    path = os.path.join(config.get("cwd", ""), filename)
    for root in (config.get("root"), config.get("original_root")):
        if root and path.startswith(root.rstrip(os.sep) + os.sep) and "site-packages" not in path:
            told_from = os.path.join(root, config.get("told_from", ""))
            return os.path.relpath(path, told_from).replace(os.sep, "/")
    return None


def hide_leading(*files):
    """Leave frames of these files out of tracebacks as long as nothing else is below them."""
    global _leading_files
    _leading_files = files


def without_our_frames(error, traceback):
    shown = traceback
    while shown is not None and shown.tb_frame.f_code.co_filename in _leading_files:
        shown = shown.tb_next
    if shown is not traceback:
        error.__traceback__ = shown  # the default hook prints this one, whatever it is handed
    return shown
