"""A long call with the arguments that readers of the sheet ask for: DataLoader(…, shuffle=False, drop_last=True)."""

from __future__ import annotations

import re

from ...drawing.wording import clean
from ..questions.units import narrowed

WIDTH = 132  # characters of a call with such arguments
_ARGUMENTS = re.compile(
    r"\b(?:(?:batch_)?sampler|collate_fn|shuffle|drop_last|weight_decay|betas|momentum|monitor|filename|milestones|gamma|T_max|"
    r"save_(?:top_k|last|total_limit)|every_n_\w+|find_unused_parameters|max_norm|weight|pos_weight|reduction|"
    r"label_smoothing|ignore_index|weight_dict|loss_weight)\s?="
)


def telling(text: str, width: int) -> str:
    """A statement in `width` characters; in some more when it has such arguments, which then stand first."""
    says = len(text) > width and _says(text)
    return narrowed(text, _says, WIDTH) if says else clean(text, width)


def _says(text: str) -> bool:
    return _ARGUMENTS.search(text) is not None
