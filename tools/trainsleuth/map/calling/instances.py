"""Objects whose class the settings choose, in tests that ask for it: isinstance(net_cfg, SmallConfig)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainsleuth.facts import Class, Expr, Function

from ..recipe.branches import OR, class_id, instance_key
from .held import is_made_by_name
from .values import Values

_ASKED = re.compile(rb"\bisinstance\(\s*(\w+)\s*,")


def instances(values: Values, functions: Iterable[Function]) -> dict[str, str]:
    """By the name that is asked about its class and those above, where a setting chooses it."""
    chosen = values.known.narrowed.union(values.known.configured.values())
    return dict(_of(values, chosen, functions)) if chosen else {}


def _of(values: Values, chosen: frozenset[Class], functions: Iterable[Function]) -> Iterator[tuple[str, str]]:
    for function in functions:
        for name in dict.fromkeys(function.source.found(_ASKED)):
            asked = name.decode()
            every = values.of(function, Expr("path", asked, (), function.line))
            held = [one for one in every if not is_made_by_name(one)]
            if len(held) == 1 and isinstance(held[0], Class) and held[0] in chosen:
                above = values.index.lineage(held[0])
                yield instance_key(function, asked), OR.join(map(class_id, above))
