"""Is a setting that is called strategy the one by which processes share the work: strategy=ddp, not strategy=group_k_fold."""

from __future__ import annotations

import re

_NAMED = re.compile(r"ddp|dp$|fsdp|deepspeed|horovod")
_SHARES = re.compile(r"ddp|^dp$|fsdp|deepspeed|horovod|parallel|strategy|single_device|mirrored|^xla|^auto$", re.I)
_OF_TRAINER = re.compile(r"(?:^|[._])trainer(?:_args|_kwargs)?\.", re.I)


def is_strategy(word: str) -> bool:
    """By its beginning: ddp, ddp_find_unused_parameters_true."""
    return _NAMED.match(word) is not None


def says_strategy(key: str, value: str) -> bool:
    """By its value, or by the section of a trainer."""
    return _SHARES.search(value) is not None or _OF_TRAINER.search(key) is not None
