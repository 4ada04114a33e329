"""Everything about parts of a program: components, the configuration as it is, or the path of one batch."""

from __future__ import annotations

from .drawing import drawn
from .planned import Plan, plan
from .questions.asked import Asker
from .questions.pages import NO_PAGES, Pages, pages_of
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
