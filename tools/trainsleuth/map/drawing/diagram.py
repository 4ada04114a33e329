"""The data flow of a program as a Mermaid flowchart: from the entry to the step, and what reads its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..parts import Anatomy
from ..records import Part, Place
from .wording import clean

FLOW = (  # what follows what; a missing one is skipped over
    ("entry_point", "config"),
    ("config", "data"),
    ("config", "model"),
    ("config", "optimizer_scheduler"),
    ("data", "training_loop"),
    ("training_loop", "model"),
    ("model", "loss"),
    ("loss", "backward"),
    ("backward", "clip"),
    ("clip", "step"),
    ("optimizer_scheduler", "step"),
    ("step", "model"),
    ("training_loop", "evaluation"),
    ("loss", "logging"),
    ("training_loop", "checkpointing"),
)
_STEPS = {"backward": ("backward",), "clip": ("clip",), "step": ("optimizer step",)}
_LOOP = ("loop", "hand-over", "trainer", "step")
WIDTH = 44  # characters of a line of source in a node
MOST = 2  # places in a node


def draw_diagram(anatomy: Anatomy) -> str:
    """Mermaid text: one node for each part that was found, an arrow for each way that data or control takes."""
    nodes = dict(_nodes(anatomy))
    lines = ["flowchart TD"]
    lines += [f'    {name}["{label}"]' for name, label in nodes.items()]
    for start, end in _edges(nodes):
        dashed = start == "step" and end == "model"
        lines.append(f"    {start} {'-. updates .->' if dashed else '-->'} {end}")
    return "\n".join(lines) + "\n"


def _nodes(anatomy: Anatomy) -> Iterator[tuple[str, str]]:
    if not anatomy.trains:
        yield "nothing", _escaped(f"{anatomy.framework}: nothing here is trained")
    loop = anatomy.parts["training_loop"]
    for name, part in anatomy.parts.items():
        if part.status == "absent":
            continue
        places = [p for p in part.places if p.role in _LOOP] if name == "training_loop" else part.places
        yield name, _label(name.replace("_", " "), part, places or part.places)
        if name == "loss":
            for step, roles in _STEPS.items():
                if found := [place for place in loop.places if place.role in roles]:
                    yield step, _label(roles[0], loop, found)


def _label(title: str, part: Part, places: Sequence[Place]) -> str:
    lines = [title if part.status == "found" else f"{title}: {part.status}"]
    for place in places[:MOST]:
        where = f"{place.path}:{place.line}" if place.cell is None else f"{place.path} cell {place.cell}:{place.line}"
        lines += [where, clean(place.text, WIDTH)]
    return "<br/>".join(_escaped(line) for line in lines if line)


def _escaped(text: str) -> str:
    """Text of the repository as text of a node: no character that Mermaid or HTML would read."""
    return "".join(_MEANS.get(letter, letter) for letter in text)


_MEANS = {letter: f"#{ord(letter)};" for letter in '"#<>&[]{}()|;`\\'}


def _edges(nodes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Arrows between nodes that are there; where one is missing, from what comes before it to what comes after."""
    following: dict[str, list[str]] = {}
    for start, end in FLOW:
        following.setdefault(start, []).append(end)
    seen: set[tuple[str, str]] = set()
    for start in nodes:
        for end in _reach(start, following, nodes, set()):
            if (start, end) not in seen and start != end:
                seen.add((start, end))
                yield start, end


def _reach(start: str, following: Mapping[str, list[str]], nodes: Mapping[str, str], seen: set[str]) -> Iterator[str]:
    for end in following.get(start, ()):
        if end in nodes:
            yield end
        elif end not in seen:
            seen.add(end)
            yield from _reach(end, following, nodes, seen)
