"""Whether to train, where the script that starts a program hands on what it is given itself: python main.py $1 --lr 0.1"""

from __future__ import annotations

import re

from ..forms.command_line import given_by

_HANDED_ON = re.compile(r"(?<=[\w\\\"']) +\"?\$\{?(?:\d|@|\*)\}?\"?(?=\s|$)")
_TRAINING = frozenset(["train", "do_train", "training"])


def left_to_caller(text: str) -> frozenset[str]:
    """Names of switches that a launch command leaves to whoever calls its script: their default decides nothing."""
    if _HANDED_ON.search(text) is None or any(one.name in _TRAINING for one in given_by(text)):
        return frozenset()
    return _TRAINING
