"""Configuration truth of one program: every hyperparameter, what sets it in which order, and where it is read."""

from __future__ import annotations

from .forms.python_files import PythonConfigs, is_settings
from .records import Key, Layer, Use
from .settled import truth_of
from .truth import Truth
from .values.defaults import defaults, keys_of_flags, offered
from .values.overrides import launch_of

__all__ = [
    "Key",
    "Layer",
    "PythonConfigs",
    "Truth",
    "Use",
    "defaults",
    "is_settings",
    "keys_of_flags",
    "launch_of",
    "offered",
    "truth_of",
]
