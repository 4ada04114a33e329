"""The markdown: each id that it cites exists, and each number in it is one of a claim cited beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainsleuth.evidence.library import GENERATED, Library
from trainsleuth.evidence.records import Defect

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_CITED = re.compile(r"\[([a-z0-9]+(?:-[a-z0-9]+)+)\](?!\()")
# decimals, percentages and powers of ten; whole numbers count things and need no source
_NUMBER = re.compile(
    r"(?<![\w.,-])(-?\d[\d,]*(?:\.\d+)?e-?\d+|-?\d[\d,]*\.\d+|\d[\d,]*(?:\.\d+)?(?= ?%))(?![\w.]*\d)( ?%)?"
)
_ANY_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_VERSION = re.compile(r"(?:Python|torch|PyTorch|version) \d[\d.]*\+?")


@dataclass(frozen=True)
class Block:
    """Lines without an empty one between them; `line` is that of the first, counted from 1."""

    line: int
    text: str

    @property
    def cited(self) -> frozenset[str]:
        return frozenset(_CITED.findall(self.text))


def defects(library: Library) -> Iterator[Defect]:
    backing = {claim["id"]: _numbers_of(claim, library) for claim in library.claims}
    for path, text in library.pages.items():
        for block in blocks(text):
            where = f"{path}:{block.line}"
            unknown = block.cited - set(backing)
            for id in sorted(unknown):
                yield Defect("unknown-claim", where, f"[{id}] is cited and is not in claims.yaml")
            if path not in GENERATED:
                known = [number for id in block.cited - unknown for number in backing[id]]
                yield from _numbers(block, where, known)


def blocks(markdown: str) -> Iterator[Block]:
    """The prose of a page in blocks, code left out and lines kept in their place."""
    blank = _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), markdown)
    start, gathered = 1, list[str]()
    for line, text in enumerate([*_CODE.sub("", blank).splitlines(), ""], 1):
        if text.strip():
            gathered.append(text)
            continue
        if gathered:
            yield Block(start, "\n".join(gathered))
        start, gathered = line + 1, []


def _numbers(block: Block, where: str, known: Iterable[float]) -> Iterator[Defect]:
    known = list(known)
    for found in _NUMBER.finditer(_VERSION.sub("", block.text)):
        shown = found[0]
        if not block.cited:
            yield Defect("unsourced-number", where, f"{shown} has no claim beside it; cite one, or take it out")
        elif not any(_agrees(found[1], bool(found[2]), value) for value in known):
            cited = ", ".join(sorted(block.cited)[:4]) + " ..." * (len(block.cited) > 4)
            yield Defect("unbacked-number", where, f"{shown} is not among the numbers of {cited}")


def _agrees(shown: str, is_percent: bool, value: float) -> bool:
    """Equal to the last digit that is shown; a percentage may be kept as a share."""
    number = float(shown.replace(",", ""))
    mantissa, _, power = shown.replace(",", "").partition("e")
    digits = len(mantissa.partition(".")[2]) - int(power or 0)
    unit = 0.5001 * 10.0**-digits
    return abs(number - value) <= unit or (is_percent and abs(number - 100 * value) <= unit)


def _numbers_of(claim: object, library: Library) -> list[float]:
    assert isinstance(claim, dict)
    texts = [str(claim.get(name, "")) for name in ("text", "contested", "recounted")]
    texts.append(library.measured.get(claim["id"], ""))
    return [float(one.replace(",", "").rstrip(".")) for text in texts for one in _ANY_NUMBER.findall(text)]
