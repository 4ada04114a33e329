"""A number that is NaN or infinite is a text in a trace: every probe can read what follows from such a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probed import HERE, Host
from twins import one_in

pytest.importorskip("torch")

from trainsleuth import probes
from trainsleuth.trace import Trace

OBSERVE = dict(probes.EXPERIMENTS["observe"])
PROGRAMS = HERE / "targets" / "questions"
OF_CLOCKS = {"t", "timing", "peak", "share_of_it"}  # times, speeds and shares are always numbers


def places(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where the numbers of an event stand, "*" for each of a list."""
    if isinstance(value, float):
        yield at
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*at, name))
    elif isinstance(value, list):
        for item in value:
            yield from places(item, (*at, "*"))


def put(value: Any, at: tuple[str, ...], text: str) -> Any:
    if not at:
        return text if isinstance(value, float) else value
    if isinstance(value, dict):
        return {name: put(item, at[1:], text) if name == at[0] else item for name, item in value.items()}
    if isinstance(value, list):
        return [put(item, at[1:], text) for item in value]
    return value


@pytest.mark.parametrize("name", one_in(3, ("table", "pictures", "letters", "stream")))
def test_no_probe_stumbles_over_a_number_that_is_none(host: Host, tmp_path: Path, name: str) -> None:
    trace, ended = host.run(PROGRAMS / f"{name}.py", tmp_path, OBSERVE)
    found = {(event["kind"], *at) for event in trace.told for at in places(event)}
    found = {place for place in found if OF_CLOCKS.isdisjoint(place)}
    assert len(found) > 30, ended
    for kind, *at in sorted(found):
        for text in ("nan", "inf", "-inf"):
            told = tuple(put(event, tuple(at), text) if event["kind"] == kind else event for event in trace.told)
            list(probes.judge("observe", Trace(0, None, told)))
