"""Method names so common on values of other libraries that a namesake in the project says nothing."""

from __future__ import annotations

import io

# of tensors, modules, optimizers, loggers and processes
# fmt: off
_OF_LIBRARIES = (
    "read", "write", "open", "close", "to", "cuda", "cpu", "item", "detach", "clone", "view", "reshape",
    "mean", "sum", "size", "dim", "log", "exp", "sqrt", "max", "min", "abs", "numpy", "float", "long", "int",
    "train", "eval", "step", "zero_grad", "backward", "state_dict", "load_state_dict", "parameters", "forward",
    "reset", "start", "stop", "apply", "save", "load", "print", "info", "warning", "error", "debug",
    "register", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "expand", "repeat", "type",
    "decode", "run", "set", "put", "flush",
)
# fmt: on
COMMON_NAMES = frozenset(_OF_LIBRARIES).union(*(dir(kind) for kind in (list, dict, str, set, io.TextIOWrapper)))
