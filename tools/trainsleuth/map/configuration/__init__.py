"""Configuration truth of one program: every hyperparameter, what sets it in which order, and where it is read."""

from __future__ import annotations

from .defaults import defaults
from .overrides import launch_of
from .python_files import PythonConfigs, is_settings
from .records import Key, Layer, Use
from .settled import truth_of
from .truth import Truth

__all__ = ["Key", "Layer", "PythonConfigs", "Truth", "Use", "defaults", "is_settings", "launch_of", "truth_of"]
