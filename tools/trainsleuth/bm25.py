"""Ranking of a few hundred short texts against a question, by BM25."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

K1 = 1.2  # how fast repeated words saturate
B = 0.75  # how much long texts are held back

# whole numbers say nothing here: the 500 of "nan after 500 steps" is in many texts, and in none for a reason
_WORD = re.compile(r"\d+\.\d+|[a-z]+")

_CROSS_ENTROPY = re.compile(r"cross[-_ ]?entropy")

_STOP = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be but by do does for from has have how i if in is it its my of on or our
        so than that the then there this to was we what when which while why will with you your""",
    )
)

# one spelling per idea, so that the words of a symptom meet the words of a claim
_SAME = {
    "nan": "nonfinite",
    "nans": "nonfinite",
    "inf": "nonfinite",
    "infinite": "nonfinite",
    "finite": "nonfinite",
    "val": "validation",
    "lr": "rate",
    "plateau": "stuck",
    "flat": "stuck",
    "explode": "diverge",
    "blow": "diverge",
    "acc": "accuracy",
    "optimiser": "optimizer",
    "normalis": "normaliz",
    "initialis": "initializ",
}


def words(text: str) -> list[str]:
    """The words of `text` in lower case, without the common ones, endings cut, synonyms joined."""
    text = _CROSS_ENTROPY.sub("ce", text.lower())
    return [_stem(word) for word in _WORD.findall(text) if word not in _STOP]


def _stem(word: str) -> str:
    word = _SAME.get(word, word)
    for ending in ("ations", "ation", "ings", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word.removesuffix(ending)
            break
    return _SAME.get(word, word)


class Ranking:
    """An index over `texts`; their order is the tie-break."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(words(text)) for text in texts]
        self._lengths = [sum(count.values()) for count in self._counts]
        self._mean_length = sum(self._lengths) / max(len(texts), 1)
        self._holding = Counter(word for count in self._counts for word in count)

    def scores(self, query: str) -> list[float]:
        """One score per text, 0.0 where no word is shared."""
        asked = dict.fromkeys(words(query))
        return [sum(self._weight(word, place) for word in asked) for place in range(len(self._counts))]

    def _weight(self, word: str, place: int) -> float:
        count = self._counts[place][word]
        if not count:
            return 0.0
        holding = self._holding[word]
        rarity = math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
        length = self._lengths[place] / self._mean_length
        return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length))
