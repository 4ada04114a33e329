"""Defaults beside those of this run: fields of classes of settings of which it makes no object."""

from __future__ import annotations

from ...configuration import Key, Truth
from .sections import is_set


def is_of_strangers(truth: Truth, key: Key) -> bool:
    """The field of a class that the run does not make, or loads with its values, or one that an option of the same name
    stands before.

    Where no class of settings is seen to be made, nothing is known of that.
    """
    if is_set(key):
        return False
    if not truth.program.told:
        return truth.owners.is_of_loaded(key)
    cls = truth.owners.holder(key)
    if cls is None:
        return truth.owners.is_of_loaded(key)
    beside = (one for one in truth.named(key.name.rpartition(".")[2]) if one.name != key.name)
    if cls in truth.owners.made:
        return key.name.startswith(f"{cls.name}.") and any(truth.owners.holder(one) is None for one in beside)
    return cls in truth.owners.strangers
