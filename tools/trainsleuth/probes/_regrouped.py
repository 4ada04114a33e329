"""Views that stand where axes were to change places: the shapes fit, and each row holds numbers of several."""

from __future__ import annotations

from collections.abc import Iterator

from trainsleuth.finding import Confidence, Finding
from trainsleuth.trace import Event, place, shown


def regrouped(graphs: tuple[Event, ...]) -> Iterator[Finding]:
    """Once for each line; what no line is known of repeats what an earlier graph told."""
    found = {(view["site"], view["how"]): view for graph in reversed(graphs) for view in graph.get("regrouped", ())}
    placed = {how for site, how in found if site}
    for (site, how), view in found.items():
        if site or how not in placed:
            yield {"channels": _channels, "rows": _rows, "swapped": _swapped, "data": _of_data}[how](view)


def _channels(view: Event) -> Finding:
    before, after = view["from"], view["to"]
    return _failure(
        view,
        f"a view at {shown(view)} turns {before}, which a convolution made, into {after}: each row of {after[-1]} holds neighbours in one channel, "
        f"and not the {after[-1]} channels of one place; expected the channels to be moved to the last axis first",
        "high",
        f"write .permute({_moved(before)}).reshape(-1, {after[-1]}) there",
    )


def _rows(view: Event) -> Finding:
    before, after = view["from"], view["to"]
    return _failure(
        view,
        f"a view at {shown(view)} turns {before} into {after}: the {after[1]} numbers of one row become neighbours in one channel, and not the "
        f"{after[1]} channels of one place; expected the last axis to be moved behind the first",
        "high",
        f"make {[after[0], *after[2:], after[1]]} of it, and write .permute(0, {len(after) - 1}, {_between(after)}) then",
    )


def _swapped(view: Event) -> Finding:
    before, after = view["from"], view["to"]
    return _exchanged(view, f"a view at {shown(view)} turns {before} into {after}")


def _of_data(view: Event) -> Finding:
    before, after = view["from"], view["to"]
    return _exchanged(view, f"what enters the model at {shown(view)} is a view of {before} as {after}")


def _exchanged(view: Event, begins: str) -> Finding:
    pairs = enumerate(zip(view["from"], view["to"], strict=True))
    axes = ", ".join(str(place) for place, (one, other) in pairs if one != other)
    return _failure(
        view,
        f"{begins}: axes {axes} change places, but the numbers stay where they are, so that each row holds parts of several; expected "
        f"transpose({axes})",
        "medium",
        f"write .transpose({axes}) in place of the view",
    )


def _between(shape: list[int]) -> str:
    return ", ".join(map(str, range(1, len(shape) - 1)))


def _moved(before: list[int]) -> str:
    return ", ".join(map(str, (0, *range(2, len(before)), 1)))


def _failure(view: Event, message: str, confidence: Confidence, advice: str) -> Finding:
    path, line = place(view.get("site"))
    return Finding(
        by="probe:shapes", outcome="fail", severity="warning", confidence=confidence, family="architecture", path=path, line=line,
        message=message, suspects=("wrong-axis-or-mask",), next=advice, claims=("view-vs-permute",),
    )  # fmt: skip
