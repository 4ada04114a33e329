"""Scores that compare the examples of a batch with each other, and mean another thing for a smaller one: in-batch
negatives, recall among a batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainsleuth.facts import Function, Index, Spot

_COMPARES = re.compile(
    rb"(?i)contrast|info_?nce|nt_?xent|in_?batch|batch_?wise|triplet|mining"
    rb"|neg(?:ative)?_(?:sampl|idx|ind|pair|examp|scor|item)"
    rb"|(?:label|target|tgt|gt|ground_?truth)\w*(?:\[[^]\n]*\])? *= *[^\n]{0,40}\ba?range\("
)
MAX_DEPTH = 4


def compares_examples(index: Index, starts: Iterable[tuple[Function, int, int]]) -> bool:
    """Wide: something says so in what the lines of a function, from one to another, call at some depth, or in themselves."""
    waiting, seen = [(*start, MAX_DEPTH) for start in starts], set[Function]()
    while waiting:
        function, first, last, depth = waiting.pop()
        if function.source.holds(_COMPARES):
            return True
        for position, event in enumerate(function.events if depth else ()):
            for call in event.calls if first <= event.line <= last else ():
                for target in index.calling.run_by(call, Spot(function, position)):
                    inner = target.function
                    if inner not in seen:
                        seen.add(inner)
                        waiting.append((inner, inner.line, inner.end_line, depth - 1))
    return False
