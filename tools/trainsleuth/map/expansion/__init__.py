"""Everything about parts of a program: components, the configuration as it is, or the path of one batch."""

from __future__ import annotations

from .asked import Asker
from .drawing import drawn
from .pages import NO_PAGES, Pages, pages_of
from .planned import Plan, plan
from .records import EXPANDABLE, Expansion, UnknownPartError, check_parts

__all__ = [
    "EXPANDABLE",
    "NO_PAGES",
    "Asker",
    "Expansion",
    "Pages",
    "Plan",
    "UnknownPartError",
    "check_parts",
    "drawn",
    "pages_of",
    "plan",
]
