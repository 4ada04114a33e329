"""Whether code that the program reaches reads a state back: where none does, ckpt_path is where it saves."""

from __future__ import annotations

import re

from ..program import Program

_LOADS = re.compile(
    r"load(?:_?(?:state|checkpoint|ckpt|model|weight|param|pretrained|from)\w*)?|(?:restore|resume|recover)\w*|from_pretrained",
    re.I,
)
_OF_TABLES = ("json", "yaml", "np", "numpy", "toml", "csv", "OmegaConf", "joblib")


def restores_state(program: Program) -> bool:
    """A call that is named for it, but json.load()."""
    return any(
        _LOADS.fullmatch(called.call.last)
        and (called.call.receiver is None or called.call.receiver.last not in _OF_TABLES)
        for called in program.reached_calls
    )
