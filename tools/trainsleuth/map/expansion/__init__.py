"""Everything about parts of a program: components, the configuration as it is, or the path of one batch."""

from __future__ import annotations

from .drawing import drawn
from .planned import Plan, plan
from .records import EXPANDABLE, Expansion, UnknownPartError, check_parts

__all__ = ["EXPANDABLE", "Expansion", "Plan", "UnknownPartError", "check_parts", "drawn", "plan"]
