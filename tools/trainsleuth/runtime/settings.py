"""What a program was configured with: the objects that its running functions hold, and the files that it read.

Nothing is replaced or wrapped; values are read from the frames of the program when its first backward starts.
"""

import os
import re
import sys

from .sites import OWN

NAMED = re.compile(
    r"(?:^|_)(?:args?|opts?|options|cfg|conf|config|configs|configuration|hparams|hps|hp|hyp|params|settings|FLAGS)$"
)
SECRET = re.compile(
    r"(?:^|_|\.)(?:(?:api|access|secret|private|signing|encryption|account)_?key(?:_?id)?|secret|passw(?:or)?d|passphrase|token|"
    r"credentials?)$",
    re.I,
)
FILES = (
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".ini",
    ".cfg",
    ".gin",
    ".hocon",
    ".py",
)  # Python code may be handed to exec
MOST_BYTES = 200_000  # of a file that is taken for a configuration
KINDS = ("Namespace", "Config", "Args", "Arguments", "Params", "Settings")
MOST_VALUES, MOST_HELD, MOST_FILES, MOST_HEARD, MOST_TEXT, MOST_LISTED, MOST_FRAMES = 120, 8, 30, 2000, 120, 8, 30
PLAIN = (bool, int, float, str, type(None))


def held(sites):
    """{"name", "type", "site", "function", "values"} of each configuration that a running function of the user holds."""
    seen = {}  # id -> object: kept, so that an id is not used twice
    frame = sys._getframe(1)
    for _ in range(MOST_FRAMES):
        while frame is not None and sites.classify(frame.f_code.co_filename)[0] != "user":
            frame = frame.f_back
        if frame is None:
            return
        site = "%s:%d" % (sites.classify(frame.f_code.co_filename)[1], frame.f_lineno)
        for name, key, value in _candidates(frame, sites):
            values = _values(value, sites) if id(key) not in seen and len(seen) < MOST_HELD else None
            if values:
                seen[id(key)] = key
                yield {"name": name, "type": type(key).__name__, "site": site, "function": frame.f_code.co_name,
                       "values": values}  # fmt: skip
        frame = frame.f_back


def _candidates(frame, sites):
    """(name, object, its content) of what may be a configuration: in the locals, in the object of a method, in the globals."""
    local = dict(frame.f_locals)
    owner = local.get("self")
    places = [("", local), ("self.", getattr(owner, "__dict__", {})), ("", frame.f_globals)]
    for prefix, names in places:
        for name, value in list(names.items()):
            if not name.startswith("__") and _is_configuration(name, value, sites):
                yield prefix + name, value, value
    constants = {name: value for name, value in list(frame.f_globals.items())
                 if name.isupper() and not name.startswith("_") and isinstance(value, PLAIN)}  # fmt: skip
    yield "constants of %s" % frame.f_globals.get("__name__", "?"), frame.f_globals, constants


def _is_configuration(name, value, sites):
    """By its class: a parsed command line, an OmegaConf tree. By its name: a dict, an object or a module of the user."""
    cls = type(value)
    if (cls.__module__, cls.__name__) == ("argparse", "Namespace") or _is_omega(value, "DictConfig"):
        return True
    return bool(NAMED.search(name)) and (isinstance(value, dict) or _is_open(value, sites))


def _is_open(value, sites):
    """An object or a module whose attributes are the user's own words: not a network, a tensor, an optimizer."""
    if isinstance(value, type(sys)):
        return sites.classify(getattr(value, "__file__", None) or "<none>")[0] == "user"
    cls = type(value)
    if isinstance(value, (type, *PLAIN)) or callable(value) or hasattr(value, "parameters") or hasattr(value, "numel"):
        return False
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or "<none>"
    return cls.__name__.endswith(KINDS) or sites.classify(file)[0] == "user"


def _values(value, sites):
    """{dotted key: plain value}, at most MOST_VALUES."""
    found = {}
    for key, plain in _flat(value, "", 4, sites):
        found[key] = "<hidden>" if SECRET.search(key) and plain not in (None, "") else plain
        if len(found) >= MOST_VALUES:
            break
    return found


def _flat(value, name, depth, sites):
    if isinstance(value, PLAIN):
        yield name, value[:MOST_TEXT] if isinstance(value, str) else value
    elif isinstance(value, (list, tuple)) or _is_omega(value, "ListConfig"):
        value = [item for _, item in _resolved(value)] if _is_omega(value, "ListConfig") else value
        if len(value) <= MOST_LISTED and all(isinstance(one, PLAIN) for one in value):
            yield name, [one[:MOST_TEXT] if isinstance(one, str) else one for one in value]
    elif depth:
        for key, item in _items(value, sites):
            if isinstance(key, str) and not key.startswith("__"):
                yield from _flat(item, (name + "." + key).lstrip("."), depth - 1, sites)


def _items(value, sites):
    if _is_omega(value, "DictConfig"):
        return list(_resolved(value))
    if isinstance(value, dict):
        return list(value.items())
    return list(getattr(value, "__dict__", {}).items()) if _is_open(value, sites) else []


def _is_omega(value, name):
    return type(value).__name__ == name and type(value).__module__.startswith("omegaconf")


def _resolved(value):
    """(key, value) of an OmegaConf node; what is missing or cannot be resolved is told as "???"."""
    for key in list(value.keys()) if hasattr(value, "keys") else range(len(value)):
        try:
            yield key, value[key]
        except Exception:
            yield key, "???"


class Reads:
    """Files inside the user's root that look like configuration and that Python opens for reading."""

    def __init__(self, sites):
        self.sites, self.paths, self.is_on = sites, {}, True
        sys.addaudithook(self._heard)

    def _heard(self, event, arguments):
        if event == "open" and self.is_on and len(self.paths) < MOST_HEARD and isinstance(arguments[0], (str, bytes)):
            path, mode, _ = arguments
            text = os.fsdecode(path)
            if not text.endswith(FILES) or (mode or "r")[0] != "r":
                return
            absolute = os.path.realpath(text)
            if absolute.startswith(self.sites.root) and not absolute.startswith(OWN) and _size(absolute) <= MOST_BYTES:
                self.paths.setdefault(absolute)

    def stop(self):
        """The paths so far, without the files of modules; no more are heard."""
        self.is_on = False
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        modules = {os.path.realpath(file) for file in files if isinstance(file, str)}
        return [self.sites.shown(path) for path in self.paths if path not in modules][:MOST_FILES]


def _size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return MOST_BYTES + 1
